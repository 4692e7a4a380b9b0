"""The walk over a run's records: entries are counted, the ordinary told from the others, and signs of steering found.

Whatever is done to an entry later on rests on this one look at its text: most entries need nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from adjudge import untrusted
from adjudge.entries import EntryFile
from adjudge.judges import steering
from adjudge.judgment import Steering
from adjudge.record import Entry, Record

HELD = 2_000_000
"""Characters of a record whose entries stay in memory; those of a longer one are read from the disk as often as needed."""

SEARCHED = 8 << 20
"""Characters of a run that are searched for attempts to steer; the reader is shown less."""

BATCH = 16_384
"""Characters of entries that are looked through together: less costs more calls, more finds something in most batches."""


class Named(NamedTuple):
    """A record with the name under which its turns are cited (`None` for the agent's own) and what the walk brought.

    `outputs` are its tool outputs, `characters` those of all its texts, sub-agents left out of both. `ordinary` says of
    each entry whether its text is known to be ordinary.
    """

    name: str | None
    record: Record
    outputs: int
    characters: int
    ordinary: bytearray

    @property
    def entries(self) -> Sequence[Entry]:
        """The record's entries."""
        return self.record.entries


class Walked(NamedTuple):
    """A record and those of its sub-agents, in the order of `Record.walk`, and the signs of steering in their entries."""

    records: list[Named]
    signs: tuple[Steering, ...]


def held(record: Record) -> Record:
    """The same record, its entries in memory if they are few; those of its sub-agents as well."""
    return msgspec.structs.replace(
        record, entries=_held(record.entries), children=tuple(held(child) for child in record.children)
    )


def _held(entries: Sequence[Entry]) -> Sequence[Entry]:
    if not isinstance(entries, EntryFile):
        return entries
    kept: list[Entry] = []
    left = HELD
    for entry in entries:
        left -= len(entry.text)
        if left < 0:
            return entries
        kept.append(entry)
    return tuple(kept)


def walk(record: Record) -> Walked:
    """Read every entry of a record and of its sub-agents' once."""
    walker = _Walker()
    records = list(walker.named(record, ""))
    return Walked(records, tuple(walker.signs[: steering.MOST]))


class _Walker:
    """Takes records in order; `signs` are those found so far, `_left` the characters that are still searched."""

    def __init__(self) -> None:
        self.signs: list[Steering] = []
        self._left = SEARCHED

    def named(self, record: Record, prefix: str) -> Iterator[Named]:
        """The record and those of its sub-agents."""
        outputs = characters = 0
        ordinary = bytearray()
        for batch, size in _batches(record.entries):
            outputs += sum([entry.kind == "result" for entry in batch])
            characters += size
            known = untrusted.ordinary_each([entry.text for entry in batch]) if size <= self._left else [False] * len(batch)
            if size < untrusted.FLOOD and all(known):  # nothing of it can be a sign
                self._left -= size
            else:
                self._search(batch, known)
            ordinary += bytes(known)
        yield Named(prefix.removesuffix(".") or None, record, outputs, characters, ordinary)
        for number, child in enumerate(record.children, 1):
            yield from self.named(child, f"{prefix}s{number}.")

    def _search(self, entries: list[Entry], known: list[bool]) -> None:
        for entry, ordinary in zip(entries, known, strict=True):
            text = entry.text
            if self._left <= 0:
                return
            if not ordinary or len(text) >= untrusted.FLOOD:
                self.signs += steering.in_text(entry.id, text[: self._left], entry, ordinary)
            self._left -= len(text)


def _batches(entries: Sequence[Entry]) -> Iterator[tuple[list[Entry], int]]:
    """Entries that are looked through together, and the characters of their texts."""
    batch: list[Entry] = []
    size = 0
    for entry in entries:
        batch.append(entry)
        size += len(entry.text)
        if size >= BATCH:
            yield batch, size
            batch, size = [], 0
    if batch:
        yield batch, size
