"""Rows of passes: what is known of each, its runs, and the queries that give them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, Update, and_, case, func, or_, select, true

from adjudge.judgment import UNRELATED, Judge
from adjudge.rubric import Rubric
from adjudge.run import Outcome
from adjudge.store.rows import JudgmentRow, judgment_row, now, plain
from adjudge.store.schema import judgments, pass_runs, passes, runs

PassStatus = Literal["running", "finished", "stopped", "provider down", "budget", "failed"]
PassStanding = PassStatus | Literal["died"]

PASS = judgments.c["pass"]


class PassRow(msgspec.Struct, frozen=True):
    """A pass as a list shows it.

    `landed` of `selected` runs have a judgment, `errored` of those no verdict, and `empty` are read without a single value.
    `cost` is the sum of what is known of their cost in US dollars, `unpriced` how many cost an unknown amount, and `lost`
    what was reserved for calls of which nobody saw the end. A pass that died is `running` until it is resumed.
    """

    id: str
    added: str
    rubric: str | None
    rubric_hash: str | None
    judge: str
    model: str | None
    judge_hash: str
    selected: int
    status: PassStatus
    reason: str | None
    started: str
    ended: str | None
    lost: float
    landed: int
    errored: int
    empty: int
    cost: float
    unpriced: int


class CandidateRow(msgspec.Struct, frozen=True):
    """A stored run as a selection sees it: `judged` by the judge and rubric in question, `entries` in its record."""

    run: str
    agent: str | None
    outcome: Outcome
    turns: int
    entries: int
    judged: bool


class PassItem(msgspec.Struct, frozen=True):
    """A run that a pass has still to judge: where it stands in the pass, the blob that holds it, and its folder."""

    position: int
    run: str
    blob: str
    workspace: str | None = None


def standing_of(status: PassStatus, identifier: str, under_way: str | None) -> PassStanding:
    """Where the pass with this status stands; `under_way` is what a living process holds the lock of passes for."""
    named = under_way is None or under_way.startswith("p-")  # an older adjudge did not name the pass that it holds
    return "died" if status == "running" and identifier != under_way and named else status


def ids_behind(connection: Connection, after: str | None, most: int) -> list[str]:
    """The ids of the passes behind one in a list of all, the latest first, or of the first."""
    query = select(passes.c.id).order_by(passes.c.added.desc(), passes.c.id).limit(most)
    if after is not None:
        added = select(passes.c.added).where(passes.c.id == after).scalar_subquery()
        query = query.where(or_(passes.c.added < added, and_(passes.c.added == added, passes.c.id > after)))
    return list(connection.scalars(query))


def pass_rows(connection: Connection, identifiers: Sequence[str] | None = None) -> list[PassRow]:
    """All passes, the latest first, or those with these ids."""
    of_pass = (
        select(
            pass_runs.c["pass"].label("pass"),
            func.count(judgments.c.id).label("landed"),
            _count(judgments.c.status == "errored").label("errored"),
            _count(judgments.c.empty).label("empty"),
            _count(and_(judgments.c.id.is_not(None), UNPRICED)).label("unpriced"),
        )
        .outerjoin(judgments, judgments.c.id == pass_runs.c.judgment)
        .where(_is_among(pass_runs.c["pass"], identifiers))
        .group_by(pass_runs.c["pass"])
        .subquery()
    )
    costs = (
        select(PASS.label("pass"), func.sum(judgments.c.cost).label("cost"))
        .where(_is_among(PASS, identifiers))
        .group_by(PASS)
        .subquery()
    )
    query = (
        select(passes, of_pass.c.landed, of_pass.c.errored, of_pass.c.empty, of_pass.c.unpriced, costs.c.cost)
        .outerjoin(of_pass, of_pass.c["pass"] == passes.c.id)
        .outerjoin(costs, costs.c["pass"] == passes.c.id)
        .where(_is_among(passes.c.id, identifiers))
        .order_by(passes.c.added.desc(), passes.c.id)
    )
    return [pass_row(row._mapping) for row in connection.execute(query)]


def _is_among(column: ColumnElement[str], identifiers: Sequence[str] | None) -> ColumnElement[bool]:
    """Asked of each table by itself, so that the other passes' runs are not counted."""
    return true() if identifiers is None else column.in_(identifiers)


_ASKED_NOBODY = func.coalesce(judgments.c.decided, "").in_(("probes", "process"))
_UNSEEN = and_(func.coalesce(judgments.c.cost, 1.0) == 0, func.coalesce(judgments.c.failure, "").in_(("timeout", "broken")))
UNPRICED = or_(and_(judgments.c.cost.is_(None), ~_ASKED_NOBODY), _UNSEEN)
"""Of a landed judgment: that what it has cost is not known, as `passes.said.unpriced` tells of its calls."""


def _count(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)


