"""A stored judgment against its transcript: what was changed after the model had spoken is found."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.judges.reader.test_judge import RUBRIC, RUN, answer, hallucination, judged

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


async def test_another_summary_and_an_unreadable_reply_are_found() -> None:
    judgment = await judged(ACCUSED)
    assert found(msgspec.structs.replace(judgment, summary="All was well.")) == ["summary"]
    steps = (msgspec.structs.replace(judgment.steps[-1], said="I cannot say."),)
    assert found(msgspec.structs.replace(judgment, steps=steps)) == ["transcript"]


async def test_a_judgment_without_an_answer_has_nothing_to_follow_from() -> None:
    assert found(await judged("no", "no", "no")) == []
