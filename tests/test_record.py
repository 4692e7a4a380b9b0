"""Amounts as people read them."""

from __future__ import annotations

import pytest

from adjudge.record import Record, Turn, Usage, dollars


@pytest.mark.parametrize(
    ("amount", "written"),
    [
        (0, "$0.0000"),
        (12, "$12.0000"),
        (0.0123456, "$0.0123"),
        (0.000123, "$0.00012"),
        (0.00001, "$0.00001"),
        (1e-12, "$0.000000000001"),
    ],
)
def test_an_amount_is_written_without_an_exponent(amount: float, written: str) -> None:
    assert dollars(amount) == written


def test_a_cost_that_only_the_harness_states_is_the_runs() -> None:
    turns = (Turn(1, "e1", usage=Usage(prompt=10, output=2)),)
    record = Record("made", (), turns, reported=Usage(prompt=99, output=3, cost=0.5))
    assert record.consumed() == Usage(prompt=10, output=2, cost=0.5)
