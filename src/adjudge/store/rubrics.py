"""The rubrics of a store: those that judgments were made with, and those that a person keeps to use later."""

from __future__ import annotations

import msgspec
from sqlalchemy import Connection, func, select

from adjudge.rubric import Rubric
from adjudge.store import rows
from adjudge.store.codec import packed_rubric
from adjudge.store.rows import JudgmentRow, judgment_row
from adjudge.store.schema import judgments, rubrics
from adjudge.store.store import Store


class RubricRow(msgspec.Struct, frozen=True):
    """A stored rubric as a list shows it: how many judgments used it, and when the last of them landed."""

    hash: str
    name: str
    added: str
    criteria: int
    dimensions: int
    judgments: int
    used: str | None


def keep_rubric(store: Store, rubric: Rubric) -> bool:
    """Keep a rubric, and say whether it is new: one of the same content stays as it is, whatever its name.

    Raises:
        OutsideError: the disk is full or fails.
    """
    return store.writer.land(lambda: _keep(store, rubric)).result()


def _keep(store: Store, rubric: Rubric) -> bool:
    with store.reading() as connection:
        if rows.is_there(connection, rubrics, rubric.hash):
            return False
    store.prepare()
    store.require_room()
    values = rows.values_of_rubric(rubric, store.blobs.write([packed_rubric(rubric)]))
    with store.writing() as connection:
        if rows.is_there(connection, rubrics, rubric.hash):
            return False
        connection.execute(rubrics.insert().values(values))
    return True


def rubric_rows(store: Store) -> list[RubricRow]:
    """All rubrics, the latest first."""
    with store.reading() as connection:
        return _rows(connection)


def _rows(connection: Connection) -> list[RubricRow]:
    used = (
        select(judgments.c.rubric, func.count().label("judgments"), func.max(judgments.c.added).label("used"))
        .where(judgments.c.rubric.is_not(None))
        .group_by(judgments.c.rubric)
        .subquery()
    )
    columns = [rubrics.c[name] for name in ("hash", "name", "added", "criteria", "dimensions")]
    query = (
        select(*columns, func.coalesce(used.c.judgments, 0).label("judgments"), used.c.used)
        .outerjoin(used, used.c.rubric == rubrics.c.hash)
        .order_by(rubrics.c.added.desc(), rubrics.c.hash)
    )
    return [RubricRow(*tuple(row)) for row in connection.execute(query)]


def judgments_with(store: Store, hash: str, most: int) -> list[JudgmentRow]:
    """The latest judgments with the rubric of this hash."""
    query = select(judgments).where(judgments.c.rubric == hash).order_by(judgments.c.added.desc(), judgments.c.id)
    with store.reading() as connection:
        return [judgment_row(row._mapping) for row in connection.execute(query.limit(most))]
