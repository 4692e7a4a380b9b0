"""What `gemini -o stream-json` prints, among whatever else is on its standard output.

Source: `stream-json-formatter.ts` and `nonInteractiveCli.ts` of google-gemini/gemini-cli. A message comes in pieces; of
results only what was displayed; tokens only as the total.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adjudge.importers.build import RecordBuilder, run_id, text_of
from adjudge.importers.documents_values import count, mapping, text
from adjudge.importers.gemini_parts import add_untold, is_failure, usage_of
from adjudge.importers.injected import add_message
from adjudge.importers.jsonl import head_rows, rows
from adjudge.record import Record, Usage
from adjudge.run import Outcome, Run

FORMAT = "gemini-stream-json"

API_ERROR = "[API Error: "
"""How Gemini CLI and Qwen Code begin what they say of a failed request."""

TRUNCATED = "Model response was truncated because it exceeded the token limit."

LONGEST = 1 << 20
"""Characters of a message in pieces after which it becomes an entry, so that it needs no more memory."""


class StreamReader:
    """Reads the rows of a stream into a record's builder."""

    def __init__(self) -> None:
        self.builder = RecordBuilder(FORMAT)
        self.task: str | None = None
        self.model: str | None = None
        self.ending: str | None = None
        self._names: dict[str, str] = {}
        self._pieces: list[str] = []
        self._size = 0
        self._time: str | None = None
        self._answering = False

    def read(self, path: Path) -> Record:
        """Take in every row of the file, each used, skipped with its kind, or unparsed; the record of them."""
        for _, row in rows(path, self.builder.unparsed):
            skipped = self._take(row)
            if skipped is None:
                self.builder.use()
            else:
                self.builder.skip(skipped)
        self._end_message()
        return self.builder.finish()

    def _take(self, row: dict[str, Any]) -> str | None:
        kind, time = text(row.get("type")), text(row.get("timestamp")) or None
        if kind == "message" and row.get("role") == "assistant":
            self._said(text_of(row.get("content")), time)
            return None
        self._end_message()
        match kind:
            case "init":
                self.model = text(row.get("model")) or None
            case "message":
                self._answering = False
                words = add_message(self.builder, text_of(row.get("content")), time)
                self.task = self.task or words or None
            case "tool_use":
                self._called(row, time)
            case "tool_result":
                self._returned(row, time)
            case "error":
                self._failed(text_of(row.get("message")), time, text(row.get("severity")) or "error")
            case "result":
                self._ended(row, time)
            case _:
                return kind or "row without a type"
        return None

    def _answer(self, time: str | None) -> None:
        """Begin a turn, unless the model is still answering."""
        if not self._answering:
            self.builder.respond(model=self.model, time=time)
        self._answering = True

    def _said(self, piece: str, time: str | None) -> None:
        if not self._pieces:
            self._answer(time)
            self._time = time
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > LONGEST:
            self._end_message()

    def _end_message(self) -> None:
        if words := "".join(self._pieces):
            self.builder.message("agent", words, time=self._time)
        self._pieces, self._size = [], 0

    def _called(self, row: dict[str, Any], time: str | None) -> None:
        self._answer(time)
        key, name = text(row.get("tool_id")), text(row.get("tool_name")) or "unnamed"
        self._names[key] = name
        self.builder.call(key, name, row.get("parameters"), time=time)

    def _returned(self, row: dict[str, Any], time: str | None) -> None:
        self._answering = False
        key, status = text(row.get("tool_id")), row.get("status")
        name = self._names.pop(key, "")
        output = text(mapping(row.get("error")).get("message")) or text(row.get("output"))
        if output:
            self.builder.result(key, output, name or None, is_error=is_failure(status), time=time)
        else:  # nothing was displayed, which does not say that nothing came back
            add_untold(self.builder, name or "call", text(status), time=time)

    def _failed(self, message: str, time: str | None, kind: str) -> None:
        origin = "api-error" if message.startswith(API_ERROR) else "token-limit" if message.startswith(TRUNCATED) else kind
        self.builder.event(message, origin, time=time)

    def _ended(self, row: dict[str, Any], time: str | None) -> None:
        error = mapping(row.get("error"))
        message = text(error.get("message")) or text(error.get("type"))
        self.ending = message[:500] or text(row.get("status")) or "result"
        self.builder.reported = _total(mapping(row.get("stats")))
        if message:
            self._failed(message, time, "error")


def _total(stats: dict[str, Any]) -> Usage | None:
    """The harness's total. Thoughts are part of `total_tokens` only."""
    total, sent, received = (count(stats.get(name)) for name in ("total_tokens", "input_tokens", "output_tokens"))
    if total is None or sent is None or received is None:
        return None
    return usage_of(sent, received, stats.get("cached"), max(0, total - sent - received), total)


class GeminiStreams:
    """The importer of Gemini CLI's standard output."""

    name = FORMAT

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether among the first rows there is one of a stream."""
        return path.is_file() and any(map(_is_stream_row, head_rows(head)))

    def runs(self, path: Path) -> Iterator[Run]:
        """The one run of a stream, with its ending if it got that far."""
        reader = StreamReader()
        record = reader.read(path)
        yield Run(
            id=run_id(record, "gemini-cli", reader.model),
            record=record,
            source=str(path),
            task=reader.task,
            agent="gemini-cli",
            model=reader.model,
            outcome=Outcome(detail=reader.ending),
        )


def _is_stream_row(row: dict[str, Any]) -> bool:
    kind = row.get("type")
    if kind == "init":
        return {"session_id", "model", "timestamp"} <= row.keys()
    if kind == "tool_use":
        return {"tool_name", "tool_id", "parameters"} <= row.keys()
    return kind == "result" and "status" in row and "input_tokens" in mapping(row.get("stats"))
