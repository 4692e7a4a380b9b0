"""A model's endpoint on raw sockets, an agent that speaks bytes, and a proxy between them."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, Self

from adjudge.agents.endpoints import AgentEndpoint, KeyHeader, Wire
from adjudge.agents.proxy import ModelProxy, ProxyLimits

KEY = "sk-or-v1-3b9f60a1c27d4e58"

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Seen(NamedTuple):
    """A request as it arrived at the endpoint."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The only header of this name."""
        values = [value for each, value in self.headers if each == name]
        assert len(values) < 2, values
        return values[0] if values else None


class Provider:
    """An endpoint that plays its scripts, one for each request; the last one again and again."""

    def __init__(self, *scripts: Script) -> None:
        self._scripts = scripts
        self._tasks: set[asyncio.Task[None]] = set()
        self.seen: list[Seen] = []
        self.open = self.most_open = 0
        self.left = asyncio.Event()
        self._came = asyncio.Condition()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._met, "127.0.0.1", 0, limit=1 << 20)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def arrived(self, number: int) -> None:
        """Wait until so many requests have come."""
        async with self._came:
            await asyncio.wait_for(self._came.wait_for(lambda: len(self.seen) >= number), 5)

    async def _met(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        self.open += 1
        self.most_open = max(self.open, self.most_open)
        try:
            while not writer.is_closing():
                self.seen.append(await _request(reader))
                script = self._scripts[min(len(self.seen), len(self._scripts)) - 1]
                async with self._came:
                    self._came.notify_all()
                await script(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            self.left.set()
        finally:
            self.open -= 1
            self._tasks.discard(task)
            writer.close()


async def _request(reader: asyncio.StreamReader) -> Seen:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip("\r\n")
    first, *lines = head.split("\r\n")
    method, target, _ = first.split(" ")
    headers = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    assert not any(name == "transfer-encoding" for name, _ in headers)
    size = sum(int(value) for name, value in headers if name == "content-length")
    return Seen(method, target, headers, await reader.readexactly(size))


# --- scripts


def raw(data: bytes, close: bool = False) -> Script:
    async def play(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        if close:
            writer.close()

    return play


def reply(body: bytes | str, status: int = 200, kind: str = "application/json", headers: str = "") -> Script:
    data = body.encode() if isinstance(body, str) else body
    head = f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {len(data)}\r\n{headers}\r\n"
    return raw(head.encode() + data)


OK = reply('{"ok": true}')


async def hang(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    """Take the request and say nothing, until the other side has gone."""
    await reader.read()
    raise ConnectionResetError


# --- the agent's side


class Answer(NamedTuple):
    """What came back to the agent."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Agent:
    """What can be done inside of a machine: open connections to the proxy."""

    def __init__(self, proxy: ModelProxy, address: Any) -> None:
        self.proxy, self.address = proxy, address

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(*self.address, limit=1 << 24)

    async def sends(self, data: bytes) -> bytes:
        """Everything that comes back for these bytes until the connection is closed."""
        reader, writer = await self.connect()
        writer.write(data)
        try:
            return await asyncio.wait_for(reader.read(), 10)
        except ConnectionResetError:
            return b""
        finally:
            writer.close()

    async def asks(
        self, target: str = "/v1/chat/completions", body: bytes = b"{}", method: str = "POST", headers: str = ""
    ) -> Answer:
        """One whole request and its answer."""
        length = f"content-length: {len(body)}\r\n" if method == "POST" else ""
        head = f"{method} {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{length}{headers}\r\n"
        return parsed(await self.sends(head.encode() + (body if method == "POST" else b"")))


def parsed(data: bytes) -> Answer:
    """An answer taken apart, chunks put together."""
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if headers.get("transfer-encoding") == "chunked":
        body = b"".join(chunks(body))
    return Answer(int(first.split()[1]), headers, body)


def chunks(data: bytes) -> list[bytes]:
    """The chunks of a chunked body, the last one of which must be there."""
    found = []
    while True:
        size, _, data = data.partition(b"\r\n")
        if not int(size, 16):
            return found
        found.append(data[: int(size, 16)])
        data = data[int(size, 16) + 2 :]


def listening() -> socket.socket:
    made = socket.socket()
    made.bind(("127.0.0.1", 0))
    made.listen(200)
    return made


def endpoint(port: int, wire: Wire = "chat", key: str | None = KEY, header: KeyHeader = "authorization") -> AgentEndpoint:
    below = "/v1" if wire in ("chat", "responses") else ""
    return AgentEndpoint("openai/m", "m", wire, f"http://127.0.0.1:{port}{below}", key, True, header)


@asynccontextmanager
async def proxied(to: AgentEndpoint, most: int = 1000, limits: ProxyLimits | None = None) -> AsyncIterator[Agent]:
    """An agent behind a proxy that leads to this endpoint."""
    proxy = ModelProxy(to, most, limits)
    at = listening()
    await proxy.serve(at)
    try:
        yield Agent(proxy, at.getsockname())
    finally:
        await proxy.close()


@asynccontextmanager
async def between(
    *scripts: Script,
    wire: Wire = "chat",
    key: str | None = KEY,
    header: KeyHeader = "authorization",
    most: int = 1000,
    limits: ProxyLimits | None = None,
) -> AsyncIterator[tuple[Agent, Provider]]:
    """An agent, a proxy and an endpoint that plays these scripts."""
    async with Provider(*scripts) as provider, proxied(endpoint(provider.port, wire, key, header), most, limits) as agent:
        yield agent, provider
