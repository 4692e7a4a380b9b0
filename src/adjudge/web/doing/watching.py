"""Watching a pass: one look at the store now and then for all who watch it, as long as anybody does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, suppress

from adjudge.errors import InputError, OutsideError
from adjudge.web.queries.pass_now import PassNow

EVERY = 1.0
"""Seconds between two looks."""
SHARE = 20
"""For how many times as long as a look takes no other is made: looking takes at most a twenty-first of one core."""
MOST_WATCHING = 100
"""Who may watch at a time, all passes together."""

Look = Callable[[str], PassNow]
"""Looks where a pass stands; in a thread, as it reads the store."""


def wait_after(seconds: float) -> float:
    """How long to wait after a look that took so long."""
    return max(EVERY, SHARE * seconds)


class Watch:
    """One pass that is watched."""

    def __init__(self, identifier: str, look: Look, wait: Callable[[float], float]) -> None:
        self._identifier, self._look, self._wait = identifier, look, wait
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.latest: PassNow | None = None
        self.watching = self.looks = 0

    async def follow(self) -> AsyncIterator[PassNow]:
        """Where it stands, now and whenever that has changed, until nothing goes on any more."""
        self.watching += 1
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._go_on())
        seen: PassNow | None = None
        try:
            while True:
                changed = self._changed
                if self.latest is not None and self.latest != seen:
                    seen = self.latest
                    yield seen
                elif self._task.done():
                    return
                else:
                    await changed.wait()
        finally:
            self.watching -= 1
            if not self.watching:
                self._task.cancel()

    def end(self) -> None:
        """Look no more: whoever follows has seen the last."""
        if self._task is not None:
            self._task.cancel()

    async def _go_on(self) -> None:
        try:
            while not (await self._looked()):
                pass
        finally:
            self._changed.set()

    async def _looked(self) -> bool:
        """Look once, wait, and say whether it is over."""
        began = time.monotonic()
        with suppress(OutsideError):  # the store's disk or database is away: those who watch are not sent off for it
            self._note(await asyncio.to_thread(self._look, self._identifier))
        if self.latest is not None and not self.latest.under_way:
            return True
        await asyncio.sleep(self._wait(time.monotonic() - began))
        return False

    def _note(self, now: PassNow) -> None:
        self.looks += 1
        self.latest = now
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


class Watches:
    """All passes that are watched. In the event loop only."""

    def __init__(self, look: Look, wait: Callable[[float], float] = wait_after) -> None:
        self._look, self._wait = look, wait
        self._watches: dict[str, Watch] = {}
        self._closed = False

    def latest(self, identifier: str) -> PassNow | None:
        """Where a pass stood when it was looked at last, if it is watched."""
        watch = self._watches.get(identifier)
        return watch.latest if watch else None

    def require_room(self) -> None:
        """Do nothing if one more may watch. Raises InputError if not."""
        if sum(watch.watching for watch in self._watches.values()) >= MOST_WATCHING:
            raise InputError(f"{MOST_WATCHING} windows watch passes already; load the page anew to see more")

    def close(self) -> None:
        """Let go of everybody who watches, and of whoever comes now."""
        self._closed = True
        for watch in self._watches.values():
            watch.end()

    async def follow(self, identifier: str) -> AsyncIterator[PassNow]:
        """Where a pass stands, as it changes."""
        if self._closed:
            return
        watch = self._watches.setdefault(identifier, Watch(identifier, self._look, self._wait))
        try:
            async with aclosing(watch.follow()) as changes:  # type: ignore[type-var]  # an async generator
                async for now in changes:
                    yield now
        finally:
            if not watch.watching and self._watches.get(identifier) is watch:
                del self._watches[identifier]
