"""What Qwen Code's telemetry rows tell besides the conversation: failed requests, and all that is known of sub-agents.

A sub-agent's conversation is not recorded. Its rows hold the words of its responses, its calls with their arguments and
how they ended, and its tokens; its task stands in the call that started it, and what its calls returned stands nowhere.
"""

from __future__ import annotations

import re
from typing import Any

from adjudge.importers.build import RecordBuilder
from adjudge.importers.documents_values import text
from adjudge.importers.gemini_parts import add_untold, usage_of
from adjudge.record import Record

ABORTED = frozenset({"APIUserAbortError", "AbortError"})
"""Kinds of errors that mean that the request was given up by the program itself, as it was told to end."""

_SUBAGENT = re.compile(r"[^#]+#([^#]+)#\d+")
"""How a request's id names the sub-agent that made it."""


class Telemetry:
    """Takes telemetry in order. `error` is the last message of a failed request if no answer followed it."""

    def __init__(self, main: RecordBuilder, format: str) -> None:
        self._main, self._format = main, format
        self._children: dict[str, RecordBuilder] = {}
        self._calls = 0
        self.error: str | None = None

    def answered(self) -> None:
        """Take note that the main agent's model answered."""
        self.error = None

    def take(self, event: dict[str, Any], time: str | None) -> str | None:
        """Add what a row tells that no other row does; tells why it was skipped, if it was."""
        kind, child = text(event.get("event.name")).rpartition(".")[2], self._child(event)
        if kind == "api_error":
            self._failed(event, child, time)
        elif kind == "api_response" and child:
            self._answered(event, child, time)
        elif kind == "tool_call" and child:
            self._called(event, child, time)
        else:
            return f"ui_telemetry:{kind}"
        return None

    def records(self) -> list[Record]:
        """The records of the sub-agents, in the order in which they first appeared."""
        return [child.finish() for child in self._children.values()]

    def _child(self, event: dict[str, Any]) -> RecordBuilder | None:
        match, name = _SUBAGENT.fullmatch(text(event.get("prompt_id"))), text(event.get("subagent_name"))
        key = match[1] if match else name
        if not key:
            return None
        if key not in self._children:
            prefix = f"s{len(self._children) + 1}."
            self._children[key] = RecordBuilder(self._format, prefix, name or key)
        return self._children[key]

    def _failed(self, event: dict[str, Any], child: RecordBuilder | None, time: str | None) -> None:
        kind, message = text(event.get("error_type")), text(event.get("error_message"))
        origin = "interrupted" if kind in ABORTED else "api-error"
        (child or self._main).event(message or kind, origin, time=time)
        if child is None and origin == "api-error":
            self.error = message or kind

    def _answered(self, event: dict[str, Any], child: RecordBuilder, time: str | None) -> None:
        names = ("input", "output", "cached_content", "thoughts", "total")
        usage = usage_of(*(event.get(f"{name}_token_count") for name in names))
        turn = child.respond(text(event.get("response_id")) or None, text(event.get("model")) or None, usage, time=time)
        if words := text(event.get("response_text")):
            child.message("agent", words, turn, time)

    def _called(self, event: dict[str, Any], child: RecordBuilder, time: str | None) -> None:
        name = text(event.get("function_name")) or "unnamed"
        turn = child.respond(text(event.get("response_id")) or None, time=time)
        self._calls += 1
        child.call(f"telemetry {self._calls}", name, event.get("function_args"), turn, time)
        add_untold(child, name, text(event.get("status")), turn, time)
