"""Where judgments lie: a small one beside its row, in the same transaction, a large one among all other blobs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, LargeBinary, Select, bindparam, cast, func, select

from adjudge.errors import OutsideError
from adjudge.judgment import Judgment
from adjudge.store.blobs import Blobs, checked
from adjudge.store.codec import StoredJudgment, packed_judgment, unpacked
from adjudge.store.items import items_of
from adjudge.store.rows import values_of_judgment
from adjudge.store.schema import judgment_blobs, judgments

SMALL = 64 << 10
"""Bytes up to which a judgment lies in the database: a larger one would be written there twice, first into the log."""


class Landing(msgspec.Struct, frozen=True):
    """A judgment on its way: the columns of its row, its blob, `None` if that lies among the others already, its items."""

    values: dict[str, Any]
    data: bytes | None
    items: list[dict[str, Any]]


def landing_of(judgment: Judgment, state: str | None, blobs: Blobs) -> Landing:
    """A judgment as it is kept; a large one's blob is on the disk when this returns.

    `state` is the fingerprint of its run's folder.
    """
    data = packed_judgment(judgment)
    small = len(data) <= SMALL
    name = hashlib.sha256(data).hexdigest() if small else blobs.write([data])
    return Landing(values_of_judgment(judgment, name, state), data if small else None, items_of(judgment))


def insert(connection: Connection, landings: Sequence[Landing]) -> None:
    """Write judgments that are not there; what follows from them is for `deriving`.

    Nobody else may write before the transaction ends.
    """
    number: int = connection.scalar(_LAST) or 0
    rows, blobs = list[dict[str, Any]](), list[dict[str, Any]]()
    for each in landings:
        if each.data is not None:
            number += 1
            blobs.append({"number": number, "data": each.data})
        rows.append(_row(each.values, None if each.data is None else number))
    if blobs:
        connection.execute(judgment_blobs.insert(), blobs)
    connection.execute(_INSERT, rows)


def _row(values: dict[str, Any], number: int | None) -> dict[str, Any]:
    same = {"of_run": values["run"], "of_rubric": values["rubric"], "of_judge": values["judge_hash"]}
    return values | same | {"blob_number": number, "itemised": True}


_LAST = select(func.max(judgment_blobs.c.number))

_SAMPLE = select(func.coalesce(func.max(judgments.c.sample) + 1, 0)).where(
    judgments.c.run == bindparam("of_run"),
    judgments.c.rubric.is_not_distinct_from(bindparam("of_rubric")),
    judgments.c.judge_hash == bindparam("of_judge"),
)
"""Which judgment of this run by this judge with this rubric comes next, from 0 on."""

_INSERT = judgments.insert().values(sample=_SAMPLE.scalar_subquery())


_DATA = cast(judgment_blobs.c.data, LargeBinary).label("data")
"""SQLite keeps in a column whatever somebody puts there, text as well, which may not even be text."""


def with_data(query: Select[Any]) -> Select[Any]:
    """A query over judgments with the columns that `judgment_in` needs."""
    joined = query.outerjoin(judgment_blobs, judgment_blobs.c.number == judgments.c.blob_number)
    return joined.add_columns(judgments.c.id, judgments.c.blob, judgments.c.blob_number, _DATA)


def judgment_in(row: Any, blobs: Blobs) -> Judgment:
    """The judgment of a row of such a query.

    Raises:
        InputError: a newer adjudge wrote it.
        OutsideError: it is damaged, or cannot be read.
    """
    judgment = unpacked(_data_of(row, blobs), StoredJudgment).judgment
    if judgment.id != row.id:
        raise OutsideError(f"the row of {row.id} leads to another judgment, {judgment.id}: the store is damaged")
    return judgment


def _data_of(row: Any, blobs: Blobs) -> bytes:
    if row.blob_number is None:
        return blobs.read(row.blob)
    place = f"number {row.blob_number} of judgment_blobs"
    if row.data is None:
        raise OutsideError(f"{place}: is not there, and a judgment points to it: the store is damaged")
    return checked(row.blob, row.data, place)
