"""The HTTP transport beneath the SDKs, so that no SDK's own idea of a reply, a retry or an error matters."""

from __future__ import annotations

import json
from contextvars import ContextVar

import httpx2

from adjudge.models.exchange import Exchange
from adjudge.models.wire import Arrived

arrived: ContextVar[list[Arrived]] = ContextVar("arrived")
"""Where the transport leaves what each reply of the current attempt said of itself."""

_OURS = frozenset({"host", "connection", "content-length", "content-type", "accept-encoding", "transfer-encoding"})


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Carries an SDK's requests through an `Exchange`, and its replies back as plain JSON."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send it.

        Raises:
            Fault: what came back is no usable reply.
        """
        headers = {name: value for name, value in request.headers.items() if name not in _OURS}
        reply, said = await self._exchange.post(str(request.url), headers, await request.aread())
        arrived.get().append(said)
        content = json.dumps(reply, ensure_ascii=False).encode()
        return httpx2.Response(200, headers={"content-type": "application/json"}, content=content, request=request)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._exchange.close()
