"""The rows of a Codex rollout, old and new, as they go into a record.

Source: `protocol` and `rollout` of openai/codex, and rollouts of versions 0.3x to 0.171. Much is written twice, as what
went to the model (`response_item`) and as what was shown (`event_msg`); each text is taken once. Token totals are
cumulative. A sub-agent's or a forked session's file may begin with a copy of its parent's history, which is left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adjudge.importers.build import RecordBuilder, count_of, text_of
from adjudge.importers.codex_once import TokenCount, ToldTwice, error_origin
from adjudge.importers.codex_outputs import SCRIPTS, Returned, returned, shows, texts_of
from adjudge.importers.injected import add_message, origin_of
from adjudge.importers.jsonl import rows
from adjudge.record import Usage

FORMAT = "codex-rollout"

CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "web_search_call": "action",
    "tool_search_call": "arguments",
    "image_generation_call": "revised_prompt",
}
"""Rows of calls, and where their arguments are."""

OUTPUTS = {
    "function_call_output": "output",
    "custom_tool_call_output": "output",
    "local_shell_call_output": "output",
    "tool_search_output": "tools",
    "mcp_tool_call_output": "output",
}
"""Rows of what came back, and where that is."""


TOOLS = {
    "CommandExecution": "exec_command",
    "exec_command_end": "exec_command",
    "FileChange": "apply_patch",
    "patch_apply_end": "apply_patch",
}
"""What the harness calls that which ran, and the tool that ran it."""


class RolloutReader:
    """Reads the rows of one rollout into a record's builder, and keeps what is known of the session."""

    def __init__(self, prefix: str = "", label: str | None = None) -> None:
        self.builder = RecordBuilder(FORMAT, prefix, label)
        self.meta: dict[str, Any] = {}
        self.task: str | None = None
        self.ending: str | None = None
        self._model: str | None = None
        self._tokens = TokenCount()
        self._told = ToldTwice()
        self._names: dict[str, str] = {}
        self._scripts: list[str] = []
        self._ran: dict[str, list[tuple[str, Returned]]] = {}
        self._answering = self._copied = False

    def read(self, path: Path) -> None:
        """Take in every row of the file, each used, skipped with its kind, or unparsed."""
        for _, row in rows(path, self.builder.unparsed):
            skipped = self._take(row)
            if skipped is None:
                self.builder.use()
            else:
                self.builder.skip(skipped)

    def _take(self, row: dict[str, Any]) -> str | None:
        payload, kind = row.get("payload"), text_of(row.get("type"))
        time = row.get("timestamp") if isinstance(row.get("timestamp"), str) else None
        if not isinstance(payload, dict):
            return self._take_bare(row, kind)
        if kind == "session_meta":
            return self._began(payload)
        if self._copied and not self._is_own(payload):
            self._tokens.pass_over(payload)
            return "copied"
        self._copied = False
        match kind:
            case "response_item":
                return self._item(payload, time)
            case "event_msg":
                return self._event(payload, time)
            case "turn_context":
                self._model = text_of(payload.get("model")) or self._model
                return None
            case "token_usage_record":
                return self._used(self._tokens.of_response(payload))
            case "compacted":
                self.builder.event(text_of(payload.get("message")) or "The history was compacted.", "compaction", time=time)
                return None
        return kind or "row without a type"

    def _take_bare(self, row: dict[str, Any], kind: str) -> str | None:
        """A row of the old shape: the first one describes the session, the others are items without a time."""
        if not kind and "id" in row and not self.meta:
            self.meta = row
            if text := text_of(row.get("instructions")):
                self.builder.message("harness", text, origin="memory")
            return None
        if "record_type" in row:
            return f"record_type:{text_of(row['record_type'])}"
        return self._item(row, None)

    def _began(self, payload: dict[str, Any]) -> str | None:
        if self.meta:
            return "session_meta, again"
        self.meta = payload
        self._copied = bool(payload.get("forked_from_id"))
        return None

    def _is_own(self, payload: dict[str, Any]) -> bool:
        """Whether a turn begins here that is younger than this session (both ids are UUIDs that sort by time)."""
        turn, session = text_of(payload.get("turn_id")), text_of(self.meta.get("id"))
        return payload.get("type") == "task_started" and turn >= session

    # --- what went to the model and came from it

    def _item(self, item: dict[str, Any], time: str | None) -> str | None:
        kind = text_of(item.get("type"))
        if kind == "message":
            return self._message(item, time)
        if kind == "reasoning":
            texts = texts_of(item.get("summary")) + texts_of(item.get("content"))
            if texts:
                return self._reasoned(texts, "response_item", time)
            self._answer(time)  # encrypted: that the model answers is all that is known
        elif kind in CALLS:
            self._called(item, kind, time)
        elif kind in OUTPUTS:
            self._returned(item, item.get(OUTPUTS[kind]), time)
        elif kind == "agent_message":
            self._answering = False
            text = "\n".join(texts_of(item.get("content")))
            self.task = self.task or text
            self.builder.message("harness", text, time=time, origin="agent-message")
        else:
            return f"response_item:{kind}"
        return None

    def _message(self, item: dict[str, Any], time: str | None) -> str | None:
        role, texts = text_of(item.get("role")), texts_of(item.get("content"))
        if role == "assistant":
            return self._said(texts, "response_item", time)
        self._answering = False
        noted = item.get("internal_chat_message_metadata_passthrough")
        kinds = noted.get("content_item_kinds") if isinstance(noted, dict) else None
        taken = False
        for number, text in enumerate(texts):
            kind = kinds[number] if isinstance(kinds, list) and number < len(kinds) else None
            taken |= self._given(text, role, kind if isinstance(kind, str) else None, time)
        return None if taken else "told twice"

    def _given(self, text: str, role: str, kind: str | None, time: str | None) -> bool:
        """Add what stands in the user's or the developer's place; whether it was new."""
        if role == "user" and self._told.before(text, "response_item"):
            return False
        origin = None
        if role != "user" or (kind and kind != "unknown" and not kind.startswith("user")):
            origin = origin_of(text) or kind or "instructions"
        words = add_message(self.builder, text, time, origin)
        self.task = self.task or words or None
        return True

    def _said(self, texts: list[str], source: str, time: str | None) -> str | None:
        fresh = [text for text in texts if text and not self._told.before(text, source)]
        if texts and not fresh:
            return "told twice"
        self._answer(time)
        for text in fresh:
            self.builder.message("agent", text, time=time)
        return None

    def _reasoned(self, texts: list[str], source: str, time: str | None) -> str | None:
        fresh = [text for text in texts if text and not self._told.before(text, source)]
        if not fresh:
            return "told twice"
        self._answer(time)
        for text in fresh:
            self.builder.reasoning(text, time=time)
        return None

    def _answer(self, time: str | None) -> None:
        """Begin a turn, unless the model is still answering."""
        if not self._answering:
            self.builder.respond(model=self._model, time=time)
        self._answering = True

    def _called(self, item: dict[str, Any], kind: str, time: str | None) -> None:
        self._answer(time)
        space = text_of(item.get("namespace"))
        name = text_of(item.get("name")) or kind
        key = text_of(item.get("call_id")) or text_of(item.get("id"))
        self._names[key] = name
        if name in SCRIPTS:
            self._scripts.append(key)
        shown = f"{space}/{name}" if space not in ("", "functions") else name
        self.builder.call(key, shown, item.get(CALLS[kind]), time=time)

    def _returned(self, item: dict[str, Any], output: Any, time: str | None) -> None:
        self._answering = False
        key = text_of(item.get("call_id"))
        name = self._names.pop(key, None)
        result, ran = returned(output, name), self._ran.pop(key, [])
        if key in self._scripts:
            self._scripts.remove(key)
        if len(ran) == 1 and (name not in SCRIPTS or shows(result.text, ran[0][1].text)):
            stated = ran[0][1]
            status = result.exit_status if stated.exit_status is None else stated.exit_status
            result = Returned(result.text, status, stated.is_error or result.is_error)
        else:
            for tool, part in ran:
                self.builder.result(key, part.text, tool, part.exit_status, part.is_error, time=time)
        self.builder.result(key, result.text, name, result.exit_status, result.is_error, time=time)

    # --- what was shown

    def _event(self, event: dict[str, Any], time: str | None) -> str | None:
        kind = text_of(event.get("type"))
        match kind:
            case "user_message":
                return self._shown_user(text_of(event.get("message")), time)
            case "agent_message":
                return self._said([text_of(event.get("message"))], "event_msg", time)
            case "agent_reasoning":
                return self._reasoned([text_of(event.get("text"))], "event_msg", time)
            case "token_count":
                return self._used(self._tokens.of_event(event))
            case "exec_command_end" | "patch_apply_end" | "mcp_tool_call_end":
                self._ran_as(event, time)
                return None
            case "item_completed":
                return self._completed(event.get("item"), time)
            case "task_complete" | "turn_aborted" | "error" | "stream_error" | "turn_failed":
                return self._ended(kind, event, time)
            case "warning" | "exited_review_mode" | "thread_rolled_back":
                self.builder.event(text_of({**event, "type": kind}), kind, time=time)
                return None
            case "task_started":
                self._answering = False
        return f"event_msg:{kind}"

    def _shown_user(self, text: str, time: str | None) -> str | None:
        if self._told.before(text, "event_msg"):
            return "told twice"
        self._answering = False
        words = add_message(self.builder, text, time)
        self.task = self.task or words or None
        return None

    def _completed(self, item: Any, time: str | None) -> str | None:
        item = item if isinstance(item, dict) else {}
        kind = text_of(item.get("type"))
        match kind:
            case "UserMessage":
                return self._shown_user("\n".join(texts_of(item.get("content"))), time)
            case "AgentMessage":
                return self._said(texts_of(item.get("content")), "event_msg", time)
            case "CommandExecution" | "FileChange" | "McpToolCall":
                self._ran_as(item, time)
                return None
        return f"item_completed:{kind}"

    def _ran_as(self, event: dict[str, Any], time: str | None) -> None:
        """Keep what the harness states about a command until the result of its call comes.

        In code mode no id links a command to the script that ran it, only that the script is the one that runs.
        """
        key = text_of(event.get("call_id")) or text_of(event.get("id"))
        kind = text_of(event.get("type"))
        tool = TOOLS.get(kind) or text_of(event.get("tool")) or kind
        failed = event.get("success") is False or (kind == "FileChange" and event.get("status") == "failed")
        output = text_of(event.get("aggregated_output") or event.get("stdout"))
        ran = Returned(output, count_of(event.get("exit_code")), True if failed else None)
        if key not in self._names and len(self._scripts) == 1 and not self.builder.knows(key):
            key = self._scripts[0]
        if key in self._names:
            self._ran.setdefault(key, []).append((tool, ran))
        else:  # it ended after its call had returned
            self.builder.result(key, ran.text, tool, ran.exit_status, ran.is_error, time=time)

    def _ended(self, kind: str, event: dict[str, Any], time: str | None) -> str | None:
        error = event.get("error")
        message = text_of(error.get("message")) if isinstance(error, dict) else text_of(event.get("message"))
        reason = message or text_of(event.get("reason"))
        self.ending = f"{kind}: {reason[:500]}" if reason else kind
        if kind != "task_complete" or reason:
            self.builder.event(reason or kind, "interrupted" if kind == "turn_aborted" else error_origin(reason), time=time)
        return None

    def _used(self, usage: tuple[Usage, Usage] | None) -> str | None:
        """Give the usage to the latest turn; the total is the harness's own, unless a copied history is in it."""
        if usage is None:
            return "token_count, again"
        self.builder.reported = None if self.meta.get("forked_from_id") else usage[1]
        self.builder.use_tokens(usage[0])
        return None
