from __future__ import annotations

from adjudge.passes.pace import Pace


def test_it_starts_with_the_most_and_never_passes_it() -> None:
    pace = Pace(16)
    assert pace.limit == 16
    for _ in range(100):
        pace.finished(False, 15)
    assert pace.limit == 16


def test_a_busy_provider_halves_it_once_for_all_that_was_under_way() -> None:
    pace = Pace(16)
    pace.finished(True, 15)
    assert pace.limit == 8
    for left in range(14, -1, -1):
        pace.finished(True, left)
    assert pace.limit == 8
    pace.finished(True, 7)
    assert pace.limit == 4


def test_each_round_without_a_refusal_makes_it_one_more() -> None:
    pace = Pace(16)
    pace.finished(True, 0)
    assert pace.limit == 8
    for _ in range(9):  # eight calls are a round; the sum of 1/8, 1/8.125, … passes one with the ninth
        pace.finished(False, 7)
    assert pace.limit == 9
    for _ in range(120):
        pace.finished(False, 7)
    assert pace.limit == 16


def test_one_is_always_allowed() -> None:
    pace = Pace(4)
    for _ in range(10):
        pace.finished(True, 0)
    assert pace.limit == 1
    pace.finished(False, 0)
    assert pace.limit == 2
