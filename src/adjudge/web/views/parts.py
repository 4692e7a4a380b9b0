"""What one judge gave, on a run's page: who it was, what it says, what is to be known of it, and its other answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from markupsafe import Markup

from adjudge.exports.html.tampering import Planted, planted_of
from adjudge.exports.judged import Judged
from adjudge.judgment import Judgment, Steering
from adjudge.store.rows import JudgmentRow
from adjudge.web.addresses import of_run
from adjudge.web.queries.judged import JudgedRun
from adjudge.web.text import Block, Mark, block_of, money, when
from adjudge.web.views.cites import Way
from adjudge.web.views.facts import Facts, machine_of
from adjudge.web.views.transcript import Transcript, transcript_of


class Notice(msgspec.Struct, frozen=True):
    """What is so, why, and what to do next. `sign` is `pass`, `fail`, `warn`, `none` or `live`."""

    sign: str
    head: str
    words: str
    command: str | None = None


class Attempt(msgspec.Struct, frozen=True):
    """An attempt to steer the judge, and where it stands."""

    exhibit: str
    href: Markup | None
    sign: str
    excerpt: str
    by: str


class Other(msgspec.Struct, frozen=True):
    """Another judgment of the run: what it came to, and its page."""

    href: Markup
    words: str
    current: bool


class Part(msgspec.Struct, frozen=True):
    """What one judge gave, beside its verdicts or scores: who it was, what it says, what is to be known of it."""

    judgment: str
    judge: str
    rubric: str | None
    rubric_hash: str | None
    notice: Notice | None
    warnings: tuple[str, ...]
    summary: Block | None
    attempts: tuple[Attempt, ...]
    transcript: Transcript
    others: tuple[Other, ...]
    machine: Facts
    planted: tuple[Planted, ...]


def part_of(judged: JudgedRun, each: Judged | None, way: Way, marks: Mapping[str, Sequence[Mark]]) -> Part | None:
    """What a judge gave, `None` if none of its kind has judged the run."""
    if each is None:
        return None
    judgment = each.judgment
    there = {look.id for look in judgment.looks}
    return Part(
        judgment=judgment.id,
        judge=judgment.judge.model or judgment.judge.kind,
        rubric=judgment.rubric,
        rubric_hash=judgment.rubric_hash,
        notice=_notice(judgment),
        warnings=judgment.warnings,
        summary=block_of(judgment.summary) if judgment.summary.strip() else None,
        attempts=tuple(_attempt(one, way) for one in judgment.steering),
        transcript=transcript_of(judgment, marks),
        others=_others(judged.rows, judgment),
        machine=machine_of(judgment),
        planted=planted_of(judgment, there),
    )


def _notice(judgment: Judgment) -> Notice | None:
    if judgment.status == "errored":
        head = f"no verdict: {judgment.failure}" if judgment.failure else "errored"
        words = f"{judgment.reason or 'The run could not be judged.'} No verdict was guessed; there is no score."
        return Notice("warn" if judgment.failure else "fail", head, words)
    if judgment.empty:
        return Notice(
            "warn", "empty judgment", "The reader answered, and not one dimension has a value. This is not a clean run."
        )
    if judgment.judge.kind == "process":
        words = "The run was judged only by how the agent’s own process ended. No evaluator ran, and there is no score."
        return Notice("none", "no rubric", words)
    return None


def _attempt(each: Steering, way: Way) -> Attempt:
    return Attempt(each.exhibit, way.to(each.exhibit, each.exhibit), each.sign, each.excerpt, each.by)


def _others(rows: Sequence[JudgmentRow], judgment: Judgment) -> tuple[Other, ...]:
    """The other judgments of this kind, with the one that is shown among them; nothing if it is the only one."""
    reader = judgment.judge.kind == "reader"
    of_kind = [row for row in rows if (row.judge == "reader") == reader]
    if len(of_kind) < 2:
        return ()
    return tuple(Other(of_run(row.run, judgment=row.id), _came_to(row), row.id == judgment.id) for row in of_kind[:20])


def _came_to(row: JudgmentRow) -> str:
    result = "no verdict" if row.status == "errored" else f"{row.passed} of {row.criteria}"
    if row.judge == "reader" and row.status == "judged":
        result = "empty" if row.empty else f"{row.worse} of {row.dimensions} worse"
    judge = f"{row.rubric or 'no rubric'}, {row.model or row.judge}"
    return f"{result}, {judge}, {when(row.started)}, {money(row.cost, 'cost not known')}"
