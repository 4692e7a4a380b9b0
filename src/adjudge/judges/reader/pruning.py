"""Which entries of a trajectory are shown, and which of their texts: decided from sizes, before a text is touched."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

import msgspec

from adjudge.record import Entry, Record

WHOLE = 20
"""Tool outputs at each end of a trajectory that stay whole."""

SMALL = 200
"""Characters up to which an output in the middle stays too: a mark would not be shorter."""

FRAME = 60
"""Characters that an entry takes beside its text, roughly."""

MARK = 80
"""Characters of a mark, roughly."""


class Plan(msgspec.Struct, frozen=True):
    """What is shown of a trajectory whose entries are numbered from 0 in reading order.

    Those from `first` up to `last` are left out whole. Of others, outputs from position `from_output` up to `to_output`
    among all outputs are left out if they have more than `SMALL` characters. `longest` bounds a single text.
    """

    entries: int
    first: int
    last: int
    from_output: int
    to_output: int
    longest: int | None


def everything(record: Record) -> Plan:
    """The plan that leaves nothing out."""
    entries = sum(len(each.entries) for each in records(record))
    return Plan(entries, entries, entries, 0, 0, None)


def pruned(record: Record, room: int) -> Plan:
    """The plan that keeps the first and last outputs, and if that is more than `room` characters only both ends of it.

    One text has at most a fourth of the room. What is left out whole is one stretch, and what is kept before it is about
    as long as what is kept after it.
    """
    longest = max(room // 4, SMALL)
    sizes, outputs = _measured(record)
    from_output, to_output = WHOLE, max(WHOLE, len(outputs) - WHOLE)
    for position in outputs[from_output:to_output]:
        if sizes[position] > SMALL:
            sizes[position] = MARK
    first, last = _ends([min(size, longest) + FRAME for size in sizes], room)
    return Plan(len(sizes), first, last, from_output, to_output, longest)


def _measured(record: Record) -> tuple[array[int], array[int]]:
    """The size of each entry's text, and the positions of tool outputs."""
    sizes, outputs = array("q"), array("q")
    for each in records(record):
        for entry in each.entries:
            if entry.kind == "result":
                outputs.append(len(sizes))
            sizes.append(len(entry.text))
    return sizes, outputs


def _ends(sizes: Sequence[int], room: int) -> tuple[int, int]:
    """Up to where entries are kept from the start, and from where on to the end."""
    if sum(sizes) <= room:
        return len(sizes), len(sizes)
    first, last = 0, len(sizes)
    before = after = 0
    while first < last:
        size = sizes[first] if before <= after else sizes[last - 1]
        if before + after + size > room - MARK:
            break
        if before <= after:
            first, before = first + 1, before + size
        else:
            last, after = last - 1, after + size
    return first, last


def records(record: Record) -> Iterator[Record]:
    """A record and those of its sub-agents, in reading order."""
    yield record
    for child in record.children:
        yield from records(child)


def entries_between(record: Record, start: int, stop: int) -> Iterator[Entry]:
    """The entries of a trajectory from one position up to another. Those before are not decoded."""
    offset = 0
    for each in records(record):
        size = len(each.entries)
        for at in range(max(start - offset, 0), min(stop - offset, size)):
            yield each.entries[at]
        offset += size
