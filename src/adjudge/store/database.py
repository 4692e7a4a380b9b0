"""The database that rows are kept in: SQLite in a folder, or PostgreSQL at a URL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, text

from adjudge.errors import InputError
from adjudge.settings import without_password
from adjudge.store.migrating import bring_up_to_date
from adjudge.store.schema import stamps
from adjudge.store.tokens import FolderTokens, Tokens

if TYPE_CHECKING:
    from types import ModuleType

SCHEMES = ("postgresql", "postgres")


class Database:
    """An open database, whichever it is. `name` is how messages call it, `tokens` tell whether a pass's process lives."""

    def __init__(
        self, name: str, engine: Engine, translated: Callable[[object], AbstractContextManager[None]], tokens: Tokens
    ) -> None:
        self.name, self.tokens = name, tokens
        self._engine = engine
        self._translated = translated

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that sees one state of the store from its first query to its last."""
        with self._translated(self.name), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection whose transaction is committed at the end. Nobody else writes from its beginning on."""
        with (
            self._translated(self.name),
            self._engine.connect().execution_options(writes=True) as connection,
            connection.begin(),
        ):
            yield connection

    def bring_up_to_date(self) -> None:
        """Make or migrate the tables; see `migrating`."""
        with self._translated(self.name):
            bring_up_to_date(self._engine, self.name)

    def about(self) -> str:
        """Its kind and version, and what it does not promise."""
        with self.reading() as connection:
            version = ".".join(map(str, connection.dialect.server_version_info or ()))
            if connection.dialect.name == "sqlite":
                return f"SQLite {version}"
            synced = connection.scalar(text("SELECT current_setting('fsync')")) == "on"
        return f"PostgreSQL {version}" + ("" if synced else "; its fsync is off: what it reports as saved may be lost")

    def require_writing(self) -> None:
        """Write a row and take it back. Raises InputError or OutsideError if there is no writing here."""
        with self._translated(self.name), self._engine.connect().execution_options(writes=True) as connection:
            connection.execute(stamps.insert().values(revision="trial", adjudge="", added=""))
            connection.rollback()

    def close(self) -> None:
        """Let go of all connections."""
        self._engine.dispose()


def open_sqlite(folder: Path) -> Database:
    """The file `adjudge.db` in a folder."""
    from adjudge.store.sqlite import open_engine, translated  # noqa: PLC0415  one of the two is needed

    return Database(str(folder), open_engine(folder / "adjudge.db"), translated, FolderTokens(folder))


def open_postgres(url: str) -> Database:
    """The database at a URL.

    Raises:
        InputError: it is no such URL, or its driver is not installed.
    """
    postgres = _postgres(url)
    engine, tokens = postgres.open_engine(url), postgres.SessionTokens(url)
    return Database(without_password(url), engine, postgres.translated, tokens)


def has_store(url: str) -> bool:
    """Whether the database at a URL holds a store already; nothing is written.

    Raises:
        InputError: as `open_postgres`, or the database refuses.
        OutsideError: it cannot be reached.
    """
    there: bool = _postgres(url).has_store(url)
    return there


def _postgres(url: str) -> ModuleType:
    if url.partition("://")[0] not in SCHEMES:
        raise InputError(
            f"{without_password(url)}: a store is a folder, such as .adjudge, or a PostgreSQL database, such as "
            "postgresql://USER@HOST/DATABASE"
        )
    try:
        from adjudge.store import postgres  # noqa: PLC0415  its driver is an extra
    except ImportError as error:
        raise InputError(
            f"{without_password(url)}: the driver for PostgreSQL cannot be loaded ({error}); install adjudge with its "
            "extra `postgres`: adjudge[postgres]"
        ) from error
    return postgres
