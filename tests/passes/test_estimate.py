"""What a pass may cost, before it starts."""

from __future__ import annotations

import random
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.passes.estimate import (
    PreparedInput,
    described,
    estimate_from_inputs,
    estimate_from_rows,
    rounded,
    student_t,
)
from adjudge.passes.values import Estimate
from adjudge.record import Usage


def three_and_fifteen(usage: Usage) -> float | None:
    """Three dollars a million tokens in, fifteen a million out."""
    return ((usage.prompt or 0) * 3 + (usage.output or 0) * 15) / 1e6


def unknown(usage: Usage) -> float | None:
    return None


def free(usage: Usage) -> float | None:
    return 0.0


def range_of(estimate: Estimate) -> tuple[float, float, float]:
    assert estimate.least is not None
    assert estimate.likely is not None
    assert estimate.most is not None
    return estimate.least, estimate.likely, estimate.most


def width(estimate: Estimate) -> float:
    least, _, most = range_of(estimate)
    return most / least


ROWS = [Usage(prompt=10_000, output=1_000), Usage(prompt=30_000, output=3_000)]  # 0.045 and 0.135 dollars
INPUTS = [PreparedInput(10_000, 8_192), PreparedInput(30_000, 8_192)]


def test_the_mean_cost_of_earlier_judgments_times_those_to_come() -> None:
    estimate = estimate_from_rows(100, ROWS, three_and_fifteen)
    assert (estimate.ground, estimate.sampled, estimate.tokens_in, estimate.priced) == ("rows", 2, 20_000, True)
    assert estimate.likely == pytest.approx(9.0)


def test_what_was_billed_goes_before_the_price_list() -> None:
    estimate = estimate_from_rows(10, [Usage(prompt=10_000, cached=9_000, output=0, cost=0.01)], three_and_fifteen)
    assert estimate.likely == pytest.approx(0.1)


def test_a_cost_of_nothing_in_a_row_is_not_believed_where_there_is_a_price() -> None:
    estimate = estimate_from_rows(10, [Usage(prompt=10_000, output=0, cost=0.0)], three_and_fifteen)
    assert estimate.likely == pytest.approx(0.3)


def test_a_cost_of_nothing_at_an_unknown_price_leaves_the_cost_unknown() -> None:
    assert estimate_from_rows(10, [Usage(prompt=10_000, output=0, cost=0.0)], unknown).likely is None


def test_billed_costs_tell_what_no_price_list_knows() -> None:
    estimate = estimate_from_rows(10, [Usage(prompt=10_000, cost=0.02), Usage(prompt=50_000)], unknown)
    assert (estimate.sampled, estimate.tokens_in, estimate.priced) == (1, 10_000, True)
    assert estimate.likely == pytest.approx(0.2)


def test_judgments_that_made_no_call_are_left_aside() -> None:
    rows = [Usage(prompt=10_000, output=0), Usage(), Usage(prompt=0, output=0, cost=0.0)]
    estimate = estimate_from_rows(10, rows, three_and_fifteen)
    assert estimate.sampled == 1
    assert estimate.likely == pytest.approx(0.3)


@pytest.mark.parametrize("estimate", [estimate_from_rows(50, ROWS, unknown), estimate_from_inputs(50, INPUTS, unknown)])
def test_without_a_price_tokens_are_told_and_no_dollars(estimate: Estimate) -> None:
    assert (estimate.least, estimate.likely, estimate.most, estimate.priced) == (None, None, None, False)
    assert described(estimate).startswith(
        "no price is known for the model; about 1,000,000 tokens in for 50 judgments, from "
    )


@pytest.mark.parametrize(
    "estimate", [estimate_from_rows(5, [], three_and_fifteen), estimate_from_inputs(5, [], three_and_fifteen)]
)
def test_without_any_ground_nothing_is_told(estimate: Estimate) -> None:
    assert (estimate.tokens_in, estimate.least, estimate.likely, estimate.most, estimate.priced) == (
        None,
        None,
        None,
        None,
        True,
    )
    assert described(estimate) == "nothing tells yet what 5 judgments will cost; --max-cost sets a limit"


def test_a_model_that_costs_nothing_costs_nothing() -> None:
    assert range_of(estimate_from_rows(5, ROWS, free, longest=8_192)) == (0, 0, 0)
    assert range_of(estimate_from_inputs(5, INPUTS, free)) == (0, 0, 0)


def test_few_earlier_judgments_make_a_wide_range_though_they_cost_the_same() -> None:
    widths = [width(estimate_from_rows(1000, ROWS[:1] * count, three_and_fifteen)) for count in (1, 2, 10, 100, 1000)]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 100
    assert 2 < widths[2] < 4
    assert widths[-1] < 1.05


def test_judgments_that_cost_differently_make_a_wider_range() -> None:
    assert width(estimate_from_rows(1000, ROWS * 20, three_and_fifteen)) > width(
        estimate_from_rows(1000, ROWS[:1] * 40, three_and_fifteen)
    )


def test_a_few_judgments_to_come_are_less_certain_than_many() -> None:
    assert width(estimate_from_rows(3, ROWS * 20, three_and_fifteen)) > 2 * width(
        estimate_from_rows(3000, ROWS * 20, three_and_fifteen)
    )


def test_after_few_earlier_judgments_all_may_take_four_calls_with_the_longest_answers() -> None:
    # 4 × (20,000 × $3 + 100,000 × $15) / 10⁶ is $6.24 for each.
    assert range_of(estimate_from_rows(10, ROWS, three_and_fifteen, longest=100_000))[2] == pytest.approx(62.4)


