"""Figures from a store: split as asked, each item on its own scale, several together as worse or not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.passes.stored import CONDUCT, EVALUATOR, FILES, READER, SHOWN, a_run, evaluated, read

from adjudge.errors import InputError
from adjudge.judgment import Score
from adjudge.reviews.figures import Figures
from adjudge.reviews.values import Said
from adjudge.rubric import Criterion, Dimension
from adjudge.store.review_queue import Scope
from adjudge.store.store import Store, open_store
from adjudge.wiring.reviews import add_review, agreement, answered, question, review_queue, scope_of, trust

ALL = Scope()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Judgments of 24 runs by an evaluator and a reader; even runs are of codex, and pass and are blameless."""
    with open_store(tmp_path / "store") as opened:
        for number in range(24):
            run, good = a_run(number, ("codex", "opencode")[number % 2]), number % 2 == 0
            opened.add_run(run)
            opened.add_judgment(evaluated(run, good, True), FILES)
            score = Score("loop", 0 if good else 2, "So.", (SHOWN,), worse=not good)
            opened.add_judgment(read(run, score, Score("gave_up_early", 0, "No.")), CONDUCT)
        yield opened


def say(store: Store, number: int, item: str, mode: Any = "blind", reviewer: str = "Ada", **answer: Any) -> None:
    run = a_run(number)
    judgment = (evaluated(run) if item in ("tests", "notes") else read(run)).id
    add_review(store, Said(judgment, item, reviewer, mode, "e2 says so.", **answer))


def of(groups: tuple[Figures, ...], **key: str) -> Figures:
    (found,) = (each for each in groups if key.items() <= each.key.items())
    return found


def test_by_item_each_has_its_own_scale(store: Store) -> None:
    for number in range(24):
        say(store, number, "tests", passed=number % 2 == 0)
        say(store, number, "loop", value=0 if number % 2 == 0 else 3)
    report = agreement(store, ["item"], ALL)
    tests, loop = of(report.groups, item="tests").blind, of(report.groups, item="loop").blind
    assert (tests.counts, tests.weighting) == (((12, 0), (0, 12)), "none")
    assert (loop.counts[0][0], loop.counts[3][2], loop.weighting) == (12, 12, "linear")
    assert loop.raw is not None
    assert loop.raw.share == 0.5
    assert (tests.items, tests.meaningful, of(report.groups, item="loop").key["rubric_hash"]) == (24, True, CONDUCT.hash)


def test_over_several_items_answers_count_as_worse_or_not(store: Store) -> None:
    say(store, 1, "loop", value=3)  # the judge says 2: both worse
    say(store, 1, "tests", passed=True)  # the judge failed it
    whole = agreement(store, [], ALL).whole.blind
    assert (whole.categories, whole.counts) == ((0.0, 1.0), ((1, 0), (1, 0)))


def test_harness_model_and_judge_split_too(store: Store) -> None:
    for number in range(4):
        say(store, number, "tests", "seen", approved=number > 0)
    report = agreement(store, ["harness"], ALL)
    assert [(each.key["harness"], each.endorsement.approved, each.endorsement.reviews) for each in report.groups] == [
        ("codex", 1, 2),
        ("opencode", 2, 2),
    ]
    (judge,) = agreement(store, ["judge"], ALL).groups
    assert judge.key == {"judge": "evaluator", "model": "openrouter/judge-a", "judge_hash": EVALUATOR.hash}
    assert [each.key for each in agreement(store, ["model", "item"], ALL).groups] == [
        {"model": "openrouter/judge-a", "rubric": "files", "rubric_hash": FILES.hash, "item": "tests"}
    ]


def test_only_what_is_in_scope_counts(store: Store) -> None:
    say(store, 0, "tests", "seen", approved=True)
    say(store, 1, "tests", "seen", approved=False)
    assert agreement(store, [], Scope(harness="opencode")).whole.endorsement.approved == 0
    assert agreement(store, [], Scope(harness="qwen")).whole.endorsement.reviews == 0


def test_endorsement_and_blind_agreement_are_never_mixed(store: Store) -> None:
    say(store, 0, "tests", "seen", approved=True)
    say(store, 0, "tests", "blind", "Bea", passed=False)
    whole = agreement(store, [], ALL).whole
    assert (whole.endorsement.reviews, whole.blind.pairs) == (1, 1)
    assert whole.endorsement.rate is not None
    assert whole.endorsement.rate.share == 1.0


