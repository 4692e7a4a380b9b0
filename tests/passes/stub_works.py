"""Works that are sent to workers of a cluster, and the endpoint that they call."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

import msgspec

from adjudge.errors import InputError, ModelError
from adjudge.judgment import Call, Judge, Judgment
from adjudge.passes.work import Paying
from adjudge.record import Usage
from adjudge.store.pass_rows import PassItem

PRICE = 0.25
JUDGE = Judge("reader", "stub/model", "0" * 64, {}, "0")


def item(number: int, what: str = "1") -> PassItem:
    """A run for which so many calls are made, or that is `unreadable` or meets a `bug`."""
    return PassItem(number, f"r-{number}", what)


def judgment(run: str, **found: Any) -> Judgment:
    return Judgment(f"j-{run}", run, "made", "1" * 64, JUDGE, "judged", "2026-01-01T00:00:00+00:00", 0.1, **found)


async def freely(most: float | None) -> None:
    """Whatever it costs."""


class CallingWork(msgspec.Struct, frozen=True):
    """Makes calls to the endpoint at a port, each once it is paid for; its own factory."""

    port: int

    def __call__(self) -> CallingWork:
        return self

    async def judge(self, item: PassItem, paying: Paying) -> Judgment:
        if item.blob == "unreadable":
            raise InputError("a newer adjudge wrote it")
        for _ in range(int(item.blob)):
            try:
                await paying(PRICE)
            except ModelError as error:
                return judgment(item.run, reason=str(error), failure=error.kind)
            await self._call(item)
        calls = (Call("stub/model", Usage(10, output=1, cost=PRICE), 0.1),) * int(item.blob)
        return judgment(item.run, calls=calls)

    async def _call(self, item: PassItem) -> None:
        """A call that is dropped closes its connection, which the endpoint sees."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(f"{item.position} {os.getpid()}\n".encode())
            await reader.readline()
        finally:
            writer.close()

    async def close(self) -> None:
        pass


class MissingWork(msgspec.Struct, frozen=True):
    """Cannot even be made."""

    def __call__(self) -> CallingWork:
        raise InputError("there is no such model")


class Endpoint:
    """Notes each call, and answers it once `answering` lets it."""

    def __init__(self) -> None:
        self._called = asyncio.Event()
        self._server: asyncio.Server | None = None
        self.forget()

    def forget(self) -> None:
        """Be as new."""
        self.seen: Callable[[int, int], None] = lambda position, pid: None
        self.calls: list[tuple[int, int]] = []
        self.ended = asyncio.Event()
        self.answering = asyncio.Event()
        self.answering.set()

    async def start(self) -> int:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def close(self) -> None:
        assert self._server is not None
        self.answering.set()
        self._server.close()
        await self._server.wait_closed()

    async def until(self, calls: int) -> None:
        """Wait for so many calls."""
        while len(self.calls) < calls:
            self._called.clear()
            await self._called.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if line := await reader.readline():
                position, pid = map(int, line.split())
                self.calls.append((position, pid))
                self.seen(position, pid)
                self._called.set()
                await self._answer(reader, writer)
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """When it may, unless the caller goes first."""
        may, gone = asyncio.create_task(self.answering.wait()), asyncio.create_task(reader.read())
        await asyncio.wait((may, gone), return_when=asyncio.FIRST_COMPLETED)
        if gone.done():
            self.ended.set()
        may.cancel()
        gone.cancel()
        await asyncio.gather(may, gone, return_exceptions=True)
        writer.write(b"done\n")
