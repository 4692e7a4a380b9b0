"""Lines of adjudge's own about what is stored, in which the words of others stand in marks that they cannot close."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from adjudge.asking.values import Look
from adjudge.record import dollars
from adjudge.untrusted import one_line

PAGE = 12_000
"""Characters of one look that are shown at once."""

AT_ONCE = 200
"""Rows that are fetched for one page."""

LONGEST_NAME = 80
LONGEST_WORDS = 240

Line = tuple[tuple[str, ...], str]
"""A line, and before it what may be cited for it: a run, a judgment, a verdict (`j-…/c1`), or nothing."""


def theirs(words: str | None, most: int = LONGEST_NAME) -> str:
    """Words of others in one line, in marks that they cannot close; `not known` without any."""
    if words is None or not words.strip():
        return "not known"
    return f"“{one_line(words, most).replace('“', '«').replace('”', '»')}”"


def own(text: str) -> str:
    """The text without the words of others, of which the marks stay; a quote may begin or end within them."""
    return _OPEN.sub("“", _CLOSED.sub("”", _WORDS.sub("“”", text)))


_WORDS = re.compile(r"“[^“”]*”")
_CLOSED = re.compile(r"\A[^“”]*”")
_OPEN = re.compile(r"“(?!”)[^“”]*\Z")


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number of things: `1 run`, `2 runs`."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def money(cost: float | None) -> str:
    """A cost, or that it is not known."""
    return "cost not known" if cost is None else f"cost {dollars(cost)}"


def joined(*parts: str) -> str:
    """The parts of a line that are not empty."""
    return " · ".join(part for part in parts if part)


def fitting(lines: Iterable[Line], most: int = PAGE) -> Iterator[Line]:
    """The lines that fit on a page; the first one always does, cut if need be."""
    left = most
    for exhibits, line in lines:
        if left < most and len(line) >= left:
            return
        yield exhibits, line[:most]
        left -= len(line) + 1


def page(lines: Iterable[Line], total: int, offset: int, what: str, *more: str) -> Look:
    """A look that shows as many of these lines as fit; they are those from `offset` on of `total`."""
    shown, text, shows = gathered(lines)
    return look((*_extent(shown, total, offset, what), *more), text, shows, found=total)


def gathered(lines: Iterable[Line]) -> tuple[int, str, dict[str, str]]:
    """How many of these lines fit on a page, those lines, and what may be cited for each of them."""
    kept = list(fitting(lines))
    shows: dict[str, str] = {}
    for exhibits, line in kept:
        for exhibit in exhibits:
            shows[exhibit] = f"{shows[exhibit]}\n{line}" if exhibit in shows else line
    return len(kept), "\n".join(line for _, line in kept), shows


def part(lines: Sequence[Line], offset: int, what: str, *more: str) -> Look:
    """As `page`, of lines that are all there."""
    return page(lines[offset:], len(lines), offset, what, *more)


def _extent(shown: int, total: int, offset: int, what: str) -> Iterator[str]:
    yield f"{what}: {total}"
    if (offset, shown) != (0, total):
        yield f"shown: {offset + 1} to {offset + shown}" if shown else "shown: none"
    if shown and offset + shown < total:
        yield f"to go on: offset {offset + shown}"


def look(facts: Iterable[str], text: str = "", shows: dict[str, str] | None = None, found: int | None = None) -> Look:
    """A look of which it is not yet known which one it is and what was asked."""
    return Look("", "", "store", {}, tuple(fact for fact in facts if fact), text, shows or {}, found)
