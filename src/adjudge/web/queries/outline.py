"""The outline of a record: a line for each turn, page by page."""

from __future__ import annotations

from itertools import islice

import msgspec

from adjudge.record import Entry, Turn, Usage
from adjudge.untrusted import one_line
from adjudge.web.queries.kept import OpenRun

TURNS = 200
"""Turns of one page of an outline."""
ENTRIES = 40
"""Entries of a turn that are looked at for its line."""
WIDTH = 110


class TurnLine(msgspec.Struct, frozen=True):
    """A turn: what the agent said or called first, the tools it called, how many entries it has, whether a call failed."""

    number: int
    first: str
    says: str
    tools: tuple[str, ...]
    entries: int
    failed: bool
    usage: Usage | None


class Outline(msgspec.Struct, frozen=True):
    """Some turns of a record, of how many; `next` is the number of the turn where it goes on, `None` at the end."""

    turns: tuple[TurnLine, ...]
    total: int
    next: int | None


def outline_of(opened: OpenRun, after: int = 0, name: str = "") -> Outline:
    """The turns behind one, of the record or of a sub-agent's."""
    record = opened.records[name]
    later = [turn for turn in record.turns if turn.number > after]
    lines = tuple(_line(opened, name, turn) for turn in later[:TURNS])
    return Outline(lines, len(record.turns), lines[-1].number if len(later) > TURNS else None)


def _line(opened: OpenRun, name: str, turn: Turn) -> TurnLine:
    record = opened.records[name]
    first = opened.first_of(name, turn.number) or 0
    last = opened.first_of(name, turn.number + 1)
    count = (len(record.entries) if last is None else last) - first
    entries = [record.entries[at] for at in islice(range(first, first + count), ENTRIES)]
    said = next((entry for entry in entries if entry.writer == "agent" and entry.kind in ("message", "call")), None)
    return TurnLine(
        number=turn.number,
        first=turn.first,
        says=one_line(_said(said), WIDTH) if said else "",
        tools=tuple(dict.fromkeys(entry.name for entry in entries if entry.kind == "call" and entry.name)),
        entries=count,
        failed=any(_failed(entry) for entry in entries),
        usage=turn.usage,
    )


def _said(entry: Entry) -> str:
    """A call without its tool's name, which stands beside it."""
    first, _, rest = entry.text.partition("\n")
    return rest if entry.kind == "call" and first == entry.name and rest else entry.text


def _failed(entry: Entry) -> bool:
    return bool(entry.exit_status) or bool(entry.is_error)
