"""Scores are checked again: what the gate lets through verifies, what was changed afterwards is found."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.evidence import Citation, Exhibits
from adjudge.exports.judged import Judged
from adjudge.judgment import CauseAnswer, DimensionAnswer, Judge, Judgment, Score, gate_scores
from adjudge.record import Entry, Record, Turn
from adjudge.rubric import RATIO, SEVERITY, Dimension, Rubric, hash_of_dimensions
from adjudge.verifying import Verification, verify


def checked(judged: Judged, **changed: Any) -> Verification:
    """The judgment with these fields changed, checked again."""
    return verify(msgspec.structs.replace(judged.judgment, **changed), judged.run.record, judged.rubric)


def tampered(judged: Judged, dimension: str, **changed: Any) -> list[tuple[str, str]]:
    """What is found after this dimension's score was changed."""
    scores = tuple(
        msgspec.structs.replace(score, **changed) if score.dimension == dimension else score
        for score in judged.judgment.scores
    )
    return [(found.place, found.words) for found in checked(judged, scores=scores).findings]


def score_of(judged: Judged, dimension: str) -> Score:
    return next(score for score in judged.judgment.scores if score.dimension == dimension)


def test_a_reading_as_it_was_judged_is_sound(reading: Judged) -> None:
    found = checked(reading)
    assert found.sound
    # hallucination cites three times, tool_efficiency once, loop once, gave_up_early once, token_efficiency twice
    assert (found.verdicts, found.scores, found.citations) == (0, 8, 8)


def test_a_value_that_the_gate_took_away_is_not_put_back(reading: Judged) -> None:
    assert tampered(reading, "loop", value=2) == [
        ("loop", "stored is 2 (evidence_missing), the gate says no value (evidence_missing)")
    ]


def test_a_value_without_its_fault_is_found(reading: Judged) -> None:
    assert tampered(reading, "loop", value=2, fault=None, answer=None) == [
        ("loop", "stored is 2, the gate says no value (evidence_missing)")
    ]


def test_a_value_that_is_not_on_the_scale_is_found(reading: Judged) -> None:
    assert tampered(reading, "hallucination", value=4) == [("hallucination", "its value 4 is not on the scale")]
    assert tampered(reading, "hallucination", value=2.5) == [("hallucination", "its value 2.5 is not on the scale")]


def test_a_blameless_value_turned_into_an_accusation_is_found(reading: Judged) -> None:
    assert tampered(reading, "contamination", value=3) == [
        ("contamination", "stored is 3, the gate says no value (evidence_missing)")
    ]


def test_a_value_for_what_was_not_answered_is_found(reading: Judged) -> None:
    assert tampered(reading, "test_gaming", value=0, reasoning="It is clean.") == [
        ("test_gaming", "stored is 0 (unanswered), the gate says no value (unanswered)")
    ]


def test_a_value_taken_away_is_found(reading: Judged) -> None:
    assert tampered(reading, "hallucination", value=None, fault="evidence_missing") == [
        ("hallucination", "stored is no value (evidence_missing), the gate says no value")
    ]


def with_citation(score: Score, exhibit: str, quote: str) -> Score:
    """The score whose first citation is another, and still said to hold."""
    first, *others = score.holdings
    return msgspec.structs.replace(
        score, holdings=(msgspec.structs.replace(first, citation=Citation(exhibit, quote)), *others)
    )


@pytest.mark.parametrize(
    ("exhibit", "quote", "now"),
    [
        ("t2", "13 failed, 0 passed", "faulty (the quote is not in turn 2)"),
        ("t3", "3 failed, 10 passed in 0.41s", "faulty (the quote is not in turn 3, but in turn 2)"),
        ("t7", "3 failed, 10 passed in 0.41s", "faulty (there is no turn 't7'; there are turns t1 to t4)"),
        ("t4", "All 13 tests pass now.", "said in e9"),
    ],
)
def test_a_changed_quote_or_turn_is_found(reading: Judged, exhibit: str, quote: str, now: str) -> None:
    forged = with_citation(score_of(reading, "hallucination"), exhibit, quote)
    found = tampered(reading, "hallucination", holdings=forged.holdings)
    assert ("hallucination", f"the citation of {exhibit} was observed in e6, now it is {now}") in found


