"""The way from here to a model's endpoint: whom to trust, through which proxy, and how long to wait."""

from __future__ import annotations

import asyncio
import io
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from urllib.parse import urlsplit

import aiohttp
import httpx2
from yarl import URL

from adjudge.agents.endpoints import AgentEndpoint
from adjudge.agents.headers import Headers
from adjudge.agents.replies import BrokenReplyError
from adjudge.errors import InputError

KEPT_OPEN = 4.0
"""Seconds for which an unused connection is kept: less than the five after which common servers close theirs."""

_LONGEST_HEADER = 64 << 10
_AUTOMATIC = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")


class Upstream:
    """Connections to one endpoint. `connect` and `idle` are seconds: until it is reached, and without a byte of it."""

    def __init__(self, session: aiohttp.ClientSession, endpoint: AgentEndpoint, proxy: str | None) -> None:
        self._session, self._place, self._proxy = session, endpoint.place, proxy

    @classmethod
    async def open(cls, endpoint: AgentEndpoint, connect: float, idle: float) -> Upstream:
        """Make ready; nothing is connected yet.

        Raises:
            InputError: the environment names a proxy of a kind that cannot be used.
        """
        proxy = _proxy_to(endpoint)
        trusted = await asyncio.to_thread(httpx2.create_ssl_context) if endpoint.place.startswith("https:") else True
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=trusted, keepalive_timeout=KEPT_OPEN),
            timeout=aiohttp.ClientTimeout(total=None, connect=connect, sock_connect=connect, sock_read=idle),
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=_AUTOMATIC,
            auto_decompress=False,
            trust_env=False,  # it would also read ~/.netrc
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
        )
        return cls(session, endpoint, proxy)

    @asynccontextmanager
    async def reply(
        self, method: str, rest: str, headers: Headers, body: bytearray
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request and give its reply, of which the body is still to come.

        Raises:
            BrokenReplyError: it could not be reached, sent no reply, or one that is not passed on.
        """
        url = URL(self._place + rest, encoded=True)
        data = io.BytesIO(body) if body else None  # which is sent piece by piece
        with as_broken_reply():
            reply = await self._session.request(
                method, url, headers=headers, data=data, allow_redirects=False, proxy=self._proxy
            )
        try:
            if 300 <= reply.status < 400 and reply.status != 304:
                raise BrokenReplyError("the model's endpoint redirects elsewhere, which is not followed")
            if reply.status < 200:
                raise BrokenReplyError("the model's endpoint wants to speak another protocol")
            yield reply
        finally:
            if not reply.content.at_eof():
                reply.close()
            reply.release()

    async def close(self) -> None:
        """End all connections."""
        await self._session.close()


@contextmanager
def as_broken_reply() -> Iterator[None]:
    """Turn what goes wrong with a connection into a `BrokenReplyError`."""
    try:
        yield
    except TimeoutError as error:
        raise BrokenReplyError("the model's endpoint did not answer in time", str(error)) from None
    except (aiohttp.ClientConnectorError, aiohttp.ClientProxyConnectionError) as error:
        raise BrokenReplyError("the model's endpoint could not be reached", str(error)) from None
    except (aiohttp.ClientError, OSError) as error:  # its cause is left out, since it carries the request with its key
        raise BrokenReplyError("the model's endpoint broke the connection off", str(error)) from None


def _proxy_to(endpoint: AgentEndpoint) -> str | None:
    """The proxy that the environment names for this address."""
    parts = urlsplit(endpoint.place)
    if endpoint.near or not parts.hostname or urllib.request.proxy_bypass(parts.hostname):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if proxy and not proxy.startswith(("http://", "https://")):
        kind = proxy.partition(":")[0]
        raise InputError(f"the environment names a {kind} proxy for {parts.hostname}; agents' requests need an HTTP proxy")
    return proxy
