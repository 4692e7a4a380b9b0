"""A list of many runs: filtered, sorted, counted and given page by page, from where they stand."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal

import msgspec
from sqlalchemy import Column, ColumnElement, Connection, Row, Select, String, and_, func, literal, select, tuple_

from adjudge.errors import InputError
from adjudge.run import Outcome
from adjudge.store.deriving import take_up
from adjudge.store.rows import plain
from adjudge.store.run_counts import Counts, counts_of
from adjudge.store.schema import judgments, pass_runs, runs, standings, task_of_run
from adjudge.store.standing import FLAGS, Flag, State, flags_of
from adjudge.store.store import Store

Graded = Literal["resolved", "unresolved", "error", "ungraded"]
Judged = Literal["passes", "fails", "worse", "gate", "none", "unjudged"]
Sort = Literal[
    "added",
    "-added",
    "turns",
    "-turns",
    "cost",
    "-cost",
    "judging",
    "-judging",
    "score",
    "-score",
    "worse",
    "-worse",
    "task",
    "-task",
    "agent",
    "-agent",
    "model",
    "-model",
    "outcome",
    "-outcome",
]

CHOICES = 200
"""Names of agents, of models or of tasks that a list offers to choose from."""


class Filter(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which runs a list shows.

    `text` stands somewhere in the run's id, its task or its source. `task` is the task's name, or its first line as a list
    shows it. `judged` is `passes` (every criterion), `fails` (some criterion), `worse` (some dimension), `gate` (the gate
    changed something), `none` (judged without a verdict) or `unjudged`.
    """

    text: str | None = None
    agent: str | None = None
    model: str | None = None
    task: str | None = None
    outcome: Graded | None = None
    judged: Judged | None = None
    flag: Flag | None = None


class Place(msgspec.Struct, frozen=True):
    """Where a page of a list ends: the last run's sorted value and its id."""

    value: str | float | None
    id: str


class ListedRun(msgspec.Struct, frozen=True):
    """A run in a list. What stands from `state` to `flags` is of the judgments that count (see `standing`).

    `cells` has a letter for each criterion: `p` pass, `f` fail, `g` a pass that the gate took back, `s` skipped. `worst` is
    the dimension farthest from blameless with its value, `worse` how many are worse. `reason` and `failure` say why there
    is no verdict. `cost` and `judging` are in US dollars, and never added.
    """

    id: str
    added: str
    agent: str | None
    agent_version: str | None
    model: str | None
    task: str | None
    task_name: str | None
    format: str
    turns: int
    entries: int
    outcome: Outcome
    seconds: float | None
    cost: float | None
    state: State | None
    under_way: bool
    evaluation: str | None
    reading: str | None
    score: float | None
    passed: int | None
    criteria: int | None
    cells: str | None
    worst: str | None
    worse: int | None
    judging: float | None
    flags: tuple[Flag, ...]
    reason: str | None = None
    failure: str | None = None


class RunList(msgspec.Struct, frozen=True):
    """One page of a list, with the counts over all of it; `next` is where it goes on, `None` at its end."""

    runs: tuple[ListedRun, ...]
    counts: Counts
    next: Place | None


class Choices(msgspec.Struct, frozen=True):
    """The agents, models and tasks that there are runs of, in alphabetical order; at most 200 of each."""

    agents: tuple[str, ...]
    models: tuple[str, ...]
    tasks: tuple[str, ...]


def list_runs(store: Store, wanted: Filter, sort: Sort = "added", after: Place | None = None, most: int = 50) -> RunList:
    """A page of at most `most` runs behind a place, sorted; what has no value to sort by comes last.

    Where a run stands may lag some two seconds behind a pass that is under way; what a killed one left is made up first.

    Raises:
        InputError: the place is none in a list that is sorted so.
        OutsideError: the store cannot be read.
    """
    take_up(store)
    with store.reading() as connection:
        under_way = set(connection.scalars(select(pass_runs.c.run).where(pass_runs.c.reserved.is_not(None))))
        page = _page(connection, _conditions(wanted, walked=True), sort, after, most + 1)
        found, more = page[:most], len(page) > most
        shown = _shown(connection, found)
        reasons = _reasons(connection, shown)
        counts = counts_of(connection, _conditions(wanted, walked=False), under_way)
    listed = tuple(_listed(row, under_way, reasons) for row in shown)
    return RunList(listed, counts, Place(found[-1].value, found[-1].run) if more else None)


