"""The form that has runs judged: with which rubric, by which model, and what will come of it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from markupsafe import Markup

from adjudge.run import Run
from adjudge.web.addresses import address, of_run
from adjudge.web.queries.rubrics import RubricList
from adjudge.web.text import counted
from adjudge.web.views.run import title_of

NO_RUBRIC = (
    "Nothing but the end of the agent’s own process counts: exit status 0 is a success, anything else is not. No model is "
    "asked, no key is needed, and no score comes of it. It shows whether a new agent connection works."
)


class RubricOption(msgspec.Struct, frozen=True):
    """A rubric to choose: what it holds, and which judge it is for."""

    value: str
    name: str
    about: str
    short: str
    chosen: bool


class ToJudge(msgspec.Struct, frozen=True):
    """A run that will be judged; `machine` is what the evaluator may run commands on."""

    id: str
    href: Markup
    title: str
    agent: str
    entries: str
    machine: str


class JudgePage(msgspec.Struct, frozen=True):
    """Everything on the page. `send` is where the form goes, `missing` says why no model can be asked."""

    title: str
    runs: tuple[ToJudge, ...]
    several: bool
    send: Markup
    rubrics: tuple[RubricOption, ...]
    no_rubric: str
    model: str
    model_from: str
    missing: str | None
    back: Markup


def judge_page(runs: Sequence[Run], rubrics: RubricList, model: str | None, missing: str | None) -> JudgePage:
    """The page for one run or several."""
    first, several = runs[0], len(runs) > 1
    return JudgePage(
        title=f"Judge {counted(len(runs), 'run')}" if several else f"Judge {title_of(first)}",
        runs=tuple(map(_to_judge, runs)),
        several=several,
        send=address("api", "judge") if several else address("api", "runs", first.id, "judge"),
        rubrics=rubric_options(rubrics),
        no_rubric=NO_RUBRIC,
        model=model or "",
        model_from="as ADJUDGE_MODEL says" if model else "none is named in ADJUDGE_MODEL",
        missing=missing,
        back=address("runs") if several else of_run(first.id),
    )


def rubric_options(rubrics: RubricList, chosen: str | None = None) -> tuple[RubricOption, ...]:
    """The rubrics to choose from: the store's, the latest first, then adjudge's. The first is chosen if none is."""
    kept = [(row.hash, row.name, _about(row.criteria, row.dimensions)) for row in rubrics.kept]
    shipped = [
        (each.hash, each.name, f"{_about(len(each.criteria), len(each.dimensions))} Comes with adjudge.")
        for each in rubrics.shipped
    ]
    wanted = chosen or next(iter((*kept, *shipped)))[0]
    return tuple(RubricOption(hash, name, about, hash[:12], hash == wanted) for hash, name, about in (*kept, *shipped))


def _about(criteria: int, dimensions: int) -> str:
    if dimensions:
        return f"{counted(dimensions, 'dimension')}: a reader goes through the trajectory once."
    return f"{counted(criteria, 'criterion', 'criteria')}: the evaluator looks for itself."


def _to_judge(run: Run) -> ToJudge:
    machine = run.machine or (f"a copy of {run.workspace}" if run.workspace else "none, only the record")
    return ToJudge(
        id=run.id,
        href=of_run(run.id),
        title=title_of(run),
        agent=" ".join(part for part in (run.agent, run.model) if part) or "not known",
        entries=f"{len(run.record.entries):,}" if run.record.entries else "no record",
        machine=machine,
    )
