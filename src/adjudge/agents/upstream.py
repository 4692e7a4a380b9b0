"""The way from here to a model's endpoint: whom to trust, through which proxy, and how long to wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import aiohttp
import httpx2
from yarl import URL

from adjudge.agents.endpoints import AgentEndpoint
from adjudge.agents.headers import Headers
from adjudge.agents.replies import BrokenReplyError
from adjudge.models.proxies import proxy_to

KEPT_OPEN = 4.0
"""Seconds for which an unused connection is kept: less than the five after which common servers close theirs."""

_PIECE = 64 << 10
_LONGEST_HEADER = 64 << 10
_AUTOMATIC = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")


class Upstream:
    """Connections to one endpoint. `connect` and `idle` are seconds: until it is reached, and without a byte of it."""

    def __init__(self, session: aiohttp.ClientSession, place: str, idle: float, proxy: str | None) -> None:
        self._session, self._place, self._idle, self._proxy = session, place, idle, proxy

    @classmethod
    async def open(cls, endpoint: AgentEndpoint, connect: float, idle: float) -> Upstream:
        """Make ready; nothing is connected yet.

        Raises:
            InputError: the environment names a proxy that cannot be used.
        """
        proxy = None if endpoint.near else proxy_to(endpoint.place)
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
        return cls(session, endpoint.place, idle, proxy)

    @asynccontextmanager
    async def reply(
        self, method: str, rest: str, headers: Headers, body: bytearray
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request and give its reply, of which the body is still to come.

        Raises:
            BrokenReplyError: it could not be reached, sent no reply, or one that is not passed on.
        """
        url = URL(self._place + rest, encoded=True)
        with as_broken_reply():
            async with asyncio.timeout(None) as until:
                data = self._pieces(body, until) if method == "POST" else None
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

    async def _pieces(self, body: bytearray, until: asyncio.Timeout) -> AsyncIterator[bytes]:
        """The body, as long as the endpoint takes it; the library watches over the time only when it has been sent."""
        clock = asyncio.get_running_loop().time
        for start in range(0, len(body), _PIECE):
            until.reschedule(clock() + self._idle)
            yield bytes(memoryview(body)[start : start + _PIECE])
        until.reschedule(None)

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
