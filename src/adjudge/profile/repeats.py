"""Calls that brought nothing new: files read again, tests run again and calls made again, with no change seen between."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from adjudge.profile.actions import Action, Read, basename
from adjudge.profile.work import IDLE, TESTS

REMEMBERED = 20
"""Earlier reads of one file with which a later one is compared."""

LITTLE = 500
"""Characters of an output below which a look at some lines again is not counted."""

_POLLED = re.compile(r"\.(?:log|lock|pid|out)$|^/proc/")
"""Files that are read again to see whether they have changed."""


class Changes:
    """When which file was last changed, as far as that is seen: programs that only run may change files, too."""

    def __init__(self) -> None:
        self._any = self._unnamed = -1
        self._named: dict[str, int] = {}

    def note(self, place: int, action: Action) -> None:
        """Take note of what the action at this place changes."""
        if action.changes:
            self._any = place
        if action.changes_unnamed:
            self._unnamed = place
        for facet in action.changing:
            for path in facet.paths:
                self._named[basename(path)] = place

    def any_since(self, place: int, *words: str) -> bool:
        """Whether anything lasting was changed by an action at this place or later, or a file that one of the words is."""
        return self._any >= place or any(self.since(place, word) for word in words)

    def since(self, place: int, path: str) -> bool:
        """Whether this file may have been; one of the same name elsewhere counts for it."""
        return self._unnamed >= place or self._named.get(basename(path), -1) >= place


class Repeats:
    """The calls that brought nothing new: reads with the file's path, runs of tests, and calls of any kind.

    A call can be more than one of these.
    """

    def __init__(self, actions: Sequence[Action]) -> None:
        self.reads: list[tuple[Action, str]] = []
        self.tests: list[Action] = []
        self.calls: list[Action] = []
        self._changes = Changes()
        self._reads: dict[str, list[tuple[int, Action, Read]]] = {}
        self._tests: dict[tuple[str, ...], int] = {}
        self._calls: dict[tuple[int, int | None, int], int] = {}
        for place, action in enumerate(actions):
            self._take(place, action)

    def _take(self, place: int, action: Action) -> None:
        if action.size:
            if action.reads and action.size >= LITTLE:
                self._take_reads(place, action)
            if action.kind in TESTS:
                self._take_tests(place, action)
            if not action.changing and not action.bare and action.kind not in _NO_DUPLICATES:
                self._take_call(place, action)
        if action.changing:
            self._changes.note(place, action)

    def _take_reads(self, place: int, action: Action) -> None:
        """Reads of lines that were shown before.

        Lines that come with their numbers for the first time are new, and all are after a summary has replaced what was
        read.
        """
        again = [read.path for read in action.reads if self._was_read(read, action)]
        if again:
            self.reads.append((action, again[0]))
        for read in action.reads:
            seen = self._reads.setdefault(read.path, [])
            seen.append((place, action, read))
            del seen[:-REMEMBERED]

    def _was_read(self, read: Read, action: Action) -> bool:
        if _POLLED.search(read.path):
            return False
        for place, earlier, before in self._reads.get(read.path, ()):
            remembered = earlier.forgotten == action.forgotten and not self._changes.since(place, read.path)
            if remembered and _covers(before, read, earlier.output == action.output):
                return True
        return False

    def _take_tests(self, place: int, action: Action) -> None:
        """Runs of tests that were run before, whatever filters the output goes through."""
        tests = action.tests
        before = self._tests.get(tests)
        if before is not None and not self._changes.any_since(before, *tests):
            self.tests.append(action)
        self._tests[tests] = place

    def _take_call(self, place: int, action: Action) -> None:
        """Calls that an earlier one equals in tool, arguments and output."""
        key = (action.same, action.output, action.forgotten)
        before = self._calls.get(key)
        if before is not None and not self._changes.any_since(before):
            self.calls.append(action)
        self._calls[key] = place


_NO_DUPLICATES = IDLE | {"ask", "submit"}


def _covers(before: Read, read: Read, same_output: bool) -> bool:
    """Whether the earlier read had shown what this one shows; the same request must have brought the same."""
    if (before.whole, before.asked) == (read.whole, read.asked):
        return same_output
    if before.shown is None or read.shown is None or (read.numbered and not before.numbered):
        return False
    return before.shown[0] <= read.shown[0] and read.shown[1] <= before.shown[1]


def loops(actions: Sequence[Action]) -> list[Sequence[Action]]:
    """Stretches in which one call is made three times in a row, or two or three calls alternate three times.

    Polls and calls whose arguments the recording lacks belong to no loop; what came back does not matter.
    """
    kept = [action for action in actions if action.kind not in IDLE and not action.bare]
    inside = bytearray(len(kept))
    found: list[tuple[int, int]] = []
    for period in (1, 2, 3):
        for begin, end in _periodic(kept, period):
            if not (inside[begin] and inside[end - 1]):
                found.append((begin, end))
                inside[begin:end] = b"\1" * (end - begin)
    return [kept[begin:end] for begin, end in sorted(found)]


def _periodic(kept: Sequence[Action], period: int) -> Iterator[tuple[int, int]]:
    """Where stretches of at least three periods begin and end."""
    matched = 0
    for place in range(period, len(kept) + 1):
        if place < len(kept) and kept[place].same == kept[place - period].same:
            matched += 1
            continue
        if matched >= 2 * period:
            yield place - matched - period, place
        matched = 0
