"""A PostgreSQL server of the tests' own: made with Debian's programs, on a socket in a temporary folder, thrown away."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from psycopg import sql

OWNER = "adjudge"
WATCHED = 'postgres=$1; shift; "$postgres" "$@" >>log 2>&1 & read -r _; kill -INT $! 2>/dev/null; wait $!'
"""A server that is stopped when whoever holds the other end of this shell's input ends, in whatever way."""

ACCESS = "local all secretive scram-sha-256\nlocal all all trust\n"


class Server:
    """A cluster in a folder, and the server on it."""

    def __init__(self, folder: Path, programs: Path, user: str | None) -> None:
        self.folder = folder
        self._programs, self._user = programs, user
        self._shell: subprocess.Popen[bytes] | None = None
        self._made = 0

    def make(self) -> None:
        """Make the cluster. Commits are synced as PostgreSQL does it by itself; only the making of the cluster is not."""
        options = ["-D", "data", "-U", OWNER, "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"]
        command = [str(self._programs / "initdb"), *options]
        done = subprocess.run(command, cwd=self.folder, user=self._user, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        (self.folder / "data" / "pg_hba.conf").write_text(ACCESS)

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        options = ("listen_addresses=", f"unix_socket_directories={self.folder}", "shared_buffers=16MB", "jit=off")
        arguments = ["-D", "data", *(word for option in options for word in ("-c", option))]
        command = ["sh", "-c", WATCHED, "sh", str(self._programs / "postgres"), *arguments]
        self._shell = subprocess.Popen(command, cwd=self.folder, user=self._user, stdin=subprocess.PIPE)
        for _ in range(600):
            try:
                psycopg.connect(self.url("postgres")).close()
            except psycopg.OperationalError:
                time.sleep(0.05)
            else:
                return
        raise AssertionError((self.folder / "log").read_text())

    def stop(self) -> None:
        """Have it end in order, which breaks every connection."""
        assert self._shell is not None
        self._shell.communicate(b"\n", timeout=60)

    def crash(self) -> None:
        """Have it end at once, without any tidying up: the next start recovers from the log, as after a power failure."""
        pid = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGQUIT)
        self.stop()

    def url(self, database: str, user: str = OWNER, password: str | None = None) -> str:
        """The URL of a database here."""
        secret = "" if password is None else f":{quote(password, safe='')}"
        return f"postgresql://{user}{secret}@/{database}?host={quote(str(self.folder), safe='')}"

    def create(self, encoding: str = "UTF8") -> str:
        """The name of a new database."""
        self._made += 1
        name = f"store{self._made}"
        made = sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING {}")
        self.run(made.format(sql.Identifier(name), sql.Literal(encoding)))
        return name

    def drop(self, name: str) -> None:
        """Drop a database, with every connection to it."""
        self.run(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def clear(self, name: str) -> None:
        """Empty every table of a store, which takes a tenth of the time of a new database."""
        kept = "('alembic_version', 'stamps')"
        tables = f"SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN {kept}"
        names = [sql.Identifier(row[0]) for row in self.run(tables, database=name)]
        self.run(sql.SQL("TRUNCATE {}").format(sql.SQL(", ").join(names)), database=name)

    def run(self, statement: str | sql.Composed, *values: object, database: str = "postgres") -> list[Any]:
        """What a statement gives, in a transaction of its own; `?` stands for a value."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            query = statement.replace("?", "%s" if values else "?").encode() if isinstance(statement, str) else statement
            cursor = connection.execute(query, values or None)
            return cursor.fetchall() if cursor.description else []


def programs() -> Path | None:
    """The folder of the newest server's programs: Debian keeps them off the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    other = shutil.which("initdb")
    return found[-1].parent if found else Path(other).parent if other else None


@contextmanager
def started() -> Iterator[Server]:
    """A server for as long as it is needed. As root it runs as the user `postgres`, since it refuses to be root."""
    where, user = programs(), "postgres" if os.geteuid() == 0 else None
    if where is None:
        pytest.skip("PostgreSQL's server is not installed; on Debian: apt-get install postgresql")
    if user is not None and user not in {each.pw_name for each in pwd.getpwall()}:
        pytest.skip("PostgreSQL's server refuses to run as root, and there is no user postgres")
    folder = Path(tempfile.mkdtemp(prefix="adjudge-pg-"))  # a socket's path must be short
    if user is not None:
        shutil.chown(folder, user)
    server = Server(folder, where, user)
    try:
        server.make()
        server.start()
        yield server
        server.crash()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
