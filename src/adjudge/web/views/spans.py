"""Which entries of a record stand on its page: all of a short one; of a long one its ends, what is cited, a window."""

from __future__ import annotations

from collections.abc import Iterable

SHORT = 200
"""Entries of a record that is shown whole."""
FIRST, LAST = 8, 3
"""Entries at a record's start and end that are always shown."""
FIRST_OF_ALL = 60
"""Entries at the start of a record of which nothing is cited and no place was asked for."""
AROUND = 3
"""Entries before and after one that is cited."""
CITED, CITED_OF_LONG, LONG = 40, 12, 4_000
"""Cited places that are shown at once, and of a record with more than so many entries; the others are one link away."""
BEFORE, AFTER = 10, 40
"""Entries around the place that was asked for."""
SMALL = 4
"""Entries that are not worth a gap."""

Span = tuple[int, int]


def spans_of(total: int, cited: Iterable[int], at: int | None, whole: bool = True) -> list[Span]:
    """Positions that are shown, as spans from the first to before the last, in order and with gaps between them.

    Without `whole`, as of a sub-agent's record, that is only what is cited or asked for.
    """
    if whole and total <= SHORT:
        return [(0, total)] if total else []
    most = CITED_OF_LONG if total > LONG else CITED
    wanted = [(place - AROUND, place + 1 + AROUND) for place in sorted(cited)[:most]]
    if at is not None:
        wanted.append((at - BEFORE, at + AFTER))
    if whole:
        wanted += [(0, FIRST if wanted else FIRST_OF_ALL), (total - LAST, total)]
    return joined((max(0, start), min(total, end)) for start, end in wanted)


def joined(spans: Iterable[Span]) -> list[Span]:
    """Spans in order, those that touch or nearly do made one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start - found[-1][1] < SMALL:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
