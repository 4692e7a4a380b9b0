"""Runs that were read lately, so that a reader who moves about in a record does not have it opened each time."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from functools import cached_property
from threading import Lock

from adjudge.errors import InputError
from adjudge.profile.actions import actions_of
from adjudge.profile.work import EDITS
from adjudge.record import Record, Turn, Usage
from adjudge.run import Run
from adjudge.store.store import Store
from adjudge.web.queries.columns import Columns, columns_of

MOST_RUNS, MOST_TURNS = 16, 200_000
"""Runs that are kept, and turns that they may have together: their entries stay on the disk."""


class OpenRun:
    """A run with what finding one's way in its record needs, worked out as it is asked for.

    `records` are the record and its sub-agents', by the prefix of their entries' ids: "", `s1`, `s1.s2`.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.records = dict(_records(run.record))

    @cached_property
    def usage(self) -> Usage:
        """What the run consumed."""
        return self.run.record.consumed()

    @cached_property
    def columns(self) -> Columns:
        """What its turns consumed, in the columns of a chart."""
        return columns_of(self.run.record.turns)

    @cached_property
    def edits(self) -> frozenset[int]:
        """The turns in which the agent edited or wrote a file; the whole record is walked for it, once."""
        return turns_with_edits(self.run.record)

    def record(self, name: str) -> Record:
        """The record, or the sub-agent's, with this name. Raises InputError if there is none."""
        found = self.records.get(name)
        if found is None:
            raise InputError(f"there is no sub-agent {name[:40]!r} in this run")
        return found

    def turn_at(self, name: str, position: int) -> int:
        """The number of the turn in which an entry stands, 0 before the first; `position` counts from 0."""
        turns = self.records[name].turns
        at = bisect_right(turns, position, key=_first_entry) - 1
        return turns[at].number if at >= 0 else 0

    def first_of(self, name: str, turn: int) -> int | None:
        """The position of a turn's first entry, or `None` if there is no such turn."""
        record = self.records[name]
        at = bisect_right(record.turns, turn - 1, key=lambda each: each.number)
        found = at < len(record.turns) and record.turns[at].number == turn
        return _first_entry(record.turns[at]) if found else None

    def place_of(self, identifier: str) -> tuple[str, int] | None:
        """The record and the position that an entry's or a turn's id names, or `None`."""
        name, _, last = identifier.rpartition(".")
        number = last[1:]
        if name not in self.records or not (number.isascii() and number.isdigit() and len(number) <= 12):
            return None
        if last[:1] == "t":
            first = self.first_of(name, int(number))
            return None if first is None else (name, first)
        inside = last[:1] == "e" and 0 < int(number) <= len(self.records[name].entries)
        return (name, int(number) - 1) if inside else None


def turns_with_edits(record: Record) -> frozenset[int]:
    """The turns of a record in which the agent edited or wrote a file."""
    actions = actions_of(record)
    return frozenset(action.turn for action in actions if any(f.kind in EDITS and f.changes for f in action.facets))


def _records(record: Record) -> Iterator[tuple[str, Record]]:
    waiting = [("", record)]
    while waiting:
        name, each = waiting.pop(0)
        yield name, each
        prefix = f"{name}." if name else ""
        waiting += [(f"{prefix}s{number}", child) for number, child in enumerate(each.children, 1)]


def _first_entry(turn: Turn) -> int:
    """The position of a turn's first entry, whose id is its record's name, `e`, and a number from 1 on."""
    return int(turn.first.rpartition("e")[2] or 1) - 1


class KeptRuns:
    """The runs that were opened last. Runs never change, so none can be out of date. Any thread may use it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[str, OpenRun] = OrderedDict()
        self._lock = Lock()

    def open(self, identifier: str) -> OpenRun:
        """The run with this id. Raises InputError and OutsideError as `Store.run` does."""
        with self._lock:
            if (kept := self._kept.get(identifier)) is not None:
                self._kept.move_to_end(identifier)
                return kept
        opened = OpenRun(self._store.run(identifier))
        with self._lock:
            self._kept[identifier] = opened
            while len(self._kept) > 1 and (len(self._kept) > MOST_RUNS or self._turns() > MOST_TURNS):
                self._kept.popitem(last=False)
        return opened

    def _turns(self) -> int:
        return sum(len(record.turns) for opened in self._kept.values() for record in opened.records.values())
