"""A look at how runs end: what each agent said last, or with what else its record ends."""

from __future__ import annotations

from collections.abc import Iterator

from adjudge import untrusted
from adjudge.asking.lines import AT_ONCE, LONGEST_WORDS, Line, joined, page, theirs
from adjudge.asking.run_looks import meant, named
from adjudge.asking.source import Source, asked_for
from adjudge.asking.tools import ListEndings
from adjudge.asking.values import Look
from adjudge.errors import InputError, OutsideError
from adjudge.record import Entry, Record
from adjudge.store.found import find_runs
from adjudge.store.judged import RunFacts

LONGEST_READ = 4_096
"""Characters of an entry from which its words are taken."""


def list_endings(source: Source, asked: ListEndings) -> Look:
    """A page of runs, the latest first, each with the end of its record; only those on the page are read."""
    found, total = find_runs(source.store, meant(asked), asked.offset, AT_ONCE)
    lines = _lines(source, [each.facts for each in found])
    return page(lines, total, asked.offset, "runs", asked_for(meant(asked)))


def _lines(source: Source, runs: list[RunFacts]) -> Iterator[Line]:
    over = source.patience()
    for facts in runs:
        if over():
            return
        try:
            record = source.store.run(facts.id).record
            entry = _last(record)
        except (InputError, OutsideError):  # one damaged run must not hide the others
            yield (facts.id,), joined(facts.id, named(facts), "its record cannot be read")
            continue
        shown = (facts.id,) if entry is None else (facts.id, f"{facts.id}/{entry.id}")
        yield shown, joined(facts.id, named(facts), _told(entry, record, source.mask))


def _last(record: Record) -> Entry | None:
    """The agent's final message, or else the last entry."""
    if record.final and (entry := record.entry(record.final)):
        return entry
    return record.entries[-1] if len(record.entries) else None


def _told(entry: Entry | None, record: Record, mask: bool) -> str:
    if entry is None:
        return "its record is empty"
    words = theirs(untrusted.shown(entry.text[:LONGEST_READ], mask), LONGEST_WORDS)
    if entry.id == record.final:
        return f"the agent's final message is {entry.id}: {words}"
    return f"no final message; the record ends with {entry.id}, {entry.kind} of {entry.writer}: {words}"
