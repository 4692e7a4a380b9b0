"""A block: an untrusted text ready for a page, with quotes marked, long stretches folded, and true sizes told."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff

import msgspec
from markupsafe import Markup, escape

from adjudge.untrusted import shown
from adjudge.web.text.marks import Mark, Span, place_of, spans_of
from adjudge.web.text.rows import Row, rows_of
from adjudge.web.text.words import counted, size

FIRST, LAST, AROUND = 8, 3, 2
"""Rows that stay open at a text's start and end, and around a quote."""
OPEN = 16
"""Rows of a text of which nothing is folded."""
SMALL = 3
"""Rows that are not worth a fold."""
FOLDED = 24_000
"""Characters that one block may hold folded; of more, the page has only a link to the whole."""
LONG = 400_000
"""Characters of a text beyond which only its ends and the surroundings of quotes are looked at."""
NEAR = 4_000
"""Characters of those."""
COMPARED = 2_000
"""Lines of two texts that are compared."""


class Block(msgspec.Struct, frozen=True):
    """A text as markup. `size` is the text's own number of bytes; `unplaced` are anchors whose quotes stand elsewhere."""

    html: Markup
    size: int
    unplaced: tuple[str, ...] = ()


def block_of(untrusted: str, marks: Sequence[Mark] = (), whole: str | None = None) -> Block:
    """The text with its quotes marked; `whole` is the address of a page that has all of it."""
    pieces = _pieces(untrusted, marks)
    html, unplaced, end = Markup(), set[str](), 0
    held = [mark for mark in marks if mark.holds]
    missing = {mark.anchor for mark in held}
    for start, stop in pieces:
        text = shown(untrusted[start:stop])
        spans, unplaced_here = spans_of(text, [mark for mark in held if mark.anchor in missing])
        missing &= set(unplaced_here)
        html += _left_out(start - end, whole) + _folded(text, spans, whole)
        end = stop
    unplaced = missing
    html += _left_out(len(untrusted) - end, whole)
    return Block(html, len(untrusted.encode("utf-8", "surrogatepass")), tuple(sorted(unplaced)))


def diff_block(old: str, new: str) -> Block:
    """What a call replaces, as a diff of the two texts; of long ones only the beginning, and it says so."""
    before, after = (shown(text[:LONG]).splitlines() for text in (old, new))
    lines = list(unified_diff(before[:COMPARED], after[:COMPARED], lineterm="", n=2))[2:]
    text = "\n".join(lines)
    cut = max(len(before), len(after)) > COMPARED or max(len(old), len(new)) > LONG
    rest = _more(f"what follows line {COMPARED:,} is not shown here", None) if cut else Markup()
    return Block(_folded(text, (), None) + rest, len(text.encode("utf-8", "replace")))


# --- pieces of a very long text


def _pieces(text: str, marks: Sequence[Mark]) -> list[tuple[int, int]]:
    if len(text) <= LONG:
        return [(0, len(text))]
    places = [place for mark in marks if mark.holds and (place := place_of(text, mark.quote))]
    around = [(max(0, start - NEAR), min(len(text), end + NEAR)) for start, end in places]
    merged: list[tuple[int, int]] = []
    for start, end in sorted([(0, NEAR), *around, (len(text) - NEAR, len(text))]):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return [(_line_start(text, start), _line_end(text, end)) for start, end in merged]


def _line_start(text: str, at: int) -> int:
    """The start of a line near by: half a credential would not be recognised as one."""
    found = text.rfind("\n", max(0, at - NEAR), at)
    return found + 1 if found >= 0 else at


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at, at + NEAR)
    return found if found >= 0 else at


def _left_out(characters: int, whole: str | None) -> Markup:
    if characters <= 1:
        return Markup()
    return _more(f"{characters:,} characters left out", whole)


def _more(words: str, whole: str | None) -> Markup:
    if whole is None:
        return Markup('<p class="left-out">{}</p>').format(words)
    return Markup('<p class="left-out">{} · <a href="{}">open the whole</a></p>').format(words, whole)


