"""JSON Lines: a judgment or a row of a table in each, as stored, with untrusted text as it may be shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import msgspec

from adjudge.exports.table import Row
from adjudge.judgment import Judgment
from adjudge.reviews.values import Review
from adjudge.untrusted import shown

REPEATED = 500
"""Texts of which it is remembered how they are shown; more than the columns of a row."""


def json_lines(judgments: Iterable[Judgment]) -> Iterator[str]:
    """One line of JSON for each judgment, without its line end. Fields at their default are left out."""
    for judgment in judgments:
        yield msgspec.json.encode(_shown(msgspec.to_builtins(judgment))).decode()


def row_lines(rows: Iterable[Row]) -> Iterator[str]:
    """One line of JSON for each row of a table, without its line end, with every field."""
    show = lru_cache(REPEATED)(shown)  # most texts of a row stand in the row before it
    for row in rows:
        yield msgspec.json.encode(_shown(msgspec.to_builtins(row), show)).decode()


def review_lines(reviews: Iterable[Review]) -> Iterator[str]:
    """One line of JSON for each review, without its line end, with every field."""
    for review in reviews:
        yield msgspec.json.encode(_shown(msgspec.structs.asdict(review))).decode()


def _shown(value: Any, show: Callable[[str], str] = shown) -> Any:
    """The JSON value with each of its texts, names included, as it may be shown."""
    if isinstance(value, str):
        return show(value)
    if isinstance(value, dict):
        return {show(key): _shown(item, show) for key, item in value.items()}
    return [_shown(item, show) for item in value] if isinstance(value, list | tuple) else value
