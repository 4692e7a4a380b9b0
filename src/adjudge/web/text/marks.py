"""Quotes within a text: where each stands, so that it can be marked there."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from adjudge.untrusted import shown


class Mark(msgspec.Struct, frozen=True):
    """A quoted passage: the quote, the anchor that its citation leads to, and whose citation it is.

    `back` is the anchor of the verdict's or score's card, `label` its name, `sign` what was decided there: `pass`, `fail`,
    `warn` or `none`. With `holds` false the quote was not found there, and the mark only leads back.
    """

    anchor: str
    quote: str
    back: str
    label: str
    sign: str
    holds: bool = True


class Span(msgspec.Struct, frozen=True):
    """A stretch of a text that is marked, with the anchors of all quotes that begin in it."""

    start: int
    end: int
    anchors: tuple[str, ...]


def spans_of(text: str, marks: Sequence[Mark]) -> tuple[tuple[Span, ...], tuple[str, ...]]:
    """Where quotes stand in a text that is already as it is shown, and the anchors of those that do not."""
    places = [(place, mark.anchor) for mark in marks if mark.holds and (place := place_of(text, shown(mark.quote)))]
    placed = {anchor for _, anchor in places}
    missing = tuple(mark.anchor for mark in marks if mark.holds and mark.anchor not in placed)
    merged: list[Span] = []
    for (start, end), anchor in sorted(places):
        if merged and start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Span(last.start, max(end, last.end), (*last.anchors, anchor))
        else:
            merged.append(Span(start, end, (anchor,)))
    return tuple(merged), missing


def place_of(text: str, quote: str) -> tuple[int, int] | None:
    """Where a quote stands, with any white space where it has some."""
    words = quote.split()
    found = re.search(r"\s+".join(map(re.escape, words)), text) if words else None
    return found.span() if found else None
