"""Failures of the disk or the database beneath a store, told apart by what may be done about them."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable
from typing import TypeVar

from adjudge.errors import OutsideError

Result = TypeVar("Result")


class DiskFullError(OutsideError):
    """There is no room; the same write may succeed once there is."""


class DiskFailedError(OutsideError):
    """The disk did not keep what it was given. What it holds is uncertain, so nothing more may be written."""


class LockHeldError(OutsideError):
    """Another process has the lock of this store's passes."""


class LockLostError(OutsideError):
    """Another process has taken over the lock that this one held; it must write nothing more."""


class DatabaseAwayError(OutsideError):
    """The database is not there, or went away. What was being saved may be there all the same: saving it again tells."""


PATIENCE = 30.0
"""Seconds for which a database is waited for that went away, long enough for it to be started again."""

AGAIN = 0.5
"""Seconds between two tries."""


def patiently(work: Callable[[], Result]) -> Result:
    """What the work gives, which is done again while the database is away: only for what may be done twice."""
    ends = time.monotonic() + PATIENCE
    while True:
        try:
            return work()
        except DatabaseAwayError:
            if time.monotonic() > ends:
                raise
        time.sleep(AGAIN)


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FAILED = (errno.EIO, errno.ENXIO, errno.ENODEV)


def of_file(error: OSError, path: object) -> OutsideError:
    """The error of adjudge that an error of the operating system means."""
    if error.errno in _NO_ROOM:
        return DiskFullError(f"{path}: cannot be written, there is no room ({error.strerror}); free some and try again")
    if error.errno in _FAILED:
        return DiskFailedError(f"{path}: the disk failed: {error.strerror}")
    return OutsideError(f"{path}: {error.strerror or error}")
