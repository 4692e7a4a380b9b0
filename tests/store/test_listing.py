"""A list of runs: what it shows, filters, sorts and counts, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from adjudge.errors import InputError
from adjudge.evidence import Citation
from adjudge.exports.judged import Judged
from adjudge.judgment import Answer, Judge, Judgment, Steering, Verdict
from adjudge.run import Outcome
from adjudge.store.listing import Filter, ListedRun, Place, Sort, choices_of, list_runs
from adjudge.store.store import Store, open_store
from adjudge.testing import make_rubric, make_run

RUBRIC = make_rubric("`a` is 1", "`b` is 2", "`c` is 3", "`d` is 4")
PASS, FAIL = (Verdict(name, name == "a", "Seen.", cause=None) for name in ("a", "b"))
TAKEN_BACK = Verdict("c", False, "Not proven.", cause="evidence", answer=Answer("c", True, "So.", (Citation("e1", "x"),)))
SKIPPED = Verdict("d", False, "No answer.", cause="skipped")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store") as store:
        yield store


def add(store: Store, name: str, agent: str = "codex", grade: str | None = None, cost: float | None = None) -> str:
    outcome = Outcome(0, grade)  # type: ignore[arg-type]  # a grade
    run = make_run(agent=agent, model="m-1", task_name="billing", outcome=outcome, cost=cost)
    return store.add_run(msgspec.structs.replace(run, id=name))


def judge(store: Store, run: str, *verdicts: Verdict, status: str = "judged", number: int = 1) -> None:
    score = sum(verdict.passed for verdict in verdicts) / len(verdicts) if verdicts else None
    identity = Judge("evaluator", "judge-model", "p", {}, "0")
    judgment = Judgment(
        f"j-{run}-{number}",
        run,
        RUBRIC.name,
        RUBRIC.hash,
        identity,
        status,  # type: ignore[arg-type]  # a status
        "2026-01-01",
        1.0,
        verdicts,
        score,
        reason=None if status == "judged" else "there is no key",
    )
    store.add_judgment(judgment, RUBRIC)


def only(store: Store, run: str) -> ListedRun:
    return next(each for each in list_runs(store, Filter()).runs if each.id == run)


def names(store: Store, wanted: Filter | None = None, sort: Sort = "added") -> list[str]:
    return [run.id for run in list_runs(store, wanted or Filter(), sort).runs]


def test_a_run_shows_a_cell_for_each_criterion_in_the_rubrics_order(store: Store) -> None:
    judge(store, add(store, "r-1"), PASS, FAIL, TAKEN_BACK, SKIPPED)
    listed = only(store, "r-1")
    assert (listed.cells, listed.passed, listed.criteria, listed.score) == ("pfgs", 1, 4, 0.25)
    assert (listed.state, listed.flags) == ("judged", ("gate",))


def test_a_failed_attempt_does_not_take_a_verdict_away(store: Store) -> None:
    judge(store, add(store, "r-1"), PASS)
    judge(store, "r-1", status="errored", number=2)
    assert (only(store, "r-1").state, only(store, "r-1").evaluation) == ("judged", "j-r-1-1")


def test_a_run_without_a_verdict_says_why(store: Store) -> None:
    judge(store, add(store, "r-1"), status="errored")
    assert (only(store, "r-1").state, only(store, "r-1").reason) == ("errored", "there is no key")


def test_a_reading_shows_its_worst_dimension_and_what_was_left_out(store: Store, reading: Judged) -> None:
    store.add_run(reading.run)
    store.add_judgment(reading.judgment, reading.rubric)
    listed = only(store, reading.run.id)
    assert (listed.worst, listed.worse, listed.judging) == ("hallucination 3", 3, 0.0123)
    assert listed.flags == ("steer", "gate", "pruned", "masked")


def test_a_second_judge_does_not_take_the_firsts_place(store: Store, reading: Judged) -> None:
    store.add_run(reading.run)
    store.add_judgment(reading.judgment, reading.rubric)
    judge(store, reading.run.id, PASS)
    listed = only(store, reading.run.id)
    assert (listed.worst, listed.cells, listed.judging) == ("hallucination 3", "p", 0.0123)


def test_the_counts_of_where_runs_stand_add_up(store: Store, unread: Judged) -> None:
    judge(store, add(store, "r-1", grade="resolved"), PASS)
    judge(store, add(store, "r-2", grade="resolved"), PASS, FAIL)
    judge(store, add(store, "r-3"), TAKEN_BACK)
    add(store, "r-4")
    store.add_run(unread.run)
    store.add_judgment(unread.judgment, unread.rubric)
    counts = list_runs(store, Filter()).counts
    assert (counts.runs, counts.found, counts.judged, counts.errored, counts.unjudged) == (5, 5, 3, 1, 1)
    assert (counts.empty, counts.under_way) == (0, 0)
    assert (counts.resolved_yet_fails, counts.gate, counts.without) == (1, 1, 2)


def test_counts_are_of_what_the_filter_leaves_and_the_total_is_not(store: Store) -> None:
    add(store, "r-1", agent="codex")
    add(store, "r-2", agent="opencode")
    counts = list_runs(store, Filter(agent="codex")).counts
    assert (counts.runs, counts.found, counts.unjudged) == (2, 1, 1)


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        (Filter(agent="codex"), ["r-3", "r-1"]),
        (Filter(text="R-2"), ["r-2"]),
        (Filter(text="100%"), []),
        (Filter(task="billing"), ["r-3", "r-2", "r-1"]),
        (Filter(outcome="resolved"), ["r-1"]),
        (Filter(outcome="ungraded"), ["r-3"]),
        (Filter(judged="passes"), ["r-1"]),
        (Filter(judged="fails"), ["r-2"]),
        (Filter(judged="gate"), ["r-2"]),
        (Filter(judged="unjudged"), ["r-3"]),
        (Filter(flag="gate"), ["r-2"]),
        (Filter(flag="steer"), []),
    ],
)
def test_a_filter_leaves_what_it_says(store: Store, wanted: Filter, left: list[str]) -> None:
    judge(store, add(store, "r-1", grade="resolved"), PASS)
    judge(store, add(store, "r-2", agent="opencode", grade="unresolved"), PASS, TAKEN_BACK)
    add(store, "r-3")
    assert names(store, wanted) == left


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("added", ["r-c", "r-b", "r-a"]),
        ("-added", ["r-a", "r-b", "r-c"]),
        ("cost", ["r-b", "r-a", "r-c"]),
        ("-cost", ["r-a", "r-b", "r-c"]),
    ],
)
def test_runs_are_sorted_and_what_has_no_value_comes_last(store: Store, sort: Sort, order: list[str]) -> None:
    for name, cost in (("r-a", 0.1), ("r-b", 0.5), ("r-c", None)):
        add(store, name, cost=cost)
    assert names(store, sort=sort) == order


@pytest.mark.parametrize("sort", ["added", "-added", "cost", "-cost", "score", "turns"])
def test_pages_one_after_another_are_the_whole_list(store: Store, sort: Sort) -> None:
    for number in range(11):
        add(store, f"r-{number:02}", cost=None if number % 3 == 0 else number % 4)
    walked: list[str] = []
    place: Place | None = None
    for _ in range(11):
        page = list_runs(store, Filter(), sort, place, most=2)
        walked += [run.id for run in page.runs]
        place = page.next
        if place is None:
            break
    assert walked == names(store, sort=sort)
    assert len(set(walked)) == 11


@pytest.mark.parametrize(
    ("sort", "place"),
    [
        ("cost", Place("abc", "r-1")),
        ("turns", Place(2.0**70, "r-1")),
        ("-judging", Place("", "r-1")),
        ("added", Place(3, "r-1")),
    ],
)
def test_a_place_of_a_list_that_is_sorted_otherwise_is_refused(store: Store, sort: Sort, place: Place) -> None:
    with pytest.raises(InputError, match=f"none in a list that is sorted by {sort.lstrip('-')}"):
        list_runs(store, Filter(), sort, place)


def test_a_place_may_hold_what_no_database_takes(store: Store) -> None:
    add(store, "r-1", cost=2.0)
    assert [run.id for run in list_runs(store, Filter(), "cost", Place(3, "\0")).runs] == ["r-1"]
    assert list_runs(store, Filter(), "-added", Place("\0", "\0")).counts.found == 1


def test_an_exit_status_does_not_take_the_place_of_verdicts(store: Store) -> None:
    run = add(store, "r-1")
    judge(store, run, PASS, FAIL)
    later = Judgment("j-later", run, None, None, Judge("process", None, "p", {}, "0"), "judged", "2026-01-02", 1.0, (PASS,))
    store.add_judgment(later, None)
    assert (only(store, run).evaluation, only(store, run).score) == ("j-r-1-1", 0.5)


def test_the_choices_are_the_names_that_there_are(store: Store) -> None:
    for number, agent in enumerate(("codex", "opencode", "codex")):
        add(store, f"r-{number}", agent=agent)
    store.add_run(msgspec.structs.replace(make_run(task="Count the lines.\nAll of them.", agent="codex"), id="r-3"))
    found = choices_of(store)
    assert (found.agents, found.models) == (("codex", "opencode"), ("m-1",))
    assert found.tasks == ("Count the lines.", "billing")
    assert [run.id for task in found.tasks for run in list_runs(store, Filter(task=task)).runs] == [
        "r-3",
        "r-2",
        "r-1",
        "r-0",
    ]


def test_an_attempt_to_steer_is_a_flag(store: Store, reading: Judged) -> None:
    judgment = msgspec.structs.replace(reading.judgment, steering=(Steering("e1", "verdict", "C1: met"),))
    store.add_run(reading.run)
    store.add_judgment(judgment, reading.rubric)
    assert list_runs(store, Filter(flag="steer")).counts.steer == 1
