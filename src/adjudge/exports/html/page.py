"""One value for the page: exactly what its template prints, with everything counted and decided beforehand."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import msgspec

from adjudge.evidence import Holding
from adjudge.exports.html.record import RecordView, view_of_record
from adjudge.exports.html.text import Mark, Text, text_of
from adjudge.exports.html.transcript import Transcript, view_of_transcript
from adjudge.exports.judged import Judged
from adjudge.judgment import Call, Judgment, Verdict
from adjudge.record import Usage
from adjudge.run import Outcome
from adjudge.untrusted import one_line, shown

CAUSES = {
    "agent": "the agent’s doing",
    "environment": "the environment’s",
    "unproven": "unproven",
    "skipped": "skipped by the evaluator",
    "evidence": "evidence did not hold",
}
COUNTED = {
    "agent": ("is the agent’s doing", "are the agent’s doing"),
    "environment": ("is the environment’s", "are the environment’s"),
    "unproven": ("is unproven", "are unproven"),
    "skipped": ("was skipped by the evaluator", "were skipped by the evaluator"),
    "probe": ("was decided by a probe", "were decided by probes"),
    "evidence": ("rests on evidence that did not hold", "rest on evidence that did not hold"),
}
LONG = 40_000
"""Characters of the task, the patch and the summary beyond which they are cut."""

Facts = tuple[tuple[str, str], ...]


class Cite(msgspec.Struct, frozen=True):
    """A citation: its exhibit, the quote, where the link leads (`None` if nowhere), and what is to be said of it."""

    exhibit: str
    quote: str
    target: str | None
    holds: bool
    why: str | None


class Card(msgspec.Struct, frozen=True):
    """A verdict. `gate` says what the gate changed or found."""

    anchor: str
    criterion: str
    text: str
    passed: bool
    cell: str
    cause: str | None
    by: str | None
    note: str
    gate: str | None
    cites: tuple[Cite, ...]


class Attempt(msgspec.Struct, frozen=True):
    """An attempt to steer the judge."""

    exhibit: str
    sign: str
    excerpt: str
    by: str


class Page(msgspec.Struct, frozen=True):
    """Everything on the page, in the order in which it stands there."""

    title: str
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
    cards: tuple[Card, ...]
    summary: Text
    attempts: tuple[Attempt, ...]
    warnings: tuple[str, ...]
    judge: Facts
    machine: Facts
    usage_of_run: Facts
    usage_of_judging: Facts
    calls: tuple[tuple[str, ...], ...]
    task: Text | None
    context: Text | None
    patch: Text | None
    record: RecordView
    transcript: Transcript
    judgment: str
    version: str


def page_of(judged: Judged, version: str) -> Page:
    """The page of a judgment; `version` is that of the adjudge that makes it."""
    run, judgment = judged.run, judged.judgment
    cards = tuple(_card(number, verdict, judged) for number, verdict in enumerate(judgment.verdicts, 1))
    marks = _marks(judgment.verdicts, cards)
    return Page(
        title=next((one_line(line, 160) for line in (run.task or "").splitlines() if line.strip()), run.id),
        run=run.id,
        about=_about(judged),
        outcome=_outcome(run.outcome),
        grade=run.outcome.grade,
        status=judgment.status,
        reason=judgment.reason,
        score=_score(judgment),
        sentence=_sentence(judgment),
        cost_of_run=_dollars(_usage_of_run(judged).cost),
        cost_of_judging=_dollars(judgment.usage().cost),
        rubric=judgment.rubric,
        cards=cards,
        summary=text_of(judgment.summary, LONG),
        attempts=tuple(Attempt(each.exhibit, each.sign, each.excerpt, each.by) for each in judgment.steering),
        warnings=judgment.warnings,
        judge=_judge(judgment),
        machine=tuple((name, _said(value)) for name, value in judgment.machine.items()),
        usage_of_run=_usage(_usage_of_run(judged)),
        usage_of_judging=_usage(judgment.usage()),
        calls=tuple(_call(number, call) for number, call in enumerate(judgment.calls, 1)),
        task=text_of(run.task, LONG) if run.task else None,
        context=text_of(run.context, LONG) if run.context else None,
        patch=text_of(run.patch, LONG) if run.patch else None,
        record=view_of_record(run.record, marks),
        transcript=view_of_transcript(judgment, marks),
        judgment=judgment.id,
        version=version,
    )


def _about(judged: Judged) -> tuple[str, ...]:
    run, record = judged.run, judged.run.record
    agent = f"{run.agent} {run.agent_version or ''}".strip() if run.agent else None
    size = f"{len(record.turns):,} turns"
    started = judged.judgment.started[:16].replace("T", " ")
    return tuple(each for each in (agent, run.model, size, f"judged {started}") if each)


def _score(judgment: Judgment) -> str:
    if judgment.status == "errored":
        return "errored"
    passed = sum(verdict.passed for verdict in judgment.verdicts)
    return "none" if judgment.score is None else f"{passed} of {len(judgment.verdicts)}"


def _outcome(outcome: Outcome) -> str:
    status = None if outcome.exit_status is None else f"exit status {outcome.exit_status}"
    reward = None if outcome.reward is None else f"reward {outcome.reward:g}"
    return ", ".join(each for each in (status, outcome.detail, reward) if each) or "not recorded"


def _sentence(judgment: Judgment) -> str:
    """What the verdicts come to, counted by code."""
    if judgment.status == "errored":
        return "The run could not be judged, so there is no score."
    if judgment.rubric_hash is None:
        return "There was no rubric: the run was judged only by how the agent’s process ended, and has no score."
    passed, total = sum(verdict.passed for verdict in judgment.verdicts), len(judgment.verdicts)
    if passed == total:
        return f"All {total} criteria pass." if total > 1 else "The one criterion passes."
    causes = Counter(verdict.cause or "probe" for verdict in judgment.verdicts if not verdict.passed)
    fails = ", ".join(f"{count} {COUNTED[cause][count > 1]}" for cause, count in causes.most_common())
    return f"{passed} of {total} criteria pass. Of the fails, {fails}."


def _card(number: int, verdict: Verdict, judged: Judged) -> Card:
    changed = verdict.answer is not None and verdict.answer.passed != verdict.passed
    return Card(
        anchor=f"v{number}",
        criterion=verdict.criterion,
        text=judged.criterion(verdict.criterion),
        passed=verdict.passed,
        cell="pass" if verdict.passed else "gate" if changed else "skipped" if verdict.cause == "skipped" else "fail",
        cause=CAUSES[verdict.cause] if verdict.cause else None,
        by=_by(verdict, judged.judgment),
        note=verdict.note,
        gate=_gate(verdict, changed),
        cites=tuple(_cite(f"v{number}c{place}", holding, judged) for place, holding in enumerate(verdict.holdings, 1)),
    )


def _by(verdict: Verdict, judgment: Judgment) -> str | None:
    """Who decided, if it was no model."""
    if judgment.judge.kind == "process":
        return "by the exit status"
    return "by a probe, no model" if verdict.probe else None


def _gate(verdict: Verdict, changed: bool) -> str | None:
    if not verdict.fault:
        return None
    answered = "The evaluator answered pass; the check made it a fail: " if changed else "The check found: "
    return f"{answered}{verdict.fault}."


def _cite(anchor: str, holding: Holding, judged: Judged) -> Cite:
    citation = holding.citation
    exhibit = citation.exhibit.strip(" \n[]")
    why = holding.fault
    if holding.standing == "absence":
        why = "the look found nothing"
    elif holding.source and holding.source != exhibit:
        why = f"stands in {holding.source}"
    target = anchor if holding.standing else exhibit if _exists(exhibit, judged) else None
    return Cite(exhibit, shown(citation.quote)[:4000], target, holding.standing is not None, why)


def _exists(exhibit: str, judged: Judged) -> bool:
    looks = {look.id for look in judged.judgment.looks}
    return exhibit in looks or judged.run.record.entry(exhibit) is not None


def _marks(verdicts: Sequence[Verdict], cards: Sequence[Card]) -> dict[str, list[Mark]]:
    """For each exhibit the passages that are quoted from it, and by whom."""
    marks: dict[str, list[Mark]] = defaultdict(list)
    for verdict, card in zip(verdicts, cards, strict=True):
        for place, holding in enumerate(verdict.holdings, 1):
            if holding.standing:
                mark = Mark(
                    f"{card.anchor}c{place}", holding.citation.quote, card.anchor, verdict.criterion, verdict.passed
                )
                marks[holding.source or holding.citation.exhibit.strip(" \n[]")].append(mark)
    return marks


def _judge(judgment: Judgment) -> Facts:
    judge = judgment.judge
    limits = ", ".join(f"{name} {_said(value)}" for name, value in judge.limits.items())
    facts = {
        "judge": judge.kind,
        "model": judge.model or "none",
        "decided": judgment.decided or "not",
        "looks": str(len(judgment.looks)),
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
    return "not known" if value is None else f"${value:.4f}"


def _said(value: str | float | bool | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "not known" if value is None else str(value)
