"""A stored judgment against its transcript: what was changed after the model had spoken is found."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.judges.reader.test_judge import RUBRIC, RUN, answer, hallucination, judged

from adjudge.evidence import Citation
from adjudge.judges.reader.again import against_transcript
from adjudge.judgment import Judgment, Score

ACCUSED = answer(hallucination=hallucination(3, ("t1", "3 failed, 10 passed")))


def found(judgment: Judgment) -> list[str]:
    return [finding.place for finding in against_transcript(judgment, RUN.record, RUBRIC)]


def with_score(judgment: Judgment, **changed: Any) -> Judgment:
    first, *others = judgment.scores
    return msgspec.structs.replace(judgment, scores=(msgspec.structs.replace(first, **changed), *others))


async def test_a_judgment_as_it_was_made_follows_from_its_transcript() -> None:
    assert found(await judged(ACCUSED)) == []
    assert found(await judged("no", "no", f"So:\n{ACCUSED}\nThat is it.")) == []


@pytest.mark.parametrize(
    "changed", [{"value": 2.0}, {"value": None}, {"reasoning": "It did well."}, {"fault": "evidence_missing"}]
)
async def test_a_score_that_was_changed_alone_is_found(changed: dict[str, Any]) -> None:
    assert found(with_score(await judged(ACCUSED), **changed)) == ["hallucination"]


async def test_a_score_that_the_model_never_gave_is_found() -> None:
    judgment = await judged(ACCUSED)
    more = msgspec.structs.replace(judgment, scores=(*judgment.scores, Score("made up", 0, "x")))
    assert found(more) == ["made up"]


ACCUSED_OF_WASTE = answer(
    waste={
        "reasoning": "It ran the tests twice.",
        "value": 2,
        "citations": [],
        "share": 0.3,
        "causes": [
            {
                "cause": "repeated call",
                "share": 0.3,
                "recommendation": "Keep what was printed.",
                "citations": [{"turn": "t1", "quote": "3 failed, 10 passed"}],
            }
        ],
    }
)


@pytest.mark.parametrize(
    "changed", [{"share": 0.01}, {"cause": "large output"}, {"recommendation": "Nothing."}, {"holdings": ()}]
)
async def test_a_cause_that_was_changed_is_found(changed: dict[str, Any]) -> None:
    judgment = await judged(ACCUSED_OF_WASTE)
    *others, waste = judgment.scores
    causes = (msgspec.structs.replace(waste.causes[0], **changed),)
    waste = msgspec.structs.replace(waste, causes=causes)
    assert found(msgspec.structs.replace(judgment, scores=(*others, waste))) == ["waste"]
    gone = msgspec.structs.replace(waste, causes=())
    assert found(msgspec.structs.replace(judgment, scores=(*others, gone))) == ["waste"]


async def test_a_citation_that_was_changed_or_dropped_is_found() -> None:
    judgment = await judged(ACCUSED)
    (holding,) = judgment.scores[0].holdings
    other = msgspec.structs.replace(
        holding, citation=Citation("t2", "All 13 tests pass now."), source="e4", standing="said"
    )
    assert found(with_score(judgment, holdings=(other,))) == ["hallucination"]
    assert found(with_score(judgment, holdings=())) == ["hallucination"]


async def test_another_summary_and_an_unreadable_reply_are_found() -> None:
    judgment = await judged(ACCUSED)
    assert found(msgspec.structs.replace(judgment, summary="All was well.")) == ["summary"]
    steps = (msgspec.structs.replace(judgment.steps[-1], said="I cannot say."),)
    assert found(msgspec.structs.replace(judgment, steps=steps)) == ["transcript"]


@pytest.mark.parametrize("changed", [{"said": None}, {"stop": "length"}, {"stop": "filtered"}, {"refused": ("cut off",)}])
async def test_scores_without_a_whole_reply_are_found(changed: dict[str, Any]) -> None:
    judgment = await judged(ACCUSED)
    steps = (msgspec.structs.replace(judgment.steps[-1], **changed),)
    assert found(msgspec.structs.replace(judgment, steps=steps)) == ["transcript"]
    assert found(msgspec.structs.replace(judgment, steps=())) == ["transcript"]


@pytest.mark.parametrize("changed", [{"decided": "freely"}, {"failure": "timeout"}, {"prepared": None}, {"calls": ()}])
async def test_a_row_that_no_reader_writes_is_found(changed: dict[str, Any]) -> None:
    assert found(msgspec.structs.replace(await judged(ACCUSED), **changed)) == ["row"]


async def test_an_answer_that_was_made_an_error_is_found() -> None:
    judgment = msgspec.structs.replace(await judged(ACCUSED), status="errored", failure="timeout", scores=())
    assert found(judgment) == ["transcript"]


async def test_a_judgment_without_an_answer_has_nothing_to_follow_from() -> None:
    assert found(await judged("no", "no", "no")) == []
