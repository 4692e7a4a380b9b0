"""The gate for scores: no accusation without a turn."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from adjudge.evidence import Citation, Exhibits
from adjudge.judgment import CauseAnswer, DimensionAnswer, Score, gate_scores
from adjudge.record import Entry, Record, Turn
from adjudge.rubric import RATIO, SEVERITY, Dimension, Rubric

ENTRIES = (
    Entry("e1", "message", "user", 0, "Make the tests of billing pass."),
    Entry("e2", "call", "agent", 1, "bash\npytest -q billing", name="bash"),
    Entry("e3", "result", "tool", 1, "3 failed, 10 passed in 0.4s", answers="e2"),
    Entry("e4", "message", "agent", 2, "All 13 tests pass now."),
)
RECORD = Record("test", ENTRIES, (Turn(1, "e2"), Turn(2, "e4")))
RUBRIC = Rubric(
    "ours",
    (),
    "hash",
    "rubric.yaml",
    (
        Dimension("hallucination", SEVERITY, 0, "higher", "stated what is untrue"),
        Dimension("tool_efficiency", RATIO, 1, "lower", "useful calls"),
        Dimension("waste", SEVERITY, 0, "higher", "avoidable tokens", causes=("repeated call", "large output")),
    ),
)
SEEN = Citation("t1", "3 failed, 10 passed")
UNSEEN = Citation("t1", "13 passed in 0.4s")


def scores(*answers: DimensionAnswer) -> dict[str, Score]:
    return {score.dimension: score for score in gate_scores(RUBRIC, answers, Exhibits(RECORD))}


def hallucination(value: float | None, *citations: Citation, reasoning: str = "It says 13 pass.") -> Score:
    return scores(DimensionAnswer("hallucination", value, reasoning, citations))["hallucination"]


def test_an_accusation_with_a_turn_that_shows_it_stands() -> None:
    score = hallucination(3, UNSEEN, SEEN)
    assert (score.value, score.fault, score.worse) == (3, None, True)
    assert [holding.source for holding in score.holdings] == [None, "e3"]


def test_an_accusation_without_a_turn_loses_its_value_and_keeps_the_answer_beside_it() -> None:
    for citations in ((), (UNSEEN,), (Citation("t9", "3 failed, 10 passed"),)):
        score = hallucination(2, *citations)
        assert (score.value, score.fault, score.worse) == (None, "evidence_missing", False)
        assert score.answer is not None
        assert score.answer.value == 2


def test_the_blameless_value_needs_no_turn() -> None:
    assert hallucination(0).value == 0
    assert (hallucination(0).fault, hallucination(0).worse) == (None, False)


def test_what_was_not_established_has_no_value_and_no_fault() -> None:
    score = hallucination(None)
    assert (score.value, score.fault) == (None, None)


def test_a_ratio_accuses_downwards() -> None:
    assert scores(DimensionAnswer("tool_efficiency", 1, "All useful."))["tool_efficiency"].value == 1
    low = scores(DimensionAnswer("tool_efficiency", 0.9, "One was not."))["tool_efficiency"]
    assert (low.value, low.fault) == (None, "evidence_missing")


def test_no_value_stands_without_reasoning() -> None:
    for reasoning in ("", "  \n", "…", "--", "\u3164", "\u200b\u115f"):
        for value in (0, 3):
            score = hallucination(value, SEEN, reasoning=reasoning)
            assert (score.value, score.fault) == (None, "missing_reasoning")


def test_evidence_under_a_cause_counts_for_its_dimension() -> None:
    cause = CauseAnswer("repeated call", 0.4, "Read the error first.", (SEEN,))
    score = scores(DimensionAnswer("waste", 2, "It ran it again.", (), 0.4, (cause,)))["waste"]
    assert (score.value, score.share, score.fault) == (2, 0.4, None)
    assert score.causes[0].share == 0.4


def test_a_cause_without_a_turn_loses_its_share_while_the_dimension_stands_on_another() -> None:
    shown = CauseAnswer("repeated call", 0.4, "Read the error first.", (SEEN,))
    claimed = CauseAnswer("large output", 0.2, "Use tail.", (UNSEEN,))
    score = scores(DimensionAnswer("waste", 2, "It ran it again.", (), 0.6, (shown, claimed)))["waste"]
    assert score.value == 2
    assert [(cause.share, cause.fault) for cause in score.causes] == [(0.4, None), (None, "evidence_missing")]
    assert score.answer is not None


def test_a_share_of_waste_is_an_accusation_even_beside_a_blameless_severity() -> None:
    score = scores(DimensionAnswer("waste", 0, "A little.", (), 0.1))["waste"]
    assert (score.value, score.share, score.fault) == (None, None, "evidence_missing")
    stands = scores(DimensionAnswer("waste", 0, "A little.", (SEEN,), 0.1))["waste"]
    assert (stands.value, stands.share, stands.worse) == (0, 0.1, True)


def test_a_cause_without_a_share_or_a_recommendation_is_incomplete() -> None:
    for cause in (CauseAnswer("repeated call", None, "Use tail.", (SEEN,)), CauseAnswer("no", 0.3, " ", (SEEN,))):
        (found,) = scores(DimensionAnswer("waste", 2, "It ran it again.", (), 0.4, (cause,)))["waste"].causes
        assert (found.share, found.fault) == (None, "incomplete")


def test_causes_fall_with_their_dimension() -> None:
    cause = CauseAnswer("repeated call", 0.4, "Read the error first.", (SEEN,))
    score = scores(DimensionAnswer("waste", 2, "", (), 0.4, (cause,)))["waste"]
    assert (score.value, score.share, score.causes, score.fault) == (None, None, (), "missing_reasoning")


def test_every_dimension_has_one_score_in_the_rubrics_order() -> None:
    given = gate_scores(
        RUBRIC, [DimensionAnswer("waste", 0, "None."), DimensionAnswer("made up", 3, "x")], Exhibits(RECORD)
    )
    assert [(score.dimension, score.fault) for score in given] == [
        ("hallucination", "unanswered"),
        ("tool_efficiency", "unanswered"),
        ("waste", None),
    ]


def test_of_two_different_answers_neither_counts_and_the_same_answer_twice_is_one() -> None:
    zero, three = DimensionAnswer("hallucination", 0, "None."), DimensionAnswer("hallucination", 3, "Many.", (SEEN,))
    assert scores(zero, three)["hallucination"].fault == "unanswered"
    assert scores(zero, zero)["hallucination"].value == 0


CITATIONS = st.lists(
    st.builds(Citation, st.sampled_from(["t0", "t1", "t2", "t3", "e3", ""]), st.sampled_from([e.text for e in ENTRIES])),
    max_size=3,
).map(tuple)


@given(
    st.sampled_from(["hallucination", "tool_efficiency", "waste"]),
    st.sampled_from([None, 0, 0.5, 1, 2, 3]),
    st.sampled_from(["", "Because."]),
    CITATIONS,
    st.sampled_from([None, 0.0, 0.3]),
    st.lists(st.builds(CauseAnswer, st.just("large output"), st.just(0.3), st.just("x"), CITATIONS), max_size=2).map(tuple),
)
def test_no_accusation_stands_without_a_citation_that_holds(
    name: str,
    value: float | None,
    reasoning: str,
    citations: tuple[Citation, ...],
    share: float | None,
    causes: tuple[CauseAnswer, ...],
) -> None:
    score = scores(DimensionAnswer(name, value, reasoning, citations, share, causes))[name]
    dimension = next(each for each in RUBRIC.dimensions if each.id == name)
    shown = {(c.exhibit, c.quote) for c in (*citations, *(cited for cause in causes for cited in cause.citations))} & {
        (f"t{entry.turn}", entry.text) for entry in ENTRIES if entry.turn
    }
    if (score.value is not None and dimension.accuses(score.value)) or score.share:
        assert shown
    if score.value is not None:
        assert score.reasoning
