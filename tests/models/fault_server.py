"""A server on raw sockets that answers each request with the next of its scripts, byte for byte, however wrong."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import Any, Self

from adjudge.models.names import Endpoint
from adjudge.models.patience import Patience
from adjudge.models.provider import ProviderModel
from adjudge.ports import Message, Reply, Request, Tool

Script = Callable[[asyncio.StreamWriter], Awaitable[None]]

LOOK = Tool("look", "Look at a file.", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


class Asked:
    """One request as it arrived."""

    def __init__(self, head: str, body: bytes) -> None:
        first, *lines = head.split("\r\n")
        self.method, self.path, _ = first.split(" ", 2)
        self.headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        self.json: Any = json.loads(body) if body else None


class FaultServer:
    """Listens on loopback while its context lasts; after its last script the last one is played again."""

    def __init__(self, *scripts: Script) -> None:
        self._scripts = scripts
        self._tasks: set[asyncio.Task[None]] = set()
        self.asked: list[Asked] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._met, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _met(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip()
            size = next((int(line[15:]) for line in head.split("\r\n") if line.lower().startswith("content-length:")), 0)
            self.asked.append(Asked(head, await reader.readexactly(size)))
            await self._scripts[min(len(self.asked), len(self._scripts)) - 1](writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()


# --- scripts


def raw(data: bytes) -> Script:
    async def play(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()

    return play


def http(status: int, body: bytes | str, kind: str = "application/json", **headers: str) -> Script:
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} X", f"content-type: {kind}", f"content-length: {len(data)}", "connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return raw("\r\n".join(lines).encode() + b"\r\n\r\n" + data)


def answer(value: Any, status: int = 200, **headers: str) -> Script:
    return http(status, json.dumps(value), **headers)


def zipped(value: Any) -> Script:
    return http(200, gzip.compress(json.dumps(value).encode()), content_encoding="gzip")


async def hang(writer: asyncio.StreamWriter) -> None:
    """Take the request and say nothing."""
    await asyncio.sleep(3600)


async def drip(writer: asyncio.StreamWriter) -> None:
    """A byte now and then, for ever: no read ever times out."""
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


async def reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST in place of FIN."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


# --- replies of the chat format


def chat(content: Any = "Yes.", finish: Any = "stop", usage: Any = ..., model: Any = "m", **message: Any) -> dict[str, Any]:
    reply: dict[str, Any] = {
        "id": "r1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}],
    }
    if usage is not None:
        reply["usage"] = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25} if usage is ... else usage
    return reply


def called(*calls: dict[str, Any]) -> dict[str, Any]:
    return chat(None, "tool_calls", tool_calls=list(calls))


def call(name: str = "look", arguments: Any = '{"path": "a"}', id: Any = "c1") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


# --- asking


class Clock:
    """A time that only sleeping moves, and that moves at once."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.waits: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def patience(clock: Clock, deadline: float = 600.0) -> Patience:
    """No jitter: every wait is the longest that it may be."""
    return Patience(deadline, clock=clock, sleep=clock.sleep, chance=lambda: 1.0)


def a_request(text: str = "Is it so?", **more: Any) -> Request:
    return Request("You judge.", (Message("user", text),), **more)


async def ask(
    server: FaultServer,
    request: Request | None = None,
    clock: Clock | None = None,
    deadline: float = 600.0,
    endpoint: Endpoint | None = None,
) -> Reply:
    """One call to a server's chat endpoint, with a clock that does not make the test wait."""
    place = endpoint or Endpoint("endpoint", "m", f"{server.url}/v1", near=True)
    model = ProviderModel(place, patience(clock or Clock(), deadline))
    try:
        return await model.answer(request or a_request())
    finally:
        await model.close()
