"""The workspaces of runs: a cheap fingerprint, to say that one is no longer as it was judged, and which are known."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection, select

from adjudge.store import schema

MOST = 20_000
"""Names that are looked at. A larger tree is known by its first ones, which the fingerprint says with a `+`."""


def fingerprint(folder: str) -> str | None:
    """What names, sizes, modes, times and link targets below a folder come to; `None` if it is not there.

    No file is opened. Contents of `.git` are left out, because looking (`git status`) already writes there.
    """
    if not os.path.isdir(folder):
        return None
    digest, count = hashlib.sha256(), 0
    for line in _lines(Path(folder)):
        if count == MOST:
            return f"{count}+-{digest.hexdigest()[:32]}"
        digest.update(line)
        count += 1
    return f"{count}-{digest.hexdigest()[:32]}"


def fingerprint_here(folder: str) -> str | None:
    """As `fingerprint`, with a mark of this computer: for a store that several computers share."""
    found = fingerprint(folder)
    return None if found is None else f"{found}@{_here()}"


def changed(folder: str, then: str) -> bool | None:
    """Whether the folder looks different from what its fingerprint was; `None` if that is another computer's folder."""
    state, _, computer = then.partition("@")
    return None if computer not in ("", _here()) else fingerprint(folder) != state


def is_of_a_run(connection: Connection, folder: Path) -> bool:
    """Whether a run tells of a workspace whose path ends with this folder's name, by whatever way it was reached."""
    column = schema.runs.c.workspace
    query = select(schema.runs.c.id).where(column.endswith(f"/{folder.name}", autoescape=True)).limit(1)
    return connection.execute(query).first() is not None


def _here() -> str:
    try:
        identity = Path("/etc/machine-id").read_text("utf-8")
    except OSError:  # not every system has one
        identity = ""
    return hashlib.sha256(f"{identity}{platform.node()}".encode()).hexdigest()[:8]


def _lines(root: Path) -> Iterator[bytes]:
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        for item in _items(folder):
            yield os.fsencode(os.path.relpath(item.path, root)) + b"\0" + _state(item)
            if item.is_dir(follow_symlinks=False) and item.name != ".git":
                waiting.append(Path(item.path))


def _items(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as items:
            return sorted(items, key=lambda item: os.fsencode(item.name))
    except OSError:  # unreadable, or gone in the meantime: its name was counted
        return []


def _state(item: os.DirEntry[str]) -> bytes:
    try:
        state = item.stat(follow_symlinks=False)
        if item.is_dir(follow_symlinks=False):
            return b"directory"
        target = os.readlink(item.path) if item.is_symlink() else ""
    except OSError:
        return b"gone"
    return b"%o %d %d " % (state.st_mode, state.st_size, state.st_mtime_ns) + os.fsencode(target)
