"""How far a pass has come, in numbers that a display needs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

import msgspec

from adjudge.judgment import Judgment


class Progress(msgspec.Struct, frozen=True):
    """How far a pass has come since it was started or resumed.

    `landed` of `selected` judgments are stored, `before` of those when it began this time. `failures` counts what brought
    no verdict by kind, `empty` the readings without one value. `spent` is in US dollars. `rate` is in judgments a second
    and `left` in seconds, both `None` as long as nothing tells. `limit` says how many may be under way now.
    """

    selected: int
    before: int
    landed: int
    under_way: int
    limit: int
    failures: dict[str, int]
    empty: int
    spent: float
    seconds: float
    rate: float | None
    left: float | None


class Tally:
    """Counts what lands."""

    def __init__(self, selected: int, before: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._selected, self._before, self._clock = selected, before, clock
        self._began = clock()
        self._failures: Counter[str] = Counter()
        self.landed = self._empty = 0

    def count(self, judgment: Judgment) -> None:
        """Count one that has landed."""
        self.landed += 1
        self._empty += judgment.empty
        if judgment.status == "errored":
            self._failures[judgment.failure or "machine"] += 1

    def progress(self, under_way: int, limit: int, spent: float) -> Progress:
        """The numbers of this moment."""
        seconds = self._clock() - self._began
        rate = self.landed / seconds if self.landed and seconds > 0 else None
        landed = self._before + self.landed
        left = (self._selected - landed) / rate if rate else None
        return Progress(
            self._selected,
            self._before,
            landed,
            under_way,
            limit,
            dict(self._failures),
            self._empty,
            spent,
            seconds,
            rate,
            left,
        )
