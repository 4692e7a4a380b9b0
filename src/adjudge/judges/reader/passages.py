"""One entry as the reader sees it: its header, its text, and marks for what was taken out of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

import msgspec

from adjudge import untrusted
from adjudge.judges.reader.boilerplate import Span, boilerplate, is_injected
from adjudge.judges.reader.marks import Part, boilerplate_mark, cut_mark, header
from adjudge.judgment import Omitted
from adjudge.record import Entry

NOTHING = Omitted()

_MASKED = re.compile(r"<secret:[0-9a-f]{6}>")


class Passage(msgspec.Struct, frozen=True, gc=False):
    """An entry's parts, and what was done to it.

    `size` is that of the parts, `characters` that of the entry's text. `masks` stand in place of credentials.
    """

    characters: int
    parts: tuple[Part, ...]
    size: int
    truncated: Omitted = NOTHING
    pruned: Omitted = NOTHING
    boilerplate: Omitted = NOTHING
    masks: frozenset[str] = frozenset()


Chosen = tuple[Entry, bool, int]
"""An entry, whether its text is shown, and whether that is known to be ordinary."""


def passages(entries: Iterable[Chosen], longest: int | None, mask: bool) -> Iterator[Passage]:
    """Each entry as a passage; a text longer than `longest` is cut in its middle."""
    for entry, wanted, ordinary in entries:
        if wanted:
            yield _passage(entry, entry.text if ordinary else untrusted.shown(entry.text, mask), longest, mask)
        else:
            yield _left_out(entry, mask)


def _left_out(entry: Entry, mask: bool) -> Passage:
    part = Part(header(entry, mask, True, is_injected(entry)), "")
    return Passage(len(entry.text), (part,), part.size, pruned=Omitted(1, len(entry.text)))


def _passage(entry: Entry, seen: str, longest: int | None, mask: bool) -> Passage:
    part = Part(header(entry, mask, False, is_injected(entry)), seen)
    spans = boilerplate(entry, seen)
    if not spans and seen is entry.text and (longest is None or len(seen) <= longest):
        return Passage(len(seen), (part,), part.size)
    kept = list(_without(part, spans)) if spans else [part]
    parts, truncated = shortened(kept, longest)
    dropped = Omitted(len(spans), sum(end - start for start, end in spans)) if spans else NOTHING
    size = sum(part.size for part in parts)
    return Passage(len(entry.text), parts, size, truncated, NOTHING, dropped, masks_in(entry.text, seen))


def _without(part: Part, spans: list[Span]) -> Iterator[Part]:
    """The text around the spans, each of which becomes a mark."""
    yield Part(part.mark, part.text[: spans[0][0]])
    for (start, end), (after, _) in pairwise([*spans, (len(part.text), 0)]):
        yield Part(boilerplate_mark(end - start), part.text[end:after])


def shortened(parts: list[Part], longest: int | None) -> tuple[tuple[Part, ...], Omitted]:
    """The parts, and what had to be cut from the middle of a text that is longer than `longest`."""
    kept: list[Part] = []
    pieces = characters = 0
    for part in parts:
        over = len(part.text) - longest if longest is not None else 0
        if longest is None or over <= 0:
            kept.append(part)
            continue
        head = longest * 2 // 3
        kept += Part(part.mark, part.text[:head]), Part(cut_mark(over), part.text[head + over :])
        pieces, characters = pieces + 1, characters + over
    return tuple(kept), Omitted(pieces, characters) if pieces else NOTHING


def masks_in(text: str, seen: str) -> frozenset[str]:
    """What stands in a shown text in place of credentials, unless the text itself says so."""
    if seen is text or "<secret:" not in seen:
        return frozenset()
    return frozenset(_MASKED.findall(seen)).difference(_MASKED.findall(text))
