"""Gemini CLI's sessions: a log of updates (`session-*.jsonl`), or the one document that older versions wrote.

Source: `chatRecordingService.ts` of google-gemini/gemini-cli, and sessions of versions 0.3x to 0.61. A row is a header, a
message, `$set` (changes of the header, sometimes a new list of messages) or `$rewindTo`. A message with a known id
replaces the earlier one: first without, then with its calls and what they returned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from adjudge.errors import InputError
from adjudge.importers.build import main_model, run_id
from adjudge.importers.documents import beginning, read_document, read_items
from adjudge.importers.documents_values import mapping, text
from adjudge.importers.gemini_log import MessageLog
from adjudge.importers.gemini_messages import FORMAT, MessageReader
from adjudge.importers.jsonl import Row, head_rows, is_lines, opened, rows
from adjudge.record import Record, Unparsed
from adjudge.run import Run

HEADER = frozenset({"sessionId", "projectHash"})

_UNSAFE = re.compile(r"[^a-zA-Z0-9_-]")


class _Document(msgspec.Struct):
    """A session of the older versions."""

    sessionId: str = ""  # noqa: N815
    kind: str = ""
    messages: list[msgspec.Raw] = []


class SessionReader:
    """Reads the rows of one session into a record's builder."""

    def __init__(self, prefix: str = "", label: str | None = None) -> None:
        self.messages = MessageReader(prefix, label)
        self.session = ""
        self.kind = ""

    def read(self, path: Path) -> None:
        """Take in the whole file, each row used, skipped with its kind, or unparsed."""
        with MessageLog() as log:
            for place, row in self._rows(path):
                self._take(place, row, log)
            self.messages.given_by = "parent-agent" if self.kind == "subagent" else None
            for message, own in log.messages():
                self.messages.add(message, own)

    def _rows(self, path: Path) -> Iterator[Row]:
        builder = self.messages.builder
        if is_lines(path):
            yield from rows(path, builder.unparsed)
            return
        held = read_document(path, _Document)
        self.session, self.kind = held.sessionId, held.kind
        yield from read_items(held.messages, f"{path.name}:messages", builder.unparsed)

    def _take(self, place: str, row: dict[str, Any], log: MessageLog) -> None:
        builder = self.messages.builder
        if text(row.get("id")):
            if log.put(row["id"], row):
                builder.skip("message, replaced later")
        elif isinstance(row.get("$set"), dict):
            self._set(place, row["$set"], log)
        elif text(row.get("$rewindTo")):
            words = f"The conversation was taken back to before the message {row['$rewindTo'][:100]}."
            log.put(place, {"type": "rewind", "content": words})
        elif row.keys() >= HEADER:
            self._describe(row)
            self._add_list(place, row, log)
            builder.use()
        else:
            builder.skip(text(row.get("type")) or "row without an id")

    def _set(self, place: str, changes: dict[str, Any], log: MessageLog) -> None:
        self._describe(changes)
        if self._add_list(place, changes, log):
            self.messages.builder.use()
        else:
            self.messages.builder.skip("$set")

    def _describe(self, header: dict[str, Any]) -> None:
        self.session = text(header.get("sessionId")) or self.session
        self.kind = text(header.get("kind")) or self.kind

    def _add_list(self, place: str, holder: dict[str, Any], log: MessageLog) -> bool:
        """Add those messages of a list that are new; whether there were any, or any that it leaves out."""
        if not isinstance(holder.get("messages"), list):
            return False
        held = {}
        for index, message in enumerate(holder["messages"]):
            if isinstance(message, dict) and text(message.get("id")):
                held[message["id"]] = message
            else:
                self.messages.builder.unparsed(Unparsed(f"{place}:messages[{index}]", "no message with an id"))
        new = [key for key in held if key not in log]
        left_out = len(log) - (len(held) - len(new))
        if left_out > 0:
            words = f"The harness wrote the conversation anew and left {left_out} earlier messages out of it."
            log.put(place, {"type": "compaction", "content": words}, own=False)
        for key in new:
            log.put(key, held[key], own=False)
        return bool(new) or left_out > 0


class GeminiSessions:
    """The importer of Gemini CLI's session files."""

    name = FORMAT

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether there is a session's header among the first rows, or a message of the agent."""
        if not path.is_file():
            return False
        found = head_rows(head)
        return any(map(_is_session_row, found)) or mapping(beginning(head)).keys() >= HEADER

    def runs(self, path: Path) -> Iterator[Run]:
        """The one run of a session, sub-agents in other files included.

        Raises:
            InputError: it cannot be opened, or is neither rows nor one JSON document.
        """
        reader = SessionReader()
        reader.read(path)
        builder = reader.messages.builder
        for file, session in subagent_files(path, reader.session):
            builder.children.append(_child(file, reader.messages.agents.get(session) or session, len(builder.children) + 1))
        record = builder.finish()
        model = main_model(record.turns)
        yield Run(
            id=run_id(record, FORMAT, model),
            record=record,
            source=str(path),
            task=reader.messages.task,
            agent=FORMAT,
            model=model,
        )


def _is_session_row(row: dict[str, Any]) -> bool:
    return row.keys() >= HEADER or (row.get("type") == "gemini" and {"id", "timestamp", "content"} <= row.keys())


def _child(path: Path, label: str, number: int) -> Record:
    reader = SessionReader(f"s{number}.", label)
    reader.read(path)
    return reader.messages.builder.finish()


def subagent_files(path: Path, session: str) -> list[tuple[Path, str]]:
    """The files of all sub-agents below a session, with their own sessions, oldest first.

    They lie in a folder named after the session that started them, beside the main session's file.
    """
    found: list[tuple[str, Path, str]] = []
    waiting, seen = [session] if session else [], {session, ""}
    while waiting:
        folder = path.parent / _UNSAFE.sub("_", waiting.pop())
        for file in sorted(folder.glob("*.jsonl*")):
            header = _header(file)
            own = text(header.get("sessionId"))
            if header.get("kind") == "subagent" and own not in seen:
                seen.add(own)
                waiting.append(own)
                found.append((text(header.get("startTime")), file, own))
    return [(file, own) for _, file, own in sorted(found)]


def is_subagent_file(path: Path) -> bool:
    """Whether the session is a sub-agent's and the file of the one that started it is where it should be."""
    if _header(path).get("kind") != "subagent":
        return False
    parent, chats = path.parent.name, path.parent.parent
    beside = [*chats.glob("session-*.jsonl*"), *chats.glob(f"*/{parent}.jsonl*")]
    return any(_UNSAFE.sub("_", text(_header(file).get("sessionId"))) == parent for file in beside)


def _header(path: Path) -> dict[str, Any]:
    """The first row of a session; empty if it is none."""
    try:
        with opened(path) as file:
            found = head_rows(file.readline(1 << 20), 1)
    except (InputError, OSError):
        return {}
    return found[0] if found and found[0].keys() >= HEADER else {}
