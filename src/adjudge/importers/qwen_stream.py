"""What `qwen -o stream-json` prints, among whatever else is on its standard output, or its JSON array.

Source: the adapters in `packages/cli/src/nonInteractive/io` of QwenLM/qwen-code. Rows look like Claude Code's, but each
block is a message with an id of its own, and only the last block of a response has its usage. Of results there is what
was displayed, only a sub-agent's are whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adjudge.importers.build import RecordBuilder, count_of, main_model, run_id
from adjudge.importers.chat_messages import content_text
from adjudge.importers.documents_values import listing, mapping, text
from adjudge.importers.gemini_outputs import qwen_exit_status
from adjudge.importers.gemini_parts import SHELL
from adjudge.importers.gemini_stream import API_ERROR
from adjudge.importers.injected import add_message
from adjudge.importers.jsonl import head_rows, rows
from adjudge.record import Record, Usage
from adjudge.run import Outcome, Run

FORMAT = "qwen-stream-json"


class Conversation:
    """What one agent said and got back.

    A failed request is printed as if the model had said it: `held` is such a message as long as it may be one.
    """

    def __init__(self, prefix: str = "", label: str | None = None, given_by: str | None = None) -> None:
        self.builder = RecordBuilder(FORMAT, prefix, label)
        self.task: str | None = None
        self.held: str | None = None
        self._given_by = given_by
        self._names: dict[str, str] = {}
        self._response: str | None = None
        self._model: str | None = None

    def assistant(self, message: dict[str, Any]) -> None:
        """Add the blocks of a row, which may be one of several of a response."""
        usage, model = usage_of(message.get("usage")), text(message.get("model")) or None
        blocks = [mapping(block) for block in listing(message.get("content"))]
        self.release()
        self._model = model
        if self._response is None and usage is None and (held := _failure(blocks)):
            self.held = held
            return
        self._answer(usage, text(message.get("stop_reason")) or None)
        for block in blocks:
            self._said(block)
        if usage:  # the last block of the response
            self._response = None

    def _answer(self, usage: Usage | None, stop: str | None) -> None:
        """Begin a turn, unless the model is still answering; a response's usage comes with its last block."""
        self._response = self._response or f"response {self.builder.turn + 1}"
        self.builder.respond(self._response, self._model, usage, stop)

    def _said(self, block: dict[str, Any]) -> None:
        match block.get("type"):
            case "thinking":
                if words := text(block.get("thinking")):
                    self.builder.reasoning(words)
            case "tool_use":
                key, name = text(block.get("id")), text(block.get("name")) or "unnamed"
                self._names[key] = name
                self.builder.call(key, name, block.get("input"))
            case _:
                if words := content_text([block]):
                    self.builder.message("agent", words)

    def user(self, message: dict[str, Any]) -> None:
        """Add what came back to the model, or was said to it."""
        self.release()
        self._response = None
        content = message.get("content")
        for block in content if isinstance(content, list) else [content]:
            if isinstance(block, dict) and block.get("type") == "tool_result":
                self._returned(block)
            else:
                words = add_message(self.builder, content_text([block]), origin=self._given_by)
                self.task = self.task or words or None

    def _returned(self, block: dict[str, Any]) -> None:
        key, output = text(block.get("tool_use_id")), content_text(block.get("content"))
        name, failed = self._names.pop(key, None), block.get("is_error")
        status = qwen_exit_status(output) if name == SHELL else None
        self.builder.result(key, output, name, status, failed if isinstance(failed, bool) else None)

    def release(self) -> None:
        """Take what was held for the agent's words, as something followed it."""
        words, self.held = self.held, None
        if words:
            self._answer(None, None)
            self.builder.message("agent", words)
            self._response = None


def _failure(blocks: list[dict[str, Any]]) -> str | None:
    """The text of blocks that may be a failed request's message."""
    words = content_text(blocks) if len(blocks) == 1 and blocks[0].get("type") == "text" else ""
    return words if words.startswith(API_ERROR) else None


class StreamReader:
    """Reads the rows of a stream into a conversation, and sub-agents into theirs."""

    def __init__(self) -> None:
        self.main = Conversation()
        self.version: str | None = None
        self.model: str | None = None
        self.ending: str | None = None
        self._sides: dict[str, Conversation] = {}

    def read(self, path: Path) -> Record:
        """Take in every row of the file, each used, skipped with its kind, or unparsed; the record of them."""
        builder = self.main.builder
        for _, row in rows(path, builder.unparsed):
            skipped = self._take(row)
            if skipped is None:
                builder.use()
            else:
                builder.skip(skipped)
        for conversation in (self.main, *self._sides.values()):
            conversation.release()
        builder.children += [side.builder.finish() for side in self._sides.values()]
        return builder.finish()

    def _take(self, row: dict[str, Any]) -> str | None:
        kind, message = text(row.get("type")), row.get("message")
        if kind in ("assistant", "user") and isinstance(message, dict):
            conversation = self._conversation(row)
            conversation.assistant(message) if kind == "assistant" else conversation.user(message)
        elif kind == "system" and row.get("subtype") == "init":
            self.version = text(row.get("qwen_code_version")) or None
            self.model = text(row.get("model")) or None
        elif kind == "result":
            self._ended(row)
        else:
            return ":".join(filter(None, (kind, text(row.get("subtype"))))) or "row without a type"
        return None

    def _conversation(self, row: dict[str, Any]) -> Conversation:
        parent = text(row.get("parent_tool_use_id"))
        if not parent:
            return self.main
        if parent not in self._sides:
            self._sides[parent] = Conversation(f"s{len(self._sides) + 1}.", parent, "parent-agent")
        return self._sides[parent]

    def _ended(self, row: dict[str, Any]) -> None:
        """The last row. It says `success` of a failed request too, and repeats its message as the result."""
        builder, words = self.main.builder, text(row.get("result"))
        failure = text(mapping(row.get("error")).get("message")) or words if row.get("is_error") else ""
        if self.main.held and self.main.held == words:
            failure, self.main.held = words, None
        self.main.release()
        builder.reported = usage_of(row.get("usage"))
        self.ending = failure[:500] or text(row.get("subtype")) or "result"
        if failure:
            builder.event(failure, "api-error" if failure.startswith(API_ERROR) else "error")


def usage_of(usage: Any) -> Usage | None:
    """The usage of one response, in which `input_tokens` counts the cached ones too; zeros stand where none is known."""
    held = mapping(usage)
    prompt, output = count_of(held.get("input_tokens")), count_of(held.get("output_tokens"))
    if not prompt and not output:
        return None
    return Usage(prompt, count_of(held.get("cache_read_input_tokens")), None, output)


def is_init(row: dict[str, Any]) -> bool:
    """Whether the row is the one that a stream of Qwen Code begins with."""
    return row.get("type") == "system" and row.get("subtype") == "init" and "qwen_code_version" in row


class QwenStreams:
    """The importer of Qwen Code's standard output."""

    name = FORMAT

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether the row that a stream begins with is among the first ones."""
        return path.is_file() and any(map(is_init, head_rows(head)))

    def runs(self, path: Path) -> Iterator[Run]:
        """The one run of a stream, with its ending if it got that far."""
        reader = StreamReader()
        record = reader.read(path)
        model = main_model(record.turns) or reader.model
        yield Run(
            id=run_id(record, "qwen-code", model),
            record=record,
            source=str(path),
            task=reader.main.task,
            agent="qwen-code",
            agent_version=reader.version,
            model=model,
            outcome=Outcome(detail=reader.ending),
        )
