"""What lies where inside, and which paths may be added."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from adjudge.errors import InputError

WORKSPACE = "/workspace"
HOME = "/home/evaluator"
GRADER = "/grader"
AGENT_HOME = "/home/agent"
OWN_HOME = "/mnt/home"
"""Where the evaluator's commands have their home on a machine whose `/home` was an agent's."""
TEMPORARY = "/tmp"  # noqa: S108  the place, not a file
SHARED_MEMORY = "/dev/shm"  # noqa: S108
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")

_RESERVED = (*SYSTEM, "/etc", "/proc", "/dev", "/sys", "/run", "/boot", WORKSPACE)


def check_place(at: str, homes: Sequence[str] = (HOME,)) -> str:
    """A path inside at which the workspace may also appear.

    Raises:
        InputError: it is not absolute and normal, or would cover what commands need.
    """
    if at == WORKSPACE:
        return at
    if not _is_plain(at):
        raise InputError(f"at: {at!r} must be an absolute path without '.', '..' or trailing slash")
    for taken in (*_RESERVED, *homes, TEMPORARY, SHARED_MEMORY):
        if _within(taken, at) or (_within(at, taken) and taken != TEMPORARY):
            raise InputError(f"at: the workspace cannot appear at {at!r}, it would cover or lie in {taken}")
    return at


def check_exposed(paths: Sequence[str], workspace: Path | None, at: str, homes: Sequence[str] = (HOME,)) -> tuple[str, ...]:
    """The paths of the host's toolchain that commands may read; those that they can read anyway are left out.

    Raises:
        InputError: one is not absolute, is missing, would cover what commands need, or overlaps the workspace.
    """
    for path in paths:
        if not _is_plain(path) or not os.path.exists(path):
            raise InputError(f"expose: {path!r} must be an existing absolute path without '.', '..' or trailing slash")
        _check_apart("expose", path, workspace)
        _check_free("expose", path, (*_RESERVED, *homes, at), ("/usr",))
    return tuple(path for path in dict.fromkeys(paths) if not _within(path, "/usr"))


def check_placed(
    placed: Mapping[str, Path], workspace: Path, exposed: Sequence[str], at: str, homes: Sequence[str] = (HOME,)
) -> dict[str, Path]:
    """Paths of the host that commands may read at other paths, by these paths.

    Raises:
        InputError: one is not absolute, is missing, would cover what commands need, or overlaps the workspace.
    """
    for inside, path in placed.items():
        if not _is_plain(inside):
            raise InputError(f"placed: {inside!r} must be an absolute path without '.', '..' or trailing slash")
        if not path.exists():
            raise InputError(f"placed: {path} is not there, so that it cannot appear at {inside}")
        _check_apart("placed", str(path), workspace)
        _check_free(
            "placed", inside, (*_RESERVED, *homes, at, *exposed, *(other for other in placed if other != inside)), ()
        )
    return {inside: Path(os.path.realpath(path)) for inside, path in placed.items()}


def _check_apart(name: str, path: str, workspace: Path | None) -> None:
    real = os.path.realpath(path)
    if workspace and (_within(real, str(workspace)) or _within(str(workspace), real)):
        raise InputError(f"{name}: {path!r} overlaps the workspace {workspace}, whose programs may be anyone's")


def _check_free(name: str, path: str, taken: Sequence[str], may_lie_in: Sequence[str]) -> None:
    for place in (*taken, TEMPORARY):
        if path == "/" or _within(place, path) or (_within(path, place) and place not in (*may_lie_in, TEMPORARY)):
            raise InputError(f"{name}: {path!r} cannot appear inside, it would cover or lie in {place}")


def _is_plain(path: str) -> bool:
    return path.startswith("/") and os.path.normpath(path) == path and "\0" not in path and not path.startswith("//")


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
