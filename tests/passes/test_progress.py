from __future__ import annotations

import msgspec
from tests.passes.provider import judgment

from adjudge.judgment import Score
from adjudge.passes.progress import Tally


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_nothing_is_told_of_rate_and_time_before_something_landed() -> None:
    clock = Clock()
    tally = Tally(10, 4, clock)
    clock.now = 107.0
    told = tally.progress(3, 16, 0.5)
    assert (told.landed, told.before, told.selected, told.under_way, told.limit, told.spent) == (4, 4, 10, 3, 16, 0.5)
    assert (told.rate, told.left, told.seconds) == (None, None, 7.0)


def test_the_rate_is_that_of_this_time_and_gives_the_time_left() -> None:
    clock = Clock()
    tally = Tally(10, 4, clock)
    for _ in range(3):
        tally.count(judgment("a", "r-1", []))
    clock.now = 106.0
    told = tally.progress(0, 16, 0.0)
    assert (told.landed, told.rate, told.left) == (7, 0.5, 6.0)


def test_failures_are_counted_by_kind_and_empty_readings_too() -> None:
    tally = Tally(10, 0)
    late = judgment("a", "r-1", [], timeout=True)
    tally.count(late)
    tally.count(late)
    tally.count(msgspec.structs.replace(late, failure=None))  # a machine that failed has no kind of its own
    tally.count(msgspec.structs.replace(judgment("a", "r-1", []), scores=(Score("d", None, "nothing"),)))
    told = tally.progress(0, 1, 0.0)
    assert (told.failures, told.empty, told.landed) == ({"timeout": 2, "machine": 1}, 1, 4)
