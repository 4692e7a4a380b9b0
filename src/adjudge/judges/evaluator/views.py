"""How what was read reaches the model: in pages, in one line where a line is meant, in an envelope that nothing closes."""

from __future__ import annotations

import re

from adjudge import untrusted
from adjudge.judges.evaluator import prompt

PAGE = 12_000
"""Characters of one look that are shown at once."""

_MASKED = re.compile(r"<secret:[0-9a-f]{6}>")


class Envelope:
    """Puts text of others between two lines with a token that was drawn by lot for one judgment.

    `masked` are the credentials that it kept from the model, as what stands in their place.
    """

    def __init__(self, nonce: str, mask: bool = True) -> None:
        self._nonce, self._mask = nonce, mask
        self.masked: set[str] = set()

    @property
    def introduction(self) -> str:
        """What the model has to know to tell the lines apart."""
        return prompt.MARKERS.format(nonce=self._nonce)

    def around(self, text: str, most: int = PAGE) -> str:
        """The text as it may be seen, between the lines; what is longer than `most` is cut, and outside it says so."""
        seen = untrusted.shown(text, self._mask)
        if len(seen) <= most:
            return self._enclosed(seen)
        return f"{self._enclosed(seen[:most])}\n(cut: {most} of {len(seen)} characters are shown)"

    def head_and_tail(self, text: str, most: int = PAGE) -> str:
        """As `around`, but of a longer text both ends, since the end of an output often says how it went."""
        seen = untrusted.shown(text, self._mask)
        if len(seen) <= most:
            return self._enclosed(seen)
        head, tail = most * 2 // 3, most // 3
        left_out = f"(cut: {len(seen) - head - tail} characters are left out here; narrow the command down to see them)"
        return f"{self._enclosed(seen[:head])}\n{left_out}\n{self._enclosed(seen[-tail:])}"

    def _enclosed(self, seen: str) -> str:
        self.masked.update(_MASKED.findall(seen))
        return f"<<{self._nonce}\n{seen.replace(self._nonce, '<token>')}\n{self._nonce}>>"


def one_line(text: str, most: int) -> str:
    """The beginning of a text in one line, white space folded as it is for quotes."""
    line, cut = beginning(text, most)
    return f"{line}…" if cut else line


def beginning(text: str, most: int) -> tuple[str, bool]:
    """As `one_line`, without a mark where it was cut, and whether it was."""
    line = " ".join(text[: most * 4].split())
    return line[:most], len(line) > most or len(text) > most * 4


def count_lines(text: str) -> int:
    """How many lines a text has; one that does not end with a line break is a line too."""
    return text.count("\n") + (text[-1:] not in ("", "\n"))


def page_end(text: str, start: int, size: int = PAGE) -> int:
    """Where a page that begins at `start` ends: after a line if one ends in its last quarter."""
    end = start + size
    if end >= len(text):
        return len(text)
    return text.rfind("\n", end - size // 4, end) + 1 or end


def line_start(text: str, position: int, most: int = PAGE // 4) -> int:
    """The beginning of the line that holds a position, if it is not far: a credential cut in two is not recognised."""
    position = min(position, len(text))
    begin = max(0, position - most)
    return text.rfind("\n", begin, position) + 1 or (position if begin else 0)
