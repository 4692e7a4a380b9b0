"""Claude Code's messages, in Anthropic's shape, as they go into a record: shared by session files and event streams."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from adjudge.importers.build import RecordBuilder, count_of, media, text_of
from adjudge.importers.chat_messages import PROVIDED
from adjudge.importers.injected import add_message
from adjudge.record import Usage

SHELLS = frozenset({"Bash", "PowerShell"})
"""Tools whose failed results start with a line `Exit code N` that the harness itself writes."""

_EXIT_CODE = re.compile(r"Exit code (-?\d{1,9})(?:\n|\Z)")


class Conversation:
    """What one agent and its user said, on its way into a record.

    `task` is the first thing that the user wrote, `command` the first slash command, `error` the last message of a
    failed request if no answer followed it.
    """

    def __init__(self, builder: RecordBuilder, given_by: str | None = None) -> None:
        self.builder = builder
        self.task: str | None = None
        self.command: str | None = None
        self.error: str | None = None
        self._given_by = given_by
        self._names: dict[str, str] = {}
        self._provided: set[str] = set()

    def assistant(self, row: dict[str, Any], partial: bool = False) -> str | None:
        """Add a row of an answer, which may be one of several of the same answer; tells why it was skipped, if it was.

        With `partial` a usage without a stop reason is known to miss the output.
        """
        message = row.get("message")
        if not isinstance(message, dict):
            return "assistant without a message"
        time, model = _string(row.get("timestamp")), _string(message.get("model"))
        if row.get("isApiErrorMessage") or model == "<synthetic>":
            failed = bool(row.get("isApiErrorMessage")) or "error" in row
            self._failed(message, time, failed, row.get("error") == "max_output_tokens")
            return None
        stop = _string(message.get("stop_reason"))
        usage = usage_of(message.get("usage"), partial and stop is None)
        turn = self.builder.respond(_string(message.get("id")), model, usage, stop, time)
        self.error = None
        for block in _blocks(message.get("content")):
            self._answered(block, turn, time)
        return None

    def _failed(self, message: dict[str, Any], time: str | None, request: bool, cut: bool) -> None:
        text = "\n".join(text_of(block.get("text")) for block in _blocks(message.get("content")))
        self.builder.event(text, "token-limit" if cut else "api-error" if request else "synthetic", time=time)
        if request:
            self.error = text

    def _answered(self, block: dict[str, Any], turn: int, time: str | None) -> None:
        kind = text_of(block.get("type"))
        if kind == "text":
            if text := text_of(block.get("text")):
                self.builder.message("agent", text, turn, time)
        elif kind == "thinking":
            if text := text_of(block.get("thinking")):
                self.builder.reasoning(text, turn, time)
        elif kind.endswith("tool_use"):
            key, name = text_of(block.get("id")), text_of(block.get("name"))
            self._names[key] = name
            if kind in PROVIDED:
                self._provided.add(key)
            self.builder.call(key, name, block.get("input"), turn, time)
        elif kind.endswith("tool_result"):
            self._brought(block, turn, time)
        elif kind != "redacted_thinking":
            self.builder.event(text_of(block), f"block:{kind}", turn, time)

    def _brought(self, block: dict[str, Any], turn: int, time: str | None) -> None:
        """A result within the model's answer: a tool's only if the provider ran it, else words of the agent."""
        kind, key = text_of(block.get("type")), text_of(block.get("tool_use_id"))
        if kind.endswith("_tool_result") and key in self._provided:
            self._returned(block, time)
        else:
            self.builder.message("agent", text_of(block), turn, time)

    def user(self, row: dict[str, Any]) -> str | None:
        """Add a row of what came back to the model; tells why it was skipped, if it was."""
        message = row.get("message")
        if not isinstance(message, dict):
            return "user without a message"
        time, origin = _string(row.get("timestamp")), self._origin(row)
        for block in _blocks(message.get("content")):
            if block.get("type") == "tool_result":
                self._returned(block, time)
            else:
                self.said(_shown(block), time, origin)
        return None

    def said(self, text: str, time: str | None, origin: str | None = None) -> None:
        """Add what stands in a user's place, and remember the first task."""
        words = add_message(self.builder, text, time, origin)
        if words and self.task is None:
            self.task = words
        if text.lstrip().startswith("<command-") and self.command is None:
            self.command = text

    def _origin(self, row: dict[str, Any]) -> str | None:
        """Who the row says put it there, `None` for the user."""
        if row.get("isCompactSummary"):
            return "summary"
        source = row.get("origin")
        if isinstance(source, dict) and text_of(source.get("kind")) not in ("", "human"):
            return text_of(source["kind"])
        if row.get("isMeta") or row.get("isSynthetic"):
            return "meta"
        return self._given_by

    def _returned(self, block: dict[str, Any], time: str | None) -> None:
        key = text_of(block.get("tool_use_id"))
        text = "\n".join(_shown(part) for part in _blocks(block.get("content")))
        name, failed = self._names.pop(key, None), bool(block.get("is_error"))
        code = _EXIT_CODE.match(text) if failed and name in SHELLS else None
        self.builder.result(key, text, name, int(code[1]) if code else None, failed, time=time)


def usage_of(usage: Any, without_output: bool = False) -> Usage | None:
    """Anthropic's usage of one answer, where `input_tokens` leaves the cached and the cache-written out."""
    if not isinstance(usage, dict):
        return None
    fresh, cached = count_of(usage.get("input_tokens")), count_of(usage.get("cache_read_input_tokens"))
    written = count_of(usage.get("cache_creation_input_tokens"))
    details = usage.get("output_tokens_details")
    return Usage(
        prompt=None if fresh is None else fresh + (cached or 0) + (written or 0),
        cached=cached,
        written=written,
        output=None if without_output else count_of(usage.get("output_tokens")),
        reasoning=count_of(details.get("thinking_tokens")) if isinstance(details, dict) and not without_output else None,
    )


def reported_usage(models: Any, cost: Any) -> Usage | None:
    """The harness's own total, over all models and with sub-agents, from `modelUsage`."""
    total = Usage()
    for used in models.values() if isinstance(models, dict) else ():
        if isinstance(used, dict):
            total += _of_model(used)
    cost = float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None
    return None if total == Usage() else total + Usage(cost=cost)


def _of_model(used: dict[str, Any]) -> Usage:
    names = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens")
    fresh, cached, written, output = (count_of(used.get(name)) for name in names)
    prompt = None if fresh is None else fresh + (cached or 0) + (written or 0)
    return Usage(prompt, cached, written, output, count_of(used.get("thinkingTokens")))


def _blocks(content: Any) -> Iterator[dict[str, Any]]:
    """The blocks of a content that may be a string, a list, or anything else."""
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        for block in content:
            yield block if isinstance(block, dict) else {"type": "text", "text": text_of(block)}
    elif content is not None:
        yield {"type": "text", "text": text_of(content)}


def _shown(block: dict[str, Any]) -> str:
    """A block as text; base64 data as its kind, size and hash."""
    kind, source = text_of(block.get("type")), block.get("source")
    if kind == "text":
        return text_of(block.get("text"))
    if isinstance(source, dict) and isinstance(source.get("data"), str) and source.get("type") == "base64":
        return media(text_of(source.get("media_type")) or kind, source["data"])
    if kind == "tool_reference":
        return f"[tool {text_of(block.get('tool_name'))}]"
    return text_of(block)


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None
