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
from adjudge.machines.capture import Capture, Pipe
from adjudge.machines.order import Order
from adjudge.machines.program import Program, bash
from adjudge.ports import Output

_STARTING = 30.0
_ENDING = 10.0
_OVERTIME = 30.0


class Session:
    """A sandbox that stands, and the process outside of it that serves it.

    `environment` is that of the commands; `spares` says whether one that takes too long or prints too much is killed alone.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], control: socket.socket, faults: IO[bytes], output: int, order: Order
    ) -> None:
        self._process, self._control, self._faults, self._limit = process, control, faults, output
        self.fresh, self.environment = order.fresh, order.environment
        self.spares = False
        self.in_cgroup = False
        self._numbers = 0
        self._owed = 0
        self._pipes: list[Pipe] = []
        self._closing: asyncio.Task[None] | None = None

    @property
    def ended_well(self) -> bool:
        """Whether the helper has ended by itself, which it does only once all that was inside is gone."""
        return self._process.returncode == 0

    async def run(self, command: str, seconds: float) -> Output:
        """Run a command with bash; the caller sees to it that one runs at a time.

        Raises:
            MachineError: the sandbox is lost.
        """
        capture = Capture(self._limit, self.stop)
        self.keep(capture)
        answer = await self.execute(bash(command, self.environment, seconds, self.spares), capture.write_end)
        if refused := answer["refused"]:
            raise MachineError(f"a command could not be started inside: {refused}")
        await capture.settle()
        return Output(
            text=capture.text(),
            exit_status=answer["status"],
            size=capture.size,
            seconds=round(answer["seconds"], 4),
            ended=answer["ended"],
            cut=capture.cut,
            forfeited=answer["forfeited"],
        )

    async def execute(self, program: Program, *outputs: int) -> dict[str, Any]:
        """Run a program with these descriptors, which are closed here, as standard output and error; what became of it.

        Raises:
            MachineError: the sandbox is lost.
        """
        try:
            await self._settle_debt()
            with program.written() as words:  # a control message could not hold the longest ones
                self._ask("run", *outputs, words.fileno(), **program.watched())
        finally:
            for fd in outputs:
                os.close(fd)
        try:
            return (await self._answer(program.seconds + (program.grace or 0) + _OVERTIME))[0]
        except asyncio.CancelledError:
            self.stop(now=True)
            raise

    async def listen(self, port: int) -> int:
        """A descriptor of a socket that listens on 127.0.0.1:`port` inside.

        Raises:
            MachineError: the port is taken, or the sandbox is lost.
        """
        await self._settle_debt()
        self._ask("listen", port=port)
        answer, fds = await self._answer(_STARTING)
        if not fds:
            raise MachineError(f"port {port}: cannot be listened on inside: {answer['refused']}")
        return fds[0]

    async def hand_over(self, home: str, size: int, memory: int, processes: int) -> int:
        """Give the commands that follow a home of their own and more memory and processes; how many processes there are.

        Raises:
            MachineError: as `execute`.
        """
        await self._settle_debt()
        self._ask("hand over", home=home, size=size, memory=memory, processes=processes)
        return int((await self._answer(_STARTING))[0]["processes"])

    def keep(self, *pipes: Pipe) -> None:
        """See to it that pipes are closed in the end, as what is left running may write to them until then."""
        self._pipes = [kept for kept in self._pipes if kept.open] + list(pipes)

    def stop(self, now: bool = False) -> None:
        """End the command that runs, because it prints too much or nobody waits for it any more."""
        with contextlib.suppress(MachineError):  # the answer that is waited for will tell
            self._send({"ask": "stop", "number": self._owed, "now": now})

    def _ask(self, what: str, *fds: int, **words: object) -> None:
        self._numbers += 1
        self._send({"ask": what, "number": self._numbers, **words}, *fds)
        self._owed = self._numbers

    def _send(self, words: dict[str, Any], *fds: int) -> None:
        try:
            socket.send_fds(self._control, [json.dumps(words).encode()], fds)
        except OSError as error:
            raise MachineError(f"the machine was lost: {self._last_words() or error}") from error

    async def _settle_debt(self) -> None:
        """Wait for the answer to what was cancelled, if there was something."""
        if self._owed:
            for fd in (await self._answer(_OVERTIME))[1]:
                os.close(fd)

    async def _answer(self, seconds: float) -> tuple[dict[str, Any], list[int]]:
        """The answer that is owed, and the descriptors that came with it."""
        answer, fds = await self._hear(seconds)
        self._owed = 0
        return answer, fds

    async def _hear(self, seconds: float) -> tuple[dict[str, Any], list[int]]:
        try:
            async with asyncio.timeout(seconds):
                message, fds = await self._receive()
        except TimeoutError:
            self._process.kill()
            raise MachineError("the machine was lost: it no longer answers") from None
        except OSError:
            message, fds = b"", []
        answer: dict[str, Any] = json.loads(message) if message else {"error": "the sandbox ended"}
        if fault := answer.get("error"):
            raise MachineError(f"the machine was lost: {'; '.join(filter(None, (fault, self._last_words())))}")
        return answer, fds

    async def _receive(self) -> tuple[bytes, list[int]]:
        loop, readable = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._control, readable.set)
        try:
            await readable.wait()
        finally:
            loop.remove_reader(self._control)
        message, fds, _, _ = socket.recv_fds(self._control, kernel.LONGEST, 1)
        for fd in fds:
            os.set_inheritable(fd, False)  # recv_fds takes a flag for this, and does not pass it on
        return message, fds

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
        for pipe in self._pipes:
            pipe.close()
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


async def open_session(order: Order, output: int) -> Session:
    """Start a sandbox; `output` is how many bytes of a command's output are kept.

    Raises:
        MachineError: it cannot be had; the message says what the kernel or bubblewrap said.
    """
    starting = asyncio.ensure_future(asyncio.to_thread(_start, output, order))
    try:
        session = await asyncio.shield(starting)
    except asyncio.CancelledError:
        await (await starting).close()
        raise
    try:
        session._send(msgspec.to_builtins(order))
        session.in_cgroup = (await session._hear(_STARTING))[0]["cgroup"]
    except MachineError as error:
        await session.close()
        raise MachineError(f"no sandbox could be started: {str(error).removeprefix('the machine was lost: ')}") from error
    except BaseException:
        await session.close()
        raise
    return session


def _start(output: int, order: Order) -> Session:
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
    return Session(process, ours, faults, output, order)
