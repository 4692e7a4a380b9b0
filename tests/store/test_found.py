"""Runs and judgments are found and counted by what the tables know of them, the same in each database."""

from __future__ import annotations

import msgspec
import pytest

from adjudge.judgment import Judgment
from adjudge.passes.results import outcome_of
from adjudge.rubric import Rubric
from adjudge.run import Outcome, Run
from adjudge.store.found import (
    JudgmentFilter,
    RunFilter,
    Totals,
    count_runs,
    each_run,
    find_judgments,
    find_runs,
    totals,
)
from adjudge.store.store import Store

ENDINGS = {
    "resolved": Outcome(0, "resolved"),
    "unresolved": Outcome(1, "unresolved"),
    "failed: time": Outcome(-9, failure="time"),
    "exit 3": Outcome(3),
    "unknown": Outcome(),
}


@pytest.fixture
def many(store: Store, run: Run) -> Store:
    """Five runs of codex, one of each ending, costing 1 to 5 dollars, and one of Gemini 100 % by name, without a price."""
    for number, outcome in enumerate(ENDINGS.values(), 1):
        made = msgspec.structs.replace(
            run, id=f"r-{number:016x}", outcome=outcome, cost=float(number), seconds=10.0 * number
        )
        store.add_run(made)
    store.add_run(msgspec.structs.replace(run, id="r-ffffffffffffffff", agent="Gemini 100%", task_name="count", model=None))
    return store


def ids(store: Store, **wanted: str) -> set[str]:
    found, total = find_runs(store, RunFilter(**wanted), 0, 100)
    assert total == len(found)
    return {each.facts.id for each in found}


def test_totals_count_what_there_is(many: Store) -> None:
    assert totals(many) == Totals(runs=6, judgments=0, passes=0, rubrics=0)


@pytest.mark.parametrize("name", ENDINGS)
def test_an_outcome_is_found_by_the_name_that_passes_give_it(many: Store, name: str) -> None:
    found, _ = find_runs(many, RunFilter(outcome=name, agent="codex"), 0, 100)
    assert [each.facts.outcome for each in found] == [ENDINGS[name]]
    assert outcome_of(ENDINGS[name]) == name


def test_words_are_found_within_a_name_whatever_their_case(many: Store) -> None:
    assert ids(many, agent="GEMINI") == {"r-ffffffffffffffff"}
    assert ids(many, task="COUNT") == ids(many)
    assert len(ids(many, model="gp")) == 5


def test_signs_of_patterns_are_letters_like_others(many: Store) -> None:
    assert ids(many, agent="100%") == {"r-ffffffffffffffff"}
    assert ids(many, agent="%") == {"r-ffffffffffffffff"}
    assert ids(many, agent="c_dex") == set()


def test_runs_come_in_pages_the_latest_first(many: Store) -> None:
    first, total = find_runs(many, RunFilter(), 0, 4)
    second, _ = find_runs(many, RunFilter(), 4, 4)
    assert (total, len(first), len(second)) == (6, 4, 2)
    assert [each.facts.id for each in [*first, *second]][:2] == ["r-ffffffffffffffff", "r-0000000000000005"]
    assert {each.entries for each in first} == {4}  # its own, the helper's left out


def test_each_run_is_met_once(many: Store) -> None:
    assert sorted(facts.id for facts, _ in each_run(many, RunFilter(agent="codex"))) == [f"r-{n:016x}" for n in range(1, 6)]


def test_runs_are_counted_in_groups_with_what_is_known_of_them(many: Store) -> None:
    codex, gemini = sorted(count_runs(many, RunFilter(), ["agent"]), key=lambda each: -each.runs)
    assert (codex.key, codex.runs, codex.cost, codex.priced, codex.seconds, codex.timed) == (
        ("codex",),
        5,
        15.0,
        5,
        30.0,
        5,
    )
    assert (gemini.key, gemini.runs, gemini.cost, gemini.priced, gemini.seconds) == (("Gemini 100%",), 1, None, 0, None)


def test_runs_are_counted_by_several_properties(many: Store) -> None:
    expected: dict[tuple[str | None, ...], int] = {(name, "gpt"): 1 for name in ENDINGS}
    expected["resolved", None] = 1
    assert {each.key: each.runs for each in count_runs(many, RunFilter(), ["outcome", "model"])} == expected


def test_without_a_property_all_are_one_group_and_none_is_no_group(many: Store) -> None:
    assert [each.runs for each in count_runs(many, RunFilter(), [])] == [6]
    assert count_runs(many, RunFilter(agent="nobody"), []) == []


@pytest.mark.parametrize(
    ("wanted", "number"),
    [
        ({}, 1),
        ({"run": "r-00112233aabbccdd"}, 1),
        ({"run": "r-0"}, 0),
        ({"status": "judged"}, 1),
        ({"status": "errored"}, 0),
        ({"rubric": "00"}, 0),
        ({"in_pass": "p-1"}, 0),
    ],
)
def test_judgments_are_found(stored: Store, judgment: Judgment, wanted: dict[str, str], number: int) -> None:
    found, total = find_judgments(stored, msgspec.convert(wanted, JudgmentFilter), 0, 10)
    assert ([each.id for each in found], total) == ([judgment.id] * number, number)


def test_judgments_are_found_by_their_rubric(stored: Store, rubric: Rubric) -> None:
    assert find_judgments(stored, JudgmentFilter(rubric=rubric.hash), 0, 10)[1] == 1
    assert find_judgments(stored, JudgmentFilter(), 1, 10) == ([], 1)
