"""Passes that this server starts: each is a process of its own, the very command that a person would type.

So judging does not take the interpreter of the pages, and a pass is the same whoever starts it. When the server ends, the
process gets SIGTERM, once, and ends as the command does: what is under way may land for 30 s, and the pass can be resumed.
It is in a session of its own, so that a Ctrl-C for the server does not reach it a second time, and it writes to a file
without a name, not to a pipe, so that it goes on undisturbed if the server is killed.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import IO

import msgspec

from adjudge.errors import InputError, OutsideError
from adjudge.passes.under_way import Answer
from adjudge.settings import Settings
from adjudge.store.locks import Holder
from adjudge.store.store import Store
from adjudge.web.doing.asking_pass import Questions

COMMAND = (sys.executable, "-P", "-m", "adjudge", "pass")
"""`-P`: the folder that the server stands in is not searched for modules, since agents may have worked there."""
PATIENCE = 120.0
"""Seconds until a pass must have begun: planning reads every run's row."""
LOOK = 0.1
"""Seconds between two looks at what has become of a process."""
PARTING = 2.0
"""Seconds for which the end of a process is waited for when the server ends; it ends by itself."""
ENDING = 10.0
"""Seconds that a process may take to end once its pass has."""
LONGEST_WORDS = 4_000
"""Characters of what a process printed last that are told."""
MOST_ENDED = 100
"""Ends that are remembered."""
UNSENT = ("ADJUDGE_TOKEN",)
"""Variables that a process does not need."""


class PassEnded(msgspec.Struct, frozen=True):
    """How a process that judged a pass ended: its exit status, negative for a signal, and what it printed last."""

    status: int
    words: str


class Judged(msgspec.Struct, frozen=True):
    """Of the row of a pass, as the command prints it, what is needed."""

    id: str


class Said(msgspec.Struct, frozen=True):
    """What the command prints at its end."""

    row: Judged | None = None


class Child:
    """A process that judges a pass, or is about to."""

    def __init__(self, arguments: Sequence[str], environment: dict[str, str]) -> None:
        """Start it. The arguments are what stands behind `adjudge pass`."""
        self._out: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  until it is closed
        self._err: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self.questions = Questions()
        self.process = subprocess.Popen(  # noqa: S603  a list, never a shell
            [*COMMAND, *arguments, "--json", f"--watched-at={self.questions.descriptor}"],
            stdin=subprocess.DEVNULL,
            stdout=self._out,
            stderr=self._err,
            env=environment,
            pass_fds=(self.questions.descriptor,),
            start_new_session=True,
        )
        self.questions.hand_down()
        self.identifier: str | None = None
        self.ended: PassEnded | None = None
        self.asked = 0

    @property
    def lives(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    def is_(self, holder: Holder | None) -> bool:
        """Whether it is the process that holds the lock of passes."""
        return holder is not None and (holder.host, holder.pid) == (socket.gethostname(), self.process.pid)

    def stop(self) -> None:
        """Ask it to end; once more, to end at once."""
        self.asked += 1
        self.process.send_signal(signal.SIGTERM)

    def leave(self) -> None:
        """Let it end by itself; whatever outlives the server still has somebody who takes note of its end."""
        if self.lives:
            threading.Thread(target=self.process.wait, daemon=True).start()

    async def attend(self) -> None:
        """Wait for its end, and take in what it said. Whoever cancels this lets it go on by itself."""
        try:
            while self.lives:  # noqa: ASYNC110  no event tells of the end of a process that may outlive this one
                await asyncio.sleep(LOOK)
            self.identifier = self.identifier or self._judged()
            self.ended = PassEnded(self.process.returncode, _end_of(self._err, LONGEST_WORDS))
        finally:
            self._out.close()
            self._err.close()
            self.questions.close()

    def _judged(self) -> str | None:
        """The pass that it says it has judged."""
        self._out.seek(0)
        try:
            said = msgspec.json.decode(self._out.read(), type=Said)
        except msgspec.DecodeError:  # it ended before that
            return None
        return said.row.id if said.row else None


def _end_of(file: IO[bytes], most: int) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 4 * most))
    return file.read().decode("utf-8", "replace").strip()[-most:]


