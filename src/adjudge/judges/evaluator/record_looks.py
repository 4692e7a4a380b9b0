"""Looks at the record: its outline, and one entry in full."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from adjudge.evidence import Look
from adjudge.judges.evaluator.tools import OpenEntry, Outline
from adjudge.judges.evaluator.views import PAGE, beginning, line_start, one_line, page_end
from adjudge.record import Entry, Record

FIRST_WORDS = 120


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
    return record_look(identifier, "outline", asked, "\n".join(lines), facts, names)


def outline_line(entry: Entry) -> str:
    """An entry in one line: what adjudge knows of it first (`cut` if it is longer than shown), its own words last."""
    words, cut = beginning(entry.text, FIRST_WORDS)
    return f"{description(entry)} · cut | {words}…" if cut else f"{description(entry)} | {words}"


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
        return failed(identifier, "open_entry", asked, no_such_entry(record))
    start = line_start(entry.text, asked.offset)
    end = page_end(entry.text, start)
    facts = [*_facts(entry), f"characters: {len(entry.text)}"]
    if (start, end) != (0, len(entry.text)):
        facts.append(f"shown: {start} to {end}" + (f"; to go on: offset {end}" if end < len(entry.text) else ""))
    return record_look(identifier, "open_entry", asked, entry.text[start:end], facts, [entry.id])


def closing(record: Record) -> tuple[Look, ...]:
    """The agent's last message, which the evaluator reads before its first look, as a look."""
    return (open_entry("closing", record, OpenEntry(record.final)),) if record.final else ()


def no_such_entry(record: Record) -> str:
    """What to say of an id that is not in the record."""
    ids = f"e1 to e{len(record.entries)}" if len(record.entries) else "none"
    children = f", and of {len(record.children)} sub-agents: s1.e1, …" if record.children else ""
    return f"there is no such entry; there are {ids}{children}"


def _facts(entry: Entry) -> Iterator[str]:
    yield f"entry {entry.id}, turn {entry.turn}: {entry.kind} of {entry.writer}"
    if entry.kind == "result":
        yield f"answers: {entry.answers or 'no call that is recorded'}"
        yield _exit_status(entry)
    if entry.is_error is not None:
        yield f"marked as an error: {'yes' if entry.is_error else 'no'}"


def failed(identifier: str, tool: str, asked: msgspec.Struct, reason: str) -> Look:
    """A look that brought nothing; it counts all the same."""
    return msgspec.structs.replace(record_look(identifier, tool, asked, "", [f"failed: {reason}"], []), failed=True)


def record_look(identifier: str, tool: str, asked: msgspec.Struct, text: str, facts: list[str], shows: list[str]) -> Look:
    """A look into the record, at these entries."""
    return Look(identifier, tool, "record", msgspec.structs.asdict(asked), text, tuple(facts), tuple(shows))
