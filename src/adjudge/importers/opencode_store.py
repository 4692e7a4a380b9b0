"""OpenCode's SQLite store (`opencode.db`, since 2026), opened so that nothing of it is changed.

Only the tables session, message and part are read. With a write-ahead log beside it, the store is copied first: SQLite
cannot read such a log without writing, and without the log the newest sessions are missing.
"""

from __future__ import annotations

import itertools
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from adjudge.errors import InputError
from adjudge.importers.documents import read_item
from adjudge.importers.documents_values import text
from adjudge.importers.opencode_session import Part, Session, run_of
from adjudge.run import Run

STORE = b"SQLite format 3\0"

_TABLES = frozenset({"session", "message", "part"})


class _Row(msgspec.Struct):
    """A session: its id, the one that started it if it is a sub-agent's, its title, and the version that wrote it."""

    id: str
    parent: str | None
    title: str
    version: str


def holds_sessions(path: Path) -> bool:
    """Whether this SQLite file has OpenCode's tables."""
    try:
        with _store(path) as store:
            return _has_tables(store)
    except InputError:
        return False


def stored_runs(path: Path) -> Iterator[Run]:
    """A run for each session that no other session started, oldest first; the sessions it started are its children.

    Raises:
        InputError: the store is damaged, or is not OpenCode's.
    """
    with _store(path) as store:
        if not _has_tables(store):
            raise InputError(f"{path}: has no tables session, message and part, as a store of OpenCode has")
        sessions = [
            _Row(text(key), parent, text(title), text(version)) for key, parent, title, version in store.execute(_SESSIONS)
        ]
        known = {session.id for session in sessions}
        for top in sessions:
            if top.parent not in known:
                yield _stored_run(store, path, top, _descendants(top, sessions))


_SESSIONS = "select id, parent_id, title, version from session order by time_created, id"
_MESSAGES = """
select message.id, message.data, part.id, part.data from message left join part on part.message_id = message.id
where message.session_id = ? order by message.time_created, message.id, part.id
"""


@contextmanager
def _store(path: Path) -> Iterator[sqlite3.Connection]:
    with tempfile.TemporaryDirectory(prefix="adjudge-") as folder:
        log = path.with_name(path.name + "-wal")
        try:
            if log.exists() and log.stat().st_size:
                copy = Path(folder) / "store.db"
                shutil.copyfile(path, copy)
                shutil.copyfile(log, copy.with_name("store.db-wal"))
                address = f"file:{quote(str(copy))}"
            else:
                address = f"file:{quote(str(path.resolve()))}?immutable=1"
            with closing(sqlite3.connect(address, uri=True)) as store:
                for setting in ("query_only=on", "trusted_schema=off", "cell_size_check=on"):
                    store.execute(f"pragma {setting}")
                store.text_factory = _decoded
                yield store
        except (sqlite3.Error, OSError) as error:
            raise InputError(f"{path}: cannot be read as a SQLite store: {error}") from error


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _has_tables(store: sqlite3.Connection) -> bool:
    """Whether the three are there as plain tables: a view or a column that is computed could go on for ever."""
    names = store.execute("select name from sqlite_master where type = 'table'")
    return {name for (name,) in names} >= _TABLES and not any(_computes(store, name) for name in _TABLES)


def _computes(store: sqlite3.Connection, table: str) -> bool:
    """Whether a column of the table is not what was written, but an expression."""
    return bool(store.execute("select 1 from pragma_table_xinfo(?) where hidden", (table,)).fetchone())


def _descendants(top: _Row, sessions: list[_Row]) -> list[_Row]:
    """The sessions that this one started, and those that they started, in the order of their beginning."""
    below, found = {top.id}, []
    for session in sessions:
        if session.parent in below and session.id not in below:
            below.add(session.id)
            found.append(session)
    return found


def _stored_run(store: sqlite3.Connection, path: Path, top: _Row, below: list[_Row]) -> Run:
    session = _session(store, path, top)
    for number, row in enumerate(below, 1):
        session.builder.children.append(_session(store, path, row, f"s{number}.").finish())
    return run_of(session, path, top.version)


def _session(store: sqlite3.Connection, path: Path, row: _Row, prefix: str = "") -> Session:
    session = Session("opencode", prefix, row.title or None)
    found = store.execute(_MESSAGES, (row.id,))
    for _, rows in itertools.groupby(found, key=lambda found: found[0]):
        _add(session, path.name, list(rows))
    return session


def _add(session: Session, name: str, rows: list[tuple[Any, Any, Any, Any]]) -> None:
    key, info, _, _ = rows[0]
    place = f"{name}:message {key}"
    message = read_item(_raw(info), place, session.builder.unparsed)
    parts: list[Part] = []
    for _, _, identifier, data in rows:
        where = f"{name}:part {identifier}"
        if identifier is not None and (part := read_item(_raw(data), where, session.builder.unparsed)):
            parts.append((where, part))
    session.add({**(message or {}), "id": text(key)}, parts)


def _raw(data: Any) -> msgspec.Raw:
    return msgspec.Raw(data if isinstance(data, bytes | str) else b"")