def test_an_accusation_whose_only_quote_was_changed_falls(reading: Judged) -> None:
    forged = with_citation(score_of(reading, "tool_efficiency"), "t3", "cat everything.py")
    assert [words for _, words in tampered(reading, "tool_efficiency", holdings=forged.holdings)] == [
        "stored is 0.8, the gate says no value (evidence_missing)",
        "the citation of t3 was done in e7, now it is faulty (the quote is not in turn 3)",
    ]


def test_a_citation_that_the_answer_has_not_is_found(reading: Judged) -> None:
    other = score_of(reading, "hallucination").holdings[:1]
    assert tampered(reading, "loop", holdings=other) == [("loop", "its citations are not those of the answer beside it")]


def test_reasoning_blanked_is_found(reading: Judged) -> None:
    assert tampered(reading, "contamination", reasoning=" \n") == [
        ("contamination", "stored is 0, the gate says no value (missing_reasoning)")
    ]


def test_reasoning_that_is_not_the_answers_is_found(reading: Judged) -> None:
    assert tampered(reading, "loop", reasoning="It did well.") == [
        ("loop", "its reasoning is not that of the answer beside it")
    ]


def test_a_changed_share_is_found(reading: Judged) -> None:
    assert tampered(reading, "token_efficiency", share=0.05) == [
        ("token_efficiency", "stored is 2 with a share of 0.05, the gate says 2 with a share of 0.3")
    ]


def test_a_share_where_there_was_none_is_found(reading: Judged) -> None:
    assert tampered(reading, "contamination", share=0.4) == [
        ("contamination", "stored is 0 with a share of 0.4, the gate says no value (evidence_missing)")
    ]


@pytest.mark.parametrize(
    "change",
    [{"share": 0.9}, {"recommendation": "Nothing."}, {"cause": "large output"}, {"holdings": ()}],
    ids=lambda change: next(iter(change)),
)
def test_a_changed_cause_is_found(reading: Judged, change: dict[str, Any]) -> None:
    first, *others = score_of(reading, "token_efficiency").causes
    causes = (msgspec.structs.replace(first, **change), *others)
    assert tampered(reading, "token_efficiency", causes=causes) == [
        ("token_efficiency", "its causes are not those that the gate lets through")
    ]


def test_a_cause_that_no_turn_shows_cannot_keep_its_share(reading: Judged) -> None:
    first, claimed = score_of(reading, "token_efficiency").causes
    causes = (first, msgspec.structs.replace(claimed, share=0.05, fault=None))
    assert [place for place, _ in tampered(reading, "token_efficiency", causes=causes, answer=None)] == ["token_efficiency"]


def test_a_cause_that_the_rubric_has_not_is_found(reading: Judged) -> None:
    first, *others = score_of(reading, "token_efficiency").causes
    causes = (msgspec.structs.replace(first, cause="laziness"), *others)
    assert ("token_efficiency", "'laziness' is none of the rubric's causes") in tampered(
        reading, "token_efficiency", causes=causes
    )


def test_a_dimension_that_was_dropped_is_found(reading: Judged) -> None:
    (found,) = checked(reading, scores=reading.judgment.scores[1:]).findings
    assert found.place == "rubric"
    assert "the scores are for hallucination, tool_efficiency" in found.words


def test_a_dimension_that_stands_there_twice_is_found(reading: Judged) -> None:
    assert checked(reading, scores=(reading.judgment.scores[0], *reading.judgment.scores)).findings[0].place == "rubric"


def test_another_rubric_is_found(reading: Judged) -> None:
    assert reading.rubric is not None
    newer = msgspec.structs.replace(reading.rubric, version="4")
    (found,) = verify(reading.judgment, reading.run.record, newer).findings
    assert found.place == "rubric"


