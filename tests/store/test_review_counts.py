"""What figures are counted from: each review once, only those that count, judgments again side by side."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.passes.stored import CONDUCT, EVALUATOR, FILES, SHOWN, a_run, evaluated, read

from adjudge.judgment import Score
from adjudge.reviews.agreement import Pair
from adjudge.reviews.values import Said
from adjudge.store.review_counts import blind_items, blind_pairs, endorsements, repeated_pairs
from adjudge.store.review_queue import Scope
from adjudge.store.reviews import add_review
from adjudge.store.store import Store

ALL = Scope()


@pytest.fixture
def three(store: Store) -> list[str]:
    found = []
    for number in (1, 2, 3):
        run = a_run(number, "codex" if number < 3 else "opencode")
        judgment = evaluated(run, True, False)
        store.add_run(run)
        store.add_judgment(judgment, FILES)
        found.append(judgment.id)
    return found


def say(store: Store, judgment: str, item: str, reviewer: str = "Ada", mode: Any = "seen", **answer: Any) -> str:
    return add_review(store, Said(judgment, item, reviewer, mode, "e2 says so.", **answer)).id


def test_endorsement_counts_each_reviewers_newest_review_and_no_blind_one(store: Store, three: list[str]) -> None:
    first = say(store, three[0], "tests", approved=True)
    say(store, three[0], "tests", approved=False, supersedes=first)
    say(store, three[0], "tests", "Bea", approved=True)
    say(store, three[1], "tests", approved=True)
    say(store, three[1], "tests", "Bea", "blind", passed=True)
    ((subject, approved, total, items),) = endorsements(store, ALL, None)
    assert (subject.item, subject.harness, approved, total, items) == ("tests", "codex", 2, 3, 2)


def test_what_was_said_blind_counts_whatever_is_thought_after_seeing(store: Store, three: list[str]) -> None:
    blind = say(store, three[0], "tests", mode="blind", passed=False)
    say(store, three[0], "tests", approved=True, supersedes=blind)
    ((_, pair, times),) = blind_pairs(store, ALL, None)
    assert (pair, times) == (Pair((0.0, 1.0), (True, False)), 1)
    ((_, approved, total, _),) = endorsements(store, ALL, None)
    assert (approved, total) == (1, 1)


def test_equal_pairs_are_counted_together_by_item_and_harness(store: Store, three: list[str]) -> None:
    for judgment in three:
        for reviewer in ("Ada", "Bea"):
            say(store, judgment, "notes", reviewer, "blind", passed=False)
    told = {(subject.harness, pair.values): times for subject, pair, times in blind_pairs(store, ALL, None)}
    assert told == {("codex", (0.0, 0.0)): 4, ("opencode", (0.0, 0.0)): 2}
    assert {subject.harness: items for subject, items in blind_items(store, ALL, None)} == {"codex": 2, "opencode": 1}


def test_only_what_was_come_by_in_one_way_can_be_counted(store: Store, three: list[str]) -> None:
    say(store, three[0], "tests", mode="blind", passed=True, picked="random")
    say(store, three[1], "tests", mode="blind", passed=False, picked="disagreement")
    assert [pair.values for _, pair, _ in blind_pairs(store, ALL, "random")] == [(1.0, 1.0)]
    assert sum(items for _, items in blind_items(store, ALL, None)) == 2


def again(store: Store, *values: float | None, judge: Any = None) -> None:
    run = a_run(9)
    store.add_run(run)
    for number, value in enumerate(values):
        score = Score("loop", value, "So.", (SHOWN,), worse=bool(value))
        more = {"judge": judge} if judge else {}
        identifier = f"j-{judge.version if judge else ''}{number}"
        store.add_judgment(read(run, score, Score("gave_up_early", 0, "No."), id=identifier, **more), CONDUCT)


def loops(store: Store) -> list[tuple[tuple[float, float | None], bool]]:
    return [(pair.values, first) for subject, pair, first in repeated_pairs(store, ALL) if subject.item == "loop"]


def test_each_judgment_of_a_run_again_is_held_against_the_one_before(store: Store) -> None:
    again(store, 0, 2, 1)
    assert loops(store) == [((0, 2), True), ((2, 1), False)]


def test_a_judgment_again_without_a_value_is_no_pair_but_is_told(store: Store) -> None:
    again(store, None, 2, None, None)
    assert loops(store) == [((2, None), True), ((2, None), False)]


def test_another_judge_judging_the_run_is_no_repetition(store: Store) -> None:
    again(store, 2)
    again(store, 0, judge=msgspec.structs.replace(EVALUATOR, kind="reader", version="9"))
    assert loops(store) == []
