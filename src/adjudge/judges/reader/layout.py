"""How entries stand in the reader's request: headers, texts and marks, told apart by a token that no text can hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from adjudge.record import Entry
from adjudge.untrusted import one_line

LONGEST_NAME = 80

Left = Literal["output", "boilerplate", "cut"]

WORDS: dict[Left, str] = {
    "output": "this output, {characters} characters",
    "boilerplate": "text that the harness writes every time, {characters} characters",
    "cut": "{characters} characters here",
}


class Gap(msgspec.Struct, frozen=True):
    """What stands in place of a text that was left out of an entry."""

    left: Left
    characters: int


class Stretch(msgspec.Struct, frozen=True):
    """What stands in place of entries that were left out whole, from `first` to `last`."""

    first: Entry
    last: Entry
    entries: int
    characters: int


class Shown(msgspec.Struct, frozen=True):
    """An entry as it is shown: its header, and texts and gaps in order."""

    header: str
    parts: tuple[str | Gap, ...]


def header(entry: Entry) -> str:
    """What is known of an entry from its structure, in one line."""
    words = [turn_name(entry), entry.id, *_what(entry)]
    facts = [f"exit status {entry.exit_status}"] if entry.exit_status is not None else []
    facts += ["error"] if entry.is_error else []
    facts += [f"put there by the harness: {one_line(entry.origin, LONGEST_NAME)}"] if entry.origin else []
    return " · ".join([" ".join(words), *facts])


def turn_name(entry: Entry) -> str:
    """The name of the turn that an entry belongs to, such as `t7` or `s1.t3`."""
    prefix, dot, _ = entry.id.rpartition(".")
    return f"{prefix}{dot}t{entry.turn}"


def _what(entry: Entry) -> Iterator[str]:
    name = one_line(entry.name, LONGEST_NAME) if entry.name else ""
    if entry.kind == "call":
        yield f"call of {name}" if name else "call"
    elif entry.kind == "result":
        yield f"result of {entry.answers}" if entry.answers else "result"
        yield f"({name})" if name else ""
    else:
        yield f"{entry.writer} {entry.kind}"


def lines(pieces: Sequence[Shown | Stretch], token: str) -> str:
    """The pieces as text; every line that begins with the token is of adjudge's making."""
    return "\n".join(line for piece in pieces for line in _lines(piece, token))


def _lines(piece: Shown | Stretch, token: str) -> Iterator[str]:
    if isinstance(piece, Stretch):
        turns = f"{turn_name(piece.first)} to {turn_name(piece.last)}"
        which = f"{piece.first.id} to {piece.last.id}, {turns}"
        yield f"{token} left out: {piece.entries} entries ({which}), {piece.characters} characters"
        return
    yield f"{token} {piece.header}".rstrip()
    for part in piece.parts:
        yield part if isinstance(part, str) else gap_line(part, token)


def gap_line(gap: Gap, token: str) -> str:
    """The mark of a gap."""
    return f"{token} left out: {WORDS[gap.left].format(characters=gap.characters)}"
