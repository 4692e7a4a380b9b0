"""The lines between the texts of others: each begins with a token that stands in none of them.

A trajectory is parts, one after another: a line of ours, then a text that goes on until the next line with the token. What
is ours in a line stands before what is not (names, origins), and that stands in quotes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from adjudge import untrusted
from adjudge.record import Entry, Record

DIGITS = 12
"""Hexadecimal digits of a token."""

AROUND = 2 * DIGITS + 8
"""Characters that enclosing a text adds to it."""

NAME = 60
"""Characters of a name in a line."""


class Part(msgspec.Struct, frozen=True, gc=False):
    """A line of ours without its token, and the text after it, which may be empty."""

    mark: str
    text: str

    @property
    def size(self) -> int:
        """Characters of it once it is written."""
        return DIGITS + 2 + len(self.mark) + (len(self.text) + 1 if self.text else 0)


def header(entry: Entry, mask: bool, left_out: bool, injected: bool) -> str:
    """The line before an entry's text: what the structure of its recording tells of it."""
    prefix, dot, _ = entry.id.rpartition(".")
    words = [f"{prefix}{dot}t{entry.turn} {entry.id} {entry.writer} {entry.kind}"]
    if entry.answers:
        words[0] += f" of {entry.answers}"
    if entry.exit_status is not None:
        words.append(f"exit status {entry.exit_status}")
    if entry.is_error:
        words.append("marked as an error")
    if left_out:
        words.append(f"{len(entry.text)} characters left out")
    elif not entry.text:
        words.append("empty")
    if injected:
        words.append("written by the harness")
    if entry.name:
        words.append(quoted(entry.name, mask))
    if entry.origin:
        words.append(f"put there as {quoted(entry.origin, mask)}")
    return " · ".join(words)


@lru_cache(maxsize=1024)
def quoted(name: str, mask: bool) -> str:
    """A name of others in one bounded line, between quotes that it cannot close."""
    return f'"{untrusted.one_line(name, NAME, mask).replace(chr(34), chr(39))}"'


def record_line(name: str | None, record: Record, mask: bool) -> str:
    """The line before a record: whose it is, how large, and what it cannot show."""
    whose = f"sub-agent {name}" if name else "the agent's record"
    words = [f"{whose}: {len(record.entries)} entries in {len(record.turns)} turns"]
    if record.unparsed:
        words.append(f"{len(record.unparsed)} pieces of the recording could not be read")
    if "results" not in record.tells:
        words.append("results of calls are not recorded")
    elif "exit_statuses" not in record.tells:
        words.append("exit statuses are not recorded")
    if name and record.label:
        words.append(quoted(record.label, mask))
    return " · ".join(words)


def cut_mark(characters: int) -> str:
    """Stands in a text where a part of it was cut out, counted as it would be shown."""
    return f"… {characters} characters left out here"


def boilerplate_mark(characters: int) -> str:
    """Stands in a text for boilerplate of the harness, whichever it was."""
    return f"… {characters} characters of the harness's boilerplate left out here"


def elided_mark(first: Entry, last: Entry, entries: int, characters: int) -> str:
    """Stands for a run of entries that were left out whole."""
    turns = f"turns {min(first.turn, last.turn)} to {max(first.turn, last.turn)}"
    return f"… {first.id} to {last.id}: {entries} entries of {turns} left out, {characters} characters"


def records_mark(first: str, last: str, records: int, entries: int, characters: int) -> str:
    """Stands for the records of sub-agents that were left out whole."""
    return f"… sub-agents {first} to {last}: {records} records with {entries} entries left out, {characters} characters"


def token_for(texts: Sequence[str]) -> str:
    """A token that stands in none of the texts: a hash over all of them, so that it is the same for the same texts.

    Whoever wrote one of them cannot know it, since it depends on what he wrote and on all the rest.
    """
    data = b"\0".join([*(text.encode() for text in texts), b""])
    digest = hashlib.sha256(data)
    token = digest.hexdigest()[:DIGITS]
    while token.encode() in data:
        digest.update(b"again")
        token = digest.hexdigest()[:DIGITS]
    return token


def enclosed(token: str, text: str, parts: Iterable[Part] = ()) -> str:
    """A text, and parts after it, between two lines that nothing in them can close."""
    return "".join([f"<<{token}\n", f"{text}\n" if text else "", *_lines(token, parts)])


def enclosed_parts(token: str, parts: Iterable[Part]) -> tuple[str, ...]:
    """Parts between two such lines, in pieces: a text that is a part's is a piece of its own, the very same."""
    return (f"<<{token}\n", *_lines(token, parts))


def _lines(token: str, parts: Iterable[Part]) -> list[str]:
    lines: list[str] = []
    for part in parts:
        lines.append(f"{token} {part.mark}\n")
        if part.text:
            lines += (part.text, "\n")
    lines.append(f"{token}>>")
    return lines
