"""All that only PostgreSQL knows: how it is reached, how a transaction begins, and what its errors mean."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import IsolationLevel
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.exc import DBAPIError

from adjudge.errors import InputError, OutsideError
from adjudge.settings import without_password
from adjudge.store.faults import DatabaseAwayError, DiskFailedError, DiskFullError
from adjudge.store.tokens import Token

WAIT = 30
"""Seconds for which a writer waits for another one's transaction."""

LOCK = int.from_bytes(b"adjudge")
"""The advisory lock that everything which writes holds until its transaction ends."""

TOKEN = int.from_bytes(b"pass")
"""The first of the two numbers of a token's advisory lock; the second is the epoch."""

_WAYS: dict[str, Any] = {
    "application_name": "adjudge",
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
"""So that a server that vanished is noticed after a minute; a URL may say otherwise."""

_BEGIN_WRITING = (
    f"SELECT set_config('lock_timeout', '{WAIT}s', true), set_config('synchronous_commit', "
    "CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true), "
    f"pg_advisory_xact_lock({LOCK})"
)


def open_engine(url: str) -> Engine:
    """An engine for the database: every commit synced, transactions begun by us.

    A connection with the execution option `writes` waits for `LOCK` when it begins, so that what it reads before it writes
    cannot change in between; each of its statements sees what was committed before (with one snapshot for all, that would
    be from before the wait). Any other sees one state of the store from its first query to its last, and cannot write.

    Raises:
        InputError: this is no URL of a PostgreSQL database.
    """
    parameters = _parameters(url)
    engine = create_engine(
        "postgresql+psycopg://",
        creator=lambda: psycopg.connect(**parameters),
        pool_pre_ping=True,  # the server may have been restarted since a connection was last used
        use_native_hstore=False,
    )
    event.listen(engine, "connect", _check)
    event.listen(engine, "begin", _begin)
    event.listen(engine, "commit", _require_whole)
    return engine


def has_store(url: str) -> bool:
    """Whether the database holds a store already; nothing is written.

    Raises:
        InputError: as `open_engine`, or the database refuses.
        OutsideError: it cannot be reached.
    """
    engine = open_engine(url)
    try:
        with translated(without_password(url)), engine.connect() as connection:
            return inspect(connection).has_table("alembic_version")
    finally:
        engine.dispose()


def _parameters(url: str) -> dict[str, Any]:
    """What the driver is told. Statements are not prepared, as a pooler may give each transaction another connection."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.Error:  # its words may hold the password
        given = {"dbname": "@"}
    if any("@" in str(given.get(name, "")) for name in ("host", "hostaddr", "port", "dbname")):
        raise InputError(
            f"{without_password(url)}: is not the URL of a PostgreSQL database as libpq reads it; write "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE, in a password %40 for @, %2F for / and %25 for %"
        ) from None
    return {**_WAYS, **given, "client_encoding": "UTF8", "prepare_threshold": None}


def _check(connection: psycopg.Connection[Any], _record: object) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise InputError(
            f"the database {connection.info.dbname} keeps text as {encoding}, which has no room for every character: "
            "make one with `createdb --encoding=UTF8 --template=template0 NAME`"
        )


def _begin(connection: Connection) -> None:
    """The driver sends BEGIN before the first statement."""
    raw, writes = _raw(connection), connection.get_execution_options().get("writes")
    raw.isolation_level = IsolationLevel.READ_COMMITTED if writes else IsolationLevel.REPEATABLE_READ
    raw.read_only = None if writes else True  # None: as the server has it, which may refuse all writing
    if writes:
        connection.exec_driver_sql(_BEGIN_WRITING)


def _require_whole(connection: Connection) -> None:
    """A COMMIT after an error that was caught on the way would roll back, and the server would call that a success."""
    if _raw(connection).info.transaction_status == TransactionStatus.INERROR:
        raise RuntimeError("a transaction in which a statement failed cannot be committed")


def _raw(connection: Connection) -> psycopg.Connection[Any]:
    raw = connection.connection.driver_connection
    assert isinstance(raw, psycopg.Connection)
    return raw


# --- tokens


class SessionTokens:
    """Tokens as advisory locks, each of a session of its own; the server lets go of them when that ends."""

    def __init__(self, url: str) -> None:
        self._parameters, self._name = _parameters(url), without_password(url)

    def take(self, epoch: int) -> Token | None:
        """Lock the epoch's number."""
        try:
            session = psycopg.connect(**self._parameters, autocommit=True)
            row = session.execute("SELECT pg_try_advisory_lock(%s, %s)", (TOKEN, epoch)).fetchone()
        except psycopg.Error as error:
            raise OutsideError(f"{self._name}: the database failed: {' '.join(str(error).split())}") from error
        if row is not None and row[0]:
            return _Session(session)
        session.close()
        return None

    def now(self, connection: Connection) -> float:
        """Seconds by the server's clock."""
        return float(connection.scalar(text("SELECT extract(epoch FROM clock_timestamp())")) or 0.0)


class _Session:
    def __init__(self, session: psycopg.Connection[Any]) -> None:
        self._session = session

    def release(self) -> None:
        self._session.close()


# --- errors


@contextmanager
def translated(place: object) -> Iterator[None]:
    """Turn PostgreSQL's errors into those of adjudge.

    Raises:
        InputError: the database refuses: a wrong password, no such database, no right to write.
        DiskFullError: the server has no room.
        DiskFailedError: reading or writing failed there, or its files are damaged.
        DatabaseAwayError: it cannot be reached, or the connection broke; what was being committed may be there or not.
        OutsideError: it takes no writes, or is locked for too long.
    """
    try:
        yield
    except DBAPIError as error:
        if isinstance(error.orig, psycopg.Error) and (meaning := _meaning(error, error.orig, place)):
            raise meaning from error
        raise  # ours


def _meaning(error: DBAPIError, original: psycopg.Error, place: object) -> InputError | OutsideError | None:
    words = original.diag.message_primary or " ".join(str(original).split())
    if error.connection_invalidated:
        return _lost(place, words)
    if original.sqlstate is None:
        return _unreached(place, words) if isinstance(original, psycopg.OperationalError) else None
    return _refused(original.sqlstate, place, words) or _failed(original.sqlstate, place, words)


_REFUSALS = ("password", "does not exist", "pg_hba.conf", "not permitted to log in", "permission denied")
"""Words with which a server refuses somebody; a driver tells no code of an error that ends the greeting."""


def _unreached(place: object, words: str) -> InputError | OutsideError:
    if any(refusal in words for refusal in _REFUSALS):
        return InputError(f"{place}: the database refuses: {words}")
    return DatabaseAwayError(f"{place}: the database cannot be reached: {words}")


def _refused(state: str, place: object, words: str) -> InputError | None:
    if state in ("42501", "3F000"):
        return InputError(f"{place}: {words}; let this user own the database, or a schema that is on its search path")
    return InputError(f"{place}: the database refuses: {words}") if state.startswith(("28", "3D")) else None


def _failed(state: str, place: object, words: str) -> OutsideError | None:
    if state == "53100":
        return DiskFullError(f"{place}: the disk of the database is full ({words}); free some room and try again")
    if state in ("58030", "58P01", "XX001", "XX002"):
        return DiskFailedError(f"{place}: the disk of the database failed, or its files are damaged ({words})")
    if state == "25006":
        return OutsideError(f"{place}: the database takes no writes ({words}); name its primary server")
    if state == "55P03":
        return OutsideError(f"{place}: another process has held the store for more than {WAIT} s")
    return OutsideError(f"{place}: the database failed: {words}") if state.startswith(_OUTSIDE) else None


_OUTSIDE = ("08", "25P03", "25P04", "40", "53", "57", "58")
"""Classes of what no statement of ours is to blame for, by the manual's appendix of error codes."""


def _lost(place: object, words: str) -> OutsideError:
    return DatabaseAwayError(
        f"{place}: the connection to the database was lost ({words}). What was being saved may be there or not; saving it "
        "again is safe"
    )
