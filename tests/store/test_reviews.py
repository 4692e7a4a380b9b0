"""Reviews as a store keeps them: whole, pinned to their judgment, superseded and never changed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.passes.stored import CONDUCT, EVALUATOR, FILES, SHOWN, a_run, evaluated, read
from tests.store.conftest import Place

from adjudge.errors import InputError
from adjudge.judgment import Judgment, Score
from adjudge.reviews.values import Said, review_id
from adjudge.store import faults
from adjudge.store.checking import verify_stored
from adjudge.store.reviews import add_review, all_reviews, itemise_all, newest_review, reviews_of
from adjudge.store.store import Store

RUN = a_run(1)
JUDGED = evaluated(RUN, True, False)


@pytest.fixture
def judged(store: Store) -> Store:
    store.add_run(RUN)
    store.add_judgment(JUDGED, FILES)
    return store


def said(mode: Any = "seen", item: str = "tests", reviewer: str = "Ada", **more: Any) -> Said:
    answer = {"approved": True} if mode == "seen" else {"passed": True}
    given: dict[str, Any] = {"reason": "e2 says so.", "judgment": JUDGED.id, **answer, **more}
    return Said(item=item, reviewer=reviewer, mode=mode, **given)


def test_a_review_comes_back_as_it_was_said(judged: Store) -> None:
    kept = add_review(judged, said(reason="e2 says so.\nAnd 3 passed.", picked="random"))
    assert reviews_of(judged, JUDGED.id) == [kept]
    assert (kept.approved, kept.reason, kept.picked) == (True, "e2 says so.\nAnd 3 passed.", "random")
    assert review_id(kept) == kept.id


def test_a_blind_value_comes_back_as_it_was_said(judged: Store) -> None:
    run = a_run(2)
    reading = read(run, Score("loop", 2, "Again.", (SHOWN,), worse=True), Score("gave_up_early", 0, "No."))
    judged.add_run(run)
    judged.add_judgment(reading, CONDUCT)
    kept = add_review(judged, Said(reading.id, "loop", "Ada", "blind", "e2: twice.", value=3))
    assert reviews_of(judged, reading.id, "loop") == [kept]
    assert verify_stored(judged, reading.id).reviews == 1
    assert [each for each in verify_stored(judged, reading.id).findings if each.place.startswith("review")] == []
    assert (kept.value, kept.worse, kept.passed) == (3, True, None)


def test_several_reviewers_stand_side_by_side(judged: Store) -> None:
    kept = [add_review(judged, said(reviewer=name)) for name in ("Ada", "Bea")]
    assert reviews_of(judged, JUDGED.id) == kept


def test_a_later_review_supersedes_and_the_first_stays(judged: Store) -> None:
    first = add_review(judged, said())
    second = add_review(judged, said(approved=False, reason="e2 says another thing.", supersedes=first.id))
    assert reviews_of(judged, JUDGED.id) == [first, second]
    assert newest_review(judged, JUDGED.id, "tests", "Ada") == second


def test_what_was_said_blind_can_be_followed_by_what_is_thought_after_seeing(judged: Store) -> None:
    blind = add_review(judged, said("blind"))
    seen = add_review(judged, said(supersedes=blind.id))
    assert newest_review(judged, JUDGED.id, "tests", "Ada") == seen


def refused(store: Store, what: Said) -> str:
    with pytest.raises(InputError) as caught:
        add_review(store, what)
    return str(caught.value)


def test_a_review_of_no_judgment_or_of_none_of_its_items_is_refused(judged: Store) -> None:
    assert "no judgment 'j-none'" in refused(judged, said(judgment="j-none"))
    assert "nothing in it is judged as 'speed'; it has tests, notes" in refused(judged, said(item="speed"))
    assert list(all_reviews(judged)) == []


def test_a_second_review_must_say_that_it_supersedes_the_newest(judged: Store) -> None:
    first = add_review(judged, said())
    assert f"({first.id}); say that this one supersedes it" in refused(judged, said())
    second = add_review(judged, said(supersedes=first.id))
    assert "superseded already; the newest is " + second.id in refused(judged, said(supersedes=first.id))
    assert "which is none of these" in refused(judged, said(supersedes="v-other"))
    assert "none of theirs yet" in refused(judged, said(reviewer="Bea", supersedes=second.id))


def test_nobody_is_blind_twice(judged: Store) -> None:
    first = add_review(judged, said())
    assert "the next one is not blind" in refused(judged, said("blind", supersedes=first.id))


def test_a_judgment_again_starts_without_reviews(judged: Store) -> None:
    add_review(judged, said())
    again = msgspec.structs.replace(JUDGED, id="j-again")
    judged.add_judgment(again)
    assert reviews_of(judged, again.id) == []
    add_review(judged, said("blind", judgment=again.id))


def test_text_that_no_database_takes_is_kept_as_it_can_be(judged: Store) -> None:
    kept = add_review(judged, said(reason="a\0b \ud800 e2"))
    assert kept.reason == "a\N{REPLACEMENT CHARACTER}b \N{REPLACEMENT CHARACTER} e2"
    assert reviews_of(judged, JUDGED.id) == [kept]


def test_reviews_outlive_the_store_that_took_them(place: Place) -> None:
    with place.open() as store:
        store.add_run(RUN)
        store.add_judgment(JUDGED, FILES)
        kept = add_review(store, said())
    with place.open() as store:
        assert list(all_reviews(store)) == [kept]


KILLED = """
import os, sys
from tests.store.test_reviews import RUN, JUDGED, FILES, said
from adjudge.store.store import open_store
from adjudge.store.reviews import add_review
store = open_store(sys.argv[1], sys.argv[2] or None)
store.add_run(RUN)
store.add_judgment(JUDGED, FILES)
print(add_review(store, said()).id, flush=True)
os.kill(os.getpid(), 9)
"""


def test_what_was_reported_as_saved_survives_kill_9(place: Place) -> None:
    root = Path(__file__).parents[2]
    words = [sys.executable, "-c", KILLED, place.store, place.apart or ""]
    ended = subprocess.run(words, check=False, cwd=root, capture_output=True, text=True, timeout=120)
    assert ended.returncode == -9, ended.stderr
    with place.open() as store:
        assert [review.id for review in all_reviews(store)] == [ended.stdout.strip()]


def test_on_a_full_disk_the_reserve_is_given_up_for_a_review(judged: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    writing, full = judged.writing, [True]

    def fails_once() -> Any:
        if full.pop() if full else False:
            raise faults.DiskFullError("full")
        return writing()

    monkeypatch.setattr(judged, "writing", fails_once)
    kept = add_review(judged, said())
    assert reviews_of(judged, JUDGED.id) == [kept]
    assert not judged.make_room()  # it is gone


# --- the items


def items(place: Place) -> list[tuple[Any, ...]]:
    query = "SELECT judgment, item, kind, answer, worse, doubts, uncertainty, disagreement FROM judged_items"
    return [tuple(row) for row in place.sql(f"{query} ORDER BY judgment, item")]


def landed(store: Store, number: int, *passed: bool, **more: Any) -> Judgment:
    run = a_run(number)
    judgment = evaluated(run, *passed, **more)
    store.add_run(run)
    store.add_judgment(judgment, FILES)
    return judgment


def test_each_verdict_becomes_an_item_when_it_lands(judged: Store, place: Place) -> None:
    # Both cite one thing that holds and one that does not: one doubt.
    assert items(place) == [
        (JUDGED.id, "notes", "criterion", 0.0, True, 1, 1, 0.0),
        (JUDGED.id, "tests", "criterion", 1.0, False, 1, 1, 0.0),
    ]


def test_a_demoted_score_has_no_answer(store: Store, place: Place) -> None:
    run = a_run(2)
    reading = read(run, Score("loop", None, "Again.", fault="evidence_missing"), Score("gave_up_early", 0, "No."))
    store.add_run(run)
    store.add_judgment(reading, CONDUCT)
    assert [row[1:] for row in items(place)] == [
        ("gave_up_early", "dimension", 0.0, False, 0, 0, 0.0),
        ("loop", "dimension", None, None, 1, 1, 0.0),
    ]


def test_another_sample_that_differs_is_uncertain_and_in_dispute(judged: Store, place: Place) -> None:
    judged.add_judgment(evaluated(RUN, False, False, id="j-second"))
    told = {(row[0], row[1]): row[6:] for row in items(place)}
    assert told[JUDGED.id, "tests"] == told["j-second", "tests"] == (2, 1.0)
    assert told[JUDGED.id, "notes"] == told["j-second", "notes"] == (1, 0.0)


def test_another_judge_that_differs_is_in_dispute_only(judged: Store, place: Place) -> None:
    other = msgspec.structs.replace(EVALUATOR, model="openrouter/judge-b")
    judged.add_judgment(evaluated(RUN, False, False, id="j-other", judge=other))
    told = {(row[0], row[1]): row[6:] for row in items(place)}
    assert told[JUDGED.id, "tests"] == told["j-other", "tests"] == (1, 1.0)


def test_a_denial_and_another_blind_answer_are_a_dispute_and_an_approval_is_none(judged: Store, place: Place) -> None:
    first = add_review(judged, said(approved=False))
    assert [row[7] for row in items(place)] == [0.0, 1.0]
    add_review(judged, said(supersedes=first.id))
    assert [row[7] for row in items(place)] == [0.0, 0.0]
    add_review(judged, said("blind", reviewer="Bea", passed=False))
    assert [row[7] for row in items(place)] == [0.0, 1.0]


@pytest.fixture
def old(judged: Store, place: Place) -> Iterator[Store]:
    """A store whose judgments were kept before there were items."""
    landed(judged, 2, True, True)
    place.sql("DELETE FROM judged_items WHERE item <> ?", "none")
    place.sql("UPDATE judgments SET itemised = (1 = 0) WHERE id <> ?", "none")
    return judged  # type: ignore[return-value]  # nothing to tear down


def test_what_was_judged_before_there_were_items_gets_them(old: Store, place: Place) -> None:
    assert itemise_all(old) == 2
    assert len(items(place)) == 4
    assert itemise_all(old) == 0


def test_an_old_judgment_can_be_reviewed_at_once(old: Store, place: Place) -> None:
    add_review(old, said())
    assert len(items(place)) == 2
    assert itemise_all(old) == 1
