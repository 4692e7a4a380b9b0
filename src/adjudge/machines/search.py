"""Searching the text files of an untrusted folder, line by line, with bounds on everything."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import regex

from adjudge.errors import InputError
from adjudge.machines.files import Workspace, printable
from adjudge.machines.walk import Walk
from adjudge.ports import Found, Match


class SearchLimits(msgspec.Struct, frozen=True):
    """How far a search goes.

    `names` that a walk meets, bytes of one file (`largest`) and of all (`bytes`), `matches` kept, `seconds` in all and
    for one line, and characters of a line that are `shown`.
    """

    names: int = 100_000
    largest: int = 8 << 20
    bytes: int = 256 << 20
    matches: int = 200
    seconds: float = 15.0
    line_seconds: float = 1.0
    shown: int = 500


LIMITS = SearchLimits()

Finder = Callable[[str], int]
"""Where in a line it stands what is looked for, -1 if nowhere."""


def search(workspace: Workspace, pattern: str, path: str, regular: bool, limits: SearchLimits = LIMITS) -> Found:
    """Search the text files at or below a path.

    A file counts as text if its first 8 KiB hold no NUL. `cut` means that a limit ended the search early: then no match
    does not mean that there is nothing.

    Raises:
        InputError: the path or the pattern cannot be used.
    """
    finder = _finder(pattern, regular, limits)
    walk = Walk(workspace, limits.names, limits.seconds)
    reading = _Reading(workspace, finder, walk, limits)
    for file in walk.below(path):
        reading.read(file)
    return Found(tuple(reading.matches), reading.total, reading.files, reading.skipped + walk.skipped, walk.cut)


def _finder(pattern: str, regular: bool, limits: SearchLimits) -> Finder:
    if not pattern or "\n" in pattern:
        raise InputError(f"pattern: must be a text within one line, got {pattern!r}")
    if not regular:
        return lambda line: line.find(pattern)
    try:
        compiled = regex.compile(pattern)
    except regex.error as error:
        raise InputError(f"pattern: {pattern!r} is not a regular expression: {error}") from error

    def find(line: str) -> int:
        try:
            match = compiled.search(line, timeout=limits.line_seconds)
        except TimeoutError:
            words = f"pattern: {pattern!r} took more than {limits.line_seconds:g} s on one line; a simpler one would do"
            raise InputError(words) from None
        return match.start() if match else -1

    return find


class _Reading:
    """What one search has found so far."""

    def __init__(self, workspace: Workspace, finder: Finder, walk: Walk, limits: SearchLimits) -> None:
        self._workspace, self._finder, self._walk, self._limits = workspace, finder, walk, limits
        self.matches: list[Match] = []
        self.total = self.files = self.skipped = 0
        self._bytes = 0

    def read(self, file: str) -> None:
        """Look through one file, if it is text."""
        try:
            part = self._workspace.read(file, 0, self._limits.largest)
        except InputError:
            self.skipped += 1
            return
        if part.size > len(part.data) or b"\0" in part.data[:8192]:
            self.skipped += 1
            return
        self._bytes += len(part.data)
        if self._bytes > self._limits.bytes:
            self._walk.cut = True
            return
        self.files += 1
        for number, line in enumerate(part.data.decode("utf-8", "replace").split("\n"), 1):
            if (at := self._finder(line)) >= 0:
                self._found(file, number, line, at)
            if not number % 1000 and self._walk.late():
                return

    def _found(self, file: str, number: int, line: str, at: int) -> None:
        self.total += 1
        if len(self.matches) < self._limits.matches:
            start = max(0, at - self._limits.shown // 4) if len(line) > self._limits.shown else 0
            self.matches.append(Match(printable(file), number, line[start : start + self._limits.shown].rstrip("\r")))
