"""Who has been shown what the judge said of an item: what they say of it from then on is not blind."""

from __future__ import annotations

from sqlalchemy import Connection, select

from adjudge.store.rows import plain
from adjudge.store.schema import shown
from adjudge.store.store import Store


def note_shown(store: Store, judgment: str, item: str, reviewer: str) -> None:
    """Note it, before it is shown. Raises OutsideError if it cannot be written."""
    if not was_shown(store, judgment, item, reviewer):
        store.writer.land(lambda: _note(store, judgment, item, reviewer)).result()


def was_shown(store: Store, judgment: str, item: str, reviewer: str) -> bool:
    """Whether a reviewer has been shown what the judge said of an item."""
    with store.reading() as connection:
        return _is_noted(connection, judgment, item, reviewer)


def _note(store: Store, judgment: str, item: str, reviewer: str) -> None:
    store.prepare()
    with store.writing() as connection:
        if not _is_noted(connection, judgment, item, reviewer):
            connection.execute(shown.insert().values(judgment=judgment, item=plain(item), reviewer=plain(reviewer)))


def _is_noted(connection: Connection, judgment: str, item: str, reviewer: str) -> bool:
    of_item = (shown.c.judgment == plain(judgment), shown.c.item == plain(item))
    return connection.scalar(select(shown.c.item).where(*of_item, shown.c.reviewer == plain(reviewer))) is not None
