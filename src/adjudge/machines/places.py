"""What lies where inside, and which paths may be added."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from adjudge.errors import InputError

WORKSPACE = "/workspace"
HOME = "/home/evaluator"
TEMPORARY = "/tmp"  # noqa: S108  the place, not a file
SHARED_MEMORY = "/dev/shm"  # noqa: S108
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")

_RESERVED = (*SYSTEM, "/etc", "/proc", "/dev", "/sys", "/run", "/boot", WORKSPACE, HOME)


def check_place(at: str) -> str:
    """A path inside at which the workspace may also appear.

    Raises:
        InputError: it is not absolute and normal, or would cover what commands need.
    """
    if at == WORKSPACE:
        return at
    if not _is_plain(at):
        raise InputError(f"at: {at!r} must be an absolute path without '.', '..' or trailing slash")
    for taken in (*_RESERVED, TEMPORARY, SHARED_MEMORY):
        if _within(taken, at) or (_within(at, taken) and taken != TEMPORARY):
            raise InputError(f"at: the workspace cannot appear at {at!r}, it would cover or lie in {taken}")
    return at


def check_exposed(paths: Sequence[str], workspace: Path, at: str) -> tuple[str, ...]:
    """The paths of the host's toolchain that commands may read; those that they can read anyway are left out.

    Raises:
        InputError: one is not absolute, is missing, would cover what commands need, or overlaps the workspace.
    """
    for path in paths:
        if not _is_plain(path) or not os.path.exists(path):
            raise InputError(f"expose: {path!r} must be an existing absolute path without '.', '..' or trailing slash")
        real = os.path.realpath(path)
        if _within(real, str(workspace)) or _within(str(workspace), real):
            raise InputError(f"expose: {path!r} overlaps the workspace {workspace}, whose programs may be anyone's")
        for taken in (*_RESERVED, TEMPORARY, at):
            if path == "/" or _within(taken, path) or (_within(path, taken) and taken not in ("/usr", TEMPORARY)):
                raise InputError(f"expose: {path!r} cannot appear inside, it would cover or lie in {taken}")
    return tuple(path for path in dict.fromkeys(paths) if not _within(path, "/usr"))


def _is_plain(path: str) -> bool:
    return path.startswith("/") and os.path.normpath(path) == path and "\0" not in path and not path.startswith("//")


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
