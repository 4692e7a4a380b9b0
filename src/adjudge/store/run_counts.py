"""How many runs stand where, counted for a list: of all runs, or of those that a filter leaves."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec
from sqlalchemy import ColumnElement, Connection, func, select

from adjudge.store.schema import TALLIED, standings
from adjudge.store.standing import FLAGS


class Counts(msgspec.Struct, frozen=True):
    """How many runs there are, and of those that the filter leaves how many stand where.

    `judged`, `empty`, `errored`, `unjudged` and `under_way` add up to `found`. The last four count what a person looks at
    first: resolved, yet not all criteria pass; changed by the gate; attempts to steer; no verdict or not judged.
    """

    runs: int
    found: int
    judged: int
    empty: int
    errored: int
    unjudged: int
    under_way: int
    resolved_yet_fails: int
    gate: int
    steer: int
    without: int


def counts_of(connection: Connection, conditions: Sequence[ColumnElement[bool]], under_way: Collection[str]) -> Counts:
    """Count the runs whose standings meet the conditions; those that are being judged now count as nothing else."""
    tallies = _tallies(connection, conditions)
    now = _tallies(connection, [*conditions, standings.c.run.in_(under_way)]) if under_way else []
    left = {state: _sum(tallies, state) - _sum(now, state) for state in ("judged", "empty", "errored", None)}
    return Counts(
        runs=connection.scalar(select(func.count()).select_from(standings)) or 0,
        found=sum(tally.count for tally in tallies),
        judged=left["judged"],
        empty=left["empty"],
        errored=left["errored"],
        unjudged=left[None],
        under_way=sum(tally.count for tally in now),
        resolved_yet_fails=sum(t.count for t in tallies if t.grade == "resolved" and t.score is not None and t.score < 1),
        gate=sum(tally.count for tally in tallies if tally.flags & FLAGS["gate"]),
        steer=sum(tally.count for tally in tallies if tally.flags & FLAGS["steer"]),
        without=sum(tally.count for tally in tallies if tally.state != "judged"),
    )


class _Tally(msgspec.Struct, frozen=True):
    state: str | None
    grade: str | None
    flags: int
    score: float | None
    count: int


def _tallies(connection: Connection, conditions: Sequence[ColumnElement[bool]]) -> list[_Tally]:
    """How many runs there are of each kind; of all, one walk along an index: the order of the columns is the index's."""
    columns = [standings.c[name] for name in TALLIED]
    query = select(*columns, func.count()).where(*conditions).group_by(*columns)
    return [_Tally(*tuple(row)) for row in connection.execute(query)]


def _sum(tallies: Sequence[_Tally], state: str | None) -> int:
    return sum(tally.count for tally in tallies if tally.state == state)
