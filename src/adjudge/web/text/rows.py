"""Rows of a text: its lines, over-long ones in pieces, each with what it is in a diff."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

Role = Literal["", "add", "del", "hunk", "path"]

WIDEST = 1_200
"""Characters of one row; a longer line is several, so that a file without line ends can be folded too."""

BEGINS, ENDS = "*** Begin Patch", "*** End Patch"
"""Between these lines Codex writes a patch: its hunks begin with `@@` and count nothing. A name may stand before."""
SEARCH, MIDDLE, REPLACE = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"
"""Between these lines Aider writes what goes, and what comes."""

_HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")
_BEGINNING = re.compile(rf"(?:\w{{1,40}}: )?{re.escape(BEGINS)}\s*")
_SIGNS: dict[str, Role] = {"+": "add", "-": "del"}
_ASIDE: dict[str, Role] = {SEARCH: "del", MIDDLE: "add", REPLACE: ""}


class Row(msgspec.Struct, frozen=True):
    """A row from `start` to `end` of its text, line end left out; `whole` is false if the line goes on."""

    start: int
    end: int
    role: Role = ""
    whole: bool = True


def rows_of(text: str) -> list[Row]:
    """The rows of a text."""
    return list(_rows(text, "@@ -" in text or BEGINS in text or (SEARCH in text and REPLACE in text)))


def _rows(text: str, may_be_diff: bool) -> Iterator[Row]:
    hunks, at = Hunks(), 0
    for line in text.split("\n"):
        role = hunks.role(line) if may_be_diff else ""
        end = at + len(line)
        while end - at > WIDEST:
            yield Row(at, at + WIDEST, role, False)
            at += WIDEST
        yield Row(at, end, role)
        at = end + 1


class Hunks:
    """Tells lines of a diff from others: what a hunk's header counts, and what Codex's and Aider's marks enclose."""

    def __init__(self) -> None:
        self._old = self._new = 0
        self._enclosed = False
        self._aside: Role = ""

    @property
    def inside(self) -> bool:
        """Whether the next line is of a hunk."""
        return self._old > 0 or self._new > 0

    def role(self, line: str) -> Role:
        """What the next line is."""
        if _BEGINNING.fullmatch(line) or line.rstrip() == ENDS:
            self._enclosed = line.rstrip() != ENDS
            return ""
        if self._enclosed:
            return _role_in_patch(line)
        if line == SEARCH or (self._aside and line in _ASIDE):
            self._aside = _ASIDE[line]
            return "hunk"
        if self._aside:
            return self._aside
        if match := _HUNK.match(line):
            self._old, self._new = (int(count) if count else 1 for count in match.groups())
            return "hunk"
        if not self.inside:
            return ""
        first = line[:1]
        self._old -= first in ("-", " ", "")
        self._new -= first in ("+", " ", "")
        return _SIGNS.get(first, "")


def _role_in_patch(line: str) -> Role:
    if line.startswith("@@"):
        return "hunk"
    return "path" if line.startswith("*** ") else _SIGNS.get(line[:1], "")
