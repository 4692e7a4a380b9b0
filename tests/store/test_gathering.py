from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future

import pytest

from adjudge.errors import InputError, OutsideError
from adjudge.store import gathering
from adjudge.store.gathering import Gathered


class Doing:
    """Notes each group; a test answers it."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.futures: list[Future[Sequence[BaseException | None]]] = []
        self.gathered = Gathered[int](self._do)
        self._came = asyncio.Event()

    def _do(self, works: Sequence[int]) -> Future[Sequence[BaseException | None]]:
        self.groups.append(list(works))
        self.futures.append(Future())
        self._came.set()
        return self.futures[-1]

    def ask(self, *works: int) -> list[asyncio.Task[None]]:
        return [asyncio.create_task(self.gathered.done(work)) for work in works]

    async def until(self, groups: int) -> None:
        while len(self.groups) < groups:
            self._came.clear()
            await self._came.wait()

    def answer(self, *failures: BaseException | None) -> None:
        """Answer the last group; without failures all went well."""
        self.futures[-1].set_result(failures or [None] * len(self.groups[-1]))


@pytest.fixture
def doing(monkeypatch: pytest.MonkeyPatch) -> Doing:
    monkeypatch.setattr(gathering, "PAUSE", 0.01)
    return Doing()


async def test_what_comes_while_a_group_is_done_is_done_together_in_its_order(doing: Doing) -> None:
    first = doing.ask(1)
    await doing.until(1)
    later = doing.ask(2, 3, 4)
    await asyncio.sleep(0)
    doing.answer()
    await doing.until(2)
    assert doing.groups == [[1], [2, 3, 4]]
    assert first[0].done()
    assert not any(task.done() for task in later)
    doing.answer()
    await asyncio.gather(*first, *later)


async def test_what_comes_alone_does_not_wait(doing: Doing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "PAUSE", 60.0)
    task = doing.ask(1)
    async with asyncio.timeout(10):
        await doing.until(1)
        doing.answer()
        await asyncio.gather(*task)


async def test_what_comes_soon_after_a_group_waits_for_company(doing: Doing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "PAUSE", 0.2)
    first = doing.ask(1)
    await doing.until(1)
    doing.answer()
    await asyncio.gather(*first)
    second = doing.ask(2)
    await asyncio.sleep(0.01)
    third = doing.ask(3)
    await doing.until(2)
    assert doing.groups == [[1], [2, 3]]
    doing.answer()
    await asyncio.gather(*second, *third)


async def test_each_hears_of_its_own_failure(doing: Doing) -> None:
    good, bad = doing.ask(1, 2)
    await doing.until(1)
    doing.answer(None, InputError("not this one"))
    await good
    with pytest.raises(InputError, match="not this one"):
        await bad


async def test_what_went_wrong_for_all_is_heard_by_all(doing: Doing) -> None:
    tasks = doing.ask(1, 2)
    await doing.until(1)
    doing.futures[0].set_exception(OutsideError("the disk failed"))
    for task in tasks:
        with pytest.raises(OutsideError, match="the disk failed"):
            await task


async def test_who_is_cancelled_before_it_begins_is_left_out_and_afterwards_stops_nobody(doing: Doing) -> None:
    early, going, late = doing.ask(1, 2, 3)
    await asyncio.sleep(0)
    early.cancel()
    await doing.until(1)
    assert doing.groups == [[2, 3]]
    late.cancel()
    doing.answer()
    await going
    assert [task.cancelled() for task in await asyncio.wait_for(ended(early, late), 10)] == [True, True]


async def ended(*tasks: asyncio.Task[None]) -> Sequence[asyncio.Task[None]]:
    await asyncio.wait(tasks)
    return tasks


async def test_a_group_has_a_bound(doing: Doing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "MOST", 2)
    tasks = doing.ask(1, 2, 3)
    for number in (1, 2):
        await doing.until(number)
        doing.answer()
    await asyncio.gather(*tasks)
    assert doing.groups == [[1, 2], [3]]
