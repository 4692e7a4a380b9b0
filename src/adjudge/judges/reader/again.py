"""A reader's stored judgment held against what its model said: do the scores follow from the words in the transcript?"""

from __future__ import annotations

from collections.abc import Iterator

from adjudge.errors import JudgingError, OutsideError
from adjudge.evidence import Exhibits
from adjudge.judges.reader.answers import ReaderAnswer, object_in_prose, read_answer
from adjudge.judgment import Judgment, Score, gate_scores
from adjudge.record import Record
from adjudge.rubric import Rubric
from adjudge.verifying import Finding


def against_transcript(judgment: Judgment, record: Record, rubric: Rubric) -> tuple[Finding, ...]:
    """What is stored otherwise than the last reply of the transcript gives it. Nothing, where no reply is kept."""
    said = judgment.steps[-1].said if judgment.steps else None
    if judgment.status != "judged" or not judgment.scores or said is None:
        return ()
    try:
        answer = read_answer(object_in_prose(said) if judgment.decided == "prose" else said, rubric)
        scores = gate_scores(rubric, answer.answers, Exhibits(record))
    except JudgingError as error:
        return (Finding("transcript", f"its last reply cannot be read as an answer: {error}"),)
    except OutsideError:  # the record is damaged where it lies, which is found by itself
        return ()
    return tuple(_differences(judgment, answer, scores))


def _differences(judgment: Judgment, answer: ReaderAnswer, scores: tuple[Score, ...]) -> Iterator[Finding]:
    said = {score.dimension: score for score in scores}
    for stored in judgment.scores:
        now = said.get(stored.dimension)
        if now is None or (stored.value, stored.share, stored.fault) != (now.value, now.share, now.fault):
            yield Finding(stored.dimension, f"stored is {_told(stored)}, the transcript's reply gives {_told(now)}")
        elif stored.reasoning != now.reasoning:
            yield Finding(stored.dimension, "its reasoning is not that of the transcript's reply")
    if judgment.summary != answer.summary:
        yield Finding("summary", "it is not that of the transcript's reply")


def _told(score: Score | None) -> str:
    if score is None:
        return "nothing"
    value = "no value" if score.value is None else f"{score.value:g}"
    return f"{value} ({score.fault})" if score.fault else value
