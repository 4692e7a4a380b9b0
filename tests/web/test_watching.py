"""However many watch a pass, the store is looked at once, and only as long as anybody watches."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterator
from typing import cast

import msgspec
import pytest

from adjudge.errors import InputError, OutsideError
from adjudge.store.pass_rows import PassRow
from adjudge.web.doing.watching import EVERY, MOST_WATCHING, Look, Watches, wait_after
from adjudge.web.queries.pass_now import PassNow

ROW = PassRow(
    *("p-1", "2026", "r", "0", "reader", "m", "1", 9, "running", None, "2026", None, 0.0),
    *(0, 0, 0, 0.0, 0),
)
NOW = PassNow(ROW, "running", True, {}, 0.0, None, None, 0, 0, ())


def at(landed: int, under_way: bool = True) -> PassNow:
    row = msgspec.structs.replace(ROW, landed=landed, status="running" if under_way else "finished")
    return msgspec.structs.replace(NOW, row=row, standing=row.status, under_way=under_way)


class Looked:
    """A pass that lands one judgment a look, and ends when all have landed; counts the looks."""

    def __init__(self, selected: int = 9) -> None:
        self.looks, self._selected = 0, selected

    def __call__(self, identifier: str) -> PassNow:
        assert threading.current_thread() is not threading.main_thread()
        self.looks += 1
        over = self.looks >= self._selected
        return at(self.looks, under_way=not over)


def watches_of(look: Look) -> Watches:
    """Watches that hardly wait."""
    return Watches(look, lambda _: 0.01)


async def seen(watches: Watches) -> list[int]:
    return [now.row.landed async for now in watches.follow("p-1")]


async def test_twenty_who_watch_make_no_more_looks_than_one() -> None:
    look = Looked()
    watches = watches_of(look)
    all_of_them = await asyncio.wait_for(asyncio.gather(*(seen(watches) for _ in range(20))), 10)
    assert look.looks == 9
    assert all(each[-1] == 9 and each == sorted(set(each)) for each in all_of_them)
    assert watches.latest("p-1") is None


async def test_when_the_last_one_leaves_nobody_looks_any_more() -> None:
    look = Looked(1_000_000)
    watches = watches_of(look)
    following = [cast("AsyncGenerator[PassNow, None]", watches.follow("p-1")) for _ in range(3)]
    for each in following:
        await anext(each)
    assert watches.latest("p-1") is not None
    for each in following:
        await each.aclose()
    looks = look.looks
    await asyncio.sleep(0.1)
    assert look.looks <= looks + 1  # the one that was under way
    assert watches.latest("p-1") is None


async def test_what_has_not_changed_is_not_said_again() -> None:
    stands = iter([NOW, NOW, NOW, at(1), at(0, under_way=False)])
    watches = watches_of(lambda _: next(stands))
    assert [(now.row.landed, now.under_way) async for now in watches.follow("p-1")] == [(0, True), (1, True), (0, False)]


async def test_a_store_that_is_away_for_a_moment_sends_nobody_off() -> None:
    answers: Iterator[PassNow | OutsideError] = iter(
        [NOW, OutsideError("away"), OutsideError("away"), at(0, under_way=False)]
    )

    def look(_: str) -> PassNow:
        answer = next(answers)
        if isinstance(answer, OutsideError):
            raise answer
        return answer

    assert [now.under_way async for now in watches_of(look).follow("p-1")] == [True, False]


async def test_only_so_many_watch() -> None:
    watches = watches_of(Looked(1_000_000))
    following = [
        cast("AsyncGenerator[PassNow, None]", watches.follow(f"p-{number % 3}")) for number in range(MOST_WATCHING)
    ]
    for each in following:
        watches.require_room()
        await anext(each)
    with pytest.raises(InputError, match="windows watch passes already"):
        watches.require_room()
    for each in following:
        await each.aclose()
    watches.require_room()


async def test_the_end_of_the_server_lets_go_of_who_watches_and_of_who_comes_then() -> None:
    watches = watches_of(Looked(1_000_000))
    following = cast("AsyncGenerator[PassNow, None]", watches.follow("p-1"))
    await anext(following)
    watches.close()
    assert [now.under_way async for now in following if not now.under_way] == []
    assert [now async for now in watches.follow("p-1")] == []


@pytest.mark.parametrize(("took", "waits"), [(0.0, EVERY), (0.01, EVERY), (0.5, 10.0), (3.0, 60.0)])
def test_looking_takes_at_most_its_share_of_the_time(took: float, waits: float) -> None:
    assert wait_after(took) == waits
