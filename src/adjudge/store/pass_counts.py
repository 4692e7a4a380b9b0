"""What a pass has come to at a moment, counted from its rows alone, whoever judges it and wherever that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, case, func, select

from adjudge.errors import InputError
from adjudge.judgment import Failure, Status
from adjudge.run import Outcome
from adjudge.store.pass_rows import UNPRICED, PassRow, pass_row
from adjudge.store.schema import judgments, pass_runs, passes, runs

LATEST = 8
"""Judgments that are told one by one, those that landed last."""


class RunsAlike(msgspec.Struct, frozen=True):
    """So many runs of a pass (`number`) of one agent and with one outcome that stand alike.

    `status`, `failure` and `empty` are of their judgments, `None` and false where none has landed. `unpriced` says that
    what judging has cost is not known.
    """

    agent: str | None
    outcome: Outcome
    number: int
    status: Status | None
    failure: Failure | None
    empty: bool
    unpriced: bool


class Landed(msgspec.Struct, frozen=True):
    """A judgment that has landed: when, and what failed if it brought no verdict."""

    added: str
    status: Status
    failure: Failure | None


class PassCounts(msgspec.Struct, frozen=True):
    """What a pass's rows come to: its own row as `Passes.row` gives it, and its runs.

    `reserved`, in US dollars, is for calls under way (a model that costs nothing reserves nothing). `recent` judgments
    landed in the latest time, the first of them at `first`. `latest` are the last that landed, the newest first.
    """

    row: PassRow
    runs: tuple[RunsAlike, ...]
    reserved: float
    recent: int
    first: str | None
    latest: tuple[Landed, ...]


def counts_of(connection: Connection, identifier: str, since: str) -> PassCounts:
    """Count the rows of a pass. Raises InputError if there is none."""
    stands = connection.execute(select(passes).where(passes.c.id == identifier)).one_or_none()
    if stands is None:
        raise InputError(f"there is no pass {identifier!r} in the store")
    alike = tuple(_alike(row) for row in connection.execute(_grouped(identifier)))
    cost, recent, first = connection.execute(_landed(identifier, since)).one()
    last = select(judgments.c.added, judgments.c.status, judgments.c.failure).where(judgments.c["pass"] == identifier)
    latest = connection.execute(last.order_by(judgments.c.added.desc(), judgments.c.id).limit(LATEST))
    return PassCounts(
        row=pass_row({**stands._mapping, **_sums(alike), "cost": cost}),
        runs=alike,
        reserved=connection.scalar(_reserved(identifier)) or 0.0,
        recent=recent,
        first=first,
        latest=tuple(Landed(*row) for row in latest),
    )


def _sums(runs: Sequence[RunsAlike]) -> dict[str, int]:
    landed = [each for each in runs if each.status is not None]
    return {
        "landed": sum(each.number for each in landed),
        "errored": sum(each.number for each in landed if each.status == "errored"),
        "empty": sum(each.number for each in landed if each.empty),
        "unpriced": sum(each.number for each in landed if each.unpriced),
    }


def _grouped(identifier: str) -> Any:
    unpriced = case((judgments.c.id.is_(None), False), else_=UNPRICED).label("unpriced")
    of_run = (runs.c.agent, runs.c.exit_status, runs.c.grade, runs.c.failure)
    of_judgment = (judgments.c.status, judgments.c.failure, judgments.c.empty, unpriced)
    return (
        select(*of_run, func.count(), *of_judgment)
        .select_from(pass_runs)
        .join(runs, runs.c.id == pass_runs.c.run)
        .outerjoin(judgments, judgments.c.id == pass_runs.c.judgment)
        .where(pass_runs.c["pass"] == identifier)
        .group_by(*of_run, *of_judgment[:-1], "unpriced")
    )


def _alike(row: Any) -> RunsAlike:
    agent, exit_status, grade, failure, number, status, why, empty, unpriced = row
    outcome = Outcome(exit_status, grade, failure=failure)
    return RunsAlike(agent, outcome, number, status, why, bool(empty), bool(unpriced))


def _landed(identifier: str, since: str) -> Any:
    lately = judgments.c.added >= since
    times = case((lately, judgments.c.added))
    return select(func.sum(judgments.c.cost), func.count(times), func.min(times)).where(judgments.c["pass"] == identifier)


def _reserved(identifier: str) -> Any:
    return select(func.sum(pass_runs.c.reserved)).where(pass_runs.c["pass"] == identifier)
