"""The engine of a pass: takes its runs in order, keeps a bounded number under way, and lands what comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

import msgspec

from adjudge.errors import AdjudgeError, OutsideError
from adjudge.judgment import Judgment
from adjudge.passes.account import Account
from adjudge.passes.breaker import Breaker
from adjudge.passes.pace import Pace
from adjudge.passes.progress import Progress, Tally
from adjudge.passes.work import Work
from adjudge.store.locks import LEASE
from adjudge.store.pass_rows import PassItem, PassRow, PassStatus
from adjudge.store.passes import PassWriter

PAGE = 500
"""Runs that are read from the store at once."""

LOST = 8
"""Runs in a row that could not be judged at all, as their worker or their record was lost, after which a pass ends."""


class Bounds(msgspec.Struct, frozen=True):
    """How much may be under way at once, how long that may take to land once the pass shall end, and what all may cost.

    `grace` is in seconds, `cost` in US dollars, `beat` the seconds between two signs of life, `lag` those after which lists
    show what has landed.
    """

    at_once: int = 16
    grace: float = 30.0
    cost: float | None = None
    beat: float = LEASE / 4
    lag: float = 2.0


class Ending(msgspec.Struct, frozen=True):
    """How a pass ended, and why, if it did not come to its end. `lost` counts runs that could not be judged at all."""

    status: PassStatus
    reason: str | None
    progress: Progress
    lost: int


class Stop:
    """A wish that a pass end, from a signal or a person. `now` says that what is under way shall not be waited for."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.now = asyncio.Event()

    def ask(self) -> None:
        """Ask once to end, twice to end now."""
        (self.now if self.asked.is_set() else self.asked).set()


