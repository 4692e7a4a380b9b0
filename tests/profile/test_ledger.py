"""What a run's turns consumed; what the recording does not tell is unknown and never zero."""

from __future__ import annotations

import msgspec
import pytest

from adjudge.profile import Quantiles
from adjudge.profile.ledger import ledger_of, quantiles
from adjudge.record import Record, Turn, Usage


def record(*usages: Usage | None, reported: Usage | None = None) -> Record:
    turns = tuple(Turn(number, f"e{number}", usage=usage) for number, usage in enumerate(usages, 1))
    return Record("made", (), turns, reported=reported)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (range(1, 101), (50, 75, 90, 95)),
        ([10, 20, 30, 40], (20, 30, 40, 40)),
        ([7], (7, 7, 7, 7)),
    ],
)
def test_quantiles_are_by_nearest_rank(values: list[int], expected: tuple[int, int, int, int]) -> None:
    assert quantiles(values) == Quantiles(*expected)


def test_totals_and_shares_are_over_the_turns_that_tell() -> None:
    found = ledger_of(record(Usage(100, 50, output=10), None, Usage(300, cost=0.5), Usage(100, 100, output=5)))
    assert (found.told, found.prompt, found.cached, found.output, found.cost) == (3, 500, 150, 15, 0.5)
    assert found.cached_share == 150 / 200
    assert [each.prompt for each in found.by_turn] == [100, None, 300, 100]


def test_what_no_turn_tells_is_unknown() -> None:
    found = ledger_of(record(None, Usage(output=3)))
    assert (found.prompts, found.prompt, found.cached, found.cached_share, found.cost) == (None,) * 5
    assert found.output == 3


def test_the_harnesss_own_totals_stand_in_for_turns_that_tell_nothing() -> None:
    found = ledger_of(record(None, reported=Usage(prompt=1000, cached=600, output=20)))
    assert (found.prompt, found.cached, found.cached_share, found.output) == (1000, 600, 0.6, 20)
    assert found.prompts is None


def test_no_tokens_at_all_have_no_share() -> None:
    assert ledger_of(record(Usage(0, 0))).cached_share is None


def test_a_ledger_can_be_written_as_json() -> None:
    assert b'"cached_share":null' in msgspec.json.encode(ledger_of(record(None)))
