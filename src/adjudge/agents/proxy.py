"""The only network of an agent: a reverse proxy that carries its model's requests out, and puts the key in on the way."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager

import aiohttp
import msgspec
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from adjudge.agents.allowed import Asked, asked
from adjudge.agents.endpoints import AgentEndpoint
from adjudge.agents.headers import headers_in, headers_out
from adjudge.agents.masking import Marks, masked
from adjudge.agents.replies import LONGEST_ERROR, BrokenReplyError, ReplyBody, error_body, words_of_error
from adjudge.agents.traffic import Ledger, Traffic
from adjudge.agents.upstream import Upstream, as_broken_reply
from adjudge.untrusted import one_line


class ProxyLimits(msgspec.Struct, frozen=True):
    """What one agent may use of its proxy.

    `body` are the bytes of one request, `bodies` of all that are held at once. `at_once` requests are upstream at the same
    time, others wait; of more than `connections` each further one is closed. `connect` and `idle` are seconds until the
    endpoint must be reached, and without a byte of it. There is no limit on the time of a whole reply.
    """

    body: int = 64 << 20
    bodies: int = 256 << 20
    at_once: int = 32
    connections: int = 128
    connect: float = 30.0
    idle: float = 600.0


class ModelProxy:
    """Serves one agent on one listening socket. It lets through what a model needs (`allowed`), at most `most` requests."""

    def __init__(self, endpoint: AgentEndpoint, most: int, limits: ProxyLimits | None = None) -> None:
        self._endpoint, self._most, self._limits = endpoint, most, limits or ProxyLimits()
        self._marks = Marks({"key": endpoint.key} if endpoint.key else {}, same_length=True)
        self._ledger = Ledger()
        self._turns = asyncio.Semaphore(self._limits.at_once)
        self._held = 0
        self._handling: set[asyncio.Task[object]] = set()
        self._upstream: Upstream | None = None
        self._server: _Server | None = None
        self._accepting: asyncio.Server | None = None

    @property
    def traffic(self) -> Traffic:
        """What went through so far."""
        return self._ledger.traffic

    async def serve(self, listening: socket.socket) -> None:
        """Answer what connects to this socket (TCP or Unix, already listening), which is closed by `close`.

        Raises:
            InputError: the environment names a proxy that cannot be used.
        """
        self._upstream = await Upstream.open(self._endpoint, self._limits.connect, self._limits.idle)
        self._server = _Server(self._handle, self._refuse_malformed)
        listening.setblocking(False)
        self._accepting = await asyncio.get_running_loop().create_server(self._connection, sock=listening)

    async def close(self) -> None:
        """End all connections at once, and stop listening. Closing twice is closing once."""
        if self._accepting:
            self._accepting.close()
        for connection in self._server.connections if self._server else ():
            if connection.transport:
                connection.transport.abort()
        for task in self._handling:
            task.cancel()
        await asyncio.gather(*self._handling, return_exceptions=True)
        if self._server:
            await self._server.shutdown(0.01)
        if self._upstream:
            await self._upstream.close()

    def _connection(self) -> asyncio.Protocol:
        assert self._server
        return _Closing() if len(self._server.connections) >= self._limits.connections else self._server()

    # --- one request

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        task = asyncio.current_task()
        assert task
        self._handling.add(task)
        try:
            return await self._answer(request)
        except _RefusedError as refused:
            self._ledger.refuse(refused.number, refused.status, str(refused), refused.beyond)
            return self._error(refused.status, str(refused))
        finally:
            self._handling.discard(task)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        if (request.method, request.raw_path) == ("HEAD", "/"):  # Claude Code sees whether anybody is there
            return web.Response(headers={"Server": "model"})
        wanted = asked(self._endpoint.wire, request.method, request.raw_path)
        if wanted is None or "upgrade" in request.headers:
            raise _RefusedError(403, "this address serves the model only; nothing else can be reached through it")
        number = self._ledger.begin(wanted.answer)
        async with self._body(request, number) as body:
            if self.traffic.requests >= self._most:
                raise _RefusedError(429, f"at most {self._most} requests can be made here", number, beyond=True)
            self._ledger.let_through(wanted.answer)
            async with self._turns:
                return await self._carry(request, wanted, number, body)

    async def _carry(self, request: web.BaseRequest, wanted: Asked, number: int, body: bytearray) -> web.StreamResponse:
        assert self._upstream
        headers = headers_out(request.headers, self._endpoint, len(body) if request.method == "POST" else None)
        try:
            async with self._upstream.reply(request.method, wanted.rest, headers, body) as reply:
                return await self._pass_on(request, reply, number)
        except BrokenReplyError as error:
            self._ledger.fail(number, None, self._told(error))
            return self._error(502, str(error))

    async def _pass_on(self, request: web.BaseRequest, reply: aiohttp.ClientResponse, number: int) -> web.StreamResponse:
        """Carry a reply to the agent as it comes.

        Raises:
            BrokenReplyError: it cannot be read; nothing of it has been sent.
        """
        body = ReplyBody(reply.headers.get("content-encoding", ""), self._marks)
        response = web.StreamResponse(status=reply.status, headers=headers_in(reply.headers, self._marks))
        if not body.inflated:
            response.content_length = reply.content_length
        beginning = bytearray()
        try:
            await response.prepare(request)
            async with aclosing(_pieces(reply, body)) as pieces:
                async for piece in pieces:
                    beginning += piece[: LONGEST_ERROR - len(beginning)] if reply.status >= 400 else b""
                    await response.write(piece)
        except BrokenReplyError as error:
            self._ledger.fail(number, reply.status, self._told(error))
            request.protocol.force_close()  # so that the agent misses the end that whole replies have
            return response
        except (asyncio.CancelledError, ConnectionError):  # the agent wants no more, which is no failure of its model
            self._end(number, reply.status, beginning)
            raise
        self._end(number, reply.status, beginning)
        return response

    def _end(self, number: int, status: int, beginning: bytearray) -> None:
        if status < 400:
            self._ledger.succeed(number, status)
        else:
            self._ledger.fail(number, status, words_of_error(status, bytes(beginning)))

    # --- an agent's body, and errors of our own

    @asynccontextmanager
    async def _body(self, request: web.BaseRequest, number: int) -> AsyncIterator[bytearray]:
        """The whole body of a request: half a one is never passed on, and a slow one keeps no connection busy."""
        body = bytearray()
        try:
            if request.method == "POST":
                await self._read(request, body, number)
            yield body
        finally:
            self._held -= len(body)

    async def _read(self, request: web.BaseRequest, body: bytearray, number: int) -> None:
        too_large = _RefusedError(413, f"a request may have at most {self._limits.body} bytes", number)
        if (request.content_length or 0) > self._limits.body:
            raise too_large
        if request.headers.get("expect", "").lower() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0
        try:
            async for data in request.content.iter_any():
                self._held += len(data)
                body += data
                if len(body) > self._limits.body:
                    raise too_large
                if self._held > self._limits.bodies:
                    raise _RefusedError(503, "too many large requests are made at once", number)
        except web.RequestPayloadError:
            raise _RefusedError(400, "the request is malformed", number) from None

    def _refuse_malformed(self) -> web.Response:
        self._ledger.refuse()
        return self._error(400, "the request is malformed")

    def _error(self, status: int, words: str) -> web.Response:
        response = web.Response(
            status=status, body=error_body(self._endpoint.wire, status, words), content_type="application/json"
        )
        response.headers["Server"] = "model"
        if status == 429:
            response.headers["x-should-retry"] = "false"  # which clients of OpenAI and Anthropic heed
        if status in (400, 403, 413):
            response.force_close()
        return response

    def _told(self, error: BrokenReplyError) -> str:
        words = f"{error}: {error.detail}" if error.detail else str(error)
        return one_line(masked(words.encode("utf-8", "replace"), self._marks).decode(), 400)


class _RefusedError(Exception):
    """A request that is not carried out; the words go to the agent."""

    def __init__(self, status: int, words: str, number: int = 0, beyond: bool = False) -> None:
        super().__init__(words)
        self.status, self.number, self.beyond = status, number, beyond


async def _pieces(reply: aiohttp.ClientResponse, body: ReplyBody) -> AsyncGenerator[bytes, None]:
    with as_broken_reply():
        async for data in reply.content.iter_any():
            for piece in body.feed(data):
                yield piece
        if rest := body.finish():
            yield rest


# --- connections


class _Closing(asyncio.Protocol):
    """A connection too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.abort()


class _Server(web.Server):
    """Makes the protocol of each connection. If the agent goes away, so does its request."""

    def __init__(
        self,
        handle: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]],
        refuse_malformed: Callable[[], web.Response],
    ) -> None:
        super().__init__(handle, handler_cancellation=True)
        self._refuse_malformed = refuse_malformed

    def __call__(self) -> web.RequestHandler:
        return _Connection(self, asyncio.get_running_loop(), self._refuse_malformed)


class _Connection(web.RequestHandler):
    __slots__ = ("_refuse_malformed",)

    def __init__(
        self, server: _Server, loop: asyncio.AbstractEventLoop, refuse_malformed: Callable[[], web.Response]
    ) -> None:
        super().__init__(server, loop=loop, access_log=None, auto_decompress=False)  # type: ignore[arg-type]  # None is none
        self._refuse_malformed = refuse_malformed

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        """Answer what is no HTTP, without the traceback that is printed for our own faults."""
        if isinstance(exc, HttpProcessingError):
            return self._refuse_malformed()
        return super().handle_error(request, status, exc, message)