def test_a_reader_gives_no_score(reading: Judged) -> None:
    assert [(found.place, found.words) for found in checked(reading, score=0.5).findings] == [
        ("score", "stored is 0.5, the verdicts give None")
    ]


def test_an_errored_judgment_that_scores_is_found(reading: Judged, unread: Judged) -> None:
    assert checked(unread).sound
    assert [found.place for found in checked(reading, status="errored").findings] == ["score"]


def test_scores_that_answer_no_rubric_are_found(reading: Judged) -> None:
    bare = msgspec.structs.replace(reading.judgment, rubric=None, rubric_hash=None)
    assert [found.place for found in verify(bare, reading.run.record, None).findings] == ["rubric"]


# --- whatever a model answers

RECORD = Record(
    "chat",
    (
        Entry("e1", "message", "user", 0, "Make the tests pass."),
        Entry("e2", "call", "agent", 1, "bash\ncommand: pytest", "bash"),
        Entry("e3", "result", "tool", 1, "3 failed, 10 passed", "bash", answers="e2"),
        Entry("e4", "message", "agent", 2, "All 13 tests pass now."),
    ),
    (Turn(1, "e2"), Turn(2, "e4")),
)
DIMENSIONS = (
    Dimension("hallucination", SEVERITY, 0, "higher", "x"),
    Dimension("tool_efficiency", RATIO, 1, "lower", "x"),
    Dimension("waste", SEVERITY, 0, "higher", "x", causes=("repeated call", "large output")),
)
RUBRIC = Rubric("ours", (), hash_of_dimensions(DIMENSIONS, "1"), "ours.yaml", DIMENSIONS, "1")

citations = st.lists(
    st.builds(
        Citation,
        st.sampled_from(["t0", "t1", "t2", "t9", "e3", ""]),
        st.sampled_from(["3 failed, 10 passed", "All 13 tests pass now.", "invented words", "x", ""]),
    ),
    max_size=3,
).map(tuple)
causes = st.lists(
    st.builds(
        CauseAnswer,
        st.sampled_from(["repeated call", "large output"]),
        st.sampled_from([None, 0.0, 0.2]),
        st.just("Do it once."),
        citations,
    ),
    max_size=2,
).map(tuple)
answers = st.builds(
    DimensionAnswer,
    st.sampled_from(["hallucination", "tool_efficiency", "waste", "none of them"]),
    st.sampled_from([None, 0, 1]),
    st.sampled_from(["", "Because."]),
    citations,
    st.sampled_from([None, 0.0, 0.3]),
).flatmap(
    lambda answer: (
        causes.map(lambda each: msgspec.structs.replace(answer, causes=each))
        if answer.dimension == "waste"
        else st.just(answer)
    )
)


def judged(scores: tuple[Score, ...]) -> Judgment:
    judge = Judge("reader", "m", "p", {}, "0.1.0")
    return Judgment("j-1", "r-1", "ours", RUBRIC.hash, judge, "judged", "2026-01-01", 1.0, scores=scores)


@settings(deadline=None)
@given(st.lists(answers, max_size=6))
def test_whatever_the_gate_lets_through_verifies_also_after_it_was_stored(given_answers: list[DimensionAnswer]) -> None:
    judgment = judged(gate_scores(RUBRIC, given_answers, Exhibits(RECORD)))
    stored = msgspec.json.decode(msgspec.json.encode(judgment), type=Judgment)
    assert verify(stored, RECORD, RUBRIC).findings == ()


@settings(deadline=None)
@given(st.lists(answers, max_size=4), st.sampled_from([1, 2, 3]))
def test_no_accusation_verifies_without_a_turn_that_shows_it(given_answers: list[DimensionAnswer], value: int) -> None:
    first, *others = gate_scores(RUBRIC, given_answers, Exhibits(RECORD))
    forged = msgspec.structs.replace(first, value=value, fault=None, answer=None, reasoning="Surely.", worse=True)
    shown = any(holding.standing for holding in first.holdings)
    assert verify(judged((forged, *others)), RECORD, RUBRIC).sound == shown