# --- folding


def _folded(text: str, spans: Sequence[Span], whole: str | None) -> Markup:
    rows = rows_of(text)
    html, room = Markup(), FOLDED
    for first, last, is_open in _stretches(rows, spans):
        stretch = rows[first:last]
        if is_open:
            html += _pre(text, stretch, spans)
            continue
        characters = stretch[-1].end - stretch[0].start
        words = f"{counted(sum(row.whole for row in stretch) or 1, 'line')} folded"
        room -= characters
        if room < 0:
            html += _more(f"{words.removesuffix(' folded')} left out, {size(characters)}", whole)
        else:
            html += _fold(f"{words} · {size(len(text))} in all", _pre(text, stretch, spans))
    return html


def _fold(summary: str, inner: Markup) -> Markup:
    return Markup('<details class="fold"><summary>{}</summary>{}</details>').format(summary, inner)


def _stretches(rows: Sequence[Row], spans: Sequence[Span]) -> list[tuple[int, int, bool]]:
    """Rows from the first to before the last, and whether they stay open."""
    kept = _kept(rows, spans)
    found: list[tuple[int, int, bool]] = []
    at = 0
    for first, last in kept:
        if first > at:
            found.append((at, first, first - at <= SMALL))
        found.append((first, last, True))
        at = last
    joined: list[tuple[int, int, bool]] = []
    for first, last, is_open in found:
        if joined and joined[-1][2] and is_open:
            joined[-1] = (joined[-1][0], last, True)
        else:
            joined.append((first, last, is_open))
    return joined


def _kept(rows: Sequence[Row], spans: Sequence[Span]) -> list[tuple[int, int]]:
    count = len(rows)
    if count <= OPEN:
        return [(0, count)]
    around = [(max(0, first - AROUND), min(count, last + 1 + AROUND)) for first, last in _rows_of_spans(rows, spans)]
    kept: list[tuple[int, int]] = []
    for first, last in sorted([(0, FIRST), *around, (count - LAST, count)]):
        if kept and first <= kept[-1][1]:
            kept[-1] = (kept[-1][0], max(last, kept[-1][1]))
        else:
            kept.append((first, last))
    return kept


def _rows_of_spans(rows: Sequence[Row], spans: Sequence[Span]) -> list[tuple[int, int]]:
    found = []
    for span in spans:
        touched = [number for number, row in enumerate(rows) if row.start < span.end and span.start <= row.end]
        found += [(touched[0], touched[-1])] if touched else []
    return found


# --- rows as markup


def _pre(text: str, rows: Sequence[Row], spans: Sequence[Span]) -> Markup:
    if all(not row.role for row in rows) and not any(
        row.start < s.end and s.start < row.end for row in rows for s in spans
    ):
        plain = text[rows[0].start : rows[-1].end]
        return Markup("<pre>\n{}</pre>").format(plain)
    body = Markup().join(_row(text, row, spans) + ("\n" if row.whole and row is not rows[-1] else "") for row in rows)
    return Markup("<pre>\n{}</pre>").format(body)


def _row(text: str, row: Row, spans: Sequence[Span]) -> Markup:
    html, at = Markup(), row.start
    for span in spans:
        start, end = max(span.start, row.start), min(span.end, row.end)
        if start >= end:
            continue
        html += escape(text[at:start]) + _mark(text[start:end], span, first=span.start >= row.start)
        at = end
    html += escape(text[at : row.end])
    return Markup('<span class="{}">{}</span>').format(row.role, html) if row.role else html


def _mark(words: str, span: Span, first: bool) -> Markup:
    """Marked words. Several quotes may share them: the first gives the mark its name, each other a place within."""
    if not first:
        return Markup('<mark data-of="{}">{}</mark>').format(span.anchors[0], words)
    more = Markup().join(Markup('<span id="{}"></span>').format(name) for name in span.anchors[1:])
    return Markup('<mark id="{}">{}{}</mark>').format(span.anchors[0], more, words)
