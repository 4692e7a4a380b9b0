"""What reviews come to: which figures, over what, and from when on they mean something."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.reviews.agreement import (
    VERDICTS,
    Agreement,
    Pair,
    agreement_of,
    as_verdict,
    categories_of,
    endorsement_of,
    rounded,
)
from adjudge.rubric import RATIO, SEVERITY, Scale


def verdicts(both_pass: int, false_fail: int, false_pass: int, both_fail: int, items: int = 50) -> Agreement:
    """Agreement over pairs of a reviewer's and the judge's verdict."""
    counts = {(True, True): both_pass, (True, False): false_fail, (False, True): false_pass, (False, False): both_fail}
    pairs = {Pair((float(r), float(j)), (not r, not j)): times for (r, j), times in counts.items()}
    return agreement_of(pairs, items, VERDICTS)


def severity(pairs: dict[tuple[int, int | None], int], items: int = 50) -> Agreement:
    made = {Pair((own, judge), (own > 0, None if judge is None else judge > 0)): n for (own, judge), n in pairs.items()}
    return agreement_of(made, items, SEVERITY)


def test_the_rates_of_verdicts_are_those_counted_by_hand() -> None:
    found = verdicts(20, 5, 10, 15)
    assert found.counts == ((15, 10), (5, 20))  # fail before pass; the reviewer's are the rows
    assert found.raw is not None
    assert found.raw.share == 35 / 50
    assert found.false_pass is not None
    assert found.false_pass.share == 10 / 25  # of 25 that the reviewer failed
    assert found.false_fail is not None
    assert found.false_fail.share == 5 / 25  # of 25 that the reviewer passed
    assert found.kappa is not None
    assert found.kappa.value == pytest.approx(0.4)  # Cohen's (0.7 - 0.5) / (1 - 0.5)
    assert found.weighting == "none"


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_intervals_of_rates_are_scipys(both_pass: int, false_fail: int, false_pass: int, both_fail: int) -> None:
    from scipy.stats import binomtest  # type: ignore[import-untyped]  # it ships no types

    found = verdicts(both_pass, false_fail, false_pass, both_fail)
    for interval, part, whole in (
        (found.raw, both_pass + both_fail, both_pass + false_fail + false_pass + both_fail),
        (found.false_pass, false_pass, false_pass + both_fail),
        (found.false_fail, false_fail, false_fail + both_pass),
    ):
        expected = binomtest(part, whole).proportion_ci(method="wilson") if whole else None
        bounds = interval and (interval.low, interval.high)
        assert bounds == (expected and pytest.approx((expected.low, expected.high), abs=1e-9))


def test_severities_are_shown_with_linear_weights_and_have_the_others_too() -> None:
    found = severity({(0, 0): 30, (0, 1): 5, (1, 0): 5, (2, 2): 5, (3, 1): 5})
    assert found.weighting == "linear"
    assert found.kappa == found.linear
    assert found.unweighted is not None
    assert list(found.categories) == [0, 1, 2, 3]
    assert found.raw is not None
    assert found.raw.share == 35 / 50


def test_severities_are_a_false_pass_where_only_the_reviewer_finds_something_worse_than_blameless() -> None:
    found = severity({(2, 0): 3, (1, 3): 7, (0, 1): 2, (0, 0): 8})
    assert found.false_pass is not None
    assert found.false_fail is not None
    assert (found.false_pass.share, found.false_fail.share) == (3 / 10, 2 / 10)


def test_where_the_judge_gave_no_value_there_is_no_pair_and_it_is_said() -> None:
    found = severity({(1, None): 4, (0, 0): 6})
    assert (found.pairs, found.without_value) == (6, 4)


def test_ratios_are_compared_in_tenths() -> None:
    pair = Pair((0.81, 0.78), (True, True))
    found = agreement_of({pair: 25}, 25, RATIO)
    assert found.raw is not None
    assert found.raw.share == 1.0
    assert found.counts[8][8] == 25


@pytest.mark.parametrize(
    ("scale", "categories"),
    [(SEVERITY, 4), (RATIO, 11), (Scale(1, 5), 5), (Scale(0, 20), 21), (Scale(0, 1_000_000), 11), (Scale(2, 2), 1)],
)
def test_a_scale_has_few_categories(scale: Scale, categories: int) -> None:
    assert len(categories_of(scale)) == categories


@given(st.floats(0, 1000), st.floats(0, 1000))
def test_a_value_goes_to_the_nearest_category(least: float, width: float) -> None:
    scale = Scale(least, least + width + 1, whole=False)
    for place, category in enumerate(categories_of(scale)):
        counts = agreement_of({Pair((category, category), (False, False)): 1}, 1, scale).counts
        assert counts[place][place] == 1


@pytest.mark.parametrize(("items", "meaningful"), [(19, False), (20, True)])
def test_from_twenty_items_on_figures_are_meaningful(items: int, meaningful: bool) -> None:
    assert verdicts(60, 0, 0, 0, items).meaningful is meaningful
    assert endorsement_of(50, 60, items).meaningful is meaningful


def test_the_endorsement_rate_has_wilsons_interval() -> None:
    found = endorsement_of(81, 263, 200)  # Newcombe, Statistics in Medicine 17 (1998), table I, method 3
    assert found.rate is not None
    assert (found.rate.low, found.rate.high) == pytest.approx((0.2553, 0.3662), abs=0.00005)


def test_without_reviews_there_is_no_figure() -> None:
    found = agreement_of({}, 0, SEVERITY)
    assert (found.raw, found.kappa, found.false_pass, found.false_fail, found.meaningful) == (None, None, None, None, False)
    assert endorsement_of(0, 0, 0).rate is None


def test_different_scales_are_put_together_as_worse_or_not() -> None:
    pairs = {Pair((3, 1), (True, True)): 2, Pair((1, 1), (False, False)): 3, Pair((0.5, 1), (True, False)): 4}
    found = agreement_of({as_verdict(pair): times for pair, times in pairs.items()}, 30, VERDICTS)
    assert found.counts == ((2, 4), (0, 3))
    assert found.raw is not None
    assert math.isclose(found.raw.share, 5 / 9)


def test_a_pair_in_categories_counts_as_the_pair_itself() -> None:
    pair = Pair((0.81, 0.28), (True, True))
    assert rounded(pair, RATIO) == Pair((0.8, 0.3), (True, True))
    assert agreement_of({pair: 3}, 3, RATIO) == agreement_of({rounded(pair, RATIO): 3}, 3, RATIO)
