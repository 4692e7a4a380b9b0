"""Cohen's kappa of two raters, weighted or not, with its large-sample interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec

from adjudge.statistics import Z

Counts = Sequence[Sequence[int]]
"""How often one rater chose the row's category and the other the column's."""

Weights = Sequence[Sequence[float]]
"""How much of an agreement each cell is, from 0 to 1 on the diagonal."""

Weighting = Literal["none", "linear", "quadratic"]

NOTHING = 1e-12
"""What is left of a number that would be zero if it were not for rounding."""


class Kappa(msgspec.Struct, frozen=True):
    """Agreement beyond chance: 1 if all agree, 0 if as many as by chance.

    `error` is the large-sample standard error, `low` and `high` bound the 95 % interval. Where it is zero, as when all
    agree, nothing tells of a spread, and there are no bounds.
    """

    value: float
    error: float
    low: float | None
    high: float | None


def weights_for(categories: int, weighting: Weighting) -> Weights:
    """Weights by the distance of two categories: all or nothing, by its share of the largest, or by that squared.

    Linear weights are those of D. V. Cicchetti and T. Allison, American Journal of EEG Technology 11 (1971) 101-110,
    quadratic ones those of J. L. Fleiss and J. Cohen, Educational and Psychological Measurement 33 (1973) 613-619.
    """
    widest = max(categories - 1, 1)
    power = {"linear": 1, "quadratic": 2}.get(weighting)
    places = range(categories)
    if power is None:
        return [[float(row == column) for column in places] for row in places]
    return [[1 - (abs(row - column) / widest) ** power for column in places] for row in places]


def kappa(counts: Counts, weights: Weights) -> Kappa | None:
    """Weighted kappa; `None` without a count, or where chance alone would agree in everything.

    J. Cohen, Educational and Psychological Measurement 20 (1960) 37-46 and Psychological Bulletin 70 (1968) 213-220. The
    standard error is that of J. L. Fleiss, J. Cohen and B. S. Everitt, Psychological Bulletin 72 (1969) 323-327.
    """
    total = sum(map(sum, counts))
    if not total:
        return None
    shares = [[count / total for count in row] for row in counts]
    rows, columns = [sum(row) for row in shares], [sum(column) for column in zip(*shares, strict=True)]
    observed = _weighted(weights, shares)
    expected = _weighted(weights, [[row * column for column in columns] for row in rows])
    if 1 - expected < NOTHING:
        return None
    of_rows = [_dot(line, columns) for line in weights]
    of_columns = [_dot(line, rows) for line in zip(*weights, strict=True)]
    terms = [
        [_term(weight, of_row + of_column, observed, expected) for weight, of_column in zip(line, of_columns, strict=True)]
        for line, of_row in zip(weights, of_rows, strict=True)
    ]
    spread = _weighted(terms, shares) - (observed * expected - 2 * expected + observed) ** 2
    error = math.sqrt(max(spread, 0.0) / total) / (1 - expected) ** 2
    return _bounded((observed - expected) / (1 - expected), error if spread > NOTHING else 0.0)


def _term(weight: float, of_margins: float, observed: float, expected: float) -> float:
    return (weight * (1 - expected) - of_margins * (1 - observed)) ** 2


def _bounded(value: float, error: float) -> Kappa:
    if not error:
        return Kappa(value, 0.0, None, None)
    return Kappa(value, error, max(value - Z * error, -1.0), min(value + Z * error, 1.0))


def _weighted(weights: Weights, shares: Sequence[Sequence[float]]) -> float:
    return sum(map(_dot, weights, shares))


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return math.fsum(one * other for one, other in zip(left, right, strict=True))
