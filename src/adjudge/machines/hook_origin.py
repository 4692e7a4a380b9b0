"""Who a hook is from: the task's folder as it was before the agent, compared with the folder as the agent left it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from adjudge.errors import InputError
from adjudge.machines.files import LARGEST_PART, Workspace
from adjudge.ports import Hook

LARGEST = 64 << 20
"""Bytes of a file that are compared."""


def compare(hooks: Sequence[Hook], folder: Path, original: Path | None) -> tuple[Hook, ...]:
    """The hooks of a folder, each with who it is from, as far as the original tells; without one nobody knows.

    A hook is the task's if its file holds the same there, may be run or not as there, and is a link to the same place if
    it is one. What a file that is the task's uses may still be the agent's.

    Raises:
        InputError: one of the folders cannot be read.
    """
    if original is None:
        return tuple(hooks)
    now = Workspace(folder)
    try:
        before = Workspace(original)
        try:
            return tuple(msgspec.structs.replace(hook, by=_origin(hook.path, now, before)) for hook in hooks)
        finally:
            before.close()
    finally:
        now.close()


def _origin(path: str, now: Workspace, before: Workspace) -> Literal["agent", "task"] | None:
    if now.target(path) != before.target(path):
        return "agent"
    try:
        left = now.facts(path)
    except InputError:
        return None  # a link to a place that only commands see, or a name that is no text
    try:
        given = before.facts(path)
    except InputError:
        return "agent"
    if (left.st_size, left.st_mode & 0o111) != (given.st_size, given.st_mode & 0o111):
        return "agent"
    if left.st_size > LARGEST:
        return None
    return "task" if _same(path, now, before, left.st_size) else "agent"


def _same(path: str, now: Workspace, before: Workspace, size: int) -> bool:
    """Whether two files of this size hold the same; one that cannot be read does not."""
    try:
        return all(
            now.read(path, offset, LARGEST_PART).data == before.read(path, offset, LARGEST_PART).data
            for offset in range(0, size, LARGEST_PART)
        )
    except InputError:
        return False
