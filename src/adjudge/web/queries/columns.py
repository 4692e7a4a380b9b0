"""What a run's turns consumed, in columns that a chart has room for."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from adjudge.record import Turn

COLUMNS = 280
"""Columns at most; of a longer run each stands for several turns."""


class Column(msgspec.Struct, frozen=True):
    """Turns `first` to `last`: the largest prompt among them and how much of that came from a cache, in tokens.

    `spent` is the sum of what they cost in US dollars, or of the tokens that came out where no cost is known.
    """

    first: int
    last: int
    prompt: int
    cached: int
    spent: float


class Columns(msgspec.Struct, frozen=True):
    """All columns. `priced` says that what was spent is in US dollars."""

    columns: tuple[Column, ...]
    priced: bool


def columns_of(turns: Sequence[Turn]) -> Columns:
    """The columns of a record's turns; none of a record without turns."""
    priced = any(turn.usage is not None and turn.usage.cost is not None for turn in turns)
    each = max(1, -(-len(turns) // COLUMNS))
    parts = (turns[at : at + each] for at in range(0, len(turns), each))
    return Columns(tuple(_column(part, priced) for part in parts), priced)


def _column(turns: Sequence[Turn], priced: bool) -> Column:
    used = [turn.usage for turn in turns if turn.usage is not None]
    largest = max(used, key=lambda usage: usage.prompt or 0, default=None)
    prompt = (largest.prompt or 0) if largest else 0
    cached = min((largest.cached or 0) if largest else 0, prompt)
    spent = sum((usage.cost if priced else usage.output) or 0 for usage in used)
    return Column(turns[0].number, turns[-1].number, prompt, cached, spent)
