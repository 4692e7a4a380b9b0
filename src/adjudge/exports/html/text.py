"""Untrusted text on the page: shown safely, quotes marked where they stand, cut where it is too long, and saying so."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from markupsafe import Markup, escape

from adjudge.untrusted import shown

AROUND = 1500
"""Characters that are kept before and after a quote in a text that is cut, and at the text's start and end."""


class Mark(msgspec.Struct, frozen=True):
    """A quoted passage of an exhibit: the quote, the anchor that its citation links to, and whose verdict cites it.

    `back` is the anchor of the verdict's or the score's card, `label` its name as the card shows it. `passed` is `None`
    where nothing was decided.
    """

    anchor: str
    quote: str
    back: str
    label: str
    passed: bool | None


class Text(msgspec.Struct, frozen=True):
    """A text ready for the page: escaped, with marks. `unplaced` are anchors of quotes that stand elsewhere."""

    html: Markup
    unplaced: tuple[str, ...] = ()


Span = tuple[int, int]


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number of things, in words: `1 step`, `2,000 steps`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def text_of(untrusted: str, most: int, marks: Sequence[Mark] = ()) -> Text:
    """The text as it may be shown, each quote marked at its first place, cut to the quotes' surroundings if too long."""
    whole = shown(untrusted)
    places = {mark.anchor: place for mark in marks if (place := _place(whole, shown(mark.quote)))}
    unplaced = tuple(mark.anchor for mark in marks if mark.anchor not in places)
    spans = _merged(sorted(places.values()))
    kept = [(0, len(whole))] if len(whole) <= most else _kept(len(whole), spans)
    html, end = Markup(), 0
    for start, stop in kept:
        html += _left_out(start - end) + _marked(whole, (start, stop), spans, places)
        end = stop
    return Text(html + _left_out(len(whole) - end), unplaced)


def _place(text: str, quote: str) -> Span | None:
    """Where the quote stands, with any white space where it has some."""
    words = quote.split()
    found = re.search(r"\s+".join(map(re.escape, words)), text) if words else None
    return found.span() if found else None


def _kept(length: int, spans: Sequence[Span]) -> list[Span]:
    around = [(max(0, start - AROUND), min(length, end + AROUND)) for start, end in spans]
    return _merged(sorted([(0, AROUND), *around, (length - AROUND, length)]))


def _merged(spans: Sequence[Span]) -> list[Span]:
    """Sorted spans, with those that overlap made one."""
    merged: list[Span] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _left_out(count: int) -> Markup:
    return Markup('<span class="cut">{} characters left out</span>').format(f"{count:,}") if count > 0 else Markup()


def _marked(text: str, piece: Span, spans: Sequence[Span], places: dict[str, Span]) -> Markup:
    html, (position, end) = Markup(), piece
    for start, stop in spans:
        if position <= start and stop <= end:
            html += escape(text[position:start]) + _mark(text, (start, stop), places)
            position = stop
    return html + escape(text[position:end])


def _mark(text: str, span: Span, places: dict[str, Span]) -> Markup:
    """Marked words. Several quotes may share them, and each brings its own anchor."""
    start, stop = span
    anchors = Markup().join(anchor_of(name) for name, (first, last) in places.items() if start <= first and last <= stop)
    return Markup("<mark>{}{}</mark>").format(anchors, text[start:stop])


def anchor_of(name: str) -> Markup:
    """A place that a link can lead to."""
    return Markup('<span class="at" id="{}"></span>').format(name)
