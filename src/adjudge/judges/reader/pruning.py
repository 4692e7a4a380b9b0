"""Which entries of a trajectory are shown, whole or without their text, so that what remains fits.

In the mode `full` all of them are shown whole. In the mode `pruned` each record keeps its first and last tool outputs; if
that is still too much, its middle is left out entry by entry, from the middle outwards: what stays is as much from its
beginning as from its end. A sub-agent's record is a trajectory of its own; together they take half of the room at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Literal, NamedTuple

from adjudge.judges.reader.marks import Part, elided_mark, record_line, records_mark
from adjudge.judges.reader.passages import NOTHING, Chosen, Passage, passages
from adjudge.judges.reader.walk import Named
from adjudge.judgment import Omitted

KEPT = 20
"""Tool outputs that stay whole at either end of a record."""

SMALL = 200
"""Characters of a tool output that stays whole wherever it stands: a mark would hardly be shorter."""

LONGEST = 400_000
"""Characters of one text that are shown in the mode `pruned`."""

LEAST = 1_000
"""Characters below which a record is left out as a whole."""

MARK = 240
"""Characters that are kept free for the mark of what was left out."""


class Trajectory(NamedTuple):
    """What is shown of a run's records, in order, and what was done to it."""

    parts: tuple[Part, ...]
    truncated: Omitted
    pruned: Omitted
    elided: Omitted
    boilerplate: Omitted
    masks: frozenset[str]


class _Kept(NamedTuple):
    """What is shown of one record, and the size of that."""

    parts: tuple[Part, ...]
    size: int
    passages: tuple[Passage, ...] = ()
    elided: Omitted = NOTHING


def whole_trajectory(
    records: list[Named], mode: Literal["full", "pruned"], room: int | None, mask: bool
) -> Trajectory | None:
    """All entries, in this mode; `None` if they take more than the room."""
    kept: list[_Kept] = []
    for named in records:
        one = _whole(named, mode, room, mask)
        if one is None:
            return None
        room = None if room is None else room - one.size
        kept.append(one)
    return _trajectory(kept)


def fitted_trajectory(records: list[Named], room: int, mask: bool) -> Trajectory:
    """As much as the room can hold, in the mode `pruned`. Every record takes at least some lines, however small it is."""
    own, children = records[0], records[1:]
    most = max(1, room // 2 // LEAST)
    shown, rest = children[:most], children[most:]
    share = room // 2 // len(shown) if shown else 0
    theirs = [_fitted(child, share, mask) for child in shown]
    if rest:
        theirs.append(_left_out(rest))
    mine = _fitted(own, max(room - sum(one.size for one in theirs), LEAST), mask)
    return _trajectory([mine, *theirs])


def _whole(named: Named, mode: Literal["full", "pruned"], room: int | None, mask: bool) -> _Kept | None:
    line = Part(record_line(named.name, named.record, mask), "")
    longest = None if mode == "full" else LONGEST
    chosen = zip(named.entries, repeat(True), named.ordinary) if mode == "full" else _chosen(named)
    shown: list[Passage] = []
    left = None if room is None else room - line.size
    for passage in passages(chosen, longest, mask):
        shown.append(passage)
        left = None if left is None else left - passage.size
        if left is not None and left < 0:
            return None
    return _kept(line, shown) if left is None or left >= 0 else None


def _chosen(named: Named, step: Literal[1, -1] = 1) -> Iterator[Chosen]:
    """Each entry and whether its text is shown; from the last entry backwards it comes to the same."""
    outputs, number = named.outputs, 0
    in_order = iter if step == 1 else reversed
    for entry, ordinary in zip(in_order(named.entries), in_order(named.ordinary), strict=True):
        number += entry.kind == "result"
        middle = entry.kind == "result" and KEPT < number <= outputs - KEPT
        yield entry, not middle or len(entry.text) <= SMALL, ordinary


def _fitted(named: Named, room: int, mask: bool) -> _Kept:
    """As much of a record as the room can hold, from both ends."""
    if (whole := _whole(named, "pruned", room, mask)) is not None:
        return whole
    line = Part(record_line(named.name, named.record, mask), "")
    free = room - line.size - MARK
    entries, longest = named.entries, max(room // 4, 1)
    head = _taken(passages(_chosen(named), longest, mask), free // 2)
    free -= sum(passage.size for passage in head)
    tail = _taken(passages(_chosen(named, -1), longest, mask), free)
    tail = tail[: len(entries) - len(head)][::-1]
    gap = len(entries) - len(head) - len(tail)
    if not gap:
        return _kept(line, [*head, *tail])
    characters = named.characters - sum(passage.characters for passage in (*head, *tail))
    first, last = entries[len(head)], entries[len(head) + gap - 1]
    mark = Part(elided_mark(first, last, gap, characters), "")
    return _kept(line, [*head, *tail], mark, len(head), Omitted(gap, characters))


def _taken(shown: Iterator[Passage], room: int) -> list[Passage]:
    """The passages that come first and fit."""
    taken: list[Passage] = []
    for passage in shown:
        room -= passage.size
        if room < 0:
            break
        taken.append(passage)
    return taken


def _left_out(records: list[Named]) -> _Kept:
    entries = sum(len(named.entries) for named in records)
    characters = sum(named.characters for named in records)
    names = str(records[0].name), str(records[-1].name)
    part = Part(records_mark(*names, len(records), entries, characters), "")
    return _Kept((part,), part.size, elided=Omitted(entries, characters))


def _kept(line: Part, shown: list[Passage], gap: Part | None = None, at: int = 0, elided: Omitted = NOTHING) -> _Kept:
    """What is shown of a record; a gap stands before the passage at this place."""
    parts = [line, *[part for passage in shown[:at] for part in passage.parts]]
    if gap:
        parts.append(gap)
    parts += [part for passage in shown[at:] for part in passage.parts]
    size = line.size + (gap.size if gap else 0) + sum([passage.size for passage in shown])
    return _Kept(tuple(parts), size, tuple(shown), elided)


def _trajectory(kept: list[_Kept]) -> Trajectory:
    shown = [passage for one in kept for passage in one.passages]
    return Trajectory(
        parts=tuple([part for one in kept for part in one.parts]),
        truncated=total([passage.truncated for passage in shown]),
        pruned=total([passage.pruned for passage in shown]),
        elided=total([one.elided for one in kept]),
        boilerplate=total([passage.boilerplate for passage in shown]),
        masks=frozenset().union(*[passage.masks for passage in shown if passage.masks]),
    )


def total(omitted: Iterable[Omitted]) -> Omitted:
    """All together."""
    pieces = characters = 0
    for one in omitted:
        if one is not NOTHING:
            pieces, characters = pieces + one.pieces, characters + one.characters
    return Omitted(pieces, characters) if pieces else NOTHING
