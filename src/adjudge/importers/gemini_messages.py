"""Gemini CLI's messages, one after another into a record."""

from __future__ import annotations

from typing import Any

from adjudge.importers.build import RecordBuilder, text_of
from adjudge.importers.documents_values import listing, mapping, text
from adjudge.importers.gemini_outputs import BLOCKED, gemini_exit_status, unwrapped
from adjudge.importers.gemini_parts import (
    SHELL,
    add_user,
    calls_in,
    is_failure,
    part_text,
    parts_of,
    returned_text,
    thoughts_in,
    usage_of,
)

FORMAT = "gemini-cli"

NOTES = {"info", "warning", "error", "compaction", "rewind"}
"""Kinds of messages that are neither the user's nor the agent's."""


class MessageReader:
    """Takes the last versions of messages in order.

    `task` is the first thing that the user wrote, `agents` names the sub-agents that were started, by their sessions.
    `given_by` is who stands in the user's place, `None` for the user.
    """

    def __init__(self, prefix: str = "", label: str | None = None) -> None:
        self.builder = RecordBuilder(FORMAT, prefix, label)
        self.task: str | None = None
        self.agents: dict[str, str] = {}
        self.given_by: str | None = None

    def add(self, message: dict[str, Any], own: bool) -> None:
        """Add a message. Only one with a row of its `own` is counted as a row."""
        kind, time = text(message.get("type")), text(message.get("timestamp")) or None
        skipped = None
        if kind == "user":
            skipped = self._user(message, time)
        elif kind == "gemini" and (own or message.get("tokens") or message.get("model")):
            self._answer(message, time)
        elif kind == "gemini":
            words = "\n".join(map(part_text, parts_of(message.get("content"))))
            self.builder.message("harness", words, time=time, origin="history")
        elif kind in NOTES:
            self.builder.event("\n".join(map(part_text, parts_of(message.get("content")))), kind, time=time)
        else:
            skipped = kind or "message without a type"
        if own and skipped is None:
            self.builder.use()
        elif own and skipped is not None:
            self.builder.skip(skipped)

    def _user(self, message: dict[str, Any], time: str | None) -> str | None:
        """What stands in the user's place: words, and once more what the calls before it returned."""
        parts = parts_of(message.get("content"))
        words = [part for part in parts if "functionResponse" not in part]
        responses = [mapping(part["functionResponse"]) for part in parts if "functionResponse" in part]
        stray = [response for response in responses if not self.builder.knows(text(response.get("id")))]
        for response in stray:
            shown = unwrapped(returned_text([{"functionResponse": response}], text(response.get("id"))))
            self.builder.result(text(response.get("id")), shown, text(response.get("name")) or None, time=time)
        if not words and not stray:
            return "result, told twice"
        if responses:  # an image that a tool returned stands beside its response, and is told with the call
            return None
        written = add_user(self.builder, words, time, self.given_by)
        self.task = self.task or written or None
        return None

    def _answer(self, message: dict[str, Any], time: str | None) -> None:
        tokens = mapping(message.get("tokens"))
        names = ("input", "output", "cached", "thoughts", "total", "tool")
        usage = usage_of(*(tokens.get(name) for name in names))
        self.builder.respond(text(message.get("id")), text(message.get("model")) or None, usage, time=time)
        parts, calls = parts_of(message.get("content")), list(map(mapping, listing(message.get("toolCalls"))))
        self._said(parts, list(thoughts_in(message.get("thoughts"))), time)
        told = {text(call.get("id")) for call in calls}
        for call in calls:
            self._called(call, time)
        for key, name, arguments in calls_in(parts):
            if key not in told:
                self.builder.call(key, name, arguments, time=time)
        for call in calls:
            self._returned(call)

    def _said(self, parts: list[dict[str, Any]], thoughts: list[str], time: str | None) -> None:
        kept = [part_text(part) for part in parts if part.get("thought")]
        for words in thoughts or kept:
            self.builder.reasoning(words, time=time)
        for part in parts:
            if not part.get("thought") and "functionCall" not in part and (words := part_text(part)):
                self.builder.message("agent", words, time=time)

    def _called(self, call: dict[str, Any], time: str | None) -> None:
        arguments = call.get("args")
        self.builder.call(text(call.get("id")), text(call.get("name")) or "unnamed", arguments, time=time)
        if agent := text(call.get("agentId")):
            self.agents[agent] = text(mapping(arguments).get("agent_name")) or text(call.get("name"))

    def _returned(self, call: dict[str, Any]) -> None:
        """What came back; how a command ended is told by the lines below what it printed."""
        if call.get("result") is None and call.get("resultDisplay") is None:
            return
        key, name, display = text(call.get("id")), text(call.get("name")), call.get("resultDisplay")
        output = text_of(display) if call.get("result") is None else unwrapped(returned_text(call["result"], key))
        failed = is_failure(call.get("status"))
        shell = name == SHELL and failed is False
        self.builder.result(
            key,
            output,
            name or None,
            gemini_exit_status(output, display) if shell else None,
            True if shell and output.startswith(BLOCKED) else failed,
            time=text(call.get("timestamp")) or None,
        )
