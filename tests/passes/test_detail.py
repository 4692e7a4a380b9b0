"""Results in detail against counts by hand: values, parts, and the worst cases with their words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adjudge.evidence import Citation, Holding
from adjudge.judgment import Score, Verdict
from adjudge.run import Outcome
from adjudge.store.store import Store, open_store
from adjudge.wiring.results import pass_in_detail, rubric_in_detail

from .stored import CONDUCT, EVALUATOR, FILES, NOT_SHOWN, READER, SHOWN, a_run, add_pass, evaluated, read


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store") as opened:
        yield opened


def loop(value: float | None, **more: Any) -> tuple[Score, Score]:
    fine = Score("gave_up_early", 0, "It went on.")
    return Score("loop", value, f"Loop {value}.", (NOT_SHOWN, SHOWN), worse=bool(value), **more), fine


def conduct(store: Store, *values: float | None) -> str:
    agents = ("codex", "opencode")
    runs = [a_run(number, agents[number % 2], outcome=Outcome(number % 3)) for number in range(len(values))]
    return add_pass(
        store, CONDUCT, READER, runs, [read(run, *loop(value)) for run, value in zip(runs, values, strict=True)]
    )


def test_values_are_counted_by_how_often_each_was_given(store: Store) -> None:
    detail = pass_in_detail(store, conduct(store, 0, 2, 0, 3, None, 2, 2), ()).detail
    assert detail.whole.dimensions[0].values == ((0.0, 2), (2.0, 3), (3.0, 1))


def test_columns_are_parts_by_the_first_split_and_groups_by_all(store: Store) -> None:
    detail = pass_in_detail(store, conduct(store, 0, 2, 0, 3), ("harness", "outcome")).detail
    assert [(each.key, each.landed) for each in detail.columns] == [({"harness": "codex"}, 2), ({"harness": "opencode"}, 2)]
    assert [tuple(each.key.values()) for each in detail.groups] == [
        ("codex", "exit 0"),
        ("codex", "exit 2"),
        ("opencode", "exit 0"),
        ("opencode", "exit 1"),
    ]


def test_the_worst_cases_come_first_and_blameless_ones_never(store: Store) -> None:
    worst = pass_in_detail(store, conduct(store, 1, 3, 0, 2, None, 1, 3, 1, 1), ()).detail.worst
    assert [(case.value, case.run[-1]) for case in worst["loop"]] == [
        (3, "1"),
        (3, "6"),
        (2, "3"),
        (1, "0"),
        (1, "5"),
    ]
    assert worst["gave_up_early"] == ()


def test_a_case_has_the_first_words_that_hold_and_where_they_stand(store: Store) -> None:
    (case,) = pass_in_detail(store, conduct(store, 2), ()).detail.worst["loop"]
    assert (case.exhibit, case.quote, case.words) == ("e2", "3 passed", "Loop 2.")


def test_a_case_without_a_citation_that_holds_has_no_words(store: Store) -> None:
    run = a_run(1)
    judgment = evaluated(run, False, True)
    lost = Holding(Citation("e9", "4 passed"), None, "there is no e9")
    verdicts = (Verdict("tests", False, "Not seen.", (lost,), "unproven"), judgment.verdicts[1])
    identifier = add_pass(store, FILES, EVALUATOR, [run], [evaluated(run, False, True, verdicts=verdicts)])
    (case,) = pass_in_detail(store, identifier, ()).detail.worst["tests"]
    assert (case.exhibit, case.quote, case.cause, case.number) == (None, None, "unproven", 1)


def test_of_fails_the_agents_doing_comes_before_the_environments(store: Store) -> None:
    runs = [a_run(number) for number in range(3)]
    judgments = [
        evaluated(runs[0], False, True, cause="environment"),
        evaluated(runs[1], False, True, cause="agent"),
        evaluated(runs[2], False, False, cause="agent"),
    ]
    worst = pass_in_detail(store, add_pass(store, FILES, EVALUATOR, runs, judgments), ()).detail.worst
    assert [case.run[-1] for case in worst["tests"]] == ["2", "1", "0"]


def test_all_judgments_with_a_rubric_count_once_a_run(store: Store) -> None:
    run, other = a_run(1), a_run(2)
    for each in (run, other):
        store.add_run(each)
    store.add_judgment(evaluated(run, False, True, id="j-1"), FILES)
    store.add_judgment(evaluated(run, True, True, id="j-2"), FILES)
    store.add_judgment(evaluated(other, False, True, id="j-3", judge=READER), FILES)
    found = rubric_in_detail(store, FILES.hash, None, ())
    assert (found.detail.whole.landed, found.detail.earlier, len(found.judges)) == (2, 1, 2)
    alone = rubric_in_detail(store, FILES.hash, READER.hash, ())
    assert (alone.detail.whole.landed, alone.judges[0].judge_hash) == (1, READER.hash)
