"""A patch as a page shows it: files, hunks and lines with their numbers."""

from __future__ import annotations

import re

import msgspec

from adjudge.untrusted import shown
from adjudge.web.text.rows import Hunks

LINES = 3_000
"""Lines of a patch that are shown."""
WIDTH = 2_000
"""Characters of a line that are shown."""

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@")


class PatchLine(msgspec.Struct, frozen=True):
    """A line of a patch with its numbers in the old and the new file; `role` is `add`, `del`, `hunk` or nothing."""

    role: str
    old: str
    new: str
    text: str


class PatchFile(msgspec.Struct, frozen=True):
    """A file of a patch and how many lines come and go."""

    path: str
    added: int
    removed: int
    lines: tuple[PatchLine, ...]


class PatchView(msgspec.Struct, frozen=True):
    """A patch; `left_out` are lines that are not shown."""

    files: tuple[PatchFile, ...]
    added: int
    removed: int
    left_out: int


def patch_of(patch: str | None) -> PatchView | None:
    """A unified diff taken apart, `None` without one."""
    if not patch or not patch.strip():
        return None
    lines = shown(patch).split("\n")
    files: list[tuple[str, list[PatchLine]]] = []
    reader = _Reader()
    for line in lines[:LINES]:
        if not reader.inside and (path := _path(line, begun=bool(files) and not files[-1][1])):
            files.append((path, []))
        elif (read := reader.read(line)) is not None:
            if not files:
                files.append(("", []))
            files[-1][1].append(read)
    made = tuple(_file(path, read) for path, read in files)
    return PatchView(made, sum(f.added for f in made), sum(f.removed for f in made), max(0, len(lines) - LINES))


def _path(line: str, begun: bool) -> str | None:
    """The path in a file's head, unless its file has begun already."""
    if line.startswith("diff --git "):
        return line.rpartition(" b/")[2] or line
    if line.startswith("+++ ") and not begun:
        return line[4:].removeprefix("b/").partition("\t")[0]
    return None


def _file(path: str, lines: list[PatchLine]) -> PatchFile:
    roles = [line.role for line in lines]
    return PatchFile(path, roles.count("add"), roles.count("del"), tuple(lines))


class _Reader:
    """Numbers the lines of hunks."""

    def __init__(self) -> None:
        self._hunks = Hunks()
        self._old = self._new = 0

    @property
    def inside(self) -> bool:
        """Whether the next line is of a hunk."""
        return self._hunks.inside

    def read(self, line: str) -> PatchLine | None:
        """The next line, `None` if it is no line of a hunk."""
        was_inside = self._hunks.inside
        role = self._hunks.role(line)
        text = line[:WIDTH] + ("…" if len(line) > WIDTH else "")
        if match := _HUNK.match(line) if role == "hunk" else None:
            self._old, self._new = int(match[1]), int(match[2])
            return PatchLine(role, "", "", text)
        if not was_inside:
            return None
        old, new = ("" if role == "add" else str(self._old)), ("" if role == "del" else str(self._new))
        self._old += role != "add"
        self._new += role != "del"
        return PatchLine(role, old, new, text)
