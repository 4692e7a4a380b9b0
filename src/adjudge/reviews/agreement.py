"""What reviews come to: how often the judge is endorsed, and how far it agrees with who judged without seeing it.

All of it is counted from plain numbers. A pair is what one reviewer and the judge said of one item; several reviewers of an
item are several pairs. An interval takes each pair as independent of the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from adjudge.reviews.kappa import Kappa, Weighting, kappa, weights_for
from adjudge.rubric import Scale
from adjudge.statistics import MEANINGFUL, Interval, wilson

VERDICTS = Scale(0, 1)
"""Fail and pass, or worse and not worse than blameless, as numbers."""

MOST_CATEGORIES = 20
"""Steps of a scale of whole numbers up to which each value is a category of its own."""

STEPS = 10
"""Equal steps that any other scale is cut into, at which values are rounded."""


class Pair(msgspec.Struct, frozen=True):
    """What two said of the same: the reviewer and the judge, or the judge twice.

    `values` are on the item's scale, of a criterion 1 for pass and 0 for fail; `None` where the judge gave none. `worse` is
    whether each found a fail or something worse than blameless.
    """

    values: tuple[float, float | None]
    worse: tuple[bool, bool | None]


class Endorsement(msgspec.Struct, frozen=True):
    """How many reviews that had seen the judge's answer approve of it, of how many different items.

    `meaningful` is false under 20 items.
    """

    approved: int
    reviews: int
    items: int
    rate: Interval | None
    meaningful: bool


class Agreement(msgspec.Struct, frozen=True):
    """How far two agree who answered independently.

    `counts` say how often the first (the row) and the second (the column) chose which of the `categories`. `raw` is the
    share of pairs in the same one. `kappa` is the figure to show, weighted as `weighting` says; all three are there where
    there are more than two categories. `without_value` pairs are in none of these, since the judge gave no value.

    `false_pass` is the share of what the first failed (or found worse than blameless) that the second passed, `false_fail`
    the share of what the first passed that the second failed.
    """

    pairs: int
    items: int
    without_value: int
    categories: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]
    raw: Interval | None
    kappa: Kappa | None
    weighting: Weighting
    unweighted: Kappa | None
    linear: Kappa | None
    quadratic: Kappa | None
    false_pass: Interval | None
    false_fail: Interval | None
    meaningful: bool


def endorsement_of(approved: int, reviews: int, items: int) -> Endorsement:
    """The endorsement rate with Wilson's interval."""
    return Endorsement(approved, reviews, items, wilson(approved, reviews), items >= MEANINGFUL)


def agreement_of(pairs: Mapping[Pair, int], items: int, scale: Scale) -> Agreement:
    """Agreement over pairs, each with how often it is there, on a scale; `items` of the pairs are of different things.

    Values are categories. Of a scale that is not of whole numbers, or of more than twenty, they are rounded to tenths of
    it. Shown is the linearly weighted kappa, of two categories the plain one.
    """
    categories = categories_of(scale)
    counts = [[0] * len(categories) for _ in categories]
    without = 0
    for pair, times in pairs.items():
        first, second = pair.values
        if second is None:
            without += times
        else:
            counts[_place(first, scale, categories)][_place(second, scale, categories)] += times
    total = sum(map(sum, counts))
    same = sum(row[place] for place, row in enumerate(counts))
    plain, linear, quadratic = (kappa(counts, weights_for(len(categories), each)) for each in _ALL)
    weighting: Weighting = "linear" if len(categories) > 2 else "none"
    return Agreement(
        pairs=total,
        items=items,
        without_value=without,
        categories=categories,
        counts=tuple(map(tuple, counts)),
        raw=wilson(same, total),
        kappa=plain if weighting == "none" else linear,
        weighting=weighting,
        unweighted=plain,
        linear=linear,
        quadratic=quadratic,
        false_pass=_wrong(pairs, found_worse=True),
        false_fail=_wrong(pairs, found_worse=False),
        meaningful=items >= MEANINGFUL,
    )


_ALL: tuple[Weighting, ...] = ("none", "linear", "quadratic")


def as_verdict(pair: Pair) -> Pair:
    """A pair of any scale as one of `VERDICTS`: worse than blameless or failed is 0, anything else 1."""
    first, second = pair.worse
    return Pair((float(not first), None if second is None else float(not second)), pair.worse)


def rounded(pair: Pair, scale: Scale) -> Pair:
    """A pair whose values are the categories that they fall into."""
    categories = categories_of(scale)
    first, second = pair.values
    own = categories[_place(first, scale, categories)]
    other = None if second is None else categories[_place(second, scale, categories)]
    return Pair((own, other), pair.worse)


def categories_of(scale: Scale) -> tuple[float, ...]:
    """The values that are told apart, in order."""
    if scale.whole and scale.most - scale.least <= MOST_CATEGORIES:
        return tuple(scale.least + step for step in range(int(scale.most - scale.least) + 1))
    return tuple(scale.least + (scale.most - scale.least) * step / STEPS for step in range(STEPS + 1))


def _place(value: float, scale: Scale, categories: Sequence[float]) -> int:
    """The category that a value is nearest to, of two as near the higher one; a value off the scale is at its end."""
    steps = len(categories) - 1
    share = (value - scale.least) / ((scale.most - scale.least) or 1)
    return min(max(math.floor(share * steps + 0.5), 0), steps)


def _wrong(pairs: Mapping[Pair, int], found_worse: bool) -> Interval | None:
    """Of what the first found worse, or not, the share of which the second said the contrary."""
    ours = {pair: times for pair, times in pairs.items() if pair.worse[0] == found_worse and pair.worse[1] is not None}
    contrary = sum(times for pair, times in ours.items() if pair.worse[1] != found_worse)
    return wilson(contrary, sum(ours.values()))