class Passing:
    """The passes of this server: one at a time, as in every store. In the event loop only."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._child: Child | None = None
        self._attending: asyncio.Task[None] | None = None
        self._beginning = False
        self._ended: OrderedDict[str, PassEnded] = OrderedDict()

    async def begin(self, arguments: Sequence[str], settings: Settings) -> str:
        """Start a process with these arguments, and give the id of its pass once that has begun.

        Raises:
            InputError: a pass of this server is under way, or none began; the message is what the process said.
        """
        if self._beginning:
            raise InputError("a pass is just being started; one at a time")
        self._beginning = True
        try:
            await self._require_ended()
            child = self._child = Child(arguments, environment_for(settings))
            self._attending = asyncio.create_task(self._attend(child))
            return await self._begun(child)
        finally:
            self._beginning = False

    def child_of(self, identifier: str) -> Child | None:
        """The living process of this server that judges a pass."""
        child = self._child
        return child if child is not None and child.identifier == identifier and child.lives else None

    def judging(self, identifier: str) -> Answer | None:
        """What a pass of this server is judging right now; in any thread, as it asks the process and waits for it."""
        child = self.child_of(identifier)
        try:
            return child.questions.ask() if child else None
        except OutsideError:  # it has just ended
            return None

    def questions_of(self, identifier: str) -> Questions:
        """How the process that judges a pass is asked. Raises InputError as `stop`."""
        return self._judging(identifier).questions

    def ended(self, identifier: str) -> PassEnded | None:
        """How the last process of this server for a pass ended, if there was one."""
        return self._ended.get(identifier)

    def stop(self, identifier: str) -> None:
        """Ask the process that judges a pass to end; asked once more, it ends at once.

        Raises:
            InputError: no process of this server judges it. One that somebody else started is never signalled.
        """
        self._judging(identifier).stop()

    def _judging(self, identifier: str) -> Child:
        child = self.child_of(identifier)
        if child is None:
            raise InputError(f"pass {identifier} is not judged by a process that this server started")
        return child

    async def close(self) -> None:
        """Ask what is under way to end, as the server does."""
        if self._child is None or self._attending is None:
            return
        if self._child.lives and not self._child.asked:
            self._child.stop()
        await asyncio.wait([self._attending], timeout=PARTING)
        self._attending.cancel()
        await asyncio.wait([self._attending])
        self._child.leave()

    async def _require_ended(self) -> None:
        """Do nothing if no process of this server judges. One that has let go of the lock takes a moment to end."""
        child, attending = self._child, self._attending
        if child is None or attending is None or not child.lives:
            return
        if child.identifier is not None and not child.is_(await asyncio.to_thread(self._store.passes.holder)):
            await asyncio.wait([attending], timeout=ENDING)
        if child.lives:
            raise InputError("a pass of this server is under way; one at a time, so wait for it or stop it")

    async def _begun(self, child: Child) -> str:
        ends = time.monotonic() + PATIENCE
        while child.lives and time.monotonic() < ends:
            holder = await asyncio.to_thread(self._store.passes.holder)
            if holder is not None and child.is_(holder) and holder.what.startswith("p-"):
                child.identifier = holder.what
                return holder.what
            await asyncio.sleep(LOOK)
        if child.lives:
            raise InputError("the pass has not begun yet; the list of passes shows it as soon as it has")
        assert self._attending is not None
        await asyncio.wait([self._attending])
        if child.identifier is None:
            raise InputError(_why(child))
        return child.identifier

    async def _attend(self, child: Child) -> None:
        """Wait for the end of a process, and remember how it ended."""
        await child.attend()
        if child.identifier is not None and child.ended is not None:
            self._ended[child.identifier] = child.ended
            self._ended.move_to_end(child.identifier)
            while len(self._ended) > MOST_ENDED:
                self._ended.popitem(last=False)


def _why(child: Child) -> str:
    """Why a process ended before its pass began."""
    said = child.ended.words if child.ended else ""
    return said or f"the process ended with status {child.process.returncode} and said nothing"


def environment_for(settings: Settings) -> dict[str, str]:
    """The server's own environment, and where the store is: not as arguments, since a URL may hold a password."""
    kept = {name: value for name, value in os.environ.items() if name not in UNSENT}
    blobs = {"ADJUDGE_BLOBS": settings.blobs} if settings.blobs else {}
    return {**kept, "ADJUDGE_STORE": settings.store, **blobs}
