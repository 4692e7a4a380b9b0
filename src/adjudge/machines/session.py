"""One sandbox, as the judge holds it: started once, given commands one after another, closed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

import msgspec

from adjudge.errors import MachineError
from adjudge.machines import boot
from adjudge.machines.boot import kernel
from adjudge.machines.capture import Capture
from adjudge.machines.order import Order
from adjudge.ports import Output

_STARTING = 30.0
_ENDING = 10.0
_OVERTIME = 30.0


class Session:
    """A sandbox that stands, and the process outside of it that serves it."""

    def __init__(
        self, process: subprocess.Popen[bytes], control: socket.socket, faults: IO[bytes], output: int, fresh: bool
    ) -> None:
        self._process, self._control, self._faults, self._limit = process, control, faults, output
        self.fresh = fresh
        self.in_cgroup = False
        self._numbers = 0
        self._owed = 0
        self._captures: list[Capture] = []
        self._closing: asyncio.Task[None] | None = None

    @property
    def ended_well(self) -> bool:
        """Whether the helper has ended by itself, which it does only once all that was inside is gone."""
        return self._process.returncode == 0

    async def run(self, command: str, seconds: float) -> Output:
        """Run a command; the caller sees to it that one runs at a time.

        Raises:
            MachineError: the sandbox is lost.
        """
        if self._owed:  # a cancelled command has been killed, its answer is still to come
            await self._answer(self._owed, _OVERTIME)
        self._numbers = number = self._numbers + 1
        capture = Capture(self._limit, lambda: self._stop(number))
        self._captures.append(capture)
        with _written(command) as words:  # a control message could not hold the longest ones
            try:
                self._send({"run": number, "seconds": seconds}, capture.write_end, words.fileno())
            finally:
                os.close(capture.write_end)
        self._owed = number
        try:
            answer = await self._answer(number, seconds + _OVERTIME)
        except asyncio.CancelledError:
            self._stop(number)
            raise
        await capture.settle()
        self._captures = [kept for kept in self._captures if kept.open]
        return Output(
            text=capture.text(),
            exit_status=answer["status"],
            size=capture.size,
            seconds=round(answer["seconds"], 4),
            ended=answer["ended"],
            cut=capture.cut,
            forfeited=answer["forfeited"],
        )

    def _send(self, words: dict[str, Any], *fds: int) -> None:
        try:
            socket.send_fds(self._control, [json.dumps(words).encode()], fds)
        except OSError as error:
            raise MachineError(f"the machine was lost: {self._last_words() or error}") from error

    def _stop(self, number: int) -> None:
        with contextlib.suppress(MachineError):  # the answer that is waited for will tell
            self._send({"stop": number})

    async def _answer(self, number: int, seconds: float) -> dict[str, Any]:
        """The answer with this number; those before it belong to commands that were cancelled."""
        while (answer := await self._hear(seconds)).get("number") != number:
            pass
        self._owed = 0
        return answer

    async def _hear(self, seconds: float) -> dict[str, Any]:
        try:
            async with asyncio.timeout(seconds):
                message = await asyncio.get_running_loop().sock_recv(self._control, kernel.LONGEST)
        except TimeoutError:
            self._process.kill()
            raise MachineError("the machine was lost: it no longer answers") from None
        except OSError:
            message = b""
        answer: dict[str, Any] = json.loads(message) if message else {"error": "the sandbox ended"}
        if fault := answer.get("error"):
            raise MachineError(f"the machine was lost: {'; '.join(filter(None, (fault, self._last_words())))}")
        return answer

    def _last_words(self) -> str:
        """The end of what bubblewrap or the helper wrote to standard error."""
        size = self._faults.seek(0, os.SEEK_END)
        self._faults.seek(max(0, size - 500))
        return " ".join(self._faults.read().decode("utf-8", "replace").split())

    async def close(self) -> None:
        """End everything inside and wait until it is gone; closing twice is closing once."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)  # the helper waits for this, and so may a command of ours
        if not await asyncio.to_thread(_ends, self._process, _ENDING):
            self._process.kill()
        await asyncio.to_thread(self._process.wait)
        self._control.close()
        for capture in self._captures:
            capture.close()
        self._faults.close()


def _ends(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether a process ends in time. `Popen.wait` would look for it ever more seldom; this sees it at once."""
    if process.poll() is not None:
        return True
    pidfd = os.pidfd_open(process.pid)
    try:
        return bool(kernel.ready([pidfd], int(seconds * 1000)))
    finally:
        os.close(pidfd)


def _written(command: str) -> IO[bytes]:
    file = os.fdopen(os.memfd_create("command"), "r+b")
    file.write(command.encode())
    file.seek(0)
    return file


async def open_session(order: Order, output: int) -> Session:
    """Start a sandbox; `output` is how many bytes of a command's output are kept.

    Raises:
        MachineError: it cannot be had; the message says what the kernel or bubblewrap said.
    """
    starting = asyncio.ensure_future(asyncio.to_thread(_start, output, order.fresh))
    try:
        session = await asyncio.shield(starting)
    except asyncio.CancelledError:
        await (await starting).close()
        raise
    try:
        session._send(msgspec.to_builtins(order))
        session.in_cgroup = (await session._hear(_STARTING))["cgroup"]
    except MachineError as error:
        await session.close()
        raise MachineError(f"no sandbox could be started: {str(error).removeprefix('the machine was lost: ')}") from error
    except BaseException:
        await session.close()
        raise
    return session


def _start(output: int, fresh: bool) -> Session:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    faults = tempfile.TemporaryFile(prefix="adjudge-")  # noqa: SIM115  lives as long as the session
    command = [sys.executable, "-I", "-S", str(Path(boot.__file__).with_name("__main__.py"))]
    with theirs:
        process = subprocess.Popen(  # noqa: S603
            command,
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=faults,
            env={},
            cwd="/",
            start_new_session=True,
        )
    return Session(process, ours, faults, output, fresh)
