"""The outline of a record: a line for each turn, page by page."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import chain, islice

import msgspec

from adjudge.record import Entry, Record, Turn, Usage
from adjudge.untrusted import one_line
from adjudge.web.queries.calls import said
from adjudge.web.queries.kept import OpenRun, turns_with_edits

TURNS = 200
"""Turns of one page of an outline."""
ENTRIES = 40
"""Entries of a turn that are looked at for its line."""
WIDTH = 110


class TurnLine(msgspec.Struct, frozen=True):
    """A turn: what the agent said or called first, the tools it called, and how many entries it has.

    `failed` says that a call failed, `edits` that a file was edited or written, among the entries that were looked at.
    """

    number: int
    first: str
    says: str
    tools: tuple[str, ...]
    entries: int
    failed: bool
    edits: bool
    usage: Usage | None


class Outline(msgspec.Struct, frozen=True):
    """Some turns of a record, of how many; `next` is the number of the turn where it goes on, `None` at the end."""

    turns: tuple[TurnLine, ...]
    total: int
    next: int | None


def outline_of(opened: OpenRun, after: int = 0, name: str = "") -> Outline:
    """The turns behind one, of the record or of a sub-agent's. Raises InputError if there is no such sub-agent."""
    record = opened.record(name)
    at = bisect_right(record.turns, after, key=lambda turn: turn.number)
    turns = record.turns[at : at + TURNS]
    seen = [_entries(opened, name, turn) for turn in turns]
    edits = turns_with_edits(Record(record.format, tuple(chain.from_iterable(entries for entries, _ in seen))))
    lines = tuple(_line(turn, *each, turn.number in edits) for turn, each in zip(turns, seen, strict=True))
    return Outline(lines, len(record.turns), lines[-1].number if at + TURNS < len(record.turns) else None)


def _entries(opened: OpenRun, name: str, turn: Turn) -> tuple[list[Entry], int]:
    """The first entries of a turn, and how many it has."""
    record = opened.records[name]
    first = opened.first_of(name, turn.number) or 0
    last = opened.first_of(name, turn.number + 1)
    count = (len(record.entries) if last is None else last) - first
    return [record.entries[at] for at in islice(range(first, first + count), ENTRIES)], count


def _line(turn: Turn, entries: Sequence[Entry], count: int, edits: bool) -> TurnLine:
    first = next((entry for entry in entries if entry.writer == "agent" and entry.kind in ("message", "call")), None)
    return TurnLine(
        number=turn.number,
        first=turn.first,
        says=one_line(said(first), WIDTH) if first else "",
        tools=tuple(dict.fromkeys(entry.name for entry in entries if entry.kind == "call" and entry.name)),
        entries=count,
        failed=any(_failed(entry) for entry in entries),
        edits=edits,
        usage=turn.usage,
    )


def _failed(entry: Entry) -> bool:
    return bool(entry.exit_status) or bool(entry.is_error)
