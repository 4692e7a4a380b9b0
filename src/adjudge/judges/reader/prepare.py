"""Preparing what the reader's model gets to see of a run: made visible, bounded, enclosed, and every change counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from adjudge import untrusted
from adjudge.judges.reader.input import ReaderInput
from adjudge.judges.reader.marks import AROUND, Part, enclosed, enclosed_parts, token_for
from adjudge.judges.reader.passages import masks_in, shortened
from adjudge.judges.reader.pruning import (
    Trajectory,
    fitted_trajectory,
    total,
    whole_trajectory,
)
from adjudge.judges.reader.walk import Named, held, walk
from adjudge.judgment import Omitted, PruneMode, Steering

LONGEST_TASK = 20_000
"""Characters of the task, and of the context, that are shown."""

LONGEST_PATCH = 60_000
"""Characters of the patch that are shown."""

LONGEST_TESTS = 20_000
"""Characters of the ids of hidden tests that are shown."""

LONGEST_NAME = 200
"""Characters of what the recording says that the agent is."""

LONGEST_HINTS = 5_000
"""Characters of the hints; the profile makes fewer."""

MOST = 2_000_000
"""Characters of a pruned trajectory where no window is known; no model takes more."""


class Material(msgspec.Struct, frozen=True):
    """What the model gets to see, and what was done to it.

    Each text stands between two lines with the token, and is empty where there is none. `shown` is the trajectory, in
    pieces. `record` counts the characters of
    all entries' texts, `masked` the different credentials that were kept from the model; `signs` are those of steering.
    """

    token: str
    mode: Literal["full", "pruned"]
    agent: str
    task: str
    context: str
    patch: str
    hidden_tests: str
    hints: str
    shown: tuple[str, ...]
    record: int
    masked: int
    signs: tuple[Steering, ...]
    input_truncated: Omitted
    tool_output_pruned: Omitted
    events_elided: Omitted
    boilerplate: Omitted

    @property
    def trajectory(self) -> str:
        """The trajectory as one text."""
        return "".join(self.shown)


class _Document(NamedTuple):
    """A text beside the trajectory, in parts if its middle was cut."""

    parts: tuple[Part, ...]
    truncated: Omitted
    masks: frozenset[str]


def prepare(seen: ReaderInput, asked: PruneMode, room: int | None = None, mask: bool = True, hints: str = "") -> Material:
    """What the model gets to see of a run; the same for the same input, mode, room and hints.

    `room` is how many characters the trajectory may take, if that is known. With `mask` credentials are masked.
    """
    documents = [
        _document(untrusted.one_line(seen.agent or "", LONGEST_NAME, mask), LONGEST_NAME, mask),
        _document(seen.task, LONGEST_TASK, mask),
        _document(seen.context, LONGEST_TASK, mask),
        _document(seen.patch, LONGEST_PATCH, mask),
        _document("\n".join(" ".join(test.split("\n")) for test in seen.hidden_tests), LONGEST_TESTS, mask),
        _document(hints, LONGEST_HINTS, mask),
    ]
    records, signs = walk(held(seen.record))
    mode, trajectory = _trajectory(records, asked, None if room is None else room - AROUND, mask)
    token = _token([*(part for document in documents for part in document.parts), *trajectory.parts])
    agent, task, context, patch, hidden_tests, given = (_enclosed(token, document.parts) for document in documents)
    return Material(
        token=token,
        mode=mode,
        agent=agent,
        task=task,
        context=context,
        patch=patch,
        hidden_tests=hidden_tests,
        hints=given,
        shown=enclosed_parts(token, trajectory.parts),
        record=sum(named.characters for named in records),
        masked=len(trajectory.masks.union(*(document.masks for document in documents))),
        signs=signs,
        input_truncated=total([*(document.truncated for document in documents), trajectory.truncated]),
        tool_output_pruned=trajectory.pruned,
        events_elided=trajectory.elided,
        boilerplate=trajectory.boilerplate,
    )


def _token(parts: Sequence[Part]) -> str:
    return token_for(["\n".join(part.mark for part in parts), *(part.text for part in parts if part.text)])


def _trajectory(
    records: list[Named], asked: PruneMode, room: int | None, mask: bool
) -> tuple[Literal["full", "pruned"], Trajectory]:
    """The mode that was used, and what it shows."""
    if asked == "full" or (asked == "automatic" and room is not None):
        whole = whole_trajectory(records, "full", None if asked == "full" else room, mask)
        if whole is not None:
            return "full", whole
    bound = MOST if room is None else room
    pruned = whole_trajectory(records, "pruned", bound, mask)
    return "pruned", fitted_trajectory(records, bound, mask) if pruned is None else pruned


def _document(text: str | None, longest: int, mask: bool) -> _Document:
    seen = untrusted.shown(text, mask) if text else ""
    parts, truncated = shortened([Part("", seen)], longest)
    return _Document(parts, truncated, masks_in(text or "", seen))


def _enclosed(token: str, parts: tuple[Part, ...]) -> str:
    first, *rest = parts
    return enclosed(token, first.text, rest) if first.text else ""
