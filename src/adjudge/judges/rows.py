"""What all judges write the same way: who judged what, and when."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any, get_args

from adjudge import __version__
from adjudge.errors import ModelError
from adjudge.judgment import Failure, Judge, Judgment
from adjudge.rubric import Rubric
from adjudge.run import Run

Clock = Callable[[], datetime]

VERSION = __version__


def utc_now() -> datetime:
    """The time of day, with its zone."""
    return datetime.now(UTC)


def failure_of(error: ModelError) -> Failure:
    """The sort of failure under which a judgment is kept for which no model could be had."""
    kinds: dict[str, Failure] = {kind: kind for kind in get_args(Failure)}
    return kinds.get(error.kind, "broken")


class Row:
    """A judgment that has begun: what is known of it before anything is judged."""

    def __init__(self, judge: Judge, run: Run, rubric: Rubric | None, clock: Clock = utc_now) -> None:
        self._judge, self._run, self._rubric = judge, run, rubric
        self._started, self._began = clock().isoformat(timespec="milliseconds"), time.monotonic()

    def judged(self, **found: Any) -> Judgment:
        """The judgment, with these fields of what was found."""
        return self._judgment(status="judged", **found)

    def errored(self, reason: str, **found: Any) -> Judgment:
        """The judgment that could not be had, with one sentence why, and no score."""
        return self._judgment(status="errored", reason=reason, **found)

    def _judgment(self, **found: Any) -> Judgment:
        return Judgment(
            id=f"j-{token_hex(8)}",
            run=self._run.id,
            rubric=self._rubric.name if self._rubric else None,
            rubric_hash=self._rubric.hash if self._rubric else None,
            judge=self._judge,
            started=self._started,
            seconds=round(time.monotonic() - self._began, 3),
            **found,
        )
