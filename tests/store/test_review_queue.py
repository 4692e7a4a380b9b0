"""Which judged items come next: in which order, without what is reviewed, of what is asked for."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.passes.stored import CONDUCT, EVALUATOR, FILES, SHOWN, a_run, add_pass, evaluated, read

from adjudge.judgment import Score
from adjudge.reviews.values import Order, Said
from adjudge.store.review_queue import QueueCounts, QueueItem, Scope, counts_of, queued
from adjudge.store.reviews import add_review
from adjudge.store.store import Store

ALL = Scope()


def judge(store: Store, number: int, *passed: bool, agent: str | None = "codex", **more: Any) -> str:
    run = a_run(number, agent)
    judgment = evaluated(run, *passed, **{"id": f"j-{number * 0x0123456789ABCDEF % 2**64:016x}", **more})
    store.add_run(run)
    store.add_judgment(judgment, FILES)
    return judgment.id


@pytest.fixture
def twelve(store: Store) -> list[str]:
    """The judgments of twelve runs, whose ids are spread as random ones are."""
    return [judge(store, number, True, False) for number in range(1, 13)]


def names(items: list[QueueItem]) -> list[tuple[str, str]]:
    return [(each.judgment, each.item) for each in items]


def drawn(store: Store, most: int, seed: int, scope: Scope = ALL, reviewer: str | None = None) -> list[tuple[str, str]]:
    return names(queued(store, "random", scope, reviewer, most, seed))


def test_at_random_each_judgment_comes_once_before_any_comes_twice(store: Store, twelve: list[str]) -> None:
    found = drawn(store, 24, 1)
    assert sorted(name for name, _ in found[:12]) == sorted(twelve)
    assert len(set(found)) == 24


def test_the_same_seed_draws_the_same_and_another_draws_another_order(store: Store, twelve: list[str]) -> None:
    assert drawn(store, 5, 7) == drawn(store, 5, 7) == drawn(store, 12, 7)[:5]
    assert len({tuple(drawn(store, 5, seed)) for seed in range(20)}) > 10


def test_every_item_is_drawn_as_often_as_any_other(store: Store, twelve: list[str]) -> None:
    """Over many seeds each of both items of a judgment is the first one about as often: it is a fair coin."""
    first = [dict(drawn(store, 12, seed))[twelve[0]] for seed in range(200)]
    assert 70 < first.count("tests") < 130


def test_what_was_reviewed_is_left_out_for_that_reviewer_and_the_order_stays(store: Store, twelve: list[str]) -> None:
    before = drawn(store, 24, 3)
    for judgment, item in before[:2]:
        add_review(store, Said(judgment, item, "Ada", "seen", "e2 says so.", approved=True))
    assert drawn(store, 24, 3, reviewer="Ada") == before[2:]
    assert drawn(store, 24, 3, reviewer="Bea") == before


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (Scope(item="tests"), 3),
        (Scope(harness="codex"), 2),
        (Scope(harness="unknown"), 2),
        (Scope(judge="openrouter/judge-b"), 2),
        (Scope(judge=EVALUATOR.hash[:8]), 4),
        (Scope(judge="%"), 0),
        (Scope(rubric=FILES.hash), 6),
        (Scope(rubric=CONDUCT.hash), 2),
        (Scope(judgment="j-0123456789abcdef"), 2),
        (Scope(harness="codex", item="notes"), 1),
        (Scope(item="speed"), 0),
    ],
)
def test_only_what_is_asked_for_is_queued(store: Store, scope: Scope, expected: int) -> None:
    other = msgspec.structs.replace(EVALUATOR, model="openrouter/judge-b")
    judge(store, 1, True, True)
    judge(store, 2, True, True, agent=None)
    judge(store, 3, True, True, agent="opencode", judge=other)
    run = a_run(4, "qwen")
    store.add_run(run)
    store.add_judgment(read(run, Score("loop", 1, "So.", (SHOWN,), worse=True), Score("gave_up_early", 0, "No.")), CONDUCT)
    assert len(drawn(store, 100, 0, scope)) == expected


def test_a_pass_is_a_scope_too(store: Store, twelve: list[str]) -> None:
    runs = [a_run(number) for number in (21, 22)]
    identifier = add_pass(store, FILES, EVALUATOR, runs, [evaluated(run, True, True) for run in runs])
    assert {name for name, _ in drawn(store, 100, 0, Scope(of_pass=identifier))} == {evaluated(run).id for run in runs}


def test_errored_judgments_and_those_without_a_rubric_are_not_queued(store: Store) -> None:
    run = a_run(1)
    store.add_run(run)
    store.add_judgment(evaluated(run, failure="timeout", reason="No answer."), FILES)
    bare = msgspec.structs.replace(evaluated(run, True, True, id="j-bare"), rubric=None, rubric_hash=None)
    store.add_judgment(bare)
    assert drawn(store, 100, 0) == []


def ordered(store: Store, order: Order, **more: Any) -> list[tuple[str, str]]:
    return names(queued(store, order, ALL, more.get("reviewer"), 100))


def test_by_disagreement_only_what_is_in_dispute_comes_the_furthest_apart_first(store: Store, twelve: list[str]) -> None:
    run = a_run(30)
    store.add_run(run)
    for number, value in enumerate((0, 3)):
        score = Score("loop", value, "So.", (SHOWN,), worse=value > 0)
        store.add_judgment(read(run, score, Score("gave_up_early", 0, "No."), id=f"j-{number}"), CONDUCT)
    add_review(store, Said(twelve[3], "notes", "Ada", "blind", "NOTES.md names it.", passed=True))
    assert ordered(store, "disagreement") == [("j-1", "loop"), ("j-0", "loop"), (twelve[3], "notes")]
    assert ordered(store, "disagreement", reviewer="Ada") == [("j-1", "loop"), ("j-0", "loop")]


def test_by_uncertainty_the_most_doubts_come_first(store: Store) -> None:
    sure = judge(store, 1, True, False)  # a citation of each does not hold
    unsure = judge(store, 2, True, False, cause="evidence", decided="forced")
    found = ordered(store, "uncertainty")
    assert found[:2] == [(unsure, "notes"), (unsure, "tests")]  # three doubts, then two
    assert set(found[2:]) == {(sure, "notes"), (sure, "tests")}


def test_what_is_open_and_who_reviewed_the_rest_is_counted(store: Store, twelve: list[str]) -> None:
    for reviewer, judgment, item in (("Ada", twelve[0], "notes"), ("Ada", twelve[1], "notes"), ("Bea", twelve[0], "notes")):
        add_review(store, Said(judgment, item, reviewer, "blind", "NOTES.md names it.", passed=True))
    newest = add_review(store, Said(twelve[5], "tests", "Cid", "blind", "e3 shows it.", passed=True))
    add_review(store, Said(twelve[5], "tests", "Cid", "seen", "e3 shows it.", approved=True, supersedes=newest.id))
    assert counts_of(store, "random", ALL, "Ada") == QueueCounts(22, 2, 2)
    assert counts_of(store, "random", ALL, None) == QueueCounts(24, 0, 3)
    assert counts_of(store, "random", Scope(item="notes"), "Bea") == QueueCounts(11, 1, 2)
    for order in ("disagreement", "uncertainty"):
        assert counts_of(store, order, ALL, "Dot").open == len(ordered(store, order, reviewer="Dot")) > 0
