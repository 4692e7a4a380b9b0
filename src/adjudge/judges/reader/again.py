"""A reader's stored judgment held against what its model said: does all of it follow from the reply in the transcript?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import msgspec

from adjudge.errors import JudgingError, OutsideError
from adjudge.evidence import Exhibits, Holding
from adjudge.judges.reader.answers import ReaderAnswer, object_in_prose, read_answer
from adjudge.judgment import Judgment, Rung, Score, Step, gate_scores
from adjudge.record import Record
from adjudge.rubric import Rubric
from adjudge.verifying import Finding


def against_transcript(judgment: Judgment, record: Record, rubric: Rubric) -> tuple[Finding, ...]:
    """What a reader's judgment says otherwise than its transcript does.

    What is in neither, such as what the calls cost, cannot be checked so.
    """
    if judgment.judge.kind != "reader":
        return ()
    if judgment.status == "errored":
        return tuple(_of_errored(judgment, rubric))
    return (*_of_row(judgment), *_of_reply(judgment, record, rubric))


def _of_errored(judgment: Judgment, rubric: Rubric) -> Iterator[Finding]:
    """A judgment without an answer, whose last reply must not be one."""
    if judgment.failure is None:
        yield Finding("row", "it is errored, and no failure says how")
    last = judgment.steps[-1] if judgment.steps else None
    if last is not None and last.said is not None and _is_whole(last) and _read(last.said, judgment, rubric):
        yield Finding("transcript", "its last reply is an answer, and it is errored")


def _of_row(judgment: Judgment) -> Iterator[Finding]:
    if judgment.decided not in get_args(Rung):
        yield Finding("row", f"it is decided {judgment.decided or 'in no way'}, which is no rung of a reader")
    if judgment.failure is not None:
        yield Finding("row", f"it is judged, and has the failure {judgment.failure}")
    if judgment.prepared is None:
        yield Finding("row", "what was done to its input is not there")
    if len(judgment.calls) < len([step for step in judgment.steps if step.said is not None]):
        yield Finding("row", f"its ledger has {len(judgment.calls)} calls, and its transcript more replies")


def _of_reply(judgment: Judgment, record: Record, rubric: Rubric) -> Iterator[Finding]:
    last = judgment.steps[-1] if judgment.steps else None
    if last is None or last.said is None:
        yield Finding("transcript", "there is no reply from which its scores could follow")
        return
    if not _is_whole(last):
        yield Finding("transcript", f"its last reply was no answer: {'; '.join(last.refused) or last.stop}")
        return
    answer = _read(last.said, judgment, rubric)
    if answer is None:
        yield Finding("transcript", "its last reply cannot be read as an answer")
        return
    try:
        scores = gate_scores(rubric, answer.answers, Exhibits(record))
    except OutsideError:  # the record is damaged where it lies, which is found by itself
        return
    yield from _differences(judgment, answer, scores)


def _is_whole(step: Step) -> bool:
    return step.stop == "end" and not step.refused


def _read(said: str, judgment: Judgment, rubric: Rubric) -> ReaderAnswer | None:
    try:
        return read_answer(object_in_prose(said) if judgment.decided == "prose" else said, rubric)
    except JudgingError:
        return None


def _differences(judgment: Judgment, answer: ReaderAnswer, scores: tuple[Score, ...]) -> Iterator[Finding]:
    given = {score.dimension: score for score in scores}
    for stored in judgment.scores:
        now = given.get(stored.dimension)
        if now is None or _told(stored) != _told(now):
            told = "nothing" if now is None else _told(now)
            yield Finding(stored.dimension, f"stored is {_told(stored)}, the transcript's reply gives {told}")
        elif _compared(stored) != _compared(now):
            yield Finding(stored.dimension, "its reasoning, citations or causes are not those of the transcript's reply")
    if judgment.summary != answer.summary:
        yield Finding("summary", "it is not that of the transcript's reply")


def _told(score: Score) -> str:
    value = "no value" if score.value is None else f"{score.value:g}"
    share = "" if score.share is None else f" with a share of {score.share:g}"
    return f"{value}{share}{f' ({score.fault})' if score.fault else ''}"


def _compared(score: Score) -> Score:
    """The score without the words of faulty citations, which a later adjudge may put differently."""
    causes = tuple(msgspec.structs.replace(cause, holdings=_bare(cause.holdings)) for cause in score.causes)
    return msgspec.structs.replace(score, holdings=_bare(score.holdings), causes=causes)


def _bare(holdings: tuple[Holding, ...]) -> tuple[Holding, ...]:
    return tuple(msgspec.structs.replace(holding, fault=holding.fault and "faulty") for holding in holdings)