def choices_of(store: Store) -> Choices:
    """What a list of runs can be filtered by."""
    with store.reading() as connection:
        columns = (standings.c.agent, standings.c.model, task_of_run)
        agents, models, tasks = (_choices(connection, column) for column in columns)
    return Choices(agents, models, tasks)


def _choices(connection: Connection, column: ColumnElement[Any]) -> tuple[str, ...]:
    """The different values, each found by one step through the index, however many rows have it."""
    first = select(func.min(column).label("value")).cte("steps", recursive=True)
    following = select(func.min(column)).where(column > first.c.value).scalar_subquery()
    steps = first.union_all(select(following).where(first.c.value.is_not(None)))
    query = select(steps.c.value).where(steps.c.value.is_not(None)).limit(CHOICES)
    return tuple(connection.scalars(query))


# --- conditions

Conditions = list[ColumnElement[bool]]


def _conditions(wanted: Filter, walked: bool) -> Conditions:
    """What a run must have. `walked`: the rows are walked along the index that they are sorted by.

    A database that has no statistics, as SQLite's, takes any other index that a condition could use, and then sorts half
    of the table. So such conditions are written as expressions, which no index is for.
    """

    def column(name: str) -> ColumnElement[Any]:
        plainly = standings.c[name]
        if not walked:
            return plainly
        return plainly.concat("") if isinstance(plainly.type, String) else plainly + 0

    found: Conditions = []
    if wanted.text:
        found.append(_of_runs(runs.c.words.contains(str(plain(wanted.text.lower())), autoescape=True)))
    found += [column(name) == plain(value) for name in ("agent", "model") if (value := getattr(wanted, name))]
    if wanted.task:
        found.append(_of_runs(task_of_run == plain(wanted.task)))
    if wanted.outcome:
        grade = column("grade")
        found.append(grade.is_(None) if wanted.outcome == "ungraded" else grade == wanted.outcome)
    if wanted.judged:
        found.append(_judged(wanted.judged, column))
    if wanted.flag:
        found.append(_flag(wanted.flag))
    return found


