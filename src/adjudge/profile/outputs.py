"""What the output of a reading tool tells of the lines that it shows."""

from __future__ import annotations

import re

import msgspec

from adjudge.profile.work import Span

ENDS = 300
"""Characters at either end of an output in which remarks on its length are looked for."""
TRIED = 4
"""Lines at either end that are tried for a number."""

_NUMBERED = re.compile(r"[ \t]{0,12}(\d{1,7})(?:\t|→|\||:)")
_CUT = ("truncated", "clipped", "<NOTE>", "more lines", "howing lines", "omitted", "too large")
_MISSING = ("no such file", "not found", "does not exist", "doesn't exist", "cannot open", "enoent", "is a directory")


class Shown(msgspec.Struct, frozen=True, gc=False):
    """The numbers of the lines that an output shows, if it numbers them; whether it says that it is not all, or nothing."""

    lines: Span | None
    cut: bool
    missing: bool


def shown_by(text: str) -> Shown:
    """What an output of any length tells; only its ends are looked at."""
    head, tail = text[:ENDS], text[-ENDS:]
    ends = f"{head}\n{tail}"
    cut = any(mark in ends for mark in _CUT) or "tokens truncated" in text
    missing = len(text) <= ENDS and any(mark in text.lower() for mark in _MISSING)
    return Shown(_numbers(head, tail), cut, missing)


def _numbers(head: str, tail: str) -> Span | None:
    first = next((found for line in head.split("\n", TRIED)[:TRIED] if (found := _NUMBERED.match(line))), None)
    if first is None:
        return None
    lines = reversed(tail.rsplit("\n", TRIED)[-TRIED:])
    last = next((found for line in lines if (found := _NUMBERED.match(line))), first)
    return (int(first[1]), int(last[1])) if int(first[1]) <= int(last[1]) else None