def test_after_thirty_earlier_judgments_a_tenth_may() -> None:
    plain = range_of(estimate_from_rows(10, ROWS * 15, three_and_fifteen))[2]
    most = range_of(estimate_from_rows(10, ROWS * 15, three_and_fifteen, longest=100_000))[2]
    assert most == pytest.approx(0.9 * plain + 0.1 * 62.4)


def test_prepared_inputs_of_all_runs_are_added_up() -> None:
    least, likely, most = range_of(estimate_from_inputs(2, INPUTS, three_and_fifteen))
    assert least == pytest.approx(40_000 * 3e-6)
    assert likely == pytest.approx(40_000 * 3e-6 + 2 * 2_000 * 15e-6)
    assert most == pytest.approx(4 * (40_000 * 3e-6 + 2 * 8_192 * 15e-6))


def test_the_error_of_estimated_tokens_widens_the_range() -> None:
    least, _, most = range_of(estimate_from_inputs(2, INPUTS, three_and_fifteen))
    lower, _, higher = range_of(estimate_from_inputs(2, INPUTS, three_and_fifteen, error=0.25))
    assert lower == pytest.approx(least / 1.25)
    assert higher == pytest.approx(most * 1.25)


def test_the_inputs_of_some_runs_leave_more_open_than_those_of_all() -> None:
    some = estimate_from_inputs(1000, INPUTS * 10, three_and_fifteen)
    assert some.likely == pytest.approx(1000 * 0.09)
    assert width(some) > 1.5 * width(estimate_from_inputs(20, INPUTS * 10, three_and_fifteen))


def test_a_usual_answer_is_no_longer_than_the_longest() -> None:
    estimate = estimate_from_inputs(1, [PreparedInput(10_000, 500)], three_and_fifteen)
    assert estimate.likely == pytest.approx(0.03 + 500 * 15e-6)


usages = st.builds(Usage, prompt=st.integers(0, 10**7), output=st.integers(0, 10**5), cost=st.none() | st.floats(0, 100))


@settings(deadline=None)
@given(st.integers(0, 10**6), st.lists(usages, max_size=20), st.none() | st.integers(1, 10**5))
def test_the_likely_amount_is_within_the_range(judgments: int, rows: list[Usage], longest: int | None) -> None:
    estimate = estimate_from_rows(judgments, rows, three_and_fifteen, longest)
    if estimate.likely is not None:
        least, likely, most = range_of(estimate)
        assert 0 <= least <= likely <= most


def test_one_enormous_judgment_among_many_breaks_nothing() -> None:
    rows = [*[Usage(prompt=1)] * 200_000, Usage(prompt=10**12)]
    least, likely, most = range_of(estimate_from_rows(1, rows, three_and_fifteen))
    assert 0 < least < likely < most


@pytest.mark.parametrize("earlier", [1, 5, 34])
@pytest.mark.parametrize("deviation", [0.5, 1.0])
def test_nine_of_ten_passes_end_within_the_range(earlier: int, deviation: float) -> None:
    dice = random.Random(4)

    def cost() -> float:
        return dice.lognormvariate(0, deviation)

    within = 0
    for _ in range(300):
        least, _, most = range_of(estimate_from_rows(100, [Usage(prompt=1, cost=cost()) for _ in range(earlier)], unknown))
        within += least <= 100 * fmean(cost() for _ in range(100)) <= most
    assert within >= 270


@pytest.mark.parametrize(
    ("freedom", "bound"), [(4, 2.776), (5, 2.571), (10, 2.228), (30, 2.042), (120, 1.980), (10**6, 1.960)]
)
def test_the_bound_of_students_t_is_that_of_printed_tables(freedom: int, bound: float) -> None:
    assert student_t(freedom) == pytest.approx(bound, rel=0.003)


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (0, "$0"),
        (0.00001234, "$0.000012"),
        (0.0123, "$0.012"),
        (0.9, "$0.90"),
        (0.996, "$1.00"),
        (1.2, "$1.20"),
        (99.994, "$99.99"),
        (99.999, "$100"),
        (12345.6, "$12,346"),
    ],
)
def test_an_amount_has_as_few_digits_as_an_estimate_deserves(amount: float, words: str) -> None:
    assert rounded(amount) == words


@pytest.mark.parametrize(
    ("estimate", "words"),
    [
        (
            Estimate(120, "rows", 34, 21_400.4, 0.9, 1.2, 1.6, True),
            "about $1.20 ($0.90 to $1.60) for 120 judgments, from the mean of 34 earlier judgments (21,400 tokens in each)",
        ),
        (
            Estimate(1, "rows", 1, 21_400, 0.03, 0.1, 2.5, True),
            "about $0.10 ($0.030 to $2.50) for 1 judgment, from a single earlier judgment (21,400 tokens in), "
            "which tells little",
        ),
        (
            Estimate(1_000_000, "prepared", 30, 9_978, 20_000, 60_000, 600_000, True),
            "about $60,000 ($20,000 to $600,000) for 1,000,000 judgments, from the prepared input of 30 runs "
            "(mean 9,978 tokens in); the most is 4 calls each with the longest answers",
        ),
        (
            Estimate(7, "prepared", 1, 9_978, 0, 0, 0, True),
            "$0 for 7 judgments: the model costs nothing",
        ),
        (Estimate(0, "rows", 34, 21_400, 0, 0, 0, True), "nothing is left to be judged, which costs nothing"),
    ],
)
def test_an_estimate_is_told_with_its_range_and_its_ground(estimate: Estimate, words: str) -> None:
    assert described(estimate) == words
