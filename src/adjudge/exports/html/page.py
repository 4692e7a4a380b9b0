"""One value for the page: exactly what its template prints, with everything counted and decided beforehand."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from adjudge.exports.html.cites import marks_of
from adjudge.exports.html.record import RecordView, ids_of_record, view_of_record
from adjudge.exports.html.scores import ScoreCard, figure_of_scores, score_cards, sentence_of_scores
from adjudge.exports.html.tampering import Planted, planted_of
from adjudge.exports.html.text import Text, counted, text_of
from adjudge.exports.html.transcript import Transcript, view_of_transcript
from adjudge.exports.html.verdicts import Card, cards_of, figure_of_verdicts, sentence_of_verdicts
from adjudge.exports.judged import Judged
from adjudge.exports.scores import RUNGS, done_to_input
from adjudge.judgment import Call, Judgment, Steering
from adjudge.record import Usage, dollars
from adjudge.run import Outcome
from adjudge.untrusted import first_line

LONG = 40_000
"""Characters of the task, the patch and the summary beyond which they are cut."""

Facts = tuple[tuple[str, str], ...]


class Cell(msgspec.Struct, frozen=True):
    """A verdict or a score as a mark in the row of all, which leads to its card."""

    anchor: str
    shape: str
    title: str


class Attempt(msgspec.Struct, frozen=True):
    """An attempt to steer the judge; `target` is where its exhibit stands, `None` if that is not on the page."""

    exhibit: str
    target: str | None
    sign: str
    excerpt: str
    by: str


class Page(msgspec.Struct, frozen=True):
    """Everything on the page, in the order in which it stands there.

    `kind` is the judge's; `answer` is what it gives, a verdict or a score.
    """

    title: str
    kind: str
    answer: str
    run: str
    about: tuple[str, ...]
    outcome: str
    grade: str | None
    status: str
    reason: str | None
    score: str
    sentence: str
    cost_of_run: str
    cost_of_judging: str
    rubric: str | None
    cells: tuple[Cell, ...]
    cards: tuple[Card, ...]
    scores: tuple[ScoreCard, ...]
    summary: Text
    attempts: tuple[Attempt, ...]
    warnings: tuple[str, ...]
    judge: Facts
    machine: Facts
    planted: tuple[Planted, ...]
    usage_of_run: Facts
    usage_of_judging: Facts
    calls: tuple[tuple[str, ...], ...]
    calls_counted: str
    task: Text | None
    context: Text | None
    patch: Text | None
    prepared: str | None
    record: RecordView
    transcript: Transcript
    judgment: str
    version: str


def page_of(judged: Judged, version: str) -> Page:
    """The page of a judgment; `version` is that of the adjudge that makes it."""
    run, judgment = judged.run, judged.judgment
    marks = marks_of(judged)
    record, transcript = view_of_record(run.record, marks), view_of_transcript(judgment, marks)
    there = {*ids_of_record(record), *(look.id for look in judgment.looks)}
    cards, scores = cards_of(judged, there), score_cards(judged, there)
    return Page(
        title=first_line(run.task or "", 160) or run.id,
        kind=judgment.judge.kind,
        answer="score" if judgment.judge.kind == "reader" else "verdict",
        run=run.id,
        about=_about(judged),
        outcome=_outcome(run.outcome),
        grade=run.outcome.grade,
        status=judgment.status,
        reason=judgment.reason,
        score=_score(judgment, scores),
        sentence=_sentence(judgment, scores),
        cost_of_run=_dollars(_usage_of_run(judged).cost),
        cost_of_judging=_dollars(judgment.usage().cost),
        rubric=judgment.rubric,
        cells=_cells(cards, scores),
        cards=cards,
        scores=scores,
        summary=text_of(judgment.summary, LONG),
        attempts=tuple(_attempt(each, there) for each in judgment.steering),
        warnings=judgment.warnings,
        judge=_judge(judgment),
        machine=tuple((name, _said(value)) for name, value in judgment.machine.items()),
        planted=planted_of(judgment, there),
        usage_of_run=_usage(_usage_of_run(judged)),
        usage_of_judging=_usage(judgment.usage()),
        calls=tuple(_call(number, call) for number, call in enumerate(judgment.calls, 1)),
        calls_counted=counted(len(judgment.calls), "call to models", "calls to models"),
        task=text_of(run.task, LONG) if run.task else None,
        context=text_of(run.context, LONG) if run.context else None,
        patch=text_of(run.patch, LONG) if run.patch else None,
        prepared=done_to_input(judgment.prepared) if judgment.prepared else None,
        record=record,
        transcript=transcript,
        judgment=judgment.id,
        version=version,
    )


def _about(judged: Judged) -> tuple[str, ...]:
    run, record = judged.run, judged.run.record
    agent = f"{run.agent} {run.agent_version or ''}".strip() if run.agent else None
    size = counted(len(record.turns), "turn")
    started = judged.judgment.started[:16].replace("T", " ")
    return tuple(each for each in (agent, run.model, size, f"judged {started}") if each)


def _score(judgment: Judgment, scores: tuple[ScoreCard, ...]) -> str:
    if judgment.status == "errored":
        return "errored"
    return figure_of_scores(scores) if scores else figure_of_verdicts(judgment)


def _sentence(judgment: Judgment, scores: tuple[ScoreCard, ...]) -> str:
    if judgment.status == "errored":
        return "The run could not be judged, so there is no score."
    return sentence_of_scores(scores) if scores else sentence_of_verdicts(judgment)


def _cells(cards: Sequence[Card], scores: Sequence[ScoreCard]) -> tuple[Cell, ...]:
    verdicts = (Cell(card.anchor, card.cell, f"{card.criterion}: {'pass' if card.passed else 'fail'}") for card in cards)
    return (*verdicts, *(Cell(card.anchor, card.cell, f"{card.dimension}: {card.value}") for card in scores))


def _attempt(steering: Steering, there: Collection[str]) -> Attempt:
    target = steering.exhibit if steering.exhibit in there else None
    return Attempt(steering.exhibit, target, steering.sign, steering.excerpt, steering.by)


def _outcome(outcome: Outcome) -> str:
    reward = None if outcome.reward is None else f"reward {outcome.reward:g}"
    return ", ".join(each for each in (outcome.ending, outcome.detail, reward) if each) or "not recorded"


def _judge(judgment: Judgment) -> Facts:
    judge = judgment.judge
    limits = ", ".join(f"{name} {_said(value)}" for name, value in judge.limits.items())
    facts = {
        "judge": judge.kind,
        "model": judge.model or "none",
        "decided": RUNGS.get(judgment.decided or "", judgment.decided or "not"),
        **({"failure": judgment.failure} if judgment.failure else {}),
        **({} if judge.kind == "reader" else {"looks": str(len(judgment.looks))}),
        "limits": limits or "none",
        "time": f"{judgment.seconds:.1f} s",
        "secrets masked": str(judgment.masked),
        "rubric": f"{judgment.rubric} ({judgment.rubric_hash[:16]})" if judgment.rubric_hash else "none",
        "prompt": judge.prompt[:16],
        "adjudge": judge.version,
    }
    return tuple(facts.items())


def _usage_of_run(judged: Judged) -> Usage:
    """What the harness states as its total, else what the turns come to."""
    return judged.run.record.reported or judged.run.record.usage()


def _usage(usage: Usage) -> Facts:
    named = {"tokens in": usage.prompt, "of these from a cache": usage.cached, "tokens out": usage.output}
    return (("cost", _dollars(usage.cost)), *((name, _count(value)) for name, value in named.items()))


def _call(number: int, call: Call) -> tuple[str, ...]:
    usage = call.usage
    counts = (_count(usage.prompt), _count(usage.cached), _count(usage.output))
    note = call.error or ("estimated" if call.estimated else "")
    return (str(number), call.model, *counts, f"{call.seconds:.1f} s", _dollars(usage.cost), note)


def _count(value: int | None) -> str:
    return "not known" if value is None else f"{value:,}"


def _dollars(value: float | None) -> str:
    return "not known" if value is None else dollars(value)


def _said(value: str | float | bool | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "not known" if value is None else str(value)
