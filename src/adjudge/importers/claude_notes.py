"""What Claude Code writes into a session besides messages: attachments, system rows, and bookkeeping."""

from __future__ import annotations

from typing import Any

from adjudge.importers.build import text_of
from adjudge.importers.claude_messages import Conversation

SILENT = frozenset(
    {
        "agent_listing_delta",
        "command_permissions",
        "date",
        "deferred_tools_delta",
        "mcp_instructions_delta",
        "model",
        "prompt_snapshot",
        "remote_session_change",
        "skill_listing",
        "task_reminder",
        "todo_reminder",
        "total_tokens_reminder",
    }
)
"""Attachments about the harness itself: its tools, its prompt, its clock."""

ORIGINS = {
    "edited_text_file": "editor",
    "environment": "environment",
    "file": "file",
    "hook_additional_context": "hook",
    "hook_blocking_error": "hook",
    "hook_non_blocking_error": "hook",
    "hook_success": "hook",
    "hook_system_message": "hook",
    "nested_memory": "memory",
    "session_context": "environment",
}

_TEXTS = ("prompt", "content", "text", "snippet", "stdout", "stderr", "blockingError", "message", "context", "displayPath")


def add_attachment(conversation: Conversation, row: dict[str, Any]) -> str | None:
    """Add what an attachment told the model; tells why it was skipped, if it was."""
    attachment = row.get("attachment")
    if not isinstance(attachment, dict):
        return "attachment without content"
    kind, time = text_of(attachment.get("type")), row.get("timestamp")
    time = time if isinstance(time, str) else None
    if kind in SILENT:
        return f"attachment:{kind}"
    text = _text(attachment)
    if not text.strip():
        return f"attachment:{kind}, empty"
    if kind == "queued_command":
        queued = attachment.get("origin")
        source = text_of(queued.get("kind")) if isinstance(queued, dict) else text_of(attachment.get("commandMode"))
        conversation.said(text, time, None if source in ("", "human", "prompt") else source)
    else:
        conversation.said(text, time, ORIGINS.get(kind, f"attachment:{kind}"))
    return None


def _text(attachment: dict[str, Any]) -> str:
    """The attachment's own words, else all of it as JSON."""
    for name in _TEXTS:
        value = attachment.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
            return "\n".join(value)
        if isinstance(value, list) and value and all(isinstance(part, dict) and "text" in part for part in value):
            return "\n".join(text_of(part["text"]) for part in value)
    if any(attachment.get(name) in ("", []) for name in _TEXTS):
        return ""
    return text_of({name: value for name, value in attachment.items() if name != "type"})


EVENTS = {
    "api_error": "api-error",
    "compact_boundary": "compaction",
    "microcompact_boundary": "compaction",
    "model_refusal_fallback": "refusal",
    "task_notification": "task-notification",
    "hook_response": "hook",
}
"""System rows that happened to the run, and their origins."""


def add_system(conversation: Conversation, row: dict[str, Any]) -> str | None:
    """Add a system row that a judge may need; tells why it was skipped, if it was."""
    kind, content = text_of(row.get("subtype")), row.get("content")
    time = row.get("timestamp") if isinstance(row.get("timestamp"), str) else None
    errors = row.get("hookErrors")
    if kind in EVENTS:
        names = (
            "content",
            "summary",
            "output",
            "error",
            "compactMetadata",
            "compact_metadata",
            "retryAttempt",
            "maxRetries",
        )
        facts = {name: row[name] for name in names if row.get(name)}
        conversation.builder.event(
            content if isinstance(content, str) and len(facts) == 1 else text_of(facts), EVENTS[kind], time=time
        )
    elif kind == "local_command" and isinstance(content, str):
        conversation.said(content, time, "local-command")
    elif isinstance(errors, list) and errors:
        conversation.builder.event("\n".join(map(text_of, errors)), "hook", time=time)
    elif isinstance(content, str) and content and kind not in ("bridge_status", "turn_duration"):
        conversation.builder.event(content, kind or "system", time=time)
    else:
        return f"system:{kind}"
    return None
