"""What follows from judgments, the rows of their items and where their runs stand: written with them, or a moment later.

Outside of a pass it is in the transaction that keeps a judgment. In a pass it is put off, and written for many at once:
the pages that it changes are shared. Which judgments were put off is in the table `underived`, written with them, so that
whoever comes after a killed pass finds them.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from sqlalchemy import Connection, false, select

from adjudge.errors import OutsideError
from adjudge.store.items import add_items
from adjudge.store.judgment_blobs import Landing
from adjudge.store.schema import judgments, underived
from adjudge.store.standing import stand

if TYPE_CHECKING:
    from adjudge.store.store import Store

AT_ONCE = 500
"""Judgments that are taken over in one statement."""


def derive(connection: Connection, landings: Sequence[Landing]) -> None:
    """Write what follows from judgments whose rows are there, and from which nothing follows yet."""
    judged = {each.values["run"] for each in landings}
    add_items(connection, [item for each in landings for item in each.items], judged)
    stand(connection, judged)


def put_off(connection: Connection, landings: Sequence[Landing]) -> None:
    """Note, with their rows, that nothing follows yet from these judgments."""
    connection.execute(underived.insert(), [{"judgment": each.values["id"]} for each in landings])


def catch_up(connection: Connection, landings: Sequence[Landing]) -> None:
    """Write what follows from those of them that nobody has taken over since they were put off."""
    names = underived.c.judgment.in_([each.values["id"] for each in landings])
    left = set(connection.scalars(select(underived.c.judgment).where(names)))
    if left:
        connection.execute(underived.delete().where(names))
        derive(connection, [each for each in landings if each.values["id"] in left])


def take_over(connection: Connection, judgment: str | None = None) -> None:
    """Write where the runs stand of all judgments that were put off, or of one of them.

    Their items need their blobs, which may be damaged: they are left to `itemise`, as those of old judgments are.
    """
    query = select(judgments.c.id, judgments.c.run).join_from(underived, judgments)
    if judgment is not None:
        query = query.where(underived.c.judgment == judgment)
    left = connection.execute(query).all()
    for start in range(0, len(left), AT_ONCE):
        part = left[start : start + AT_ONCE]
        names = [row.id for row in part]
        connection.execute(judgments.update().where(judgments.c.id.in_(names)).values(itemised=false()))
        connection.execute(underived.delete().where(underived.c.judgment.in_(names)))
        stand(connection, {row.run for row in part})


def are_left(connection: Connection) -> bool:
    """Whether any judgment is put off."""
    return connection.scalar(select(underived.c.number).limit(1)) is not None


# --- after a pass whose process died


def take_up(store: Store) -> None:
    """Take over what a pass put off that lives no more. If it cannot be written now, it stays for the next who comes."""
    if was_left_behind(store):
        with suppress(OutsideError):
            store.writer.land(lambda: take_over_all(store)).result()


def was_left_behind(store: Store) -> bool:
    """Whether judgments were put off by a pass that lives no more."""
    with store.reading() as connection:
        left = are_left(connection)
    return left and store.passes.holder() is None


def take_over_all(store: Store) -> None:
    """Take over whatever is put off; in the writer's thread."""
    with store.writing() as connection:
        take_over(connection)
