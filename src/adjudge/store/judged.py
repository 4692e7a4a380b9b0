"""Judgments together with what the tables know of their runs, one at a time: for figures, tables and comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Select, Subquery, and_, func, select

from adjudge.judgment import Judgment
from adjudge.run import Outcome
from adjudge.store.judgment_blobs import judgment_in, with_data
from adjudge.store.records import read_run
from adjudge.store.schema import judgments, pass_runs, rubrics, runs
from adjudge.store.store import Store

AT_A_TIME = 500
"""Rows that are held in memory."""


class RunFacts(msgspec.Struct, frozen=True):
    """What the tables know of a run: `task` is its task's first line, `cost` what the run itself cost in US dollars."""

    id: str
    agent: str | None
    agent_version: str | None
    model: str | None
    task_name: str | None
    task: str | None
    outcome: Outcome
    turns: int
    seconds: float | None
    cost: float | None


class JudgedRun(msgspec.Struct, frozen=True):
    """A run and a judgment of it.

    `sample` counts the judgments of this run by this judge with this rubric. `earlier` says how many others of this run
    there were that a comparison leaves out. `task_key` is the same for runs of one task: its name, else a hash over its
    text; only comparisons ask for it.
    """

    run: RunFacts
    judgment: Judgment
    sample: int | None = None
    earlier: int = 0
    task_key: str | None = None


class JudgeCount(msgspec.Struct, frozen=True):
    """A judge and a rubric, and how many judgments by this judge with this rubric count.

    `judge_hash` is `None` of judgments from before judges were told apart by one.
    """

    rubric: str | None
    rubric_hash: str
    kind: str
    model: str | None
    judge_hash: str | None
    judgments: int


class RubricCount(msgspec.Struct, frozen=True):
    """A rubric that judgments were made with: how many, by how many judges, and when the latest came."""

    name: str | None
    hash: str
    judgments: int
    judges: int
    latest: str


def rubric_counts(store: Store) -> list[RubricCount]:
    """Every rubric that judgments were made with, the one with the latest judgment first."""
    judges = func.count(judgments.c.judge_hash.distinct())
    columns = (func.max(judgments.c.rubric_name), judgments.c.rubric, func.count(), judges)
    latest = func.max(judgments.c.added)
    query = select(*columns, latest).where(judgments.c.rubric.is_not(None)).group_by(judgments.c.rubric)
    with store.reading() as connection:
        return [RubricCount(*tuple(row)) for row in connection.execute(query.order_by(latest.desc(), judgments.c.rubric))]


def of_pass(store: Store, identifier: str) -> Iterator[JudgedRun]:
    """The judgments that stand for a pass's runs, in its order. Raises InputError and OutsideError as `Store.judgment`."""
    query = (
        _query(judgments.c.sample)
        .join(pass_runs, pass_runs.c.judgment == judgments.c.id)
        .where(pass_runs.c["pass"] == identifier)
        .order_by(pass_runs.c.position)
    )
    with store.reading() as connection:
        for row in connection.execution_options(yield_per=AT_A_TIME).execute(query):
            yield JudgedRun(_facts(row._mapping), judgment_in(row, store.blobs), row.sample)


class Scope(msgspec.Struct, frozen=True):
    """Which judgments are compared: those that stand in these passes, or all with the rubric of this hash.

    With `judge` only those by the judge with this hash are, an empty one standing for judges that have none.
    """

    passes: tuple[str, ...] = ()
    rubric: str | None = None
    judge: str | None = None


def judges_of(store: Store, scope: Scope) -> list[JudgeCount]:
    """By whom and with what the judgments were made that count, those with the most first."""
    latest = _latest(scope)
    columns = [judgments.c[name] for name in ("rubric_name", "rubric", "judge", "model", "judge_hash")]
    query = (
        select(*columns, func.count())
        .join(latest, latest.c.id == judgments.c.id)
        .where(latest.c.place == 1)
        .group_by(*columns)
        .order_by(func.count().desc(), judgments.c.rubric, judgments.c.judge_hash)
    )
    with store.reading() as connection:
        return [JudgeCount(*tuple(row)) for row in connection.execute(query)]


def state_of(store: Store, scope: Scope) -> tuple[int, str | None]:
    """How many judgments are in scope, and when the latest came: figures over them stay as they are while this does."""
    query = select(func.count(), func.max(judgments.c.added)).where(_is_in(scope))
    with store.reading() as connection:
        count, latest = connection.execute(query).one()
    return count, latest


def rubrics_of(store: Store) -> list[tuple[str, str]]:
    """Hash and name of every stored rubric."""
    with store.reading() as connection:
        query = select(rubrics.c.hash, rubrics.c.name).order_by(rubrics.c.name, rubrics.c.hash)
        return [(row.hash, row.name) for row in connection.execute(query)]


def latest_of_each_run(store: Store, scope: Scope) -> Iterator[JudgedRun]:
    """The judgment of each run that counts: the latest with verdicts or scores, else the latest that has none."""
    latest = _latest(scope)
    query = (
        _query(judgments.c.sample, latest.c.judgments, runs.c.blob.label("of_run"))
        .join(latest, latest.c.id == judgments.c.id)
        .where(latest.c.place == 1)
        .order_by(judgments.c.added, judgments.c.id)
    )
    with store.reading() as connection:
        for row in connection.execution_options(yield_per=AT_A_TIME).execute(query):
            facts = _facts(row._mapping)
            key = facts.task_name or _hash_of_task(store, row.of_run)
            yield JudgedRun(facts, judgment_in(row, store.blobs), row.sample, row.judgments - 1, key)


def _latest(scope: Scope) -> Subquery:
    """The judgments in scope, each with its `place` among those of its run, and how many there are."""
    order = ((judgments.c.status == "judged").desc(), judgments.c.added.desc(), judgments.c.id)
    return (
        select(
            judgments.c.id,
            func.row_number().over(partition_by=judgments.c.run, order_by=order).label("place"),
            func.count().over(partition_by=judgments.c.run).label("judgments"),
        )
        .where(_is_in(scope))
        .subquery()
    )


def _is_in(scope: Scope) -> ColumnElement[bool]:
    if scope.rubric is not None:
        meant: ColumnElement[bool] = judgments.c.rubric == scope.rubric
    else:
        meant = judgments.c.id.in_(select(pass_runs.c.judgment).where(pass_runs.c["pass"].in_(scope.passes)))
    if scope.judge is None:
        return meant
    return and_(meant, judgments.c.judge_hash == scope.judge if scope.judge else judgments.c.judge_hash.is_(None))


_FACTS = ("id", "agent", "agent_version", "model", "task_name", "task", "turns", "seconds", "cost")
_OUTCOME = ("exit_status", "grade", "reward", "detail", "failure")


def _query(*more: ColumnElement[Any]) -> Select[Any]:
    of_run: Sequence[ColumnElement[Any]] = [runs.c[name].label(f"run_{name}") for name in (*_FACTS, *_OUTCOME)]
    return with_data(select(*of_run, *more).select_from(judgments).join(runs, runs.c.id == judgments.c.run))


def _facts(row: Mapping[Any, Any]) -> RunFacts:
    outcome = Outcome(*(row[f"run_{name}"] for name in _OUTCOME))
    return RunFacts(outcome=outcome, **{name: row[f"run_{name}"] for name in _FACTS})


def _hash_of_task(store: Store, blob: str) -> str | None:
    task = read_run(store.blobs, blob).task
    return None if task is None else sha256(task.strip().encode("utf-8", "surrogatepass")).hexdigest()
