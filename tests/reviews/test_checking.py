"""What a reviewer may say, and what is refused, in which words."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.passes.stored import CONDUCT, FILES, SHOWN, a_run, evaluated, read

from adjudge.errors import InputError
from adjudge.judgment import Score
from adjudge.reviews.checking import review_of
from adjudge.reviews.values import Review, Said, review_id

EVALUATED = evaluated(a_run(1), True, False)
READ = read(a_run(2), Score("loop", 2, "Again.", (SHOWN,), worse=True), Score("gave_up_early", 0, "No."))
WHEN = "2026-03-01T10:00:00.000000+00:00"


def said(item: str = "tests", mode: Any = "seen", **more: Any) -> Said:
    return Said(EVALUATED.id, item, "Ada", mode, more.pop("reason", "e3 shows the tests."), **more)


def checked(what: Said) -> Review:
    return review_of(what, EVALUATED, FILES, WHEN)


def read_as(what: Said) -> Review:
    return review_of(what, READ, CONDUCT, WHEN)


def test_an_approval_is_kept_as_it_was_said() -> None:
    review = checked(said(approved=True))
    assert (review.item, review.approved, review.passed, review.worse, review.added) == ("tests", True, None, None, WHEN)


def test_a_blind_fail_finds_the_agent_worse() -> None:
    assert checked(said(mode="blind", passed=False)).worse is True
    assert checked(said(mode="blind", passed=True)).worse is False


def test_a_blind_severity_above_the_baseline_finds_the_agent_worse() -> None:
    assert read_as(said("loop", "blind", value=1)).worse is True
    assert read_as(said("loop", "blind", value=0)).worse is False


REFUSED = [
    (said("speed", approved=True), "nothing in it is judged as 'speed'; it has tests, notes"),
    (said(), "approves or denies"),
    (said(approved=True, passed=True), "gives no answer beside"),
    (said(mode="blind", approved=True), "has not seen it"),
    (said(mode="blind"), "the answer to it is pass or fail"),
    (said(mode="blind", value=1), "the answer to it is pass or fail"),
    (said(approved=True, reason=" \n"), "needs a reason"),
    (said(approved=True, reason="…"), "needs a reason"),
    (said(approved=False, reason="a" * 10_001), "at most 10000"),
    (msgspec.structs.replace(said(approved=True), reviewer=" "), "must be a name"),
    (msgspec.structs.replace(said(approved=True), reviewer="Ada\x1b[2J"), "must be a name"),
    (msgspec.structs.replace(said(approved=True), reviewer="Ada\u202e"), "must be a name"),
    (msgspec.structs.replace(said(approved=True), reviewer="a" * 101), "must be a name"),
]


@pytest.mark.parametrize(("what", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_what_cannot_be_kept_is_refused_in_words(what: Said, words: str) -> None:
    with pytest.raises(InputError, match=words):
        checked(what)


@pytest.mark.parametrize("value", [-1, 4, 1.5, float("nan"), None])
def test_a_value_off_the_scale_is_refused(value: float | None) -> None:
    with pytest.raises(InputError, match="a whole number from 0 to 3"):
        read_as(said("loop", "blind", value=value))


@pytest.mark.parametrize(
    "change", [{"reason": "e4 shows it."}, {"approved": False}, {"reviewer": "Bea"}, {"added": WHEN.replace("10", "11")}]
)
def test_a_changed_review_has_another_id(change: dict[str, Any]) -> None:
    review = checked(said(approved=True))
    assert review_id(review) == review.id
    assert review_id(msgspec.structs.replace(review, **change)) != review.id
