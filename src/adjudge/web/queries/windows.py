"""Windows of a record: entries from any place on, so that a long record opens anywhere at once."""

from __future__ import annotations

import msgspec

from adjudge.errors import InputError
from adjudge.record import Entry, Turn
from adjudge.web.queries.kept import OpenRun

MOST = 200
"""Entries of one window."""
LARGE = 2_000_000
"""Characters after which a window ends, however many entries it has."""


class Window(msgspec.Struct, frozen=True):
    """Entries of a record, or of the sub-agent whose ids begin with `record`, from position `start` to before `end`.

    Positions count from 0; `total` is how many entries there are. `turns` are those that the entries belong to.
    """

    record: str
    start: int
    end: int
    total: int
    entries: tuple[Entry, ...]
    turns: tuple[Turn, ...]


def window_of(opened: OpenRun, name: str, start: int, end: int) -> Window:
    """The entries between two positions, as far as they fit into one window.

    Raises:
        InputError: there is no such record.
        OutsideError: the store is damaged, or cannot be read.
    """
    record = opened.record(name)
    total = len(record.entries)
    start = max(0, min(start, total))
    end = max(start, min(end, total, start + MOST))
    entries: list[Entry] = []
    room = LARGE
    for position in range(start, end):
        entry = record.entries[position]
        entries.append(entry)
        room -= len(entry.text)
        if room < 0:
            break
    numbers = {entry.turn for entry in entries}
    turns = tuple(turn for number in sorted(numbers) if (turn := _turn(opened, name, number)))
    return Window(name, start, start + len(entries), total, tuple(entries), turns)


def window_around(opened: OpenRun, identifier: str, before: int = 20, after: int = 60) -> Window:
    """The entries around one, or around a turn's first. Raises InputError if the run has no such entry or turn."""
    place = opened.place_of(identifier)
    if place is None:
        raise InputError(f"there is no entry or turn {identifier[:40]!r} in this run")
    name, position = place
    return window_of(opened, name, position - before, position + after)


def _turn(opened: OpenRun, name: str, number: int) -> Turn | None:
    turns = opened.records[name].turns
    at = number - turns[0].number if turns else -1
    if 0 <= at < len(turns) and turns[at].number == number:  # they count without a gap, nearly always
        return turns[at]
    return next((turn for turn in turns if turn.number == number), None)
