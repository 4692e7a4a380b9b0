"""Work that many tasks ask for, gathered for a moment and done together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

Work = TypeVar("Work")

PAUSE = 0.05
"""Seconds from one group to the next: work that comes alone waits for nothing."""

MOST = 256
"""Pieces of work in a group."""

Do = Callable[[Sequence[Work]], Future[Sequence[BaseException | None]]]
"""Begins to do them together; the future tells of each what went wrong, or raises what did for all."""


class Gathered(Generic[Work]):
    """Does work of the tasks of one event loop, in the order in which it came."""

    def __init__(self, do: Do[Work]) -> None:
        self._do = do
        self._waiting: list[tuple[Work, asyncio.Future[None]]] = []
        self._doing: asyncio.Task[None] | None = None
        self._next = 0.0

    async def done(self, work: Work) -> None:
        """Wait until it is done, and raise what went wrong. If the task is cancelled before it is begun, it is left out."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((work, future))
        if self._doing is None or self._doing.done():
            self._doing = asyncio.create_task(self._do_all())
        await future

    async def _do_all(self) -> None:
        while self._waiting:
            await asyncio.sleep(self._next - asyncio.get_running_loop().time())
            group, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
            self._next = asyncio.get_running_loop().time() + PAUSE
            if wanted := [(work, future) for work, future in group if not future.cancelled()]:
                await self._do_group(wanted)

    async def _do_group(self, group: Sequence[tuple[Work, asyncio.Future[None]]]) -> None:
        failures: Sequence[BaseException | None]
        try:
            failures = await asyncio.wrap_future(self._do([work for work, _ in group]))
        except Exception as failure:  # noqa: BLE001  whatever it is, whoever waits must hear of it
            failures = [failure] * len(group)
        for (_, future), failed in zip(group, failures, strict=True):
            if future.done():  # cancelled meanwhile
                continue
            future.set_exception(failed) if failed else future.set_result(None)
