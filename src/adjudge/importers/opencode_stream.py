"""OpenCode's streams: the events of `opencode run --format json`, and rows of `[hook, payload…]` that a plugin writes.

Both send parts that belong to a message, a plugin's more than once while they grow: the last state counts. The events
of `run` leave out the user's message, and say nothing of the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from adjudge.errors import InputError
from adjudge.importers.build import LISTED
from adjudge.importers.documents_values import mapping, text
from adjudge.importers.jsonl import Report, opened, rows
from adjudge.importers.opencode_session import Session, run_of
from adjudge.record import Unparsed
from adjudge.run import Run

_EVENTS = frozenset({"step_start", "text", "tool_use", "step_finish", "reasoning", "error"})
_HOOKS = ("event", "chat.message", "chat.params", "tool.definition", "experimental.")


def is_stream(head: bytes) -> bool:
    """Whether the first lines are of one of the two kinds."""
    return _is_hook_row(_first_line(head)) or any(_is_event(_value(line)) for line in head.splitlines()[:5])


def _first_line(head: bytes) -> Any:
    line, _, _ = head.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")
    return _value(line)


def _value(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.MsgspecError, RecursionError):
        return None


def _is_hook_row(row: Any) -> bool:
    if not isinstance(row, list) or len(row) < 2 or not all(isinstance(payload, dict) for payload in row[1:]):
        return False
    session = text(row[1].get("sessionID")) or text(_properties(row[1]).get("sessionID"))
    return text(row[0]).startswith(_HOOKS) and (session.startswith("ses_") or "toolID" in row[1])


def _is_event(row: Any) -> bool:
    return isinstance(row, dict) and text(row.get("type")) in _EVENTS and text(row.get("sessionID")).startswith("ses_")


def _properties(payload: dict[str, Any]) -> dict[str, Any]:
    return mapping(mapping(payload.get("event")).get("properties"))


def streamed_run(path: Path) -> Run:
    """The run that a stream tells of: its first session, with those that it started as children.

    Raises:
        InputError: no session is in it.
    """
    stream = _Stream()
    with opened(path) as file:
        hooks = _is_hook_row(_first_line(file.read(1 << 16)))
    if hooks:
        for place, row in _hook_rows(path, stream.lost):
            stream.take_hook(place, row)
    else:
        for place, event in rows(path, stream.lost):
            stream.take_event(place, event)
    return stream.run(path)


def _hook_rows(path: Path, report: Report) -> Iterator[tuple[str, list[Any]]]:
    with opened(path) as file:
        for number, line in enumerate(file, 1):
            place, row = f"{path.name}:{number}", _value(line.removeprefix(b"\xef\xbb\xbf"))
            if isinstance(row, list) and row and all(isinstance(payload, dict) for payload in row[1:]):
                yield place, row
            elif line.strip():
                report(Unparsed(place, "not a row of a hook and its payload", len(line)))


class _Growing:
    """A session whose latest message may still change."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.infos: dict[str, dict[str, Any]] = {}
        self._message: str | None = None
        self._ended: set[str] = set()
        self._parts: dict[str, tuple[str, dict[str, Any]]] = {}

    def part(self, place: str, part: dict[str, Any]) -> None:
        """Take a part, or its newer state; a part of another message ends the one before."""
        message = text(part.get("messageID"))
        if message in self._ended:
            self.session.builder.skip("late update")
            return
        if message != self._message:
            self.end()
            self._message = message
        key = text(part.get("id")) or place
        if key in self._parts:
            self.session.builder.skip("superseded")
        self._parts[key] = (place, part)

    def end(self) -> None:
        """Add the latest message, its parts in the order in which they began."""
        if self._message is None:
            return
        self._ended.add(self._message)
        info = self.infos.pop(self._message, {"role": "assistant"})
        self.session.add({**info, "id": self._message}, [self._parts[key] for key in sorted(self._parts)])
        self._message, self._parts = None, {}

    def close(self) -> None:
        """Add what is left: the latest message, and those that ended in an error before they had a part."""
        self.end()
        for key, info in self.infos.items():
            if key not in self._ended and info.get("error"):
                self.session.add(info, ())


class _Stream:
    """The sessions of a stream, the first being the run's."""

    def __init__(self) -> None:
        self._sessions: dict[str, _Growing] = {}
        self._lost: list[Unparsed] = []
        self._skipped: Counter[str] = Counter()
        self._version = ""

    def lost(self, piece: Unparsed) -> None:
        """Take note of a row that cannot be read."""
        if self._sessions:
            next(iter(self._sessions.values())).session.builder.unparsed(piece)
        elif len(self._lost) < LISTED:
            self._lost.append(piece)

    def _of(self, identifier: str) -> _Growing:
        if identifier not in self._sessions:
            prefix = f"s{len(self._sessions)}." if self._sessions else ""
            self._sessions[identifier] = _Growing(Session("opencode", prefix, identifier))
        return self._sessions[identifier]

    def take_event(self, place: str, event: dict[str, Any]) -> None:
        """One event of `opencode run --format json`."""
        if not text(event.get("sessionID")):
            self.lost(Unparsed(place, "no event of a session"))
            return
        growing = self._of(event["sessionID"])
        if isinstance(event.get("part"), dict):
            growing.part(place, event["part"])
        elif event.get("type") == "error":
            growing.end()
            growing.session.add({"role": "assistant", "error": event.get("error")}, ())
            growing.session.builder.use()
        else:
            growing.session.builder.skip(text(event.get("type")) or "event")

    def take_hook(self, place: str, row: list[Any]) -> None:
        """One row that a plugin wrote."""
        payload = mapping(row[1] if len(row) > 1 else None)
        kind, properties = text(mapping(payload.get("event")).get("type")), _properties(payload)
        session = text(properties.get("sessionID")) or text(payload.get("sessionID"))
        if row[0] != "event" or not kind.startswith(("message.", "session.")) or not session:
            self._skipped[kind if row[0] == "event" else text(row[0])] += 1
            return
        growing, info = self._of(session), mapping(properties.get("info"))
        if kind == "message.part.updated" and isinstance(properties.get("part"), dict):
            growing.part(place, properties["part"])
            return
        if kind == "message.updated" and text(info.get("id")):
            growing.infos[info["id"]] = info
        elif kind == "session.created":
            self._version = self._version or text(info.get("version"))
        growing.session.builder.skip(kind)

    def run(self, path: Path) -> Run:
        """The run."""
        if not self._sessions:
            raise InputError(f"{path}: holds no session of OpenCode")
        growing = list(self._sessions.values())
        for session in growing:
            session.close()
        main = growing[0].session
        for piece in self._lost:
            main.builder.unparsed(piece)
        for kind, times in self._skipped.items():
            main.builder.skip(kind or "row", times)
        main.builder.children += [child.session.finish() for child in growing[1:]]
        return run_of(main, path, self._version)
