"""Looks at the record: its outline, a search over all of it, one entry in full."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import chain, islice

import msgspec
import regex

from adjudge.evidence import Look
from adjudge.judges.evaluator.tools import OpenEntry, Outline, SearchRecord
from adjudge.judges.evaluator.views import PAGE, line_start, one_line, page_end
from adjudge.record import Entry, Record

SEARCH_SECONDS = 20.0
FIRST_WORDS = 120
CONTEXT = 160
"""Characters that a search shows on each side of a match."""
MATCHES_SHOWN = 3
"""Matches of one entry that a search shows."""

Span = tuple[int, int]


def outline(identifier: str, record: Record, asked: Outline, most: int = PAGE) -> Look:
    """A page of the outline: one line an entry, sub-agents' records after the record itself."""
    lines: list[str] = []
    names: list[str] = []
    size = 0
    for entry in entries_from(record, asked.offset):
        line = outline_line(entry)
        size += len(line) + 1
        if size > most and lines:
            break
        lines.append(line)
        names.append(entry.id)
    total, end = count(record), asked.offset + len(lines)
    facts = [f"entries: {total}", f"shown: {asked.offset + 1} to {end}" if lines else "shown: none"]
    if lines and end < total:
        facts.append(f"to go on: offset {end}")
    return _look(identifier, "outline", asked, "\n".join(lines), facts, names)


def outline_line(entry: Entry) -> str:
    """An entry in one line: what adjudge knows of it first, its own words last."""
    return f"{description(entry)} | {one_line(entry.text, FIRST_WORDS)}"


def description(entry: Entry) -> str:
    """What is known of an entry from the structure of its recording."""
    parts = [entry.id, f"turn {entry.turn}", f"{entry.kind} of {entry.writer}"]
    if entry.origin:
        parts.append(f"put there as {one_line(entry.origin, 40)}")
    if entry.name:
        parts.append(f"tool {one_line(entry.name, 60)}")
    if entry.answers:
        parts.append(f"answers {entry.answers}")
    parts.append(f"{len(entry.text)} characters")
    if entry.kind == "result":
        parts.append(_exit_status(entry))
    if entry.is_error:
        parts.append("marked as an error")
    return " · ".join(parts)


def _exit_status(entry: Entry) -> str:
    return "exit status: not recorded" if entry.exit_status is None else f"exit status: {entry.exit_status}"


def entries_from(record: Record, offset: int) -> Iterator[Entry]:
    """The entries from a position on, in the order of `Record.walk`, without reading those before."""
    if offset < len(record.entries):
        yield from (record.entries[position] for position in range(offset, len(record.entries)))
    rest = max(0, offset - len(record.entries))
    for child in record.children:
        yield from entries_from(child, rest)
        rest = max(0, rest - count(child))


def count(record: Record) -> int:
    """How many entries a record has, those of sub-agents included."""
    return len(record.entries) + sum(count(child) for child in record.children)


def search_record(identifier: str, record: Record, asked: SearchRecord) -> Look:
    """All entries whose text matches are counted; those after `offset` are shown until the page is full."""
    try:
        search = Search(asked, time.monotonic() + SEARCH_SECONDS)
    except regex.error as error:
        return failed(identifier, "search_record", asked, f"the pattern is no regular expression: {error}")
    try:
        search.over(record)
    except TimeoutError:
        return failed(identifier, "search_record", asked, f"stopped after {SEARCH_SECONDS:.0f} s: nothing is established")
    look = _look(identifier, "search_record", asked, "\n".join(search.blocks), search.facts(record), search.shows)
    return msgspec.structs.replace(look, found=search.found)


