"""The seam between a pass and whatever does its judging: this process, or the workers of a cluster."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from adjudge.judgment import Judgment
from adjudge.store.pass_rows import PassItem

Paying = Callable[[float | None], Awaitable[None]]
"""Awaited before each call to a model, with the most that it may cost in US dollars, `None` where no price is known.

It raises ModelError (kind `budget`) if the call may not be made.
"""


class Work(Protocol):
    """Judges runs, many at a time."""

    async def judge(self, item: PassItem, paying: Paying) -> Judgment:
        """Judge one run. What goes wrong with it or its model becomes a judgment that says so.

        Raises:
            OutsideError: the run cannot be read, or the worker was lost; the run stays unjudged.
            InputError: a newer adjudge wrote the run.
        """

    async def close(self) -> None:
        """Let go of models and workers."""
