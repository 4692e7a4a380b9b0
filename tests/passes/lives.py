"""Lives: processes that take a pass up and judge, forked so that each costs milliseconds, and what becomes of them."""

from __future__ import annotations

import asyncio
import os
import select
import shutil
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import alembic.command  # so that killed processes die while they migrate, not while they import  # noqa: F401
from tests.passes.audit import Place, audited
from tests.passes.provider import JUDGE, RUBRIC, Bill, BilledWork, billed
from tests.store.trials import a_run

from adjudge.cli import passes as command
from adjudge.cli import passing, printing  # noqa: F401  as alembic
from adjudge.errors import OutsideError
from adjudge.judgment import Judgment
from adjudge.passes.engine import Bounds, Engine, Stop
from adjudge.passes.progress import Progress
from adjudge.store.faults import LockHeldError
from adjudge.store.locks import LEASE
from adjudge.store.pass_rows import PassItem
from adjudge.store.passes import PassWriter
from adjudge.store.store import Store, open_store
from adjudge.wiring.passes import Ended

AT_ONCE = 8
RUNS = tuple(f"r-{number}" for number in range(60))
PATIENCE = 20.0
"""Seconds after which a life that should end, or say something, counts as hanging."""


class Reported(PassWriter):
    """Reports each judgment by its id once it is acknowledged."""

    def __init__(self, held: PassWriter, report: int) -> None:
        vars(self).update(vars(held))
        self._report = report

    async def land(self, identifier: str, item: PassItem, judgment: Judgment, unseen: float = 0.0) -> None:
        await super().land(identifier, item, judgment, unseen)
        os.write(self._report, f"{judgment.id}\n".encode())


def live(
    place: Place, bill: Path, name: str, report: int, latency: float = 0.006, lease: float = LEASE, waits: bool = False
) -> int:
    """One life, to its exit status."""
    with open_store(place.store, place.apart) as store:
        writer = Reported(hold(store, name, lease, waits), report)
        os.write(report, b"held\n")
        work = BilledWork(Bill(bill), name, latency)

        async def judge(bounds: Bounds, stop: Stop, show: Callable[[Progress], None]) -> Ended:
            try:
                identifier = await asyncio.to_thread(taken_up, store, writer)
                os.write(report, b"under way\n")
                ending = await Engine(writer, store.passes.row(identifier), work, bounds, stop, show).run()
                return Ended(store.passes.row(identifier), ending)
            finally:
                await asyncio.to_thread(writer.release)
                await work.close()

        return command._conduct(judge, AT_ONCE, None, True)


def hold(store: Store, name: str, lease: float, waits: bool) -> PassWriter:
    """Become the writer: at once, or as soon as the lock can be had."""
    ends = time.monotonic() + PATIENCE
    while True:
        try:
            return store.passes.hold(f"life {name}", lease)
        except LockHeldError:
            if not waits or time.monotonic() > ends:
                raise
        time.sleep(0.01)


def taken_up(store: Store, writer: PassWriter) -> str:
    unfinished = [row.id for row in store.passes.rows() if row.status != "finished"]
    if not unfinished:
        return writer.begin(JUDGE, {}, RUBRIC, RUNS)
    writer.reopen(unfinished[0])
    return unfinished[0]


def fill_store(place: Place, filled: Path) -> None:
    """Keep the runs there: in a folder by a copy, as bringing each of them to the disk takes a while."""
    if "://" not in place.store and filled.is_dir():
        shutil.copytree(filled, place.store)
        return
    with open_store(place.store, place.apart) as store:
        for name in RUNS:
            store.add_run(a_run(name[2:], 100))


# --- lives, from outside


class Life:
    """A forked process, and what it has reported so far."""

    def __init__(self, what: Callable[[int], int]) -> None:
        self._reading, writing = os.pipe()
        self.process = os.fork()
        if not self.process:
            os.close(self._reading)
            _end_with(what, writing)
        os.close(writing)
        self.said, self._rest, self._ended = list[str](), b"", False

    @property
    def saved(self) -> list[str]:
        return [line for line in self.said if line.startswith("j-")]

    def hear(self, lines: int) -> None:
        """Wait until it has reported so many lines, or has ended."""
        while len(self.said) < lines and not self._ended:
            self._take()

    def _take(self) -> None:
        ready, _, _ = select.select([self._reading], [], [], PATIENCE)
        assert ready, f"nothing was heard for {PATIENCE} s after {self.said[-1:]}"
        came = os.read(self._reading, 65536)
        self._ended = not came
        *lines, self._rest = (self._rest + came).split(b"\n")
        self.said += [line.decode() for line in lines]

    def end(self, *signals: int) -> int:
        """Send these signals, wait for its end, and give its exit status, negative for a signal."""
        for number in signals:
            os.kill(self.process, number)
        while not self._ended:
            self._take()
        self.process, process = 0, self.process
        os.close(self._reading)
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

    def cut_off(self) -> None:
        """Let nothing be left of it, if it was not waited for."""
        if self.process:
            self.end(signal.SIGKILL)


def _end_with(what: Callable[[int], int], writing: int) -> None:
    """Do it, tell an error's name and words, and leave with the status that the command line would leave with."""
    status = 4
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = what(writing)
    except OutsideError as error:
        os.write(writing, f"{type(error).__name__}: {error}\n".encode())
        status = 3
    except BaseException:  # noqa: BLE001  whatever it is, the test shows it
        traceback.print_exc()
    finally:
        os._exit(status)


class Trial:
    """Lives in one store, one after the other, held against what was acknowledged and billed."""

    def __init__(self, place: Place, bill: Path, filled: Path) -> None:
        self.place, self.bill, self.waits = place, bill, "://" in place.store
        self.began = time.monotonic()
        self.lives, self.statuses, self.errors = 0, dict[int, int](), list[str]()
        self.saved, self.missing, self.undercounted = 0, list[str](), 0.0
        self.slowest = 0.0
        fill_store(place, filled)

    @contextmanager
    def life(self, **how: Any) -> Iterator[Life]:
        self.lives += 1
        name = f"{self.lives}"
        life = Life(lambda report: live(self.place, self.bill, name, report, waits=self.waits, **how))
        try:
            yield life
        finally:
            life.cut_off()

    def ended(self, life: Life, status: int) -> None:
        """Note how it ended, and look at once for what is missing."""
        self.statuses[status] = self.statuses.get(status, 0) + 1
        self.errors += [line for line in life.said if "Error" in line]
        there = {identifier for (identifier,) in self.place.rows("SELECT id FROM judgments")} if life.saved else set()
        self.saved += len(life.saved)
        self.missing += [name for name in life.saved if name not in there]
        bill = sum(call["price"] for call in billed(self.bill))
        self.undercounted = max(self.undercounted, bill - self.place.spend())

    def finish(self) -> int:
        """Go on until nothing is left; gives the last life's exit status."""
        for _ in range(10):
            with self.life() as life:
                self.ended(life, status := life.end())
            if not self.unfinished():
                return status
        raise AssertionError(f"the pass does not come to its end: {self.errors[-3:]}")

    def unfinished(self) -> bool:
        return bool(self.place.rows("SELECT id FROM passes WHERE status <> 'finished'"))

    def result(self) -> dict[str, Any]:
        return {
            **audited(self.place, self.bill),
            "lives": self.lives,
            "ends": {str(status): number for status, number in sorted(self.statuses.items())},
            "errors": self.errors,
            "saved": self.saved,
            "seconds": time.monotonic() - self.began,
            "missing": self.missing,
            "undercounted": self.undercounted,
        }
