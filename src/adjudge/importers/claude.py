"""Claude Code sessions: `<session>.jsonl` with its sub-agents, inline, beside it, or in `<session>/subagents/`.

There is no official description; the shapes were read off sessions of versions 1.0 to 2.1.332. One answer of the model is
several rows with the same message id, each with one block and with the whole usage so far.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from adjudge.errors import InputError
from adjudge.importers.build import RecordBuilder, main_model, run_id, text_of
from adjudge.importers.claude_messages import Conversation, reported_usage
from adjudge.importers.claude_notes import add_attachment, add_system
from adjudge.importers.jsonl import head_rows, opened, rows
from adjudge.record import Record
from adjudge.run import Outcome, Run

FORMAT = "claude-code"


class SessionReader:
    """Reads the rows of one session file into a conversation, and inline sub-agents into theirs."""

    def __init__(self, prefix: str = "", label: str | None = None) -> None:
        self.main = Conversation(RecordBuilder(FORMAT, prefix, label), "parent-agent" if prefix else None)
        self.session: str | None = None
        self.version: str | None = None
        self._sides: list[Conversation] = []
        self._side_of: dict[str, Conversation] = {}
        self._is_side: bool | None = None

    def read(self, path: Path) -> None:
        """Take in every row of the file, each used, skipped with its kind, or unparsed."""
        builder = self.main.builder
        for _, row in rows(path, builder.unparsed):
            skipped = self._take(row)
            if skipped is None:
                builder.use()
            else:
                builder.skip(skipped)

    def finish(self, files: Iterable[Path] = ()) -> Record:
        """The record with its sub-agents, those inline first, then those in files of their own."""
        children = self.main.builder.children
        children += [side.builder.finish() for side in self._sides]
        for file in files:
            children.append(_child(file, len(children) + 1))
        return self.main.builder.finish()

    def _take(self, row: dict[str, Any]) -> str | None:
        kind = text_of(row.get("type"))
        if row.get("forkedFrom"):
            return "copied"
        self.session = self.session or text_of(row.get("sessionId")) or None
        self.version = text_of(row.get("version")) or self.version
        match kind:
            case "assistant":
                return self._conversation(row).assistant(row)
            case "user":
                return self._conversation(row).user(row)
            case "attachment":
                return add_attachment(self._conversation(row), row)
            case "system":
                return add_system(self._conversation(row), row)
            case "cost-state":
                self.main.builder.reported = reported_usage(row.get("modelUsage"), row.get("totalCostUSD"))
                return None
        return kind or "row without a type"

    def _conversation(self, row: dict[str, Any]) -> Conversation:
        """The main conversation, or for a row of an inline sub-agent the one that its parent row belongs to."""
        side = bool(row.get("isSidechain"))
        if self._is_side is None and "isSidechain" in row:
            self._is_side = side  # in a sub-agent's own file every row is marked
        if not side or self._is_side:
            return self.main
        agent, parent = text_of(row.get("agentId")), text_of(row.get("parentUuid"))
        found = self._side_of.get(agent) or self._side_of.get(parent) or self._new_side(agent)
        for key in (agent, text_of(row.get("uuid"))):
            if key:
                self._side_of[key] = found
        return found

    def _new_side(self, agent: str) -> Conversation:
        builder = RecordBuilder(FORMAT, f"s{len(self._sides) + 1}.", agent or None)
        self._sides.append(Conversation(builder, "parent-agent"))
        return self._sides[-1]


class ClaudeSessions:
    """The importer of Claude Code session files."""

    name = FORMAT

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether among the first rows there is one of a session."""
        return path.is_file() and any(_is_session_row(row) for row in head_rows(head))

    def runs(self, path: Path) -> Iterator[Run]:
        """The one run of a session file, sub-agents in other files included."""
        reader = SessionReader()
        reader.read(path)
        record = reader.finish(subagent_files(path, reader.session))
        model, main = main_model(record.turns), reader.main
        yield Run(
            id=run_id(record, FORMAT, model),
            record=record,
            source=str(path),
            task=main.task or main.command,
            agent=FORMAT,
            agent_version=reader.version,
            model=model,
            outcome=Outcome(detail=f"API error: {main.error}" if main.error else None),
        )


def _is_session_row(row: dict[str, Any]) -> bool:
    kind, message = row.get("type"), row.get("message")
    if kind in ("user", "assistant"):
        return isinstance(message, dict) and "content" in message and bool({"sessionId", "parentUuid"} & set(row))
    if "systemPayload" in row:  # Qwen Code's, whose rows are otherwise like these
        return False
    if kind in ("queue-operation", "attachment", "system", "progress", "last-prompt"):
        return "sessionId" in row and ("uuid" in row or "operation" in row or "leafUuid" in row) and "message" not in row
    return (kind == "summary" and "leafUuid" in row) or (kind == "file-history-snapshot" and "snapshot" in row)


def subagent_files(path: Path, session: str | None) -> list[Path]:
    """The files of a session's sub-agents, oldest first."""
    below = path.parent / path.name.removesuffix(".zst").removesuffix(".gz").removesuffix(".jsonl") / "subagents"
    files = [file for file in below.rglob("agent-*.jsonl") if file.is_file()]
    if session and not path.name.startswith("agent-"):
        files += [file for file in path.parent.glob("agent-*.jsonl") if _first_row(file).get("sessionId") == session]
    return sorted(files, key=lambda file: (text_of(_first_row(file).get("timestamp")), file.name))


def is_subagent_file(path: Path) -> bool:
    """Whether the file belongs to a session whose own file is where it should be."""
    if not path.name.startswith("agent-"):
        return False
    for folder in path.parents:
        if folder.name == "subagents":
            return folder.parent.with_suffix(".jsonl").is_file()
    session = text_of(_first_row(path).get("sessionId"))
    return bool(session) and "/" not in session and (path.parent / f"{session}.jsonl").is_file()


def _child(path: Path, number: int) -> Record:
    reader = SessionReader(f"s{number}.", _label(path))
    reader.read(path)
    return reader.finish()


def _label(path: Path) -> str:
    """The sub-agent's type and task as the file beside its own says, else the name of its file."""
    try:
        with opened(path.with_suffix(".meta.json")) as file:
            meta = json.loads(file.read(65536))
    except (InputError, OSError, ValueError, RecursionError):
        return path.stem
    if not isinstance(meta, dict):
        return path.stem
    return ": ".join(filter(None, (text_of(meta.get("agentType")), text_of(meta.get("description"))))) or path.stem


def _first_row(path: Path) -> dict[str, Any]:
    with opened(path) as file:
        found = head_rows(file.readline(1 << 20), 1)
    return found[0] if found else {}