class Search:
    """One search over a record: what it has found so far."""

    def __init__(self, asked: SearchRecord, deadline: float) -> None:
        self._asked, self._deadline = asked, deadline
        self._needle = asked.pattern.lower()
        self._find = regex.compile(asked.pattern, regex.IGNORECASE | regex.MULTILINE) if asked.regex else None
        self.blocks: list[str] = []
        self.shows: list[str] = []
        self.found = self._searched = self._size = 0

    def over(self, record: Record) -> None:
        """Go through a record and its sub-agents'. Raises TimeoutError when the time is over."""
        for entry in filter(self._wanted, record.walk()):
            self._searched += 1
            spans = self._spans(entry.text)
            if not spans:
                continue
            self.found += 1
            if self.found > self._asked.offset:
                self._show(entry, spans)

    def facts(self, record: Record) -> list[str]:
        """What adjudge states of the search; no word of what was searched, nor of the pattern."""
        facts = [f"matches: {self.found}", f"searched: {self._searched} of {count(record)} entries"]
        end = self._asked.offset + len(self.shows)
        if self.shows and end < self.found:
            facts.append(f"shown: {self._asked.offset + 1} to {end}; to go on: offset {end}")
        return facts + untold(record)

    def _wanted(self, entry: Entry) -> bool:
        asked = self._asked
        return (
            (asked.kind is None or entry.kind == asked.kind)
            and (asked.first_turn is None or entry.turn >= asked.first_turn)
            and (asked.last_turn is None or entry.turn <= asked.last_turn)
        )

    def _spans(self, text: str) -> list[Span]:
        """Where the first few matches stand."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if self._find is None:
            return list(islice(occurrences(text.lower(), self._needle), MATCHES_SHOWN + 1))
        matches = self._find.finditer(text, timeout=left, concurrent=True)
        return [match.span() for match in islice(matches, MATCHES_SHOWN + 1)]

    def _show(self, entry: Entry, spans: list[Span]) -> None:
        if len(self.shows) + self._asked.offset + 1 < self.found:
            return  # the page is full: nothing after the first entry that did not fit
        snippets = [snippet(entry.text, span) for span in apart(spans[:MATCHES_SHOWN])]
        more = ["    (more in this entry)"] if len(spans) > MATCHES_SHOWN else []
        block = "\n".join(chain([description(entry)], (f"    | {words}" for words in snippets), more))
        self._size += len(block)
        if self._size <= PAGE or not self.blocks:
            self.blocks.append(block)
            self.shows.append(entry.id)


def occurrences(text: str, needle: str) -> Iterator[Span]:
    """Where a text holds another one."""
    position = text.find(needle)
    while position >= 0:
        yield position, position + len(needle)
        position = text.find(needle, position + len(needle))


def apart(spans: Iterable[Span]) -> Iterator[Span]:
    """The spans without those that stand in what is shown around the one before."""
    end = -1
    for span in spans:
        if span[1] > end:
            yield span
            end = span[1] + CONTEXT


def snippet(text: str, span: Span) -> str:
    """A match in one line, with what stands around it."""
    start = line_start(text, max(0, span[0] - CONTEXT), 2 * CONTEXT)
    end = min(len(text), span[1] + CONTEXT, span[0] + 4 * CONTEXT)
    line = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{line}{'…' if end < len(text) else ''}"


def untold(record: Record) -> list[str]:
    """What this record cannot show, however one searches."""
    facts = []
    if record.unparsed:
        facts.append(f"pieces of the recording that could not be read: {len(record.unparsed)}")
    if "results" not in record.tells:
        facts.append("the recording holds no results of tool calls")
    return facts


def open_entry(identifier: str, record: Record, asked: OpenEntry) -> Look:
    """A page of one entry, as it was recorded."""
    entry = record.entry(asked.entry)
    if entry is None:
        ids = f"e1 to e{len(record.entries)}" if len(record.entries) else "none"
        children = f", and of {len(record.children)} sub-agents: s1.e1, …" if record.children else ""
        return failed(identifier, "open_entry", asked, f"there is no such entry; there are {ids}{children}")
    start = line_start(entry.text, asked.offset)
    end = page_end(entry.text, start)
    facts = [*_facts(entry), f"characters: {len(entry.text)}"]
    if (start, end) != (0, len(entry.text)):
        facts.append(f"shown: {start} to {end}" + (f"; to go on: offset {end}" if end < len(entry.text) else ""))
    return _look(identifier, "open_entry", asked, entry.text[start:end], facts, [entry.id])


def _facts(entry: Entry) -> Iterator[str]:
    yield f"entry {entry.id}, turn {entry.turn}: {entry.kind} of {entry.writer}"
    if entry.kind == "result":
        yield f"answers: {entry.answers or 'no call that is recorded'}"
        yield _exit_status(entry)
    if entry.is_error is not None:
        yield f"marked as an error: {'yes' if entry.is_error else 'no'}"


def failed(identifier: str, tool: str, asked: msgspec.Struct, reason: str) -> Look:
    """A look that brought nothing; it counts all the same."""
    return msgspec.structs.replace(_look(identifier, tool, asked, "", [f"failed: {reason}"], []), failed=True)


def _look(identifier: str, tool: str, asked: msgspec.Struct, text: str, facts: list[str], shows: list[str]) -> Look:
    return Look(identifier, tool, "record", msgspec.structs.asdict(asked), text, tuple(facts), tuple(shows))
