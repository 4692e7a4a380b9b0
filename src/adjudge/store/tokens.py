"""Signs of life: what a process holds, and what is given back the moment it dies, however it dies."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection

from adjudge.store.faults import of_file


class Token(Protocol):
    """Held by one process at a time, until it is released or its process ends."""

    def release(self) -> None:
        """Give it back. Releasing twice is releasing once."""


class Tokens(Protocol):
    """The tokens of one store, one for each epoch of its lock, and the clock by which its leases run."""

    def take(self, epoch: int) -> Token | None:
        """The token of this epoch, `None` if another process holds it.

        Raises:
            OutsideError: nothing can be told.
        """

    def now(self, connection: Connection) -> float:
        """Seconds on a clock that all who share this store read alike, and that nobody sets."""


class FolderTokens:
    """Tokens as locked files beside the database; the kernel lets go of them when their holder dies.

    Processes that share a SQLite store run on one machine, so its own clock since the start serves all of them.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def take(self, epoch: int) -> Token | None:
        """Lock the epoch's file."""
        path = self._folder / f"pass-{epoch}.lock"
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            taken = False
            try:
                taken = _is_locked(handle) and _is_at(path, handle)
            finally:
                if not taken:
                    os.close(handle)
        except OSError as error:
            raise of_file(error, path) from error
        return _LockedFile(path, handle) if taken else None

    def now(self, connection: Connection) -> float:  # noqa: ARG002  other stores ask their server
        """Seconds since the machine started."""
        return time.monotonic()


def _is_locked(handle: int) -> bool:
    """Whether the file could be locked."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(path: Path, handle: int) -> bool:
    """Whether the file is still there: its holder may have removed it in between, and another may have made a new one."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


class _LockedFile:
    def __init__(self, path: Path, handle: int) -> None:
        self._path, self._handle = path, handle

    def release(self) -> None:
        """Remove the file, then unlock it: whoever opened it before finds it gone."""
        if self._handle >= 0:
            self._path.unlink(missing_ok=True)
            os.close(self._handle)
            self._handle = -1
