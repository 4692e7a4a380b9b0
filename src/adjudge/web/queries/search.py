"""Looking for words, and for kinds of entries, in a record: walked from the disk, bounded, to be gone on with."""

from __future__ import annotations

import time

import msgspec

from adjudge.record import Entry, Kind
from adjudge.untrusted import one_line
from adjudge.web.queries.calls import said
from adjudge.web.queries.kept import OpenRun

HITS = 50
"""Entries found after which a search stops for now."""
SECONDS = 2.0
"""Time after which it does."""
EXCERPT = 160


class Hit(msgspec.Struct, frozen=True):
    """An entry that was found: one line of it, with the words in it if words were looked for."""

    id: str
    turn: int
    kind: Kind
    writer: str
    name: str | None
    exit_status: int | None
    excerpt: str


class Found(msgspec.Struct, frozen=True):
    """What was found so far. `walked` of `total` entries were looked at; `next` is the id where it goes on, if it does."""

    hits: tuple[Hit, ...]
    walked: int
    total: int
    next: str | None


def search(opened: OpenRun, words: str = "", kind: Kind | None = None, after: str | None = None, most: int = HITS) -> Found:
    """Entries of a kind that hold the words, whatever their case, from the entry `after` on, sub-agents' last."""
    wanted = words.casefold()
    names = list(opened.records)
    total = sum(len(record.entries) for record in opened.records.values())
    name, position = (opened.place_of(after) if after else None) or (names[0], 0)
    walked = position + sum(len(opened.records[each].entries) for each in names[: names.index(name)])
    hits: list[Hit] = []
    ends = time.monotonic() + SECONDS
    for each in names[names.index(name) :]:
        entries = opened.records[each].entries
        for at in range(position, len(entries)):
            entry = entries[at]
            if len(hits) >= most or (walked % 256 == 255 and time.monotonic() > ends):
                return Found(tuple(hits), walked, total, entry.id)
            walked += 1
            if (kind is None or entry.kind == kind) and (place := _place(entry, wanted)) is not None:
                hits.append(_hit(entry, place))
        position = 0
    return Found(tuple(hits), walked, total, None)


def _place(entry: Entry, wanted: str) -> int | None:
    """Where the words begin, 0 if none are wanted."""
    if not wanted:
        return 0
    at = entry.text.casefold().find(wanted)
    return at if at >= 0 else None


def _hit(entry: Entry, at: int) -> Hit:
    around = entry.text[at - EXCERPT // 3 : at + 4 * EXCERPT] if at > EXCERPT // 3 else said(entry)[: 4 * EXCERPT]
    excerpt = ("… " if at > EXCERPT // 3 else "") + one_line(around, EXCERPT)
    return Hit(entry.id, entry.turn, entry.kind, entry.writer, entry.name, entry.exit_status, excerpt)
