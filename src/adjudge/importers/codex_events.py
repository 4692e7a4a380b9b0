"""What `codex exec --json` prints, among whatever else is on its standard output.

Source: docs/exec.md and sdk/typescript/src/items.ts of openai/codex. The user's task, the model, times and the text of
patches are not in it. The usage at a turn's end is the thread's total so far.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adjudge.importers.build import RecordBuilder, count_of, run_id, text_of
from adjudge.importers.codex_once import error_origin, usage_of
from adjudge.importers.jsonl import head_rows, rows
from adjudge.record import Record
from adjudge.run import Outcome, Run

FORMAT = "codex-exec-json"

ARGUMENTS = {
    "command_execution": ("command",),
    "file_change": ("changes",),
    "mcp_tool_call": ("server", "tool", "arguments"),
    "collab_tool_call": ("tool", "prompt", "receiver_thread_ids", "arguments"),
    "web_search": ("query", "action"),
}
"""Kinds of items that are calls, and which of their fields the model chose."""

RESULTS = ("aggregated_output", "result", "error", "agents_states", "status")
"""Fields of an item that hold what came back, in the order of preference."""

FAILURES = frozenset({"failed", "declined", "error"})


class EventReader:
    """Reads the rows of an event stream into a record's builder."""

    def __init__(self) -> None:
        self.builder = RecordBuilder(FORMAT)
        self.ending: str | None = None
        self._answering = False

    def read(self, path: Path) -> Record:
        """Take in every row of the file, each used, skipped with its kind, or unparsed; the record of them."""
        for _, row in rows(path, self.builder.unparsed):
            skipped = self._take(row)
            if skipped is None:
                self.builder.use()
            else:
                self.builder.skip(skipped)
        return self.builder.finish()

    def _take(self, row: dict[str, Any]) -> str | None:
        kind, item = text_of(row.get("type")), row.get("item")
        if kind in ("item.started", "item.completed") and isinstance(item, dict):
            return self._item(item, kind == "item.completed")
        match kind:
            case "turn.started":
                self._answering = False
            case "turn.completed":
                self.builder.reported = usage_of(row.get("usage"))
                self.ending = kind
                return None
            case "turn.failed" | "error":
                error = row.get("error")
                message = text_of(error.get("message") if isinstance(error, dict) else row.get("message"))
                self.builder.event(message or kind, error_origin(message))
                self.ending = f"{kind}: {message[:500]}" if message else kind
                return None
        return kind or "row without a type"

    def _item(self, item: dict[str, Any], completed: bool) -> str | None:
        kind, text = text_of(item.get("type")), text_of(item.get("text"))
        if kind in ARGUMENTS:
            self._called(item, kind, completed)
        elif not completed:
            return f"item.started:{kind}"
        elif kind == "agent_message":
            self._answer()
            self.builder.message("agent", text)
        elif kind == "reasoning":
            self._answer()
            self.builder.reasoning(text)
        elif kind == "error":
            self.builder.event(text_of(item.get("message")), "warning")
        else:
            return f"item.completed:{kind}"
        return None

    def _called(self, item: dict[str, Any], kind: str, completed: bool) -> None:
        key = text_of(item.get("id"))
        if not self.builder.knows(key):
            self._answer()
            arguments = {name: item[name] for name in ARGUMENTS[kind] if item.get(name) is not None}
            self.builder.call(key, kind, arguments)
        if completed:
            self._answering = False
            text = next((text_of(item[name]) for name in RESULTS if item.get(name)), "")
            failed = text_of(item.get("status")) in FAILURES or bool(item.get("error"))
            status = count_of(item.get("exit_code"))
            self.builder.result(key, text, kind, status, failed if status is None else None)

    def _answer(self) -> None:
        """Begin a turn, unless the model is still answering."""
        if not self._answering:
            self.builder.respond()
        self._answering = True


class CodexEvents:
    """The importer of Codex's standard output."""

    name = FORMAT

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether among the first rows there is one of an event stream."""
        return path.is_file() and any(_is_event(row) for row in head_rows(head))

    def runs(self, path: Path) -> Iterator[Run]:
        """The one run of a stream, with its ending if it got that far."""
        reader = EventReader()
        record = reader.read(path)
        yield Run(run_id(record, "codex"), record, str(path), agent="codex", outcome=Outcome(detail=reader.ending))


def _is_event(row: dict[str, Any]) -> bool:
    kind, item = row.get("type"), row.get("item")
    if kind in ("item.started", "item.updated", "item.completed"):
        return isinstance(item, dict) and "id" in item and "type" in item
    return (kind == "thread.started" and "thread_id" in row) or (kind == "turn.completed" and "usage" in row)
