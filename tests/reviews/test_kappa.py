"""Kappa: the published figures, those of scikit-learn, and an error that is derived in another way.

SciPy and scikit-learn take seconds to import, so only the tests that ask them do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from adjudge.reviews.kappa import Weighting, Weights, kappa, weights_for

if TYPE_CHECKING:
    import numpy as np

ALTMAN = [[21, 12, 0, 0], [4, 17, 1, 0], [3, 9, 15, 2], [0, 0, 0, 1]]
"""Two radiologists on 85 xeromammograms: D. G. Altman, Practical Statistics for Medical Research, 1991, 14.3."""
COHEN = [[88, 10, 2], [14, 40, 6], [18, 10, 12]]
"""200 diagnoses by two judges: J. Cohen, Psychological Bulletin 70 (1968), table 1."""
FLEISS = [[106, 10, 4], [22, 28, 10], [2, 12, 6]]
"""200 diagnoses: J. L. Fleiss, J. Cohen, B. S. Everitt, Psychological Bulletin 72 (1969)."""
SAS = [[10, 4, 1, 0], [5, 10, 12, 2], [2, 4, 12, 5], [0, 2, 6, 13]]
"""Two dermatologists on 88 patients: SAS/STAT, the FREQ procedure, "Agreement Study"."""
VCD = [[7, 7, 2, 3], [2, 8, 3, 7], [1, 5, 4, 9], [2, 8, 9, 14]]
"""Husbands' and wives' answers: the data set SexualFun of R's vcd, the example of its function Kappa."""


@pytest.mark.parametrize(
    ("counts", "weighting", "value", "digits"),
    [
        (ALTMAN, "none", 0.47, 2),
        (ALTMAN, "linear", 0.57, 2),
        (COHEN, "none", 0.492, 3),
        (FLEISS, "none", 0.429, 3),
        (SAS, "none", 0.3449, 4),
        (VCD, "none", 0.1293, 4),
        (VCD, "linear", 0.2374, 4),
    ],
)
def test_kappa_is_the_published_one(counts: list[list[int]], weighting: Weighting, value: float, digits: int) -> None:
    found = kappa(counts, weights_for(len(counts), weighting))
    assert found is not None
    assert abs(found.value - value) < 10**-digits  # Cohen rounds .4915 up


@pytest.mark.parametrize(
    ("counts", "weights", "value", "error"),
    [
        (SAS, weights_for(4, "none"), 0.3449, 0.0724),
        (VCD, weights_for(4, "none"), 0.1293, 0.06860),
        (VCD, weights_for(4, "linear"), 0.2374, 0.07832),
        (FLEISS, [[1, 0, 0.4444], [0, 1, 0.6667], [0.4444, 0.6667, 1]], 0.507, math.sqrt(0.003248)),
        # Cohen's weights of disagreements, 0 to 6, turned around. His own error was replaced by the later paper's, which
        # the R package DMAR gives for his table.
        (COHEN, [[1, 5 / 6, 0.5], [5 / 6, 1, 0], [0.5, 0, 1]], 0.348, 0.0755),
    ],
)
def test_its_standard_error_is_the_published_one(
    counts: list[list[int]], weights: Weights, value: float, error: float
) -> None:
    found = kappa(counts, weights)
    assert found is not None
    assert (found.value, found.error) == pytest.approx((value, error), abs=0.0005)


def test_its_interval_is_the_published_one() -> None:
    plain, linear = kappa(SAS, weights_for(4, "none")), kappa(ALTMAN, weights_for(4, "linear"))
    assert plain is not None
    assert linear is not None
    assert (plain.low, plain.high) == pytest.approx((0.2030, 0.4868), abs=0.00005)
    assert (linear.low, linear.high) == pytest.approx((0.44, 0.70), abs=0.005)  # SAS on Altman's table


def test_where_all_agree_there_is_no_interval() -> None:
    found = kappa([[12, 0], [0, 8]], weights_for(2, "none"))
    assert found is not None
    assert (found.value, found.low, found.high) == (1.0, None, None)


@pytest.mark.parametrize("counts", [[[0, 0], [0, 0]], [[9, 0], [0, 0]]], ids=["nothing", "one word for all"])
def test_where_nothing_could_differ_there_is_no_kappa(counts: list[list[int]]) -> None:
    assert kappa(counts, weights_for(2, "none")) is None


def test_as_much_as_by_chance_is_nothing() -> None:
    found = kappa([[16, 4], [64, 16]], weights_for(2, "none"))
    assert found is not None
    assert found.value == pytest.approx(0)


def test_worse_than_chance_is_below_nothing_and_bounded() -> None:
    found = kappa([[0, 6], [5, 1]], weights_for(2, "none"))
    assert found is not None
    assert found.value < 0
    assert found.low == -1.0


RATINGS = st.integers(2, 5).flatmap(
    lambda size: st.tuples(
        st.just(size), st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), min_size=1, max_size=80)
    )
)


@settings(max_examples=100, deadline=None)
@given(RATINGS, st.sampled_from(["none", "linear", "quadratic"]))
def test_on_any_table_it_is_that_of_scikit_learn(ratings: tuple[int, list[tuple[int, int]]], weighting: Weighting) -> None:
    from sklearn.metrics import cohen_kappa_score, confusion_matrix  # type: ignore[import-untyped]  # it ships no types

    size, pairs = ratings
    first, second = zip(*pairs, strict=True)
    assume(len({*first, *second}) > 1)
    labels = list(range(size))
    expected = cohen_kappa_score(first, second, labels=labels, weights=None if weighting == "none" else weighting)
    found = kappa(confusion_matrix(first, second, labels=labels).tolist(), weights_for(size, weighting))
    assert found is not None
    assert found.value == pytest.approx(expected, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(2, 4).flatmap(
        lambda n: st.lists(st.lists(st.integers(1, 40), min_size=n, max_size=n), min_size=n, max_size=n)
    ),
    st.sampled_from(["none", "linear", "quadratic"]),
)
def test_on_any_table_its_error_is_what_the_delta_method_gives(counts: list[list[int]], weighting: Weighting) -> None:
    """The variance of a function of multinomial shares, with its gradient found by trying."""
    import numpy as np
    from scipy.optimize import approx_fprime  # type: ignore[import-untyped]  # it ships no types

    weights = np.array(weights_for(len(counts), weighting))
    table = np.array(counts, float)
    shares = (table / table.sum()).ravel()
    gradient = approx_fprime(shares, _by_matrices(weights), 1e-8)
    variance = ((shares * gradient**2).sum() - (shares * gradient).sum() ** 2) / table.sum()
    found = kappa(counts, weights.tolist())
    assert found is not None
    assert found.error == pytest.approx(math.sqrt(variance), abs=1e-5)


def _by_matrices(weights: np.ndarray) -> Callable[[np.ndarray], float]:
    def value(shares: np.ndarray) -> float:
        table = shares.reshape(weights.shape)
        observed = (weights * table).sum() / table.sum()
        expected = (weights * table.sum(1)[:, None] * table.sum(0)).sum() / table.sum() ** 2
        return float((observed - expected) / (1 - expected))

    return value
