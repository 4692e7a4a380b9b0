"""Intervals of differences against published examples."""

from __future__ import annotations

from statistics import fmean, stdev

import pytest

from adjudge.passes.differences import Difference, of_means, of_paired_means, of_paired_shares, of_shares


def bounds(found: Difference | None) -> tuple[float, float]:
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998) 873-890, table II, method 10.
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((0, 10), (0, 10), -0.2775, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0000),
        ((10, 10), (0, 10), 0.6075, 1.0000),
    ],
)
def test_unpaired_shares_differ_as_published(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    found = of_shares(first, second)
    assert bounds(found) == pytest.approx((low, high), abs=0.00005)


@pytest.mark.parametrize(
    ("counts", "value", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998) 2635-2650, method 10.
        ((36, 12, 2, 0), 0.2, 0.0569, 0.3404),
        ((18, 12, 2, 18), 0.2, 0.0562, 0.3290),
        ((53, 0, 0, 1), 0.0, -0.0729, 0.0729),
        # Fagerland, Lydersen, Laake, "Statistical Analysis of Contingency Tables" (2017), chapter 8: complete response
        # before and after consolidation therapy.
        ((59, 6, 16, 80), -0.0621, -0.1186, -0.0046),
    ],
)
def test_paired_shares_differ_as_published(
    counts: tuple[int, int, int, int], value: float, low: float, high: float
) -> None:
    found = of_paired_shares(*counts)
    assert found is not None
    assert found.value == pytest.approx(value, abs=0.00005)
    assert bounds(found) == pytest.approx((low, high), abs=0.00006)


def test_swapping_sides_turns_the_interval_around() -> None:
    low, high = bounds(of_paired_shares(20, 9, 3, 5))
    assert bounds(of_paired_shares(20, 3, 9, 5)) == pytest.approx((-high, -low))


def test_the_bootstrap_of_many_even_values_is_near_the_normal_interval() -> None:
    differences = [((at * 37) % 101) / 100 for at in range(200)]
    low, high = bounds(of_paired_means([(each, 0.0) for each in differences]))
    half = 1.96 * stdev(differences) / 200**0.5
    assert (low, high) == pytest.approx((fmean(differences) - half, fmean(differences) + half), abs=0.1 * half)


def test_beyond_300_values_the_interval_is_the_normal_one() -> None:
    pairs = [(float(at % 2), 0.0) for at in range(400)]
    found = of_paired_means(pairs)
    assert found is not None
    assert found.method == "normal paired"
    half = 1.959964 * (0.25 * 400 / 399 / 400) ** 0.5  # the sample variance of half ones, half zeros
    assert bounds(found) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-6)


def test_unpaired_means_of_many_values_have_the_normal_interval() -> None:
    found = of_means([float(at % 2) for at in range(400)], [0.0, 1.0, 2.0, 3.0])
    half = 1.959964 * (0.25 * 400 / 399 / 400 + (5 / 3) / 4) ** 0.5
    assert bounds(found) == pytest.approx((-1.0 - half, -1.0 + half), abs=1e-6)


def test_the_same_values_give_the_same_interval() -> None:
    assert of_means([0.0, 1.0, 3.0], [2.0, 2.0, 1.0]) == of_means([0.0, 1.0, 3.0], [2.0, 2.0, 1.0])


@pytest.mark.parametrize(
    "found", [of_paired_means([(1.0, 0.0)] * 5), of_means([1.0, 1.0], [0.5]), of_means([1.0] * 400, [1])]
)
def test_values_without_spread_have_no_interval(found: Difference | None) -> None:
    assert found is not None
    assert (found.low, found.high) == (None, None)


def test_nothing_has_no_difference() -> None:
    assert of_shares((0, 0), (1, 2)) is None
    assert of_paired_shares(0, 0, 0, 0) is None
    assert of_means([], [1.0]) is None
    assert of_paired_means([]) is None
