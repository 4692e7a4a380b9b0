"""Verdicts on the page: a card for each, and what they come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import msgspec

from adjudge.exports.html.cites import Cite, cites_of
from adjudge.exports.judged import Judged
from adjudge.judgment import Judgment, Verdict, doubt

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


class Card(msgspec.Struct, frozen=True):
    """A verdict. `gate` says what the gate changed or found, `doubt` which files could have shaped all that it rests on.

    `cell` is how it stands in the row of all.
    """

    anchor: str
    criterion: str
    text: str
    passed: bool
    cell: str
    cause: str | None
    by: str | None
    note: str
    gate: str | None
    doubt: str | None
    cites: tuple[Cite, ...]


def cards_of(judged: Judged, there: Collection[str]) -> tuple[Card, ...]:
    """A card for each verdict."""
    return tuple(_card(number, verdict, judged, there) for number, verdict in enumerate(judged.judgment.verdicts, 1))


def figure_of_verdicts(judgment: Judgment) -> str:
    """The score in the fewest words."""
    passed = sum(verdict.passed for verdict in judgment.verdicts)
    return "none" if judgment.score is None else f"{passed} of {len(judgment.verdicts)}"


def sentence_of_verdicts(judgment: Judgment) -> str:
    """What the verdicts come to, counted by code."""
    if judgment.rubric_hash is None:
        return "There was no rubric: the run was judged only by how the agent’s process ended, and has no score."
    passed, total = sum(verdict.passed for verdict in judgment.verdicts), len(judgment.verdicts)
    if passed == total:
        return f"All {total} criteria pass." if total > 1 else "The one criterion passes."
    causes = Counter(verdict.cause or "probe" for verdict in judgment.verdicts if not verdict.passed)
    if total == 1:
        return f"The one criterion does not pass: it {COUNTED[next(iter(causes))][0]}."
    fails = ", ".join(f"{count} {COUNTED[cause][count > 1]}" for cause, count in causes.most_common())
    return f"{passed} of {total} criteria pass. Of the fails, {fails}."


def _card(number: int, verdict: Verdict, judged: Judged, there: Collection[str]) -> Card:
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
        doubt=doubt(verdict, judged.judgment.tampering),
        cites=cites_of(f"v{number}", verdict.holdings, there),
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
