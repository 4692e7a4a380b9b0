"""The HTTP transport beneath the SDKs: it lets through nothing but a whole reply of bounded size and the right shape.

Whatever else arrives becomes a `Fault` here, once for all providers, so that no SDK's own idea of errors matters.
"""

from __future__ import annotations

import json
import re
import socket
import ssl
import urllib.request
import zlib
from contextvars import ContextVar
from functools import cache
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx2

from adjudge.models.faults import Fault, fault_of_status
from adjudge.models.names import Format, is_near
from adjudge.models.wire import Arrived, shape

LARGEST = 8 * 1024 * 1024
"""Bytes of a decoded body beyond which it is not read on."""

arrived: ContextVar[list[Arrived]] = ContextVar("arrived")
"""Where the transport leaves what each reply of the current attempt said of itself."""


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Sends a request to one place and returns its reply as plain JSON, or raises a `Fault`."""

    def __init__(self, place: str, format: Format) -> None:
        self._format = format
        self._inner = httpx2.AsyncHTTPTransport(
            limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=100),
            verify=_trusted(),
            proxy=None if is_near(place) else _proxy(place),
            socket_options=_KEEP_ALIVE,
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send it.

        Raises:
            Fault: what came back is no usable reply.
        """
        request.headers["accept-encoding"] = "gzip"
        try:
            response = await self._inner.handle_async_request(request)
            try:
                body = await _body(response)
            finally:
                await response.aclose()
        except httpx2.UnsupportedProtocol as error:
            raise Fault(f"the address cannot be used: {error}", "refused") from error
        except httpx2.TransportError as error:
            words = str(error) or type(error).__name__
            raise Fault(f"the connection failed: {words[:200]}", "broken", again=True) from error
        reply = _reply(response, body)
        arrived.get().append(shape(self._format, reply))
        content = json.dumps(reply, ensure_ascii=False).encode()
        return httpx2.Response(200, headers={"content-type": "application/json"}, content=content, request=request)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()


@cache
def _trusted() -> ssl.SSLContext:
    """Whom to trust, for all connections: reading the certificates takes longer than many a call."""
    return httpx2.create_ssl_context()


def _reply(response: httpx2.Response, body: bytes) -> Any:
    kind = response.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    reply = _decoded(body) if "json" in kind else None
    if response.status_code != 200:
        raise fault_of_status(response.status_code, response.headers, reply)
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
        value = json.loads(clean(body.decode("utf-8", "replace")))
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
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


class _Inflating(Protocol):
    """What is used of `zlib.decompressobj()`, whose class has no name."""

    def decompress(self, data: bytes, max_length: int = 0, /) -> bytes: ...


async def _body(response: httpx2.Response) -> bytes:
    """The decoded body, read to its end.

    Raises:
        Fault: it is larger than `LARGEST`, or compressed in a way that was not asked for.
    """
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise Fault(f"the reply is compressed as {coding[:40]!r}, which was not asked for", "broken", again=True)
    inflating = None if coding in ("identity", "") else zlib.decompressobj(wbits=47)
    body = bytearray()
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    async for chunk in response.stream:
        body += _inflated(inflating, chunk, LARGEST + 1 - len(body)) if inflating else chunk
        if len(body) > LARGEST:
            raise Fault(f"the reply is larger than {LARGEST} bytes", "broken")
    return bytes(body)


def _inflated(inflating: _Inflating, chunk: bytes, most: int) -> bytes:
    try:
        return inflating.decompress(chunk, most)
    except zlib.error as error:
        raise Fault(f"the reply cannot be decompressed: {error}", "broken", again=True) from error


def _proxy(place: str) -> str | None:
    """The proxy that the environment names for this address."""
    parts = urlsplit(place)
    if not parts.hostname or urllib.request.proxy_bypass(parts.hostname):
        return None
    proxies = urllib.request.getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def _keep_alive() -> list[tuple[int, int, int]]:
    """Socket options that notice a peer gone silently (a NAT table's entry dropped) within about two minutes."""
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 20), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return options


_KEEP_ALIVE = _keep_alive()
