"""One question and its reply over HTTP: nothing comes through but a whole reply of bounded size and the right shape.

Whatever else arrives becomes a `Fault` here, once for all providers and whoever reads the reply.
"""

from __future__ import annotations

import json
import re
import socket
import ssl
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol

import aiohttp

from adjudge.models.faults import Fault, fault_of_status
from adjudge.models.names import Format, is_near
from adjudge.models.proxies import proxy_to
from adjudge.models.wire import Arrived, shape
from adjudge.settings import without_password

LARGEST = 8 * 1024 * 1024
"""Bytes of a decoded body beyond which it is not read on."""

KEPT_OPEN = 4.0
"""Seconds for which an unused connection is kept: less than the five after which common servers close theirs."""

CONNECTING = 20.0
"""Seconds until a connection must stand; who asks holds the deadline of the whole call."""

_LONGEST_HEADER = 64 << 10


class Exchange:
    """Connections to one place."""

    def __init__(self, place: str, format: Format) -> None:
        """Make ready; nothing is connected yet.

        Raises:
            InputError: the environment names a proxy of a kind that cannot be used.
        """
        self._secure = place.startswith("https:")
        self._format = format
        self._proxy = None if is_near(place) else proxy_to(place)
        self._session: aiohttp.ClientSession | None = None

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> tuple[dict[str, Any], Arrived]:
        """Send a body of JSON; the reply, mended, and what it says of itself.

        Raises:
            Fault: what came back is no usable reply.
        """
        self._session = self._session or self._opened()
        sent = {**headers, "Accept-Encoding": "gzip", "Content-Type": "application/json"}
        with _as_fault():
            async with self._session.post(
                url, headers=sent, data=body, allow_redirects=False, proxy=self._proxy
            ) as response:
                content = await _body(response)
        reply = _reply(response, content)
        return reply, shape(self._format, reply)

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    def _opened(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,
                ssl=_trusted() if self._secure else True,
                keepalive_timeout=KEPT_OPEN,
                socket_factory=_socket,
            ),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECTING),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,  # it would also read ~/.netrc
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
        )


@contextmanager
def _as_fault() -> Iterator[None]:
    """Turn what goes wrong with a connection into a `Fault`; the cause is left out, since it carries the key."""
    try:
        yield
    except (aiohttp.InvalidURL, ValueError):  # whose words hold the whole address, with a proxy's password
        raise Fault("the address, the proxy's or the key cannot be used in a request", "refused") from None
    except aiohttp.ClientHttpProxyError as error:
        refused = error.status in (401, 403, 407)
        words = f"the proxy answered HTTP {error.status}"
        raise Fault(words, "refused" if refused else "broken", again=not refused) from None
    except (aiohttp.ClientError, OSError) as error:
        words = without_password(str(error) or type(error).__name__)
        raise Fault(f"the connection failed: {words[:200]}", "broken", again=True) from None


@cache
def _trusted() -> ssl.SSLContext:
    """Whom to trust, for all connections: reading the certificates takes longer than many a call."""
    import httpx2  # noqa: PLC0415 - it is not needed for places on this machine

    return httpx2.create_ssl_context()


# --- what came back


def _reply(response: aiohttp.ClientResponse, body: bytes) -> Any:
    kind = response.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    reply = _decoded(body) if "json" in kind else None
    if response.status != 200:
        raise fault_of_status(response.status, response.headers, reply)
    if "json" not in kind:
        raise Fault(
            f"the reply is {kind[:60] or 'of no type'}, not JSON; does a proxy stand between?", "broken", again=True
        )
    if reply is None:
        raise Fault("the reply is not JSON", "broken", again=True)
    return reply


_ESCAPED_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")


def _decoded(body: bytes) -> Any:
    """The JSON value, every string of which can be encoded; `None` if it is none."""
    try:
        value = json.loads(clean(body.decode("utf-8-sig", "replace")))
        if b"\\u" not in body:
            return value
        text = clean(json.dumps(value, ensure_ascii=False))
        return json.loads(_ESCAPED_NUL.sub(r"\1\\ufffd", text))
    except (ValueError, RecursionError):
        return None


def clean(text: str) -> str:
    """The text without lone surrogates and NUL characters, which no UTF-8 stream and no database takes."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    try:
        if not text.isascii():
            text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


class _Inflating(Protocol):
    """What is used of `zlib.decompressobj()`, whose class has no name."""

    def decompress(self, data: bytes, max_length: int = 0, /) -> bytes: ...


async def _body(response: aiohttp.ClientResponse) -> bytes:
    """The decoded body, read to its end.

    Raises:
        Fault: it is larger than `LARGEST`, or compressed in a way that was not asked for.
    """
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise Fault(f"the reply is compressed as {coding[:40]!r}, which was not asked for", "broken", again=True)
    inflating = None if coding in ("identity", "") else zlib.decompressobj(wbits=47)
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += _inflated(inflating, chunk, LARGEST + 1 - len(body)) if inflating else chunk
        if len(body) > LARGEST:
            response.close()
            raise Fault(f"the reply is larger than {LARGEST} bytes", "broken")
    return bytes(body)


def _inflated(inflating: _Inflating, chunk: bytes, most: int) -> bytes:
    try:
        return inflating.decompress(chunk, most)
    except zlib.error as error:
        raise Fault(f"the reply cannot be decompressed: {error}", "broken", again=True) from error


# --- how to get there


def _socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """A socket that notices a peer gone silently (a NAT table's entry dropped) within about two minutes."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 20), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return made
