"""What a connection may rely on, whichever the database."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, select, update
from tests.store.conftest import Place

from adjudge.run import Run
from adjudge.store.database import Database, open_postgres, open_sqlite
from adjudge.store.schema import runs, stamps
from adjudge.store.store import Store


@pytest.fixture
def database(store: Store, place: Place) -> Iterator[Database]:
    """The database of an empty store, opened once more."""
    with closing(open_sqlite(Path(place.store)) if place.server is None else open_postgres(place.store)) as opened:
        yield opened


def ids(connection: Connection) -> list[str]:
    return list(connection.scalars(select(runs.c.id)))


def test_who_reads_sees_one_state_to_the_end(database: Database, store: Store, run: Run) -> None:
    with database.reading() as connection:
        assert ids(connection) == []
        store.add_run(run)
        assert ids(connection) == []
    with database.reading() as connection:
        assert ids(connection) == [run.id]


def test_what_is_read_before_it_is_written_does_not_change_in_between(database: Database, store: Store) -> None:
    def count() -> None:
        with database.writing() as connection:
            seen = connection.scalars(select(stamps.c.adjudge)).one()
            number = int(seen) if seen.isdigit() else 0
            connection.execute(update(stamps).values(adjudge=str(number + 1)))

    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(count) for _ in range(40)]:
            done.result()
    with database.reading() as connection:
        assert connection.scalars(select(stamps.c.adjudge)).one() == "40"


def fail_half_way(database: Database) -> None:
    with database.writing() as connection:
        connection.execute(stamps.insert().values(revision="half", adjudge="", added=""))
        raise ZeroDivisionError


def test_what_fails_on_the_way_leaves_nothing(database: Database, store: Store) -> None:
    with pytest.raises(ZeroDivisionError):
        fail_half_way(database)
    with database.reading() as connection:
        assert "half" not in list(connection.scalars(select(stamps.c.revision)))
