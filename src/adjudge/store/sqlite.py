"""All that only SQLite knows: how it is opened, how it begins, and what its errors mean."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError

from adjudge.errors import OutsideError
from adjudge.store.faults import DiskFailedError, DiskFullError

WAIT = 30_000
"""Milliseconds for which a writer waits for another process's transaction."""

PAGE = 1024
"""Bytes of a new file's pages. Whole pages are written, and a judgment changes a few bytes in each of seven."""

LOG = 4 << 20
"""Bytes of the write-ahead log from which on it is moved into the file. Each move writes pages that are far apart, and the
file system writes four KiB for each; 4 MB are what SQLite does with pages of its own usual size."""

AGAIN = 0.01
"""Seconds until a new file is asked again to keep a write-ahead log."""


def open_engine(path: Path) -> Engine:
    """An engine for the file: write-ahead log, every commit synced, transactions begun by us.

    A connection with the execution option `writes` takes the write lock when it begins, so that what it reads before it
    writes cannot change in between; any other sees one state of the store from its first query to its last.
    """
    engine = create_engine(URL.create("sqlite", database=str(path)), connect_args={"timeout": WAIT / 1000})
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None
    connection.execute(f"PRAGMA page_size={PAGE}")
    mode = _journal_mode(connection)
    if mode != "wal":
        raise OutsideError(
            f"the store's file system cannot keep a write-ahead log (SQLite answered {mode!r}): "
            "keep the store on a local disk"
        )
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    (page,) = connection.execute("PRAGMA page_size").fetchone()
    connection.execute(f"PRAGMA wal_autocheckpoint={LOG // page}")


def _journal_mode(connection: sqlite3.Connection) -> str:
    """The mode of the file's journal, once it was asked to be a write-ahead log.

    SQLite does not wait for another process that is asking the same of a new file, so this does.
    """
    ends = time.monotonic() + WAIT / 1000
    while True:
        try:
            return str(connection.execute("PRAGMA journal_mode=WAL").fetchone()[0])
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > ends:
                raise
        time.sleep(AGAIN)


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN")


@contextmanager
def translated(place: object) -> Iterator[None]:
    """Turn SQLite's errors into those of adjudge.

    Raises:
        DiskFullError: there is no room.
        DiskFailedError: reading or writing failed, or the file is damaged; a commit must not be tried again.
        OutsideError: it is locked for too long, or cannot be opened.
    """
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        original = error.orig if isinstance(error, DBAPIError) else error
        name = getattr(original, "sqlite_errorname", None)
        if name is None or name.startswith(("SQLITE_CONSTRAINT", "SQLITE_MISUSE", "SQLITE_ERROR")):
            raise  # ours
        raise _meaning(name, str(original), place) from error


def _meaning(name: str, words: str, place: object) -> OutsideError:
    if name == "SQLITE_FULL":
        return DiskFullError(f"{place}: the disk is full; free some room and try again")
    if name.startswith("SQLITE_BUSY") or name == "SQLITE_LOCKED":
        return OutsideError(f"{place}: another process has held the store for more than {WAIT // 1000} s")
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        return OutsideError(f"{place}: cannot be opened for writing ({words}); a store must be able to write in its folder")
    if name in ("SQLITE_NOTADB", "SQLITE_CORRUPT") or name.startswith("SQLITE_CORRUPT"):
        return DiskFailedError(f"{place}: is not a store, or is damaged ({words})")
    return DiskFailedError(f"{place}: the disk failed ({name}: {words})")