class Engine:
    """Judges what is left of one pass."""

    def __init__(
        self,
        writer: PassWriter,
        row: PassRow,
        work: Work,
        bounds: Bounds,
        stop: Stop,
        on_progress: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        self._writer, self._pass, self._work, self._bounds, self._stop = writer, row.id, work, bounds, stop
        self._on_progress = on_progress
        self._pace, self._breaker = Pace(bounds.at_once), Breaker()
        self._tally = Tally(row.selected, row.landed)
        self._account = Account(row.cost + row.lost, bounds.cost, self._reserved)
        self._under_way: set[asyncio.Task[None]] = set()
        self._failure: BaseException | None = None
        self._changed = asyncio.Event()
        self._lost = self._lost_in_a_row = 0
        self._why: str | None = None
        self._last_lost = ""

    async def run(self) -> Ending:
        """Judge until all is done or something ends it; write how it ended.

        Raises:
            OutsideError: the store failed, or the lock was lost. The pass is written as failed, if that can be.
        """
        every = self._every(self._bounds.beat, self._writer.beat), self._every(self._bounds.lag, self._writer.catch_up)
        signs = *every, self._heed(self._stop.asked), self._heed(self._stop.now)
        watching = [asyncio.create_task(each) for each in signs]
        try:
            await self._admit()
            await self._settle()
        except OutsideError as failure:
            self._note_failure(failure)
        finally:
            for task in watching:
                task.cancel()
            await self._abandon()
        if self._failure is not None:
            await self._fail(self._failure)
        status, reason = self._status()
        await asyncio.to_thread(self._writer.end, self._pass, status, reason)
        return Ending(status, reason, self._progress(), self._lost)

    # --- admission

    async def _admit(self) -> None:
        """Start one after another, as many at once as the pace allows, until none is left or the pass shall end."""
        async for item in self._items():
            await self._turn_of_one()
            if self._ending() or not self._has_room():
                return
            task = asyncio.create_task(self._one(item))
            self._under_way.add(task)
            task.add_done_callback(self._ended)

    async def _items(self) -> AsyncIterator[PassItem]:
        last = -1
        while items := await asyncio.to_thread(self._writer.open_items, self._pass, last, PAGE):
            for item in items:
                yield item
            last = items[-1].position

    async def _turn_of_one(self) -> None:
        while len(self._under_way) >= self._pace.limit and not self._ending():
            await self._change()

    async def _change(self, seconds: float | None = None) -> None:
        """Wait until something under way ends, the pass is asked to end or fails, or the seconds are over."""
        self._changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()

    async def _heed(self, wish: asyncio.Event) -> None:
        await wish.wait()
        self._changed.set()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        self._changed.set()

    def _has_room(self) -> bool:
        """Whether the disk has room for one more. If not, the pass ends while what is under way can still land."""
        try:
            self._writer.require_room()
        except OutsideError as failure:
            self._why = str(failure)
        return self._why is None

    def _ending(self) -> bool:
        return bool(
            self._stop.asked.is_set() or self._failure or self._breaker.tripped or self._account.exhausted or self._why
        )

    # --- one run

    async def _one(self, item: PassItem) -> None:
        """Judge one run and land it. Nothing escapes: what ends the pass is noted."""
        try:
            judgment = await self._judged(item)
            if judgment is not None:
                await self._land(item, judgment)
        except asyncio.CancelledError:
            raise
        except BaseException as failure:  # noqa: BLE001  a bug or a failed store ends the pass, loudly
            self._note_failure(failure)
        self._on_progress(self._progress())

    async def _judged(self, item: PassItem) -> Judgment | None:
        """The run's judgment, `None` if there can be none now."""

        async def paying(most: float | None) -> None:
            await self._account.reserve(item.position, most)

        try:
            judgment = await self._work.judge(item, paying)
        except AdjudgeError as error:
            self._note_lost(error)
            return None
        self._lost_in_a_row = 0
        # A judgment that the pass's own money ended before any call says nothing: the run stays unjudged.
        return None if judgment.failure == "budget" and self._account.exhausted and not judgment.calls else judgment

    def _note_lost(self, error: AdjudgeError) -> None:
        self._lost += 1
        self._lost_in_a_row += 1
        self._last_lost = str(error)
        if self._lost_in_a_row >= LOST:
            self._why = f"{self._lost_in_a_row} runs in a row could not be judged, the last one so: {error}"

    async def _land(self, item: PassItem, judgment: Judgment) -> None:
        busy = judgment.failure == "busy" or any(call.busy for call in judgment.calls)
        self._pace.finished(busy, len(self._under_way) - 1)
        self._breaker.heed(judgment)
        unseen = self._account.unseen(item.position, judgment)
        landing = asyncio.ensure_future(self._writer.land(self._pass, item, judgment, unseen))
        try:
            await asyncio.shield(landing)
        except asyncio.CancelledError:
            await landing  # it was paid for, and a row takes milliseconds
        self._account.settle(item.position, judgment.usage().cost, unseen)
        self._tally.count(judgment)

    async def _reserved(self, position: int, dollars: float) -> None:
        try:
            await self._writer.reserve(self._pass, position, dollars)
        except OutsideError as failure:  # the store's failure, which a judge must not take for its model's
            self._note_failure(failure)
            raise

    # --- the end

    async def _settle(self) -> None:
        """Wait for what is under way: without a bound if the pass ran out of runs, else for the grace."""
        ends: float | None = None
        loop = asyncio.get_running_loop()
        while self._under_way and self._failure is None and not self._stop.now.is_set():
            if ends is None and self._ending():
                ends = loop.time() + self._bounds.grace
            left = None if ends is None else max(0.0, ends - loop.time())
            if left == 0.0:
                return
            await self._change(left)

    async def _abandon(self) -> None:
        """Cancel what is under way; judgments that are landing still do."""
        tasks = list(self._under_way)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _fail(self, failure: BaseException) -> None:
        with suppress(OutsideError):
            await asyncio.to_thread(self._writer.end, self._pass, "failed", str(failure))
        raise failure

    def _status(self) -> tuple[PassStatus, str | None]:
        if self._breaker.tripped:
            return "provider down", self._breaker.reason
        if self._account.exhausted:
            return "budget", self._account.exhausted
        if self._why:
            return "failed", self._why
        left = self._tally.progress(0, 0, 0.0)
        if left.landed < left.selected:
            lost = f"{self._lost} runs could not be judged, the last one so: {self._last_lost}"
            return "stopped", "it was asked to stop" if self._stop.asked.is_set() else lost
        return "finished", None

    async def _every(self, seconds: float, write: Callable[[], Awaitable[None]]) -> None:
        """Write something every so many seconds, also while nothing lands."""
        while True:
            await asyncio.sleep(seconds)
            try:
                await write()
            except Exception as failure:  # noqa: BLE001  as in _one
                self._note_failure(failure)
                return

    def _note_failure(self, failure: BaseException) -> None:
        """The first failure ends the pass at once."""
        self._failure = self._failure or failure
        self._changed.set()

    def _progress(self) -> Progress:
        return self._tally.progress(len(self._under_way), self._pace.limit, self._account.spent)
