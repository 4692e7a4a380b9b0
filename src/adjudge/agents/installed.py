"""Where an agent's program is on the host, and what of the host must be readable inside for it to run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from adjudge.agents.connection_file import Connection
from adjudge.agents.surroundings import Surroundings, surroundings
from adjudge.errors import InputError

LONGEST = 20.0
"""Seconds that a program may take to tell its version."""

SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")

_MOST_SAID = 64 << 10
_VERSION = re.compile(r"\d+(?:\.\d+)+(?:[-+][\w.+-]*\w)?")
_SHIMS = frozenset({"volta-shim", "mise", "asdf"})


class Installation(msgspec.Struct, frozen=True, omit_defaults=True):
    """A program as it is installed on the host, to be read at the same paths inside.

    `program` is its absolute path, or one relative to the workspace for a command that the task brings along. `expose` are
    the host's files and folders that must be readable, beyond the system's own; `path` are folders to put first in PATH.
    """

    program: str
    version: str | None = None
    expose: tuple[str, ...] = ()
    path: tuple[str, ...] = ()


def find_installation(connection: Connection, environment: Mapping[str, str] | None = None) -> Installation:
    """The installation of a connection's program, found by the PATH of this environment.

    The program is started once, with an empty home and without keys, to tell its version.

    Raises:
        InputError: it is not installed (the message says how it is), or nothing narrow enough can be shown to an agent.
    """
    located = _located(connection, os.environ if environment is None else environment)
    if located is None:
        return Installation(connection.program)
    program, needed = located
    return Installation(str(program), _version(program, connection, needed), needed.expose, needed.path)


def require_installed(connection: Connection, environment: Mapping[str, str] | None = None) -> None:
    """Do nothing if `find_installation` would find one, without starting the program. Raises InputError as that does."""
    _located(connection, os.environ if environment is None else environment)


def _located(connection: Connection, environment: Mapping[str, str]) -> tuple[Path, Surroundings] | None:
    """The program and what it needs, `None` for one that the task brings along."""
    if "/" in connection.program and not connection.program.startswith("/"):
        return None
    search = environment.get("PATH", "")
    program = Path(os.path.realpath(_found(connection, search)))
    home = Path(os.path.realpath(environment.get("HOME") or Path.home()))
    needed = surroundings(program, home, lambda name: find_program(name, search))
    if needed.refused:
        raise InputError(f"agent {connection.name}: {program}: {needed.refused}{_advice(connection)}")
    return program, needed


def is_there(connection: Connection, environment: Mapping[str, str]) -> bool:
    """Whether anything of the program's name is in PATH."""
    return bool(_all(connection.program, environment.get("PATH", "")))


def _found(connection: Connection, search: str) -> Path:
    if connection.program.startswith("/"):
        if not os.access(connection.program, os.X_OK) or os.path.isdir(connection.program):
            raise InputError(f"agent {connection.name}: {connection.program} must be a program{_advice(connection)}")
        return Path(connection.program)
    if found := find_program(connection.program, search):
        return found
    if shims := _all(connection.program, search):
        raise InputError(
            f"agent {connection.name}: {shims[0]} is a version manager's stand-in, which does not work inside; put the "
            "folder of the program itself first in PATH"
        )
    raise InputError(f"agent {connection.name}: there is no {connection.program!r} in PATH{_advice(connection)}")


def _advice(connection: Connection) -> str:
    return f"; install it: {connection.about}" if connection.about else ""


def find_program(name: str, search: str) -> Path | None:
    """The first program of this name in a PATH, the stand-ins of version managers passed over."""
    return next((path for path in _all(name, search) if not _is_shim(path)), None)


def _all(name: str, search: str) -> list[Path]:
    places = (Path(folder, name) for folder in search.split(os.pathsep) if folder.startswith("/"))
    return [place for place in places if place.is_file() and os.access(place, os.X_OK)]


def _is_shim(path: Path) -> bool:
    real = Path(os.path.realpath(path))
    return "shims" in (path.parent.name, real.parent.name) or real.name in _SHIMS


# --- the version


def _version(program: Path, connection: Connection, needed: Surroundings) -> str | None:
    """The first number of a version that the program prints, `None` if it tells none in time."""
    if not connection.version:
        return None
    path = os.pathsep.join((*needed.path, *SYSTEM_PATH))
    with tempfile.TemporaryDirectory(prefix="home-", ignore_cleanup_errors=True) as home, tempfile.TemporaryFile() as said:
        environment = {"HOME": home, "PATH": path, "LANG": "C.UTF-8", "TERM": "dumb", "TMPDIR": home}
        try:
            process = subprocess.Popen(  # noqa: S603  the user's own program
                [program, *connection.version],
                cwd=home,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            return None
        _wait(process)
        said.seek(0)
        found = _VERSION.search(said.read(_MOST_SAID).decode("utf-8", "replace"))
    return found[0][:100] if found else None


def _wait(process: subprocess.Popen[bytes]) -> None:
    """Wait for the end of a process, or bring it about, with all that it started."""
    try:
        with suppress(subprocess.TimeoutExpired):
            process.wait(LONGEST)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
