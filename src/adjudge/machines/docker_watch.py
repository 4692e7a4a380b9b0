"""Following one process in a container to its end, or to the limit at which it must be stopped, from outside."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Literal, Protocol

import aiodocker
import aiohttp
import msgspec

from adjudge.errors import MachineError
from adjudge.machines.docker_container import Container
from adjudge.machines.docker_engine import engine_faults

Breach = Literal["time", "output", "memory", "processes"]

_LOOK = 0.05
_USAGE = 0.25
_GRACE = 0.2
_LAST_EVENTS = 0.1
_HELD = 4.5
_NOT_STARTED = b"OCI runtime exec failed"
_EVENTS = ("oom", "exec_die", "exec_died")


class NotStartedError(MachineError):
    """The engine could not start the process, as its message says: there is no such program, for example."""


class Ending(msgspec.Struct, frozen=True):
    """How a process ended: its status as the engine has it from `wait`, or the limit at which it must be stopped."""

    status: int
    seconds: float
    breach: Breach | None = None


class Sink(Protocol):
    """Where a process's output goes."""

    def take(self, stream: int, data: bytes, /) -> None:
        """Take the next bytes of its output (stream 1) or its errors (2); must not block."""

    @property
    def flooded(self) -> bool:
        """Whether there is so much that the process must be stopped."""


Asking = Callable[[int], Awaitable[bool]]
"""Asks the process of this pid (the host's) to end; returns whether that was possible."""


async def follow(
    container: Container, process: Any, sink: Sink, seconds: float, ask: Asking | None = None, grace: float = 0.0
) -> Ending:
    """Start a process and watch it. At a limit it may be still running when this returns: the caller kills it.

    One that takes too long is asked to end, if it can be, and has `grace` seconds to do so.

    Raises:
        NotStartedError: it could not be started.
        MachineError: the machine was lost.
    """
    await asyncio.sleep(max(0.0, container.busy_until - time.monotonic()))
    started = time.monotonic()
    with engine_faults("the machine was lost"):
        async with _Watch(container, process, sink) as watch:
            breach = last = await _at_most(seconds, watch.ends())
            if breach == "time" and ask and await ask(await watch.pid()):
                last = await _at_most(grace, watch.ends())
            lasted = time.monotonic() - started
            if last is None:
                breach = await watch.settle() or breach
        facts = await process.inspect()
    if not facts.get("Pid") and watch.first.startswith(_NOT_STARTED):
        raise NotStartedError(watch.first.decode("utf-8", "replace").strip())
    killed = facts["Running"] or facts["ExitCode"] is None or (breach is not None and ask is None)
    return Ending(-9 if killed else status_of(int(facts["ExitCode"])), lasted, breach)


async def _at_most(seconds: float, ending: Coroutine[Any, Any, Breach | None]) -> Breach | None:
    try:
        async with asyncio.timeout(seconds):
            return await ending
    except TimeoutError:
        return "time"


def status_of(code: int) -> int:
    """An exit status as `wait` would tell it. Engines tell a signal as shells do, as 128 and its number."""
    return 128 - code if 128 < code <= 128 + 64 else code


class _Watch:
    """The output, the events and the state of one process."""

    def __init__(self, container: Container, process: Any, sink: Sink) -> None:
        self._container, self._process, self._sink = container, process, sink
        self._open = AsyncExitStack()
        self._memory, self._died = asyncio.Event(), asyncio.Event()
        self.first = b""
        self._refusals, self._crowded = container.refusals() or 0, 0
        self._looked = time.monotonic()

    async def __aenter__(self) -> _Watch:
        try:
            events = await self._open.enter_async_context(self._container.engine.events(self._container.name, _EVENTS))
            await self._open.enter_async_context(_while_open(self._hear(events)))
            self._stream = await self._open.enter_async_context(self._process.start())
            self._reading = await self._open.enter_async_context(_while_open(self._read()))
        except aiodocker.DockerError as error:
            await self._open.aclose()
            if error.status == 400 or "OCI runtime" in error.message:
                raise NotStartedError(error.message) from error
            raise
        except BaseException:
            await self._open.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    async def _read(self) -> None:
        while not self._sink.flooded and (message := await self._stream.read_out()) is not None:
            self.first = self.first or message.data[:500]
            self._sink.take(message.stream, message.data)

    async def _hear(self, events: aiohttp.StreamReader) -> None:
        """An engine tells of memory that ran out before it tells of the death that came of it."""
        rest = b""
        async for data in events.iter_any():
            *lines, rest = (rest + data).split(b"\n")
            for event in map(json.loads, filter(None, lines)):
                if event.get("Action") == "oom":
                    self._memory.set()
                elif (event.get("Actor") or {}).get("Attributes", {}).get("execID") == self._process.id:
                    self._died.set()

    async def pid(self) -> int:
        """The process's pid on the engine's host, 0 if it is not known."""
        return int((await self._process.inspect()).get("Pid") or 0)

    async def ends(self) -> Breach | None:
        """Wait until the process itself has ended, whoever still holds its output, or until a limit is reached."""
        while True:
            if self._sink.flooded:
                return "output"
            if self._memory.is_set():
                return "memory"
            facts = await self._process.inspect()
            if not facts["Running"] and facts["ExitCode"] is not None:
                return None
            if await self._is_crowded():
                return "processes"
            await self._pause()

    async def _is_crowded(self) -> bool:
        """Whether the process or what it started was refused a process more; else two looks must find no room."""
        if (refusals := self._container.refusals()) is not None:
            return refusals > self._refusals
        if time.monotonic() - self._looked < _USAGE:
            return False
        self._looked = time.monotonic()
        self._crowded += await self._container.at_process_limit()
        return self._crowded > 1

    async def _pause(self) -> None:
        """A moment; a shorter one when the output has just ended, since its process then ends too."""
        if self._reading.done():
            self._reading.result()
            await asyncio.sleep(_LOOK / 10)
        else:
            await asyncio.wait((self._reading,), timeout=_LOOK)

    async def settle(self) -> Breach | None:
        """Take what the process had written when it ended, and hear what the engine had still to tell of it.

        While a background process holds the output, Docker waits for it, twice two seconds, and takes no notice of how
        later commands end: they would seem to run too long.
        """
        await asyncio.wait((self._reading,), timeout=_GRACE)
        if not self._reading.done():
            self._container.busy_until = time.monotonic() + _HELD
        async with _while_open(self._died.wait()) as dying:
            await asyncio.wait((dying,), timeout=_LAST_EVENTS)
        if self._sink.flooded:
            return "output"
        if self._memory.is_set():
            return "memory"
        return "processes" if await self._is_crowded() else None


@asynccontextmanager
async def _while_open(work: Coroutine[Any, Any, object]) -> AsyncIterator[asyncio.Task[object]]:
    """A task that is cancelled at the end; a connection that broke meanwhile is the business of whoever asked for it."""
    task = asyncio.ensure_future(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait((task,))
        if not task.cancelled() and not isinstance(task.exception(), aiohttp.ClientError | OSError | None):
            task.result()
