"""Differences between two shares or two means, each with its 95 % interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random
from statistics import fmean, variance
from typing import Literal

import msgspec

from adjudge.statistics import Z, wilson

Method = Literal["newcombe", "newcombe paired", "bootstrap", "bootstrap paired", "normal", "normal paired"]

RESAMPLES = 2_000
FEW = 300
"""Values of one side up to which a mean is resampled; of more it is as good as normally distributed."""


class Difference(msgspec.Struct, frozen=True):
    """The first minus the second, and the bounds of its interval: `None` where the values tell of no spread."""

    value: float
    low: float | None
    high: float | None
    method: Method


def of_shares(first: tuple[int, int], second: tuple[int, int]) -> Difference | None:
    """Two shares of unpaired trials, each given as successes and trials; `None` if one side has no trial.

    R. G. Newcombe, "Interval estimation for the difference between independent proportions", Statistics in Medicine 17
    (1998) 873-890, method 10.
    """
    left, right = wilson(*first), wilson(*second)
    if left is None or right is None:
        return None
    value = left.share - right.share
    low = value - math.hypot(left.share - left.low, right.high - right.share)
    high = value + math.hypot(left.high - left.share, right.share - right.low)
    return Difference(value, max(low, -1.0), min(high, 1.0), "newcombe")


def of_paired_shares(both: int, first_only: int, second_only: int, neither: int) -> Difference | None:
    """Two shares of the same trials, given as how many succeeded in which of the two; `None` without a trial.

    R. G. Newcombe, "Improved confidence intervals for the difference between binomial proportions based on paired data",
    Statistics in Medicine 17 (1998) 2635-2650, method 10.
    """
    trials = both + first_only + second_only + neither
    left, right = wilson(both + first_only, trials), wilson(both + second_only, trials)
    if left is None or right is None:
        return None
    phi = _phi(both, first_only, second_only, neither)
    value = (first_only - second_only) / trials
    low = value - _joined(left.share - left.low, right.high - right.share, phi)
    high = value + _joined(left.high - left.share, right.share - right.low, phi)
    return Difference(value, max(low, -1.0), min(high, 1.0), "newcombe paired")


def _joined(first: float, second: float, phi: float) -> float:
    return math.sqrt(max(first * first - 2 * phi * first * second + second * second, 0.0))


def _phi(both: int, first_only: int, second_only: int, neither: int) -> float:
    """The correlation of the two, drawn towards 0 by half a trial of each cell where it is positive."""
    margins = (both + first_only) * (second_only + neither) * (both + second_only) * (first_only + neither)
    if not margins:
        return 0.0
    product = both * neither - first_only * second_only
    if product > 0:
        product_corrected = max(product - (both + first_only + second_only + neither) / 2, 0.0)
        return product_corrected / math.sqrt(margins)
    return product / math.sqrt(margins)


def of_means(first: Sequence[float], second: Sequence[float]) -> Difference | None:
    """Two means of unpaired values; `None` if one side has none.

    The interval is a percentile bootstrap's, always with the same seed (B. Efron, R. Tibshirani, "An Introduction to the
    Bootstrap", 1993, chapter 13), of many values the normal one.
    """
    if not first or not second:
        return None
    value = fmean(first) - fmean(second)
    if max(len(first), len(second)) <= FEW:
        bounds = _percentiles(lambda random: _mean_of(random, first) - _mean_of(random, second))
        return _spread(value, bounds, "bootstrap")
    if min(len(first), len(second)) < 2:
        return Difference(value, None, None, "normal")
    return _normal(value, variance(first) / len(first) + variance(second) / len(second), "normal")


def of_paired_means(pairs: Sequence[tuple[float, float]]) -> Difference | None:
    """Two means over the same things, given as pairs, which are resampled as such; `None` without any."""
    if not pairs:
        return None
    differences = [left - right for left, right in pairs]
    value = fmean(differences)
    if len(differences) <= FEW:
        return _spread(value, _percentiles(lambda random: _mean_of(random, differences)), "bootstrap paired")
    return _normal(value, variance(differences) / len(differences), "normal paired")


def _mean_of(random: Random, values: Sequence[float]) -> float:
    """The mean of as many values drawn with replacement."""
    return fmean(random.choices(values, k=len(values)))


def _percentiles(draw: Callable[[Random], float]) -> tuple[float, float]:
    random = Random(0)  # noqa: S311  the same figures for the same values, not a secret
    drawn = sorted(draw(random) for _ in range(RESAMPLES))
    cut = RESAMPLES // 40
    return drawn[cut - 1], drawn[-cut]


def _normal(value: float, squared_error: float, method: Method) -> Difference:
    half = Z * math.sqrt(squared_error)
    return _spread(value, (value - half, value + half), method)


def _spread(value: float, bounds: tuple[float, float], method: Method) -> Difference:
    low, high = bounds
    return Difference(value, low, high, method) if low < high else Difference(value, None, None, method)
