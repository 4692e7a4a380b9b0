"""The record on a run's page: windows with gaps between them, of the record and of each sub-agent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from markupsafe import Markup

from adjudge.web.addresses import Value, address
from adjudge.web.queries.kept import OpenRun
from adjudge.web.queries.windows import MOST, Window, window_of
from adjudge.web.text import Mark, counted
from adjudge.web.views.spans import Span, joined, spans_of
from adjudge.web.views.turns import TurnView, turns_of

SUB_AGENTS = 100
"""Sub-agents whose records have a section on the page."""
STEP = 60
"""Entries that are loaded into a gap at a time."""
RESULTS = 40
"""Results that are kept with calls beyond where a piece of a record would begin or end."""


class Leads(msgspec.Struct, frozen=True):
    """Where links of a record lead: a page that shows it, and what its address says beside the place."""

    path: tuple[str, ...]
    query: Mapping[str, Any] = {}

    def to(self, at: str = "", **query: Value) -> Markup:
        """The page, opened at a place."""
        return address(*self.path, at=at, **{**query, **self.query})

    def entries(self, **query: Value) -> Markup:
        """The piece that fills a gap."""
        return address(*self.path, "entries", **{**query, **self.query})


def leads_of_run(run: str, judgment: str | None) -> Leads:
    """To the page of a run, with a judgment that was asked for."""
    return Leads(("runs", run), {"judgment": judgment})


class Gap(msgspec.Struct, frozen=True):
    """Entries that are not on the page. `href` opens the page around its first, `load` is what the script fetches.

    It has the positions of the first and of the one behind the last, in the record `of`, for a piece near another one.
    """

    words: str
    href: Markup
    load: Markup
    of: str
    start: int
    end: int


class Section(msgspec.Struct, frozen=True):
    """A record, or a sub-agent's: its turns and gaps in order. `heading` is `None` of the record itself.

    `outline` leads to a sub-agent's outline, where the page has one.
    """

    heading: str | None
    anchor: str | None
    outline: Markup
    items: tuple[TurnView | Gap, ...]


class RecordView(msgspec.Struct, frozen=True):
    """The record on the page. `ids` are the entries and turns that stand on it; `cut` says what has no section."""

    sections: tuple[Section, ...]
    ids: frozenset[str]
    cut: str | None


class Shown:
    """What is shown of a run's record on one page, and where its links lead."""

    def __init__(self, opened: OpenRun, marks: Mapping[str, Sequence[Mark]], leads: Leads) -> None:
        self._opened, self._marks, self._leads = opened, marks, leads
        self._ids: set[str] = set()
        self._at: str | None = None
        self._cited: dict[str, list[int]] = defaultdict(list)
        for place in filter(None, map(opened.place_of, marks)):
            self._cited[place[0]].append(place[1])

    def view(self, at: str | None) -> RecordView:
        """The record with a window around the entry or turn `at`, if it is given and there."""
        self._at = at
        place = self._opened.place_of(at) if at else None
        names = list(self._opened.records)
        wanted = names[: SUB_AGENTS + 1] + ([place[0]] if place and place[0] not in names[: SUB_AGENTS + 1] else [])
        sections = tuple(self._section(name, place[1] if place and place[0] == name else None) for name in wanted)
        left = len(names) - len(wanted)
        cut = f"{counted(left, 'more sub-agent is', 'more sub-agents are')} not on this page" if left else None
        return RecordView(sections, frozenset(self._ids), cut)

    def between(self, name: str, start: int, end: int, near: int | None = None) -> tuple[TurnView | Gap, ...]:
        """What takes a gap's place when it is loaded: some entries near a position, else the first, and what is left.

        Raises InputError if there is no such record.
        """
        end = min(end, len(self._opened.record(name).entries))
        first = start if near is None else max(start, min(near - STEP // 2, end - STEP))
        first, last = self._with_calls(name, (first, min(end, first + STEP))) if first < end else (first, first)
        window = window_of(self._opened, name, max(start, first), min(end, last))
        items: list[TurnView | Gap] = list(self._turns(window))
        if start < window.start:
            items.insert(0, self._gap(name, start, window.start))
        if window.end < end:
            items.append(self._gap(name, window.end, end))
        return tuple(items)

    def _section(self, name: str, at: int | None) -> Section:
        record = self._opened.records[name]
        found = spans_of(len(record.entries), self._cited[name], at, whole=not name)
        spans = joined(self._with_calls(name, span) for span in found)
        label = f": {record.label}" if record.label else ""
        heading = f"Sub-agent {name}{label}, {counted(len(record.entries), 'entry', 'entries')}" if name else None
        outline = self._leads.to("record", outline=0, of=name)
        return Section(heading, f"of-{name}" if name else None, outline, tuple(self._items(name, spans)))

    def _with_calls(self, name: str, span: Span) -> Span:
        """The span with the calls that its first results answer, and with its last calls' results."""
        entries, (start, end) = self._opened.records[name].entries, span
        first = max(0, start - RESULTS)
        while start > first and entries[start].kind == "result":
            start -= 1
        while start > first and entries[start].kind == entries[start - 1].kind == "call":
            start -= 1
        return start, self._behind_results(name, start, end)

    def _behind_results(self, name: str, start: int, end: int) -> int:
        """The end, moved behind results that stand there, so that they are not parted from their calls."""
        entries = self._opened.records[name].entries
        last = min(len(entries), start + MOST, end + RESULTS)
        while end < last and entries[end].kind == "result":
            end += 1
        return end

    def _items(self, name: str, spans: Sequence[Span]) -> Iterator[TurnView | Gap]:
        at = 0
        for start, end in spans:
            if start > at:
                yield self._gap(name, at, start)
            yield from self._span(name, start, end)
            at = end
        total = len(self._opened.records[name].entries)
        if at < total:
            yield self._gap(name, at, total)

    def _span(self, name: str, start: int, end: int) -> list[TurnView]:
        """The turns between two positions, in as many windows as it takes; a turn that goes on in the next is one."""
        turns: list[TurnView] = []
        while start < end:
            window = window_of(self._opened, name, start, end)
            start = window.end
            first, *others = self._turns(window)
            if turns and first.continues:
                turns[-1] = msgspec.structs.replace(turns[-1], parts=(*turns[-1].parts, *first.parts))
            else:
                turns.append(first)
            turns += others
        return turns

    def _turns(self, window: Window) -> tuple[TurnView, ...]:
        turns = turns_of(self._opened.run.id, window, self._marks, lambda entry: self._leads.to(entry, at_=entry), self._at)
        self._ids.update(entry.id for entry in window.entries)
        self._ids.update(turn.anchor for turn in turns if turn.anchor)
        return turns

    def _gap(self, name: str, start: int, end: int) -> Gap:
        first, last = self._opened.turn_at(name, start), self._opened.turn_at(name, end - 1)
        turns = f"Turn {first}" if first == last else f"Turns {first}–{last}"
        entries = counted(end - start, "entry", "entries")
        prefix = f"{name}." if name else ""
        load = self._leads.entries(of=name, start=start, end=end)
        href = self._leads.to(f"{prefix}e{start + 1}", at_=f"{prefix}e{start + 1}")
        cited = any(start <= place < end for place in self._cited[name])
        words = f"{turns}, {entries}, {'cited in places' if cited else 'cited by nothing'}"
        return Gap(words, href, load, name, start, end)
