"""The guard as an ASGI application around another: refuses what the rules refuse, and puts the headers on every answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from litestar import Litestar
from litestar.types import HTTPScope, Message, Receive, Scope, Send

from adjudge.web.guard.access import Access
from adjudge.web.guard.headers import HEADERS, STRICT_TRANSPORT
from adjudge.web.guard.rules import Asked, Refused, refusal

Refuse = Callable[[Refused, str], tuple[str, bytes]]
"""From a refusal and the path that was asked for to the answer's content type and body."""


class Guard:
    """Around an application. `app` is the one within."""

    def __init__(self, app: Litestar, access: Access, refuse: Refuse) -> None:
        self.app, self.access = app, access
        self._refuse = refuse
        headers = (*HEADERS, STRICT_TRANSPORT) if access.secure else HEADERS
        self._headers = [(name.encode(), value.encode()) for name, value in headers]
        self._ours = {name for name, _ in self._headers} | {b"server"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or let the application within answer."""
        kind = str(scope["type"])
        if kind == "lifespan":
            await self.app(scope, receive, send)
        elif kind == "http":
            await self._http(cast("HTTPScope", scope), receive, send)
        else:  # there are no web sockets here
            await send({"type": "websocket.close", "code": 1008, "reason": ""})

    async def _http(self, scope: HTTPScope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [pair for pair in message["headers"] if pair[0].lower() not in self._ours]
                message["headers"] = [*own, *self._headers]
            await send(message)

        refused = refusal(_asked(scope), self.access)
        if refused is None:
            await self.app(scope, receive, with_headers)
        else:
            await self._answer(refused, scope, with_headers)

    async def _answer(self, refused: Refused, scope: HTTPScope, send: Send) -> None:
        kind, body = self._refuse(refused, scope["path"])
        headers = [
            (b"content-type", kind.encode()),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        await send({"type": "http.response.start", "status": refused.status, "headers": headers})
        sent = b"" if scope["method"] == "HEAD" else body
        await send({"type": "http.response.body", "body": sent, "more_body": False})


def _asked(scope: HTTPScope) -> Asked:
    headers = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
    path = scope.get("raw_path") or scope["path"].encode("utf-8", "surrogatepass")
    return Asked(scope["method"], scope["path"], path + scope["query_string"], headers)
