"""Synthetic recordings of Claude Code and Codex of any size, shaped as the tools write them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

LINES = "\n".join(
    f"src/module_{number}.py:{number * 7}: def handler_{number}(request): return render(request)" for number in range(400)
)
TASK = "The test suite of this repository fails. Find the bug, fix it, and run the tests."


def write(path: Path, size: int, steps: Callable[[int], list[dict[str, Any]]]) -> None:
    """Write the rows of step after step until the file has this many bytes."""
    written = 0
    with path.open("w") as file:
        for number in count():
            for row in steps(number):
                written += file.write(json.dumps(row, separators=(",", ":")) + "\n")
            if written >= size:
                return


def output(number: int) -> str:
    """What a command prints: mostly short, sometimes long, never the same."""
    length = 30_000 if number % 16 == 0 else 400 + number * 97 % 5_000
    return f"run {number}\n{LINES[number % 1000 :][:length]}"


def claude_code(number: int) -> list[dict[str, Any]]:
    """One answer in two rows and its result in a third, as sessions have them."""
    envelope = {
        "isSidechain": False,
        "userType": "external",
        "cwd": "/srv/repo",
        "sessionId": "cb7f73c6-380c-476e-8be9-7198a1e14293",
        "version": "2.1.197",
        "gitBranch": "main",
        "timestamp": "2026-11-29T19:52:36.382Z",
    }
    rows = [
        {**row, **envelope, "uuid": f"{number}-{part}", "parentUuid": None} for part, row in enumerate(claude_rows(number))
    ]
    rows[-1]["toolUseResult"] = {"stdout": output(number), "stderr": "", "interrupted": False}
    return rows


def claude_stream(number: int) -> list[dict[str, Any]]:
    """The same answer as the event stream has it."""
    init = {
        "type": "system",
        "subtype": "init",
        "session_id": "s",
        "model": "claude-sonnet-4-5",
        "claude_code_version": "2.1.197",
    }
    rows = [{**row, "parent_tool_use_id": None, "session_id": "s", "uuid": str(number)} for row in claude_rows(number)]
    return rows if number else [init, *rows]


def claude_rows(number: int) -> Iterator[dict[str, Any]]:
    """A text, a call and a result; before the first the task."""
    if number == 0:
        yield {"type": "user", "message": {"role": "user", "content": TASK}}
    usage = {"input_tokens": 500, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 1000, "output_tokens": 41}
    answer = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "usage": usage}
    call = {
        "type": "tool_use",
        "id": f"toolu_{number}",
        "name": "Bash",
        "input": {"command": f"grep -rn handler_{number} src"},
    }
    returned = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": output(number), "is_error": False}
    yield {"type": "assistant", "message": {**answer, "content": [{"type": "text", "text": f"Step {number}."}]}}
    yield {"type": "assistant", "message": {**answer, "content": [call], "stop_reason": "tool_use"}}
    yield {"type": "user", "message": {"role": "user", "content": [returned]}}


def codex_rollout(number: int) -> list[dict[str, Any]]:
    """One answer, told twice, its call, what ran, what came back, and the totals."""
    key, text = f"call_{number}", f"Step {number}."
    total = {
        "input_tokens": 1500 * (number + 1),
        "cached_input_tokens": 1000 * (number + 1),
        "output_tokens": 41 * (number + 1),
    }
    command = f"grep -rn handler_{number} src"
    head = f"Chunk ID: {number:06x}\nWall time: 0.0100 seconds\nProcess exited with code 0\nOutput:\n"
    rows: list[tuple[str, dict[str, Any]]] = [
        ("event_msg", {"type": "agent_message", "message": text}),
        ("response_item", {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}),
        (
            "response_item",
            {"type": "function_call", "name": "exec_command", "arguments": json.dumps({"cmd": command}), "call_id": key},
        ),
        ("response_item", {"type": "function_call_output", "call_id": key, "output": head + output(number)}),
        ("event_msg", {"type": "token_count", "info": {"total_token_usage": total, "last_token_usage": total}}),
    ]
    if number == 0:
        rows = [
            ("session_meta", {"id": "01a228de-290c-7882-a978-f6f48eeaee59", "cli_version": "0.171.0", "source": "exec"}),
            ("turn_context", {"model": "gpt-5.5", "cwd": "/srv/repo"}),
            ("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": TASK}]}),
            *rows,
        ]
    return [{"timestamp": "2026-11-29T19:52:57.911Z", "type": kind, "payload": payload} for kind, payload in rows]


def codex_events(number: int) -> list[dict[str, Any]]:
    """A message and a command, started and completed."""
    item = {"id": f"item_{number}", "type": "command_execution", "command": f"grep -rn handler_{number} src"}
    said = {"id": f"said_{number}", "type": "agent_message", "text": f"Step {number}."}
    done = {**item, "aggregated_output": output(number), "exit_code": 0, "status": "completed"}
    rows: list[dict[str, Any]] = [
        {"type": "item.completed", "item": said},
        {"type": "item.started", "item": {**item, "aggregated_output": "", "exit_code": None, "status": "in_progress"}},
        {"type": "item.completed", "item": done},
    ]
    return rows if number else [{"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}, *rows]


GENERATORS: dict[str, Callable[[Path, int], None]] = {
    "claude-code": lambda path, size: write(path, size, claude_code),
    "claude-stream-json": lambda path, size: write(path, size, claude_stream),
    "codex-rollout": lambda path, size: write(path, size, codex_rollout),
    "codex-exec-json": lambda path, size: write(path, size, codex_events),
}
"""For each format a function that writes a recording of about this many bytes to a path."""
