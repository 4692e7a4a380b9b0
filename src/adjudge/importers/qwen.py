"""Qwen Code's sessions: `chats/<session>.jsonl`, rows in an envelope like Claude Code's around parts like Gemini's.

Source: `chatRecordingService.ts` of QwenLM/qwen-code, and sessions of versions 0.15 to 0.18. A row is one response, what
one call returned, or something of the system; nothing in it says why a response stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adjudge.importers.build import RecordBuilder, main_model, run_id, text_of
from adjudge.importers.documents_values import mapping, text
from adjudge.importers.gemini_outputs import qwen_exit_status
from adjudge.importers.gemini_parts import (
    SHELL,
    add_user,
    calls_in,
    is_failure,
    part_text,
    parts_of,
    returned_text,
    usage_of,
)
from adjudge.importers.jsonl import head_rows, rows
from adjudge.importers.qwen_telemetry import Telemetry
from adjudge.record import Record
from adjudge.run import Outcome, Run

FORMAT = "qwen-code"


class SessionReader:
    """Reads the rows of one session into a record's builder, and what telemetry tells of sub-agents into theirs."""

    def __init__(self) -> None:
        self.builder = RecordBuilder(FORMAT)
        self.task: str | None = None
        self.version: str | None = None
        self.telemetry = Telemetry(self.builder, FORMAT)
        self._names: dict[str, str] = {}

    def read(self, path: Path) -> Record:
        """Take in every row of the file, each used, skipped with its kind, or unparsed; the record of them."""
        for _, row in rows(path, self.builder.unparsed):
            skipped = self._take(row)
            if skipped is None:
                self.builder.use()
            else:
                self.builder.skip(skipped)
        self.builder.children += self.telemetry.records()
        return self.builder.finish()

    def _take(self, row: dict[str, Any]) -> str | None:
        kind, time = text(row.get("type")), text(row.get("timestamp")) or None
        self.version = text(row.get("version")) or self.version
        parts = parts_of(mapping(row.get("message")).get("parts"))
        match kind:
            case "user":
                words = add_user(self.builder, parts, time, text(row.get("subtype")) or None)
                self.task = self.task or words or None
            case "assistant":
                self.telemetry.answered()
                self._answer(row, parts, time)
            case "tool_result":
                self._returned(row, parts, time)
            case "system":
                return self._system(row, time)
            case _:
                return kind or "row without a type"
        return None

    def _answer(self, row: dict[str, Any], parts: list[dict[str, Any]], time: str | None) -> None:
        used = mapping(row.get("usageMetadata"))
        names = (
            "promptTokenCount",
            "candidatesTokenCount",
            "cachedContentTokenCount",
            "thoughtsTokenCount",
            "totalTokenCount",
        )
        usage = usage_of(*(used.get(name) for name in names))
        self.builder.respond(text(row.get("uuid")) or None, text(row.get("model")) or None, usage, time=time)
        for part in parts:
            words = "" if "functionCall" in part else part_text(part)
            if words and part.get("thought"):
                self.builder.reasoning(words, time=time)
            elif words:
                self.builder.message("agent", words, time=time)
        for key, name, arguments in calls_in(parts):
            self._names[key] = name
            self.builder.call(key, name, arguments, time=time)

    def _returned(self, row: dict[str, Any], parts: list[dict[str, Any]], time: str | None) -> None:
        called = mapping(row.get("toolCallResult"))
        ids = [text(mapping(part.get("functionResponse")).get("id")) for part in parts]
        key = text(called.get("callId")) or next(filter(None, ids), "")
        name, output = self._names.pop(key, None), returned_text(parts, key)
        status = qwen_exit_status(output) if name == SHELL else None
        self.builder.result(key, output, name, status, is_failure(called.get("status")), time=time)

    def _system(self, row: dict[str, Any], time: str | None) -> str | None:
        kind, payload = text(row.get("subtype")), mapping(row.get("systemPayload"))
        match kind:
            case "ui_telemetry":
                return self.telemetry.take(mapping(payload.get("uiEvent")), time)
            case "chat_compression":
                facts = text_of(payload.get("info")) or "The conversation was shortened."
                self.builder.event(facts, "compaction", time=time)
                return None
            case "slash_command" | "rewind":
                self.builder.event(text(payload.get("rawCommand")) or text_of(payload), kind.replace("_", "-"), time=time)
                return None
        return f"system:{kind}"


class QwenSessions:
    """The importer of Qwen Code's session files."""

    name = FORMAT

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether among the first rows there is one of a session."""
        return path.is_file() and any(map(_is_session_row, head_rows(head)))

    def runs(self, path: Path) -> Iterator[Run]:
        """The one run of a session."""
        reader = SessionReader()
        record = reader.read(path)
        model, error = main_model(record.turns), reader.telemetry.error
        yield Run(
            id=run_id(record, FORMAT, model),
            record=record,
            source=str(path),
            task=reader.task,
            agent=FORMAT,
            agent_version=reader.version,
            model=model,
            outcome=Outcome(detail=f"API error: {error[:500]}" if error else None),
        )


def _is_session_row(row: dict[str, Any]) -> bool:
    if not {"uuid", "sessionId"} <= row.keys():
        return False
    return "systemPayload" in row or isinstance(mapping(row.get("message")).get("parts"), list)
