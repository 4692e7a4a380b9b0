"""The page of a run: the outcome, what was decided, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from markupsafe import Markup

from adjudge.exports.html.verdicts import sentence_of_verdicts
from adjudge.run import Run
from adjudge.untrusted import first_line, one_line
from adjudge.web.addresses import address
from adjudge.web.queries.judged import JudgedRun
from adjudge.web.text import block_of, clock, counted, tokens, when
from adjudge.web.views.chart import Map, map_of
from adjudge.web.views.cites import Way, cards_of, marks_of
from adjudge.web.views.dimensions import DimensionRow, dimensions_of
from adjudge.web.views.facts import Box, Facts, cost_of_judging, cost_of_run, unseen, usage_of_run
from adjudge.web.views.known import Known
from adjudge.web.views.parts import Notice, Part, part_of
from adjudge.web.views.patch import PatchView, patch_of
from adjudge.web.views.record import RecordView, Shown, leads_of_run
from adjudge.web.views.trust import NOTHING_KNOWN, RunTrust
from adjudge.web.views.verdicts import Verdicts, verdicts_of


class RunPage(msgspec.Struct, frozen=True):
    """Everything on the page, in the order in which it stands there."""

    id: str
    title: str
    about: tuple[str, ...]
    grade: str | None
    ending: str
    cost: str
    cost_note: str
    judging: str
    judging_note: str
    sentence: str
    notices: tuple[Notice, ...]
    map: Map | None
    evaluation: Part | None
    verdicts: Verdicts | None
    reading: Part | None
    dimensions: tuple[DimensionRow, ...]
    unseen: tuple[Box, ...]
    costs: tuple[Box, Box]
    record: RecordView
    entries: int
    patch: PatchView | None
    context: Markup | None
    outcome: Facts
    trusts: RunTrust
    judge: Markup


def run_page(
    judged: JudgedRun, at: str | None = None, chosen: str | None = None, trusts: RunTrust = NOTHING_KNOWN
) -> RunPage:
    """The page of a run with the record opened around `at`; `chosen` is the judgment that was asked for, if one was.

    `trusts` say how far its judges can be trusted.
    """
    opened, run = judged.opened, judged.opened.run
    marks = marks_of(cards_of(judged))
    record = Shown(opened, marks, leads_of_run(run.id, chosen)).view(at)
    looks = {look.id for each in (judged.evaluation,) if each for look in each.judgment.looks}
    way = Way(run.id, chosen, record.ids | looks, Known(opened))
    costs = (cost_of_run(opened), cost_of_judging(judged))
    usage = usage_of_run(opened)
    return RunPage(
        id=run.id,
        title=title_of(run),
        about=tuple(_about(run)),
        grade=run.outcome.grade,
        ending=_ending(run),
        cost=costs[0].total or "",
        cost_note=f"{tokens(usage.prompt)} in, {tokens(usage.output)} out" if usage.prompt is not None else "",
        judging=costs[1].total or "",
        judging_note=counted(len(judged.rows), "judgment"),
        sentence=_sentence(judged),
        notices=tuple(_notices(judged)),
        map=map_of(opened, marks, chosen, edits=False),
        evaluation=part_of(judged, judged.evaluation, way, marks),
        verdicts=verdicts_of(judged.evaluation, way) if judged.evaluation and judged.evaluation.judgment.verdicts else None,
        reading=part_of(judged, judged.reading, way, marks),
        dimensions=dimensions_of(judged.reading, way) if judged.reading else (),
        unseen=unseen(judged),
        costs=costs,
        record=record,
        entries=sum(len(each.entries) for each in opened.records.values()),
        patch=patch_of(run.patch),
        context=block_of(run.context).html if run.context else None,
        outcome=_outcome(run),
        trusts=msgspec.structs.replace(trusts, harness=run.agent or "unknown"),
        judge=address("runs", run.id, "judge"),
    )


def title_of(run: Run) -> str:
    """The task's name, or its first line, or the run's id."""
    if run.task_name:
        return one_line(run.task_name, 160)
    return first_line(run.task or "", 160) or run.id


def _about(run: Run) -> Iterator[str]:
    record = run.record
    if run.agent:
        yield f"{run.agent} {run.agent_version or ''}".strip()
    if run.model:
        yield run.model
    entries = counted(len(record.entries), "entry", "entries")
    helpers = f", {counted(len(record.children), 'sub-agent')}" if record.children else ""
    yield f"{counted(len(record.turns), 'turn')}, {entries}{helpers}"
    if run.seconds is not None:
        yield clock(run.seconds)
    first = next((turn.time for turn in record.turns if turn.time), None)
    if run.started or first:
        yield when(run.started or first)


def _ending(run: Run) -> str:
    reward = None if run.outcome.reward is None else f"reward {run.outcome.reward:g}"
    return ", ".join(part for part in (run.outcome.ending, run.outcome.detail, reward) if part) or "not recorded"


def _outcome(run: Run) -> Facts:
    facts = [("source", run.source), ("workspace", run.workspace or run.machine or "not known")]
    if run.outcome.grading:
        facts.append(("grader", run.outcome.grading[-2_000:]))
    facts += [("note", note) for note in run.notes]
    unparsed = len(run.record.unparsed)
    if unparsed:
        facts.append(
            ("not read", f"{counted(unparsed, 'piece')} of the recording, the first at {run.record.unparsed[0].place}")
        )
    return tuple(facts)


_GRADES = {
    "resolved": "The grader found the task resolved.",
    "unresolved": "The grader found the task not resolved.",
    "error": "The grader failed.",
}


def _sentence(judged: JudgedRun) -> str:
    """What the page comes to, counted by code."""
    parts = [_GRADES.get(judged.opened.run.outcome.grade or "", "")]
    evaluation, reading = judged.evaluation, judged.reading
    if evaluation and evaluation.judgment.status == "judged":
        parts.append(sentence_of_verdicts(evaluation.judgment))
    if reading and reading.judgment.status == "judged" and not reading.judgment.empty:
        worse, of = reading.judgment.worse, len(reading.judgment.scores)
        parts.append(f"{worse or 'None'} of {of} dimensions {'are' if worse > 1 else 'is'} worse than blameless.")
    return " ".join(part for part in parts if part)


def _notices(judged: JudgedRun) -> Iterator[Notice]:
    if judged.rows:
        return
    run = judged.opened.run
    if not run.record.entries:
        yield Notice("none", "not judged", "This run has no record, so nothing can be judged. That is not a clean run.")
        return
    words = "Nobody has judged this run yet, so there is no verdict and no score."
    yield Notice("none", "not judged", words, f"adjudge judge {run.id} --rubric rubric.yaml")
