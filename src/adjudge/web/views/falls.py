"""How one criterion or dimension falls in some judgments: drawn, and in words."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from markupsafe import Markup

from adjudge.exports.html.verdicts import CAUSES
from adjudge.passes.results import CriterionResult, DimensionResult, Group
from adjudge.rubric import Criterion, Dimension
from adjudge.statistics import Interval
from adjudge.web.views.bars import bar_of_criterion, bar_of_dimension, quartiles


class Fall(msgspec.Struct, frozen=True):
    """The bar, the share with its interval, and the rest in words; `apart` is what is counted in no share."""

    svg: Markup
    share: str
    more: str
    apart: tuple[str, ...]


def fall_of(group: Group, at: int, item: Criterion | Dimension) -> Fall:
    """How the criterion or dimension at this place of the rubric falls in a group."""
    if isinstance(item, Dimension):
        return _of_dimension(group.dimensions[at], item, group.errored)
    return _of_criterion(group.criteria[at], group.errored)


def _of_dimension(found: DimensionResult, dimension: Dimension, errored: int) -> Fall:
    share = f"{found.worse:,} of {found.scored:,} worse{_interval(found.share)}" if found.scored else "no value"
    return Fall(bar_of_dimension(found, dimension, errored), share, _spread(found, dimension), tuple(_without(found)))


def _spread(found: DimensionResult, dimension: Dimension) -> str:
    if not found.values:
        return ""
    if dimension.scale.whole and dimension.scale.most - dimension.scale.least <= 6:
        told = [f"{count:,} at {value:g}" for value, count in found.values if dimension.accuses(value)]
        return ", ".join(told)
    low, middle, high = quartiles(found.values)
    return f"median {middle:.2f}, middle half {low:.2f} to {high:.2f}"


def _without(found: DimensionResult) -> Iterator[str]:
    for name in ("evidence_missing", "missing_reasoning", "unanswered", "not_established"):
        if count := getattr(found, name):
            yield f"{count:,} {name}"


def _of_criterion(found: CriterionResult, errored: int) -> Fall:
    share = f"{found.passed:,} of {found.judged:,} pass{_interval(found.share)}" if found.judged else "no answer"
    causes = tuple(f"{count:,} {CAUSES.get(cause, 'decided by a probe')}" for cause, count in found.causes.items() if count)
    return Fall(bar_of_criterion(found, errored), share, "", causes)


def _interval(share: Interval | None) -> str:
    return "" if share is None else f", {share.low:.2f} to {share.high:.2f}"
