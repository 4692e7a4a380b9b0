"""Messages as the chat interfaces of OpenAI and Anthropic have them, one after another into a record."""

from __future__ import annotations

from typing import Any

from adjudge.importers.build import RecordBuilder, media, text_of
from adjudge.importers.documents_values import amount, attachment, count, listing, mapping, text, without_base64
from adjudge.importers.injected import add_message
from adjudge.record import Unparsed, Usage

TEXTS = frozenset({"text", "input_text", "output_text"})
PROVIDED = frozenset({"server_tool_use", "mcp_tool_use"})
"""Calls that Anthropic runs itself, so that their results stand in the assistant's message."""


class ChatReader:
    """Takes messages in order. Each message of the assistant is a turn.

    What the assistant's message holds is the agent's own, a `tool_result` block too: only what a provider's own tool
    brought (`web_search_tool_result` and the like, for a `server_tool_use` before it) stands there as a tool's.
    """

    def __init__(self, builder: RecordBuilder) -> None:
        self.builder = builder
        self.task: str | None = None
        self._functions: dict[str, str] = {}
        self._provided: set[str] = set()

    def add(self, place: str, message: dict[str, Any], time: str | None = None) -> None:
        """Add a message of any role; one of an unknown role is reported."""
        role = message.get("role")
        if role in ("system", "developer"):
            self.builder.message("harness", content_text(message.get("content")), time=time, origin="system")
        elif role == "user":
            self._user(message.get("content"), time)
        elif role == "assistant":
            self.assistant(message, usage_of(message.get("usage")), text(message.get("model")) or None, None, time)
        elif role in ("tool", "function"):
            self._result(message, time)
        else:
            self.builder.unparsed(Unparsed(place, f"a message of unknown role {role!r}"))
            return
        self.builder.use()

    def _user(self, content: Any, time: str | None) -> None:
        """What the user wrote, and in Anthropic's shape what the tools returned."""
        for part in content if isinstance(content, list) else [content]:
            if isinstance(part, dict) and part.get("type") == "tool_result":
                self._answer(part.get("tool_use_id"), part, time)
            else:
                written = add_message(self.builder, part_text(part), time)
                self.task = self.task or written or None

    def assistant(
        self, message: dict[str, Any], usage: Usage | None, model: str | None, stop: str | None, time: str | None
    ) -> None:
        """Add a message of the assistant, with what is known of the response that it was."""
        self.builder.respond(model=model, usage=usage, stop=stop, time=time)
        if reasoning := _reasoning(message):
            self.builder.reasoning(reasoning, time=time)
        content = message.get("content")
        for part in content if isinstance(content, list) else [content]:
            self._said(part, time)
        for call in listing(message.get("tool_calls")):
            if isinstance(call, dict):
                self._call(call, time)
        if function := mapping(message.get("function_call")):
            name = text(function.get("name"))
            self._functions[name] = f"{name}#{len(self._functions)}#{self.builder.turn}"
            self.builder.call(self._functions[name], name, function.get("arguments"), time=time)

    def _said(self, part: Any, time: str | None) -> None:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in ("thinking", "reasoning"):
            if words := text(part.get("thinking")) or text(part.get("text")):
                self.builder.reasoning(words, time=time)
        elif kind == "tool_use" or kind in PROVIDED:
            key = text(part.get("id"))
            if kind in PROVIDED:
                self._provided.add(key)
            self.builder.call(key, text(part.get("name")), part.get("input"), time=time)
        elif text(kind).endswith("_tool_result") and text(part.get("tool_use_id")) in self._provided:
            self._answer(part.get("tool_use_id"), part, time)
        elif kind != "redacted_thinking" and (words := part_text(part)):
            self.builder.message("agent", words, time=time)

    def _call(self, call: dict[str, Any], time: str | None) -> None:
        """A call, its arguments being text that may not even be JSON."""
        inner = mapping(call.get("function")) or mapping(call.get("custom")) or call
        arguments = inner.get("arguments", inner.get("input"))
        self.builder.call(text(call.get("id")), text(inner.get("name")) or "unnamed", arguments, time=time)

    def _result(self, message: dict[str, Any], time: str | None) -> None:
        key = message.get("tool_call_id") or self._functions.get(text(message.get("name")))
        self._answer(key, message, time)

    def _answer(self, key: Any, result: dict[str, Any], time: str | None) -> None:
        stated = result.get("is_error")
        self.builder.result(
            text(key) or None,
            content_text(result.get("content")),
            name=text(result.get("name")) or None,
            is_error=stated if isinstance(stated, bool) else True if result.get("status") == "error" else None,
            time=time,
        )


def content_text(content: Any) -> str:
    """A message's content as text: a text, a list of parts, or nothing."""
    if isinstance(content, list):
        return "\n".join(part_text(part) for part in content)
    return part_text(content)


def part_text(part: Any) -> str:
    """A part of a message as text; images and files by their kind, size and hash, anything unknown as JSON."""
    if not isinstance(part, dict):
        return without_base64(text_of(part))
    kind, source = text(part.get("type")), mapping(part.get("source"))
    if kind in TEXTS:
        return without_base64(text(part.get("text")))
    if kind == "refusal":
        return text(part.get("refusal"))
    if kind == "image_url":
        image = part.get("image_url")
        return attachment("image", text(image) or text(mapping(image).get("url")))
    if source:
        name = text(source.get("media_type")) or kind
        data = text(source.get("data"))
        return media(name, data) if data else f"[{name} {text(source.get('url')) or text(source.get('path'))}]"
    return without_base64(text_of(part))


def _reasoning(message: dict[str, Any]) -> str:
    words = text(message.get("reasoning_content")) or text(message.get("reasoning"))
    blocks = [text(mapping(block).get("thinking")) for block in listing(message.get("thinking_blocks"))]
    return words or "\n".join(filter(None, blocks))


def usage_of(usage: Any, cost: Any = None) -> Usage | None:
    """A `usage` object. Only Anthropic's `input_tokens` leave out the cached ones; OpenAI's two shapes count them in."""
    if not isinstance(usage, dict) or not usage:
        return None
    if "prompt_tokens" in usage or "input_tokens_details" in usage:
        return _openai(usage, cost)
    read, written = count(usage.get("cache_read_input_tokens")), count(usage.get("cache_creation_input_tokens"))
    sent = count(usage.get("input_tokens"))
    prompt = None if sent is None else sent + (read or 0) + (written or 0)
    return Usage(prompt, read, written, count(usage.get("output_tokens")), cost=amount(cost))


def _openai(usage: dict[str, Any], cost: Any) -> Usage:
    sent = mapping(usage.get("prompt_tokens_details")) or mapping(usage.get("input_tokens_details"))
    received = mapping(usage.get("completion_tokens_details")) or mapping(usage.get("output_tokens_details"))
    return Usage(
        prompt=count(usage.get("prompt_tokens", usage.get("input_tokens"))),
        cached=count(sent.get("cached_tokens")),
        written=count(usage.get("cache_creation_input_tokens")),
        output=count(usage.get("completion_tokens", usage.get("output_tokens"))),
        reasoning=count(received.get("reasoning_tokens")),
        cost=amount(cost),
    )
