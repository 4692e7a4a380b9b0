"""Room on the disk: checked before work begins, and a reserve for landing what was already paid for."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from adjudge.errors import OutsideError
from adjudge.store.faults import of_file

RESERVE = 8 << 20
"""Bytes of the reserve, a file that is deleted when the disk is full: SQLite needs room even to tidy up."""

FLOOR = 16 << 20
"""Bytes that must be free before anything that could be done again later is written."""


class Room:
    """The room for a store in its folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._reserve = folder / "reserve"
        self._releasing = threading.Lock()

    def free(self) -> int:
        """Bytes that are free for this user."""
        try:
            state = os.statvfs(self._folder)
        except OSError as error:
            raise of_file(error, self._folder) from error
        return state.f_bavail * state.f_frsize

    def require(self, size: int = 0) -> None:
        """Do nothing if that many bytes fit.

        Raises:
            OutsideError: they do not, or hardly.
        """
        if (free := self.free()) < size + FLOOR:
            raise OutsideError(
                f"{self._folder}: only {free >> 20} MiB are free and {(size + FLOOR) >> 20} MiB are needed; free some room"
            )

    def set_aside(self) -> None:
        """Make the reserve if it is missing and there is room in plenty.

        Raises:
            OutsideError: nothing can be written in the folder.
        """
        if self._reserve.exists() or self.free() < FLOOR + 2 * RESERVE:
            return
        try:
            with self._reserve.open("wb") as file:
                self._fill(file.fileno())
        except OSError as error:
            raise of_file(error, self._reserve) from error

    def _fill(self, handle: int) -> None:
        try:
            os.posix_fallocate(handle, 0, RESERVE)
        except OSError:  # a limit on files or a quota: the store works without a reserve
            self._reserve.unlink(missing_ok=True)

    def release(self) -> bool:
        """Give the reserve up; false if there was none. If another thread is at it, its room is there afterwards too."""
        with self._releasing:  # a file's name is gone some time before its room is free
            try:
                self._reserve.unlink()
            except OSError:
                return False
            return True
