"""Calls that brought nothing new: files read again, tests run again and calls made again, with no change seen between."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence

from adjudge.profile.actions import Action, Read, basename
from adjudge.profile.work import IDLE

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
        if not action.changing:
            return
        if action.changes:
            self._any = place
        if action.changes_unnamed:
            self._unnamed = place
        for facet in action.changing:
            for path in facet.paths:
                self._named[basename(path)] = place

    def any_since(self, place: int) -> bool:
        """Whether anything lasting was changed by an action at this place or later."""
        return self._any >= place

    def to_tests_since(self, place: int, tests: Sequence[str]) -> bool:
        """Whether anything was, or a temporary file that the tests' words name."""
        return self._any >= place or any(self.since(place, word) for word in tests)

    def since(self, place: int, path: str) -> bool:
        """Whether this file may have been; one of the same name elsewhere counts for it."""
        return self._unnamed >= place or self._named.get(basename(path), -1) >= place


def repeated_reads(actions: Sequence[Action]) -> Iterator[tuple[Action, str]]:
    """Actions that show lines of a file which an earlier one had shown, with the file's path.

    Lines that come with their numbers for the first time are new, and all are after a summary has replaced what was read.
    """
    changes, earlier = Changes(), dict[str, list[tuple[int, Action, Read]]]()
    for place, action in enumerate(actions):
        if (action.size or 0) >= LITTLE:
            again = [read for read in action.reads if _was_read(read, action, earlier.get(read.path, ()), changes)]
            if again:
                yield action, again[0].path
            for read in action.reads:
                seen = earlier.setdefault(read.path, [])
                seen.append((place, action, read))
                del seen[:-REMEMBERED]
        changes.note(place, action)


def _was_read(read: Read, action: Action, earlier: Sequence[tuple[int, Action, Read]], changes: Changes) -> bool:
    if _POLLED.search(read.path):
        return False
    return any(
        before_action.forgotten == action.forgotten
        and not changes.since(place, read.path)
        and _covers(before, read, before_action.output == action.output)
        for place, before_action, before in earlier
    )


def _covers(before: Read, read: Read, same_output: bool) -> bool:
    """Whether the earlier read had shown what this one shows; the same request must have brought the same."""
    if (before.whole, before.asked) == (read.whole, read.asked):
        return same_output
    if before.shown is None or read.shown is None or (read.numbered and not before.numbered):
        return False
    return before.shown[0] <= read.shown[0] and read.shown[1] <= before.shown[1]


def duplicate_calls(actions: Sequence[Action]) -> Iterator[Action]:
    """Actions that an earlier one equals in tool, arguments and output."""
    changes, earlier = Changes(), dict[Hashable, int]()
    for place, action in enumerate(actions):
        if action.size and not action.changing and not action.bare and action.kind not in (*IDLE, "ask", "submit"):
            key = (action.same, action.output, action.forgotten)
            before = earlier.get(key)
            if before is not None and not changes.any_since(before):
                yield action
            earlier[key] = place
        changes.note(place, action)


def test_reruns(actions: Sequence[Action]) -> Iterator[Action]:
    """Actions that run the tests that an earlier one had run, whatever filters the output goes through."""
    changes, earlier = Changes(), dict[tuple[str, ...], int]()
    for place, action in enumerate(actions):
        if action.output is not None and (tests := action.tests):
            before = earlier.get(tests)
            if before is not None and not changes.to_tests_since(before, tests):
                yield action
            earlier[tests] = place
        changes.note(place, action)


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
