"""The record on the page: what is cited in full; the rest folded, or in a long record only counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import msgspec
from markupsafe import Markup

from adjudge.exports.html.text import Mark, Text, counted, text_of
from adjudge.record import Entry, Record, Turn
from adjudge.untrusted import one_line

ENTRIES, CHARACTERS = 400, 1_000_000
"""A record with more than these is not put on the page whole: only what is cited, its neighbours, and an outline."""

CITED, FOLDED = 100_000, 8_000
"""Characters of one entry beyond which it is cut, if it is cited and if it is not."""

Marks = Mapping[str, Sequence[Mark]]


class Exhibit(msgspec.Struct, frozen=True):
    """An entry or a look. `facts` and `failures` are adjudge's own words about it; `marks` lead back to verdicts."""

    id: str
    shape: str
    title: str
    facts: tuple[str, ...]
    failures: tuple[str, ...]
    marks: tuple[Mark, ...]
    preview: str
    text: Text
    unplaced: tuple[str, ...]


class Gap(msgspec.Struct, frozen=True):
    """Entries that are not on the page, because nothing cites them and the record is long."""

    first: str
    last: str
    words: str


class Section(msgspec.Struct, frozen=True):
    """The entries of one turn. `anchor` is the turn's name where this is its first section, else `None`."""

    anchor: str | None
    title: str
    facts: tuple[str, ...]
    items: tuple[Exhibit | Gap, ...]


class RecordView(msgspec.Struct, frozen=True):
    """A record as the page shows it; `bounded` is true if entries were left out."""

    sections: tuple[Section, ...]
    count: str
    bounded: bool


def view_of_record(record: Record, marks: Marks) -> RecordView:
    """The record and those of its sub-agents, by turn."""
    everything = [("", record), *((f"s{n}", child) for n, child in enumerate(record.children, 1))]
    entries = sum(len(each.entries) for _, each in everything)
    bounded = entries > ENTRIES or _characters(record, CHARACTERS) > CHARACTERS
    sections = [section for name, each in everything for section in _sections(name, each, marks, bounded)]
    return RecordView(tuple(sections), counted(entries, "entry", "entries"), bounded)


def ids_of_record(view: RecordView) -> set[str]:
    """The ids of all entries and turns that are on the page."""
    entries = {item.id for section in view.sections for item in section.items if isinstance(item, Exhibit)}
    return entries | {section.anchor for section in view.sections if section.anchor}


def _characters(record: Record, enough: int) -> int:
    """How long the record's texts are together, or something above `enough`."""
    total = 0
    for entry in record.walk():
        total += len(entry.text)
        if total > enough:
            break
    return total


def _sections(name: str, record: Record, marks: Marks, bounded: bool) -> Iterator[Section]:
    """The sections of a record, or of the sub-agent with this name."""
    turns = {turn.number: turn for turn in record.turns}
    wanted = _wanted(record, marks) if bounded else None
    seen: set[int] = set()
    for number, group in groupby(_items(record.entries, wanted), lambda item: item[0]):
        items = tuple(_view(item, marks) for _, item in group)
        yield Section(_anchor(name, number, seen), _title_of_turn(name, number), _facts_of_turn(turns.get(number)), items)
        seen.add(number)


def _anchor(name: str, number: int, seen: set[int]) -> str | None:
    """What a reader calls the turn. A result may come late, so that a turn has several sections."""
    turn = f"{name}.t{number}" if name else f"t{number}"
    return None if number in seen else turn


def _title_of_turn(name: str, number: int) -> str:
    words = "before the first turn" if number == 0 else f"turn {number}"
    return f"sub-agent {name[1:]}, {words}" if name else words[0].upper() + words[1:]


def _wanted(record: Record, marks: Marks) -> set[str]:
    """The entries that must be on the page: the cited ones, the calls that they answer, and the first task message."""
    cited = {entry.id for entry in record.entries if entry.id in marks}
    calls = {entry.answers for entry in record.entries if entry.id in cited and entry.answers}
    first = next((entry.id for entry in record.entries if entry.writer == "user"), None)
    return cited | calls | ({first} if first else set())


def _items(entries: Iterable[Entry], wanted: set[str] | None) -> Iterator[tuple[int, Entry | Gap]]:
    """Entries with their turn; runs of those that are not wanted become one gap, in the turn where it begins."""
    if wanted is None:
        yield from ((entry.turn, entry) for entry in entries)
        return
    for keep, group in groupby(entries, lambda entry: entry.id in wanted):
        if keep:
            yield from ((entry.turn, entry) for entry in group)
        else:
            yield _gap(group)


def _gap(entries: Iterator[Entry]) -> tuple[int, Gap]:
    first = last = next(entries)
    kinds = Counter([first.kind])
    for last in entries:
        kinds[last.kind] += 1
    counts = ", ".join(f"{count:,} {kind}{'s' if count > 1 else ''}" for kind, count in kinds.most_common())
    turns = f"turn {first.turn}" if first.turn == last.turn else f"turns {first.turn} to {last.turn}"
    return first.turn, Gap(first.id, last.id, f"{turns}: {counts}")


def _view(item: Entry | Gap, marks: Marks) -> Exhibit | Gap:
    return item if isinstance(item, Gap) else _exhibit(item, tuple(marks.get(item.id, ())))


def _exhibit(entry: Entry, marks: tuple[Mark, ...]) -> Exhibit:
    most = CITED if marks else FOLDED
    text = text_of(entry.text, most, marks)
    missing = [mark for mark in marks if mark.anchor in text.unplaced]
    unplaced = text.unplaced
    if missing and entry.arguments and entry.arguments != entry.text:
        arguments = text_of(entry.arguments, most, missing)
        text = Text(text.html + Markup("\n\n") + arguments.html)
        unplaced = arguments.unplaced
    return Exhibit(
        id=entry.id,
        shape=entry.kind,
        title=_title(entry),
        facts=_facts(entry),
        failures=_failures(entry),
        marks=marks,
        preview=one_line(entry.text, 120),
        text=text,
        unplaced=unplaced,
    )


def _facts(entry: Entry) -> tuple[str, ...]:
    answers = f"of {entry.answers}" if entry.answers else None
    status = "exit status 0" if entry.exit_status == 0 else None
    return tuple(fact for fact in (answers, status, entry.time) if fact)


def _failures(entry: Entry) -> tuple[str, ...]:
    status = f"exit status {entry.exit_status}" if entry.exit_status else None
    error = "reported as an error" if entry.is_error else None
    return tuple(fact for fact in (status, error) if fact)


def _title(entry: Entry) -> str:
    if entry.kind in ("call", "result"):
        return f"{entry.kind} {entry.name}" if entry.name else entry.kind
    if entry.writer == "agent":
        return entry.kind
    return f"{entry.kind} by {entry.writer}" + (f" ({entry.origin})" if entry.origin else "")


def _facts_of_turn(turn: Turn | None) -> tuple[str, ...]:
    if turn is None:
        return ()
    usage = turn.usage
    read = f"{usage.prompt:,} tokens in" if usage and usage.prompt is not None else None
    written = f"{usage.output:,} out" if usage and usage.output is not None else None
    return tuple(fact for fact in (turn.model, read, written, turn.time) if fact)
