"""What `claude -p --output-format stream-json` prints, among whatever else is on its standard output, or its JSON array.

Sources: the headless and SDK pages of code.claude.com, and streams of versions 2.0 to 2.1.332. The rows of an answer carry
the usage as it was when the answer began, so that its output is known only if a stop reason stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adjudge.importers import qwen_stream
from adjudge.importers.build import RecordBuilder, main_model, run_id, text_of
from adjudge.importers.claude_messages import Conversation, reported_usage, usage_of
from adjudge.importers.claude_notes import add_system
from adjudge.importers.jsonl import head_rows, rows
from adjudge.record import Record, Usage
from adjudge.run import Outcome, Run

FORMAT = "claude-stream-json"


class StreamReader:
    """Reads the rows of a stream into a conversation, and sub-agents into theirs."""

    def __init__(self) -> None:
        self.main = Conversation(RecordBuilder(FORMAT))
        self.version: str | None = None
        self.model: str | None = None
        self.ending: str | None = None
        self._sides: dict[str, Conversation] = {}

    def read(self, path: Path) -> None:
        """Take in every row of the file, each used, skipped with its kind, or unparsed."""
        builder = self.main.builder
        for _, row in rows(path, builder.unparsed):
            skipped = self._take(row)
            if skipped is None:
                builder.use()
            else:
                builder.skip(skipped)

    def finish(self) -> Record:
        """The record with its sub-agents."""
        self.main.builder.children += [side.builder.finish() for side in self._sides.values()]
        return self.main.builder.finish()

    def _take(self, row: dict[str, Any]) -> str | None:
        kind, subtype = text_of(row.get("type")), text_of(row.get("subtype"))
        match kind:
            case "assistant":
                return self._conversation(row).assistant(row, partial=True)
            case "user":
                return self._conversation(row).user(row)
            case "system" if subtype == "init":
                self.version = text_of(row.get("claude_code_version")) or self.version
                self.model = text_of(row.get("model")) or self.model
                return None
            case "system":
                return add_system(self.main, row)
            case "result":
                self._ended(row, subtype)
                return None
        return kind or "row without a type"

    def _conversation(self, row: dict[str, Any]) -> Conversation:
        parent = text_of(row.get("parent_tool_use_id"))
        if not parent:
            return self.main
        if parent not in self._sides:
            label = ": ".join(filter(None, (text_of(row.get("subagent_type")), text_of(row.get("task_description")))))
            builder = RecordBuilder(FORMAT, f"s{len(self._sides) + 1}.", label or parent)
            self._sides[parent] = Conversation(builder, "parent-agent")
        return self._sides[parent]

    def _ended(self, row: dict[str, Any], subtype: str) -> None:
        builder, words = self.main.builder, text_of(row.get("result"))
        builder.reported = reported_usage(row.get("modelUsage"), row.get("total_cost_usd")) or _usage_of_result(row)
        self.ending = subtype or "result"
        if row.get("is_error"):  # a failed request ends as "success" all the same
            self.ending = words[:500] or text_of(row.get("terminal_reason")) or self.ending
        if not builder.turn and words and not row.get("is_error"):  # `--output-format json` prints nothing else
            builder.respond(model=self.model)
            builder.message("agent", words)


def _usage_of_result(row: dict[str, Any]) -> Usage | None:
    usage, cost = usage_of(row.get("usage")), row.get("total_cost_usd")
    return usage + Usage(cost=float(cost)) if usage and isinstance(cost, int | float) else usage


class ClaudeStreams:
    """The importer of Claude Code's standard output."""

    name = FORMAT

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether among the first rows there is one of a stream."""
        found = head_rows(head) if path.is_file() else []
        return any(map(_is_stream_row, found)) and not any(map(qwen_stream.is_init, found))

    def runs(self, path: Path) -> Iterator[Run]:
        """The one run of a stream, with its ending if it got that far."""
        reader = StreamReader()
        reader.read(path)
        record = reader.finish()
        model = main_model(record.turns) or reader.model
        error = reader.main.error
        yield Run(
            id=run_id(record, "claude-code", model),
            record=record,
            source=str(path),
            task=reader.main.task or reader.main.command,
            agent="claude-code",
            agent_version=reader.version,
            model=model,
            outcome=Outcome(detail=reader.ending or (f"API error: {error}" if error else None)),
        )


def _is_stream_row(row: dict[str, Any]) -> bool:
    kind = row.get("type")
    if kind in ("assistant", "user"):
        message = row.get("message")
        return isinstance(message, dict) and "content" in message and "session_id" in row
    if kind == "result":
        return "subtype" in row and bool({"session_id", "num_turns", "modelUsage"} & set(row))
    return kind == "system" and row.get("subtype") == "init" and "session_id" in row