def test_several_reviewers_of_an_item_are_several_pairs_of_one_item(store: Store) -> None:
    for reviewer in ("Ada", "Bea", "Cyd"):
        say(store, 0, "tests", "blind", reviewer, passed=True)
    whole = agreement(store, [], ALL).whole.blind
    assert (whole.pairs, whole.items) == (3, 1)


def test_a_judge_that_judges_again_is_held_against_itself(store: Store) -> None:
    for number in range(20):
        run = a_run(number)
        values = (Score("loop", 1, "So.", (SHOWN,), worse=True), Score("gave_up_early", 0, "No."))
        store.add_judgment(read(run, *values, id=f"j-again{number}"))
    loop = of(agreement(store, ["item"], Scope(rubric=CONDUCT.hash)).groups, item="loop").repeated
    assert (loop.pairs, loop.items, loop.meaningful) == (20, 20, True)
    assert (loop.counts[0][1], loop.counts[2][1]) == (10, 10)


def test_names_become_a_scope(store: Store) -> None:
    found = scope_of(store, rubric="files", item="tests", judgment=evaluated(a_run(3)).id)
    assert found == Scope(rubric=FILES.hash, item="tests", judgment=evaluated(a_run(3)).id)
    with pytest.raises(InputError, match="no stored judgment was made with it"):
        scope_of(store, rubric="other")


def test_a_question_has_nothing_of_the_judges_side(store: Store) -> None:
    asked = question(store, evaluated(a_run(1)).id, "tests")
    assert isinstance(asked.asked, Criterion)
    assert asked.run.id == a_run(1).id
    assert b"Seen." not in msgspec.json.encode([asked.judgment, asked.item, asked.asked, asked.rubric])
    assert isinstance(question(store, read(a_run(1)).id, "loop").asked, Dimension)
    assert answered(store, evaluated(a_run(1)).id, "tests").judged.passed is False  # type: ignore[union-attr]  # a verdict


def test_a_question_that_no_rubric_asks_is_refused(store: Store) -> None:
    bare = msgspec.structs.replace(evaluated(a_run(1), True, True, id="j-bare"), rubric=None, rubric_hash=None)
    store.add_judgment(bare)
    with pytest.raises(InputError, match="is not asked by a rubric"):
        question(store, "j-bare", "tests")


def test_the_newest_review_is_superseded_if_that_is_asked_for(store: Store) -> None:
    judgment = evaluated(a_run(0)).id
    said = Said(judgment, "tests", "Ada", "seen", "e2 says so.", approved=True)
    first = add_review(store, said, supersede=True)
    second = add_review(store, msgspec.structs.replace(said, approved=False), supersede=True)
    assert (first.supersedes, second.supersedes) == (None, first.id)
    with pytest.raises(InputError, match="say that this one supersedes it"):
        add_review(store, said)


def test_what_was_judged_before_there_were_reviews_is_queued(store: Store) -> None:
    run = a_run(99)
    store.add_run(run)
    store.add_judgment(read(run, Score("loop", 0, "No."), Score("gave_up_early", 0, "No."), judge=READER), CONDUCT)
    with store.writing() as connection:
        connection.exec_driver_sql("DELETE FROM judged_items")
        connection.exec_driver_sql("UPDATE judgments SET itemised = 0")
    assert len(review_queue(store, "random", ALL, most=200)) == 25 * 2 + 24 * 2


def test_trust_has_the_same_figures_by_item_harness_and_judge(store: Store) -> None:
    for number in range(24):
        say(store, number, "tests", passed=number % 2 == 0 or number == 1)
    say(store, 0, "notes", passed=False)
    found = trust(store, FILES.hash, None)
    whole = agreement(store, ("item",), Scope(rubric=FILES.hash))
    assert (found.whole, tuple(found.items[name] for name in ("notes", "tests"))) == (whole.whole, whole.groups)
    by_harness = agreement(store, ("harness",), Scope(rubric=FILES.hash)).groups
    assert tuple(found.harnesses[name] for name in ("codex", "opencode")) == by_harness
    assert found.judges == agreement(store, ("judge",), Scope(rubric=FILES.hash)).groups
    # Of opencode the judge failed all twelve, and Ada passed one of these; with codex they agree in each.
    assert found.items_of["opencode"]["tests"].blind.counts == ((11, 0), (1, 0))
    assert found.items_of["codex"]["tests"].blind.counts == ((0, 0), (0, 12))
    assert "notes" not in found.items_of["opencode"]


def test_nothing_reviewed_is_a_whole_without_parts(store: Store) -> None:
    found = trust(store, FILES.hash, None)
    assert (found.whole.blind.pairs, found.items, found.harnesses, found.judges) == (0, {}, {}, ())
