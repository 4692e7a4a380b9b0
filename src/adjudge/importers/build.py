"""Building a record entry by entry, whatever the format: ids, turns, pairs of calls and results, and what is absent."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from adjudge.entries import EntryWriter, hash_of
from adjudge.record import Entry, Fact, Kind, Record, Turn, Unparsed, Usage, Writer

_encoder = msgspec.json.Encoder()

LISTED = 1000
"""Pieces that could not be read and are listed with their places; more are only counted, in `skipped`."""

UNLISTED = "unparsed, not listed"


class Lost:
    """Pieces that could not be read before it is known whose they are; of millions only the first are kept."""

    def __init__(self) -> None:
        self._pieces: list[Unparsed] = []
        self._more = 0

    def add(self, piece: Unparsed) -> None:
        """Take one."""
        if len(self._pieces) < LISTED:
            self._pieces.append(piece)
        else:
            self._more += 1

    def give(self, builder: RecordBuilder) -> None:
        """Hand all of them over to a record; none is left here."""
        for piece in self._pieces:
            builder.unparsed(piece)
        if self._more:
            builder.skip(UNLISTED, self._more)
        self._pieces, self._more = [], 0


class RecordBuilder:
    """Takes what an importer reads, in order, and gives an immutable record.

    Entries go to an `EntryWriter` at once, so that only turns and open calls stay in memory. A result must therefore be
    added with all that is known of it.
    """

    def __init__(self, format: str, prefix: str = "", label: str | None = None) -> None:
        self._format, self._prefix, self._label = format, prefix, label
        self._entries = EntryWriter()
        self._count = 0
        self._turns: list[Turn] = []
        self._keys: dict[str, int] = {}
        self._calls: dict[str, tuple[str, int]] = {}
        self._open: dict[str, None] = {}
        self._stray: list[str] = []
        self._tells: set[Fact] = set()
        self._unparsed: list[Unparsed] = []
        self._skipped: dict[str, int] = {}
        self._final: str | None = None
        self._used = 0
        self.children: list[Record] = []
        self.reported: Usage | None = None

    @property
    def turn(self) -> int:
        """The number of the latest turn, 0 before the first."""
        return len(self._turns)

    def respond(
        self,
        key: str | None = None,
        model: str | None = None,
        usage: Usage | None = None,
        stop: str | None = None,
        time: str | None = None,
    ) -> int:
        """Begin a turn, or go back to the one with this key (a response's id) and take its later facts instead.

        Streaming harnesses write one response as several lines with the same id and repeat its usage on each: the last
        one counts, and counts once. Returns the turn's number.
        """
        number = self._keys.get(key) if key is not None else None
        if number is None:
            number = len(self._turns) + 1
            self._turns.append(Turn(number, f"{self._prefix}e{self._count + 1}", model, usage, stop, time))
            if key is not None:
                self._keys[key] = number
        else:
            old = self._turns[number - 1]
            self._turns[number - 1] = msgspec.structs.replace(
                old, model=model or old.model, usage=usage or old.usage, stop=stop or old.stop
            )
        if usage is not None:
            self._tells.add("tokens")
            if usage.cost is not None:
                self._tells.add("cost")
        return number

    def use_tokens(self, usage: Usage) -> None:
        """Add a usage to the latest turn, for harnesses that state it in a row of its own."""
        if self._turns:
            old = self._turns[-1]
            self._turns[-1] = msgspec.structs.replace(old, usage=usage if old.usage is None else old.usage + usage)
            self._tells.add("tokens")

    def message(
        self, writer: Writer, text: str, turn: int | None = None, time: str | None = None, origin: str | None = None
    ) -> str:
        """Add a message; the agent's latest one is its final answer unless a call follows. Returns the entry's id."""
        identifier = self._add("message", writer, text, turn, time=time, origin=origin)
        if writer == "agent":
            self._final = identifier
        return identifier

    def reasoning(self, text: str, turn: int | None = None, time: str | None = None) -> str:
        """Add a piece of the agent's reasoning."""
        self._tells.add("reasoning")
        return self._add("reasoning", "agent", text, turn, time=time)

    def event(self, text: str, origin: str, turn: int | None = None, time: str | None = None) -> str:
        """Add something that the harness did or noted: a compaction, an API error, a limit."""
        return self._add("event", "harness", text, turn, time=time, origin=origin)

    def call(self, key: str | None, name: str, arguments: Any, turn: int | None = None, time: str | None = None) -> str:
        """Add a tool call. `arguments` is a JSON value, or the text the model sent. Returns the entry's id."""
        identifier = self._add(
            "call", "agent", call_text(name, arguments), turn, name=clean(name), arguments=_json(arguments), time=time
        )
        self._final = None
        self._open[identifier] = None
        if key is not None:
            self._calls[key] = identifier, self.turn if turn is None else turn
        return identifier

    def result(
        self,
        key: str | None,
        text: str,
        name: str | None = None,
        exit_status: int | None = None,
        is_error: bool | None = None,
        turn: int | None = None,
        time: str | None = None,
    ) -> str:
        """Add what a call returned; `key` is the call's, and so is the turn, unless one is given.

        A result whose call is unknown stays, unpaired.
        """
        self._tells.add("results")
        if exit_status is not None:
            self._tells.add("exit_statuses")
        if is_error is not None:
            self._tells.add("errors")
        answers, asked = self._calls.get(key or "", (None, None))
        identifier = self._add(
            "result",
            "tool",
            text,
            asked if turn is None else turn,
            name=name,
            answers=answers,
            exit_status=exit_status,
            is_error=is_error,
            time=time,
        )
        if answers is None:
            self._stray.append(identifier)
        else:
            self._open.pop(answers, None)
        return identifier

    def knows(self, key: str) -> bool:
        """Whether a call with this key was added."""
        return key in self._calls

    def use(self) -> None:
        """Count one row of the recording that became part of the record."""
        self._used += 1

    def skip(self, kind: str, count: int = 1) -> None:
        """Count something that is known to hold nothing for a judge."""
        self._skipped[kind] = self._skipped.get(kind, 0) + count

    def unparsed(self, piece: Unparsed) -> None:
        """Count something that could not be read."""
        if len(self._unparsed) < LISTED:
            self._unparsed.append(piece)
        else:
            self.skip(UNLISTED)

    def finish(self) -> Record:
        """The record; the builder must not be used afterwards."""
        return Record(
            format=self._format,
            entries=self._entries.finish(),
            turns=tuple(self._turns),
            tells=frozenset(self._tells),
            unparsed=tuple(self._unparsed),
            skipped=self._skipped,
            children=tuple(self.children),
            final=self._final,
            reported=self.reported,
            unpaired=(*self._open, *self._stray),
            label=self._label,
            used=self._used,
        )

    def _add(self, kind: Kind, writer: Writer, text: str, turn: int | None, **rest: Any) -> str:
        self._count += 1
        if rest.get("time"):
            self._tells.add("times")
        identifier = f"{self._prefix}e{self._count}"
        self._entries.add(Entry(identifier, kind, writer, self.turn if turn is None else turn, clean(text), **rest))
        return identifier


def run_id(record: Record, agent: str | None = None, model: str | None = None) -> str:
    """The id of a run: `r-` and 16 hex digits over its record's entries, sub-agents' included, its agent and its model."""
    parts = [*(hash_of(part.entries) for part in (record, *record.children)), agent or "", model or ""]
    return "r-" + hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def main_model(turns: Iterable[Turn]) -> str | None:
    """The model that answered most of the turns."""
    counted = Counter(turn.model for turn in turns if turn.model)
    return counted.most_common(1)[0][0] if counted else None


def text_of(value: Any) -> str:
    """A JSON value of no fixed shape as text: strings as they are, anything else as JSON."""
    return value if isinstance(value, str) else "" if value is None else _json(value)


def count_of(value: Any) -> int | None:
    """A number of things (tokens, an exit status) if the JSON value is one, else `None`."""
    return value if value.__class__ is int and abs(value) < 2**53 else None


def clean(text: str) -> str:
    """The text with lone surrogates replaced, so that it can be encoded; nothing else is changed."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _json(arguments: Any) -> str:
    if isinstance(arguments, str):
        return clean(arguments)
    try:
        return _encoder.encode(arguments).decode()
    except UnicodeEncodeError:
        return json.dumps(arguments)


def call_text(name: str, arguments: Any) -> str:
    """A call as readable lines: the tool's name, then each argument with its text as it is."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return f"{name}\n{arguments}"
    if not isinstance(arguments, dict):
        return f"{name}\n{arguments if isinstance(arguments, str) else _json(arguments)}"
    lines = [f"{key}: {value if isinstance(value, str) else _json(value)}" for key, value in arguments.items()]
    return "\n".join([name, *lines])


def media(kind: str, data: str) -> str:
    """What stands in a record for base64 data: its kind, its size in bytes once decoded, and a hash."""
    size = len(data) * 3 // 4 - data[-2:].count("=")
    return f"[{kind}, {size} bytes, sha256 {hashlib.sha256(data.encode('utf-8', 'replace')).hexdigest()[:16]}]"
