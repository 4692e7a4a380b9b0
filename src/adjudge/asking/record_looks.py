"""Looks into the record of one run: its outline, entries in full, and a search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from adjudge import untrusted
from adjudge.asking.lines import PAGE
from adjudge.asking.source import Source
from adjudge.asking.tools import Outline, ReadEntries, SearchRecord
from adjudge.asking.values import Look
from adjudge.errors import InputError
from adjudge.judges.evaluator.record_looks import FIRST_WORDS, count, description, entries_from, no_such_entry
from adjudge.judges.evaluator.record_search import between, search_record
from adjudge.judges.evaluator.tools import SearchRecord as WithinRecord
from adjudge.judges.evaluator.views import beginning, line_start, page_end
from adjudge.record import Entry, Record
from adjudge.run import Run

LONGEST_BEGINNING = 4_096
"""Characters of an entry from which its first words are taken."""


def outline(source: Source, asked: Outline) -> Look:
    """A page of a record's outline: one line an entry, sub-agents' records after the record itself."""
    run = source.store.run(asked.run)
    lines: list[str] = []
    entries: list[Entry] = []
    left = PAGE
    for entry in entries_from(run.record, asked.offset):
        line = _outline_line(entry, source.mask)
        if lines and len(line) >= left:
            break
        lines.append(line)
        entries.append(entry)
        left -= len(line) + 1
    total, end = count(run.record), asked.offset + len(lines)
    facts = [f"entries: {total}", f"shown: {asked.offset + 1} to {end}" if lines else "shown: none"]
    if lines and end < total:
        facts.append(f"to go on: offset {end}")
    return record_look(run, facts, "\n".join(lines), entries, source.mask)


def _outline_line(entry: Entry, mask: bool) -> str:
    """An entry in one line; its words are masked before they are cut, since half a credential is not recognised."""
    words, cut = beginning(untrusted.shown(entry.text[:LONGEST_BEGINNING], mask), FIRST_WORDS)
    cut = cut or len(entry.text) > LONGEST_BEGINNING
    return f"{description(entry)} · cut | {words}…" if cut else f"{description(entry)} | {words}"


def read_entries(source: Source, asked: ReadEntries) -> Look:
    """The entries from one to another in full, as many as fit; of a single long one a page."""
    run = source.store.run(asked.run)
    last = asked.last or asked.first
    if not (run.record.entry(asked.first) and run.record.entry(last)):
        raise InputError(no_such_entry(run.record))
    reading = _Reading()
    for entry in _in_turn(run.record, asked.first, last):
        if not reading.add(entry, asked.offset if not reading.shown else 0):
            break
    if not reading.shown:
        raise InputError("no entry lies between those two; first must stand before last in the outline")
    extent = " to ".join(dict.fromkeys((reading.shown[0].id, reading.shown[-1].id)))
    facts = [f"shown: {extent}", *reading.facts]
    return record_look(run, facts, "\n".join(reading.blocks), reading.shown, source.mask)


class _Reading:
    """Entries in full, until a page is full."""

    def __init__(self) -> None:
        self.blocks: list[str] = []
        self.shown: list[Entry] = []
        self.facts: list[str] = []
        self._left = PAGE

    def add(self, entry: Entry, offset: int) -> bool:
        """Show an entry from an offset on; only the first may be cut. Whether there is room for another."""
        begin = line_start(entry.text, offset)
        end = page_end(entry.text, begin, max(self._left, 1))
        if self.shown and end < len(entry.text):
            self.facts.append(f"to go on: first {entry.id}")
            return False
        self.blocks.append(f"{description(entry)}\n{entry.text[begin:end]}")
        self.shown.append(entry)
        self._left -= len(self.blocks[-1]) + 1
        if (begin, end) != (0, len(entry.text)):
            self.facts.append(f"of {entry.id}: characters {begin} to {end} of {len(entry.text)}")
        if end < len(entry.text):
            self.facts.append(f"to go on: first {entry.id}, offset {end}")
        return end == len(entry.text)


def _in_turn(record: Record, first: str, last: str) -> Iterator[Entry]:
    """The entries from one to another, if they stand in this order."""
    if first == last:
        entry = record.entry(first)
        yield from (entry,) if entry else ()
        return
    yield from between(record, first, last)


def search_one(source: Source, asked: SearchRecord) -> Look:
    """All entries of a record whose text matches are counted, and shown until the page is full."""
    run = source.store.run(asked.run)
    given = WithinRecord(asked.pattern, asked.regex, asked.kind, offset=asked.offset)
    found = search_record("", run.record, given)
    entries = (entry for name in found.shows if (entry := run.record.entry(name)))
    made = record_look(run, found.facts, found.text, entries, source.mask)
    return msgspec.structs.replace(made, found=found.found, failed=found.failed)


def record_look(run: Run, facts: Iterable[str], text: str, entries: Iterable[Entry], mask: bool) -> Look:
    """A look into a run's record, at these entries."""
    shows = {run.id: "", **{f"{run.id}/{entry.id}": "" for entry in entries}}
    return Look("", "", "record", {}, tuple(facts), untrusted.shown(text, mask), shows)
