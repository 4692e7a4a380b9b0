"""Failures of the disk beneath a store, told apart by what may be done about them."""

from __future__ import annotations

import errno

from adjudge.errors import OutsideError


class DiskFullError(OutsideError):
    """There is no room; the same write may succeed once there is."""


class DiskFailedError(OutsideError):
    """The disk did not keep what it was given. What it holds is uncertain, so nothing more may be written."""


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FAILED = (errno.EIO, errno.ENXIO, errno.ENODEV)


def of_file(error: OSError, path: object) -> OutsideError:
    """The error of adjudge that an error of the operating system means."""
    if error.errno in _NO_ROOM:
        return DiskFullError(f"{path}: cannot be written, there is no room ({error.strerror}); free some and try again")
    if error.errno in _FAILED:
        return DiskFailedError(f"{path}: the disk failed: {error.strerror}")
    return OutsideError(f"{path}: {error.strerror or error}")
