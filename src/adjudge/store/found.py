"""Runs and judgments by what the tables know of them: found, counted and grouped by the database, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
from sqlalchemy import ColumnElement, Select, String, case, cast, func, literal, or_, select

from adjudge.run import Outcome
from adjudge.store.judged import AT_A_TIME, RunFacts
from adjudge.store.rows import JudgmentRow, judgment_row
from adjudge.store.schema import judgments, pass_runs, passes, rubrics, runs
from adjudge.store.store import Store

Property = Literal["agent", "model", "task", "outcome"]


class RunFilter(msgspec.Struct, frozen=True):
    """Which runs are meant: those whose agent, model or task contain these words, case ignored, and with this outcome.

    The task is its name or its first line. An outcome is a grade, else `failed: FAILURE`, `exit STATUS` or `unknown`.
    """

    agent: str | None = None
    model: str | None = None
    task: str | None = None
    outcome: str | None = None


class FoundRun(msgspec.Struct, frozen=True):
    """A run that was found, the entries of its record, and how many judgments there are of it."""

    facts: RunFacts
    entries: int
    judgments: int


class RunCount(msgspec.Struct, frozen=True):
    """Runs that agree in some properties, `None` where one is not known.

    `turns` is a mean. `cost` is the sum in US dollars over those `priced`, `seconds` the mean over those `timed`; both are
    `None` of none.
    """

    key: tuple[str | None, ...]
    runs: int
    turns: float
    cost: float | None
    priced: int
    seconds: float | None
    timed: int


class JudgmentFilter(msgspec.Struct, frozen=True):
    """Which judgments are meant: of this run, with the rubric of this hash, that stand in this pass, with this status."""

    run: str | None = None
    rubric: str | None = None
    in_pass: str | None = None
    status: Literal["judged", "errored"] | None = None


class Totals(msgspec.Struct, frozen=True):
    """How much a store holds."""

    runs: int
    judgments: int
    passes: int
    rubrics: int


def totals(store: Store) -> Totals:
    """How much a store holds."""
    with store.reading() as connection:
        tables = (runs, judgments, passes, rubrics)
        return Totals(*(connection.scalar(select(func.count()).select_from(table)) or 0 for table in tables))


_outcome: ColumnElement[str] = case(
    (runs.c.grade.is_not(None), runs.c.grade),
    (runs.c.failure.is_not(None), literal("failed: ", String).concat(runs.c.failure)),
    (runs.c.exit_status.is_not(None), literal("exit ", String).concat(cast(runs.c.exit_status, String))),
    else_="unknown",
)
"""As `passes.results.outcome_of`."""

_TASK = func.coalesce(runs.c.task_name, runs.c.task)
_PROPERTIES: Mapping[Property, ColumnElement[Any]] = {
    "agent": runs.c.agent,
    "model": runs.c.model,
    "task": _TASK,
    "outcome": _outcome,
}
_FACTS = ("id", "agent", "agent_version", "model", "task_name", "task", "turns", "seconds", "cost")
_ENDING = ("exit_status", "grade", "reward", "detail", "failure")


def find_runs(store: Store, wanted: RunFilter, offset: int, most: int) -> tuple[list[FoundRun], int]:
    """At most so many of the runs that are meant, the latest first, and how many there are."""
    of_run = select(func.count()).where(judgments.c.run == runs.c.id).scalar_subquery()
    columns = [runs.c[name] for name in (*_FACTS, *_ENDING, "entries")]
    query = _meant(select(*columns, of_run.label("judgments")), wanted)
    page = query.order_by(runs.c.added.desc(), runs.c.id).offset(offset).limit(most)
    with store.reading() as connection:
        total = connection.scalar(_meant(select(func.count()).select_from(runs), wanted)) or 0
        return [_found(row._mapping) for row in connection.execute(page)], total


def count_runs(store: Store, wanted: RunFilter, by: Sequence[Property]) -> list[RunCount]:
    """The runs that are meant in groups by these properties: by all but the last in order, and then the largest first."""
    columns = [_PROPERTIES[name].label(f"key_{name}") for name in by]
    figures = (
        func.count(),
        func.avg(runs.c.turns),
        func.sum(runs.c.cost),
        func.count(runs.c.cost),
        func.avg(runs.c.seconds),
        func.count(runs.c.seconds),
    )
    query = _meant(select(*columns, *figures), wanted)
    if columns:
        query = query.group_by(*columns).order_by(*columns[:-1], func.count().desc(), columns[-1])
    with store.reading() as connection:
        return [_counted(tuple(row), len(by)) for row in connection.execute(query) if row[len(by)]]


def each_run(store: Store, wanted: RunFilter) -> Iterator[tuple[RunFacts, str]]:
    """Every run that is meant with the name of its blob, the latest first."""
    query = _meant(select(*(runs.c[name] for name in (*_FACTS, *_ENDING, "blob"))), wanted)
    with store.reading() as connection:
        rows = connection.execution_options(yield_per=AT_A_TIME).execute(query.order_by(runs.c.added.desc(), runs.c.id))
        for row in rows:
            yield _facts(row._mapping), row.blob


def find_judgments(store: Store, wanted: JudgmentFilter, offset: int, most: int) -> tuple[list[JudgmentRow], int]:
    """At most so many of the judgments that are meant, the latest first, and how many there are."""
    conditions = list(_conditions(wanted))
    query = select(judgments).where(*conditions).order_by(judgments.c.added.desc(), judgments.c.id)
    with store.reading() as connection:
        total = connection.scalar(select(func.count()).select_from(judgments).where(*conditions)) or 0
        rows = connection.execute(query.offset(offset).limit(most))
        return [judgment_row(row._mapping) for row in rows], total


def _meant(query: Select[Any], wanted: RunFilter) -> Select[Any]:
    for column, words in ((runs.c.agent, wanted.agent), (runs.c.model, wanted.model)):
        if words is not None:
            query = query.where(column.icontains(words, autoescape=True))
    if (task := wanted.task) is not None:
        columns = (runs.c.task_name, runs.c.task)
        query = query.where(or_(*(column.icontains(task, autoescape=True) for column in columns)))
    if wanted.outcome is not None:
        query = query.where(_outcome == wanted.outcome)
    return query


def _conditions(wanted: JudgmentFilter) -> Iterator[ColumnElement[bool]]:
    if wanted.run is not None:
        yield judgments.c.run == wanted.run
    if wanted.rubric is not None:
        yield judgments.c.rubric == wanted.rubric
    if wanted.in_pass is not None:
        yield judgments.c.id.in_(select(pass_runs.c.judgment).where(pass_runs.c["pass"] == wanted.in_pass))
    if wanted.status is not None:
        yield judgments.c.status == wanted.status


def _facts(row: Mapping[Any, Any]) -> RunFacts:
    return RunFacts(outcome=Outcome(*(row[name] for name in _ENDING)), **{name: row[name] for name in _FACTS})


def _found(row: Mapping[Any, Any]) -> FoundRun:
    return FoundRun(_facts(row), row["entries"], row["judgments"])


def _counted(row: tuple[Any, ...], keys: int) -> RunCount:
    number, turns, cost, priced, seconds, timed = row[keys:]
    return RunCount(
        tuple(row[:keys]), number, float(turns), cost, priced, None if seconds is None else float(seconds), timed
    )