def _of_runs(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    return standings.c.run.in_(select(runs.c.id).where(condition))


def _judged(judged: Judged, column: Callable[[str], ColumnElement[Any]]) -> ColumnElement[bool]:
    conditions: Mapping[Judged, ColumnElement[bool]] = {
        "passes": column("score") >= 1,
        "fails": column("score") < 1,
        "worse": column("worse") > 0,
        "gate": _flag("gate"),
        "none": column("state").in_(("errored", "empty")),
        "unjudged": column("state").is_(None),
    }
    return conditions[judged]


def _flag(flag: Flag) -> ColumnElement[bool]:
    return standings.c.flags.op("&")(FLAGS[flag]) != 0


# --- a page

UPWARDS = ("score", "task", "agent", "model", "outcome", "-added", "-turns", "-cost", "-judging", "-worse")
"""Sorts that begin with the least: the worst score, the first name, or the reverse of what is usually wanted."""


def _page(
    connection: Connection, conditions: Sequence[ColumnElement[bool]], sort: Sort, after: Place | None, most: int
) -> list[Row[Any]]:
    """Runs with their `value` to sort by, then those without: two queries, as what has no value comes last both ways."""
    key = standings.c["grade" if sort.endswith("outcome") else sort.lstrip("-")]
    _require_place(key, after)
    query: Select[Any] = select(standings.c.run, key.label("value")).where(*conditions)
    found: list[Row[Any]] = []
    if after is None or after.value is not None:
        found += connection.execute(_with_value(query, key, sort in UPWARDS, after).limit(most)).all()
    if key.nullable and len(found) < most:
        behind = [] if after is None or after.value is not None else [standings.c.run < after.id]
        without = query.where(key.is_(None), *behind).order_by(standings.c.run.desc())
        found += connection.execute(without.limit(most - len(found))).all()
    return found


def _require_place(key: Column[Any], after: Place | None) -> None:
    """Do nothing if a place is one in a list that is sorted by this column. Raises InputError if not."""
    value = None if after is None else after.value
    if value is None:
        return
    of_kind = isinstance(value, str) if isinstance(key.type, String) else not isinstance(value, str) and abs(value) < 2**31
    if not of_kind:
        raise InputError(f"the place to go on from is none in a list that is sorted by {key.name}: begin the list anew")


def _with_value(query: Select[Any], key: Column[Any], upwards: bool, after: Place | None) -> Select[Any]:
    order = (key.asc(), standings.c.run.asc()) if upwards else (key.desc(), standings.c.run.desc())
    query = query.where(key.is_not(None)).order_by(*order)
    if after is None:
        return query
    place = tuple_(key, standings.c.run)
    value = plain(after.value) if isinstance(after.value, str) else after.value
    last = tuple_(literal(value, key.type), literal(plain(after.id)))
    return query.where(place > last if upwards else place < last)


# --- what is shown of a page

_OF_RUN = (
    *("id", "added", "agent", "agent_version", "model", "task", "task_name", "format", "turns", "entries"),
    *("seconds", "cost", "exit_status", "grade", "reward", "detail", "failure"),
)
_STANDS = ("state", "evaluation", "reading", "score", "worse", "judging", "flags")

_evaluation, _reading = judgments.alias("of_evaluation"), judgments.alias("of_reading")

_LISTED = (
    select(
        *(runs.c[name] for name in _OF_RUN),
        *(standings.c[name] for name in _STANDS),
        *(_evaluation.c[name] for name in ("passed", "criteria", "cells")),
        _reading.c.worst,
    )
    .join_from(standings, runs, runs.c.id == standings.c.run)
    .outerjoin(_evaluation, and_(_evaluation.c.id == standings.c.evaluation, _evaluation.c.status == "judged"))
    .outerjoin(_reading, and_(_reading.c.id == standings.c.reading, _reading.c.status == "judged", ~_reading.c.empty))
)


def _shown(connection: Connection, page: Sequence[Row[Any]]) -> list[Mapping[Any, Any]]:
    """What a list shows of the runs of a page, in their order."""
    wanted = _LISTED.where(standings.c.run.in_([row.run for row in page]))
    by_run = {row.id: row._mapping for row in connection.execute(wanted)}
    return [by_run[row.run] for row in page]


def _reasons(connection: Connection, found: Sequence[Mapping[Any, Any]]) -> dict[str, tuple[str | None, str | None]]:
    """Of the judgments that brought no verdict, why."""
    names = [row[name] for row in found if row["state"] == "errored" for name in ("evaluation", "reading") if row[name]]
    query = select(judgments.c.id, judgments.c.reason, judgments.c.failure).where(judgments.c.id.in_(names))
    return {row.id: (row.reason, row.failure) for row in connection.execute(query)} if names else {}


def _listed(
    row: Mapping[Any, Any], under_way: Collection[str], reasons: Mapping[str, tuple[str | None, str | None]]
) -> ListedRun:
    outcome = Outcome(*(row[name] for name in ("exit_status", "grade", "reward", "detail", "failure")))
    reason, failure = reasons.get(row["evaluation"]) or reasons.get(row["reading"]) or (None, None)
    values = {name: row[name] for name in ListedRun.__struct_fields__ if name in row}
    more = {"outcome": outcome, "flags": flags_of(row["flags"]), "under_way": row["id"] in under_way}
    return ListedRun(**(values | more | {"reason": reason, "failure": failure}))