def pass_row(row: Mapping[Any, Any]) -> PassRow:
    """The value of a pass's columns and of its sums."""
    names = {"rubric": "rubric_name", "rubric_hash": "rubric"}
    values = {name: row[names.get(name, name)] for name in PassRow.__struct_fields__}
    sums = {name: values[name] or 0 for name in ("landed", "errored", "empty", "cost", "unpriced")}
    return PassRow(**(values | sums))


def candidate_rows(connection: Connection, rubric: str, judge_hash: str) -> Iterator[CandidateRow]:
    """All stored runs. One is judged if this judge answered about it with this rubric, or could not because of the run."""
    said = or_(judgments.c.status == "judged", judgments.c.failure.is_(None), judgments.c.failure.not_in(UNRELATED))
    done = (
        select(judgments.c.run)
        .where(judgments.c.rubric == rubric, judgments.c.judge_hash == judge_hash, said)
        .distinct()
        .subquery()
    )
    columns = ("id", "agent", "turns", "entries", "exit_status", "grade", "reward", "detail", "failure")
    query = select(*(runs.c[name] for name in columns), done.c.run).outerjoin(done, done.c.run == runs.c.id)
    for row in connection.execution_options(yield_per=10_000).execute(query):
        outcome = Outcome(row.exit_status, row.grade, row.reward, row.detail, row.failure)
        yield CandidateRow(row.id, row.agent, outcome, row.turns, row.entries, row.run is not None)


def open_items(connection: Connection, identifier: str, after: int, most: int) -> list[PassItem]:
    """The next runs of a pass that have no judgment, behind a position."""
    query = (
        select(pass_runs.c.position, pass_runs.c.run, runs.c.blob, runs.c.workspace)
        .join(runs, runs.c.id == pass_runs.c.run)
        .where(pass_runs.c["pass"] == identifier, pass_runs.c.judgment.is_(None), pass_runs.c.position > after)
        .order_by(pass_runs.c.position)
        .limit(most)
    )
    return [PassItem(*row) for row in connection.execute(query)]


def judgments_of(connection: Connection, identifier: str) -> Iterator[JudgmentRow]:
    """The judgments that stand for a pass's runs, in the pass's order; those that were retried are left out."""
    query = (
        select(judgments)
        .join(pass_runs, pass_runs.c.judgment == judgments.c.id)
        .where(pass_runs.c["pass"] == identifier)
        .order_by(pass_runs.c.position)
    )
    for row in connection.execution_options(yield_per=1_000).execute(query):
        yield judgment_row(row._mapping)


def latest(kind: str, model: str | None, prune: str | None, most: int) -> Select[Any]:
    """The latest judgments of a kind of judge with this model, and in this prune mode if one is given."""
    query = select().where(judgments.c.judge == kind, judgments.c.model == model)
    if prune is not None:
        query = query.where(judgments.c.prune == prune)
    return query.order_by(judgments.c.added.desc(), judgments.c.id).limit(most)


def values_of_pass(identifier: str, judge: Judge, rubric: Rubric, selected: int) -> dict[str, Any]:
    """The columns of a pass that begins now, but for its blob."""
    return {
        "id": identifier,
        "added": now(),
        "started": now(),
        "status": "running",
        "selected": selected,
        "lost": 0.0,
        "rubric": rubric.hash,
        "rubric_name": plain(rubric.name),
        "judge": judge.kind,
        "model": plain(judge.model),
        "judge_hash": judge.hash,
    }


def judged_meanwhile(identifier: str) -> Update:
    """Gives a pass's open runs the latest verdicts that its very judge has come to with its rubric elsewhere."""
    of_pass = select(passes.c.rubric, passes.c.judge_hash).where(passes.c.id == identifier).subquery()
    found = (
        select(judgments.c.id)
        .join(of_pass, and_(judgments.c.rubric == of_pass.c.rubric, judgments.c.judge_hash == of_pass.c.judge_hash))
        .where(judgments.c.run == pass_runs.c.run, judgments.c.status == "judged")
        .order_by(judgments.c.sample.desc())
        .limit(1)
        .correlate(pass_runs)
        .scalar_subquery()
    )
    open_ = (pass_runs.c["pass"] == identifier, pass_runs.c.judgment.is_(None), found.is_not(None))
    return pass_runs.update().where(*open_).values(judgment=found)


def open_again(identifier: str, retry: bool) -> ColumnElement[bool]:
    """Which of a pass's runs are judged again when it is resumed: those whose failure says nothing of the run.

    With `retry` all that brought no verdict are.
    """
    no_verdict = judgments.c.status == "errored"
    if not retry:
        no_verdict = and_(no_verdict, judgments.c.failure.in_(UNRELATED))
    of_pass = select(judgments.c.id).where(judgments.c["pass"] == identifier, no_verdict)
    return and_(pass_runs.c["pass"] == identifier, pass_runs.c.judgment.in_(of_pass))
