"""What the reader is shown of a run, as texts: visible, bounded, enclosed, with a mark for everything left out.

The same input and mode give the same bytes. Of a long record only what is shown is ever made visible.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Literal

import msgspec

from adjudge.judges.reader.boilerplate import boilerplate_in
from adjudge.judges.reader.input import ReaderInput
from adjudge.judges.reader.layout import Gap, Left, Shown, Stretch, gap_line, header, lines
from adjudge.judges.reader.pruning import SMALL, Plan, entries_between, everything, pruned, records
from adjudge.judgment import Omitted, PruneMode
from adjudge.record import Entry, Record
from adjudge.untrusted import shown

LONGEST_TASK = 20_000
LONGEST_PATCH = 60_000
LONGEST_TESTS = 10_000

CUT_WITHIN = 2_000
"""Characters before a cut in which a white space is looked for."""

MOST = 4_000_000
"""Characters of a pruned trajectory where no window is known; no model takes more."""

_MASKED = re.compile(r"<secret:[0-9a-f]{6}>")


class Material(msgspec.Struct, frozen=True):
    """A run as it is shown to a reader.

    All texts may be shown and stand between lines with `token`, or are `""`. `record` is the number of characters of all
    entries' texts, `masked` that of different credentials that were hidden. The rest says what was left out.
    """

    token: str
    mode: Literal["full", "pruned"]
    task: str
    context: str
    patch: str
    hidden_tests: str
    trajectory: str
    record: int
    masked: int
    input_truncated: Omitted
    tool_output_pruned: Omitted
    events_elided: Omitted
    boilerplate: Omitted


def prepare(seen: ReaderInput, asked: PruneMode, room: int | None = None, mask: bool = True) -> Material:
    """Prepare a run for a trajectory of about `room` characters, `None` if the room is not known.

    `full` leaves nothing of the trajectory out, whatever the room. `pruned` leaves out long tool outputs between the first
    and the last twenty, and if that is not enough entries from the middle. `automatic` is `full` if that fits a known room,
    else `pruned`.
    """
    characters = sum(len(entry.text) for record in records(seen.record) for entry in record.entries)
    if asked == "full" or (asked == "automatic" and room is not None and characters <= room):
        whole = _Preparation(seen, "full", everything(seen.record), mask).material(characters)
        if asked == "full" or room is None or len(whole.trajectory) <= room:
            return whole
    plan = pruned(seen.record, MOST if room is None else room)
    return _Preparation(seen, "pruned", plan, mask).material(characters)


class _Preparation:
    """One run on its way into a request; counts what is left out."""

    def __init__(self, seen: ReaderInput, mode: Literal["full", "pruned"], plan: Plan, mask: bool) -> None:
        self._seen, self._mode, self._plan, self._mask = seen, mode, plan, mask
        self._left: dict[Left, list[int]] = {"output": [], "boilerplate": [], "cut": []}
        self._elided = Omitted()
        self._masked: set[str] = set()

    def material(self, characters: int) -> Material:
        beside = [
            self._parts(self._seen.task, LONGEST_TASK),
            self._parts(self._seen.context, LONGEST_TASK),
            self._parts(self._seen.patch, LONGEST_PATCH),
            self._parts("\n".join(self._seen.hidden_tests), LONGEST_TESTS),
        ]
        pieces = list(self._pieces())
        token = token_for([*(part for parts in beside for part in parts if isinstance(part, str)), *_texts(pieces)])
        task, context, patch, hidden_tests = (_enclosed(parts, token) for parts in beside)
        return Material(
            token,
            self._mode,
            task,
            context,
            patch,
            hidden_tests,
            f"<<{token}\n{lines(pieces, token)}\n{token}>>",
            characters,
            len(self._masked),
            self._omitted("cut"),
            self._omitted("output"),
            self._elided,
            self._omitted("boilerplate"),
        )

    def _omitted(self, left: Left) -> Omitted:
        return Omitted(len(self._left[left]), sum(self._left[left]))

    def _pieces(self) -> Iterator[Shown | Stretch]:
        plan, record = self._plan, self._seen.record
        outputs = 0
        for entry in entries_between(record, 0, plan.first):
            yield self._entry(entry, outputs)
            outputs += entry.kind == "result"
        if plan.first < plan.last:
            stretch, inside = _stretch(record, plan)
            self._elided = Omitted(stretch.entries, stretch.characters)
            yield stretch
            outputs += inside
        for entry in entries_between(record, plan.last, plan.entries):
            yield self._entry(entry, outputs)
            outputs += entry.kind == "result"

    def _entry(self, entry: Entry, outputs: int) -> Shown:
        plan = self._plan
        middle = entry.kind == "result" and plan.from_output <= outputs < plan.to_output
        if middle and len(entry.text) > SMALL:
            return Shown(header(entry), (self._gap("output", len(entry.text)),))
        return Shown(header(entry), tuple(self._texts_of(entry)))

    def _texts_of(self, entry: Entry) -> Iterator[str | Gap]:
        """An entry's text, its boilerplate as a gap."""
        span = boilerplate_in(entry)
        if span is None:
            yield from self._parts(entry.text, self._plan.longest)
            return
        start, end = span
        yield from self._parts(entry.text[:start], self._plan.longest)
        yield self._gap("boilerplate", end - start)
        yield from self._parts(entry.text[end:], self._plan.longest)

    def _parts(self, text: str | None, longest: int | None) -> list[str | Gap]:
        """A text as it may be shown; of a longer one both ends."""
        if not text:
            return []
        if longest is None or len(text) <= longest:
            return [self._visible(text)]
        head, tail = between_words(text, longest * 2 // 3), between_words(text, len(text) - longest // 3)
        return [self._visible(text[:head]), self._gap("cut", tail - head), self._visible(text[tail:])]

    def _visible(self, text: str) -> str:
        visible = shown(text, self._mask)
        if "<secret:" in visible:
            self._masked.update(_MASKED.findall(visible))
        return visible

    def _gap(self, left: Left, characters: int) -> Gap:
        self._left[left].append(characters)
        return Gap(left, characters)


def between_words(text: str, at: int) -> int:
    """A position at or shortly before this one that cuts no word in two: half a credential is not recognised as one."""
    near = max(0, at - CUT_WITHIN)
    return max(text.rfind(space, near, at) for space in " \n\t") + 1 or at


def _stretch(record: Record, plan: Plan) -> tuple[Stretch, int]:
    """The entries that are left out whole, and how many of them are outputs."""
    first = last = next(entries_between(record, plan.first, plan.last))
    characters = outputs = 0
    for entry in entries_between(record, plan.first, plan.last):
        last = entry
        characters, outputs = characters + len(entry.text), outputs + (entry.kind == "result")
    return Stretch(first, last, plan.last - plan.first, characters), outputs


def _texts(pieces: Sequence[Shown | Stretch]) -> Iterator[str]:
    for piece in pieces:
        if isinstance(piece, Shown):
            yield piece.header
            yield from (part for part in piece.parts if isinstance(part, str))


def token_for(texts: Iterable[str]) -> str:
    """A token that stands in none of the texts: a hash over them all, which nobody could know who wrote any of them."""
    known = [text.encode("utf-8", "surrogatepass") for text in texts]
    for attempt in count():
        digest = hashlib.blake2b(attempt.to_bytes(8, "big"), digest_size=8)
        for text in known:
            digest.update(len(text).to_bytes(8, "big"))
            digest.update(text)
        token = digest.hexdigest()
        if not any(token.encode() in text for text in known):
            return token
    raise AssertionError("a hash that is in every text does not exist")


def _enclosed(parts: Sequence[str | Gap], token: str) -> str:
    if not parts:
        return ""
    inside = "\n".join(part if isinstance(part, str) else gap_line(part, token) for part in parts)
    return f"<<{token}\n{inside}\n{token}>>"
