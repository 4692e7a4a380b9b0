"""Bringing a store's schema up to date; Alembic is imported only if there is something to do."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, select, text

from adjudge import __version__
from adjudge.errors import InputError
from adjudge.store.schema import REVISIONS, metadata, stamps


def bring_up_to_date(engine: Engine, place: object) -> None:
    """Migrate the store if its schema is older than this adjudge's, in one transaction.

    Raises:
        InputError: a newer adjudge wrote it, or another program.
    """
    with engine.connect() as connection:
        if _revision(connection, place) == REVISIONS[-1]:
            return
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        revision = _revision(connection, place)
        if revision is None:
            _require_free(connection, place)
        if revision != REVISIONS[-1]:  # another process may have been first
            _migrate(connection)


def _revision(connection: Connection, place: object) -> str | None:
    """The store's revision, `None` for a new store."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision = connection.scalar(text("SELECT version_num FROM alembic_version"))
    if revision not in REVISIONS:
        if not inspect(connection).has_table(stamps.name):
            raise _taken(place, "alembic_version")
        writer = connection.scalar(select(stamps.c.adjudge).where(stamps.c.revision == revision)) or "unknown"
        raise InputError(
            f"{place}: was written by adjudge {writer} with schema {revision}; "
            f"adjudge {__version__} knows schemas up to {REVISIONS[-1]}: use adjudge {writer} or later"
        )
    return str(revision)


def _require_free(connection: Connection, place: object) -> None:
    if taken := sorted(set(metadata.tables) & set(inspect(connection).get_table_names())):
        raise _taken(place, taken[0])


def _taken(place: object, table: str) -> InputError:
    return InputError(f"{place}: holds a table {table!r} of another program; give adjudge a database of its own")


def _migrate(connection: Connection) -> None:
    from alembic import command  # noqa: PLC0415  half a second, and needed only here
    from alembic.config import Config  # noqa: PLC0415

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    command.upgrade(config, "head")
    row = {"revision": REVISIONS[-1], "adjudge": __version__, "added": datetime.now(UTC).isoformat()}
    connection.execute(stamps.insert().values(row))
