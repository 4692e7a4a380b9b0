"""Synthetic recordings of Gemini CLI and Qwen Code of any size, shaped as the tools write them."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

LINES = "\n".join(
    f"src/module_{number}.py:{number * 7}: def handler_{number}(request): return render(request)" for number in range(400)
)
TASK = "The test suite of this repository fails. Find the bug, fix it, and run the tests."
TIME = "2026-11-29T20:10:03.690Z"


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


def gemini(number: int) -> list[dict[str, Any]]:
    """A message, the same with its call, what the call returned once more, and changes of the header between them."""
    key, printed = f"run_shell_command__{number}", output(number)
    shown = f"<untrusted_context>\nOutput: {printed}\nExit Code: 1\nProcess Group PGID: 7\n</untrusted_context>"
    response = {"functionResponse": {"id": key, "name": "run_shell_command", "response": {"output": shown}}}
    tokens = {"input": 1500, "output": 41, "cached": 1000, "thoughts": 0, "tool": 0, "total": 1541}
    said: dict[str, Any] = {
        "id": f"m{number}",
        "timestamp": TIME,
        "type": "gemini",
        "content": f"Step {number}.",
        "thoughts": [],
    }
    said |= {"tokens": tokens, "model": "gemini-2.5-pro"}
    call: dict[str, Any] = {"id": key, "name": "run_shell_command", "args": {"command": f"grep -rn handler_{number} src"}}
    call |= {"result": [response], "status": "success", "timestamp": TIME, "resultDisplay": printed}
    changed = {"$set": {"lastUpdated": TIME}}
    told = {"id": f"u{number}", "timestamp": TIME, "type": "user", "content": [response]}
    rows: list[dict[str, Any]] = [said, changed, {**said, "toolCalls": [call]}, told, changed]
    if number:
        return rows
    header = {"sessionId": "s", "projectHash": "h", "startTime": TIME, "lastUpdated": TIME, "kind": "main"}
    return [header, {"id": "u", "timestamp": TIME, "type": "user", "content": [{"text": TASK}]}, *rows]


def gemini_stream(number: int) -> list[dict[str, Any]]:
    """A message, a call and what was displayed of its result."""
    key, command = f"run_shell_command__{number}", {"command": f"grep -rn handler_{number} src"}
    rows: list[dict[str, Any]] = [
        {"type": "message", "timestamp": TIME, "role": "assistant", "content": f"Step {number}.", "delta": True},
        {"type": "tool_use", "timestamp": TIME, "tool_name": "run_shell_command", "tool_id": key, "parameters": command},
        {"type": "tool_result", "timestamp": TIME, "tool_id": key, "status": "success", "output": output(number)},
    ]
    return rows if number else [{"type": "init", "timestamp": TIME, "session_id": "s", "model": "gemini-2.5-pro"}, *rows]


def qwen(number: int) -> list[dict[str, Any]]:
    """An answer, a result, and a row of telemetry for each."""
    envelope: dict[str, Any] = {
        "uuid": f"{number}",
        "parentUuid": None,
        "sessionId": "s",
        "timestamp": TIME,
        "version": "0.15.10",
    }
    key, command, printed = f"call_{number}", f"grep -rn handler_{number} src", output(number)
    call = {"functionCall": {"id": key, "name": "run_shell_command", "args": {"command": command}}}
    shown = f"Command: {command}\nDirectory: (root)\nOutput: {printed}\nError: (none)\nExit Code: 1\nSignal: 0\n"
    response = {"id": key, "name": "run_shell_command", "response": {"output": f"{shown}Process Group PGID: 7"}}
    usage = {"promptTokenCount": 1500, "candidatesTokenCount": 41, "totalTokenCount": 1541, "cachedContentTokenCount": 1000}
    event = {"event.name": "qwen-code.api_response", "response_id": key, "model": "scripted", "prompt_id": "p"}
    telemetry = {**envelope, "type": "system", "subtype": "ui_telemetry", "systemPayload": {"uiEvent": event}}
    said = {"role": "model", "parts": [{"text": f"Step {number}."}, call]}
    told = {"role": "user", "parts": [{"functionResponse": response}]}
    result = {"callId": key, "status": "success", "resultDisplay": printed}
    rows: list[dict[str, Any]] = [
        telemetry,
        {**envelope, "type": "assistant", "model": "scripted", "message": said, "usageMetadata": usage},
        telemetry,
        {**envelope, "uuid": f"r{number}", "type": "tool_result", "message": told, "toolCallResult": result},
    ]
    return rows if number else [{**envelope, "type": "user", "message": {"parts": [{"text": TASK}]}}, *rows]


def qwen_stream(number: int) -> list[dict[str, Any]]:
    """A text, a call with the response's usage, and what was displayed of its result."""
    envelope = {"session_id": "s", "parent_tool_use_id": None}
    key, command = f"call_{number}", {"command": f"grep -rn handler_{number} src"}
    usage = {"input_tokens": 1500, "output_tokens": 41, "cache_read_input_tokens": 1000, "total_tokens": 1541}
    text = {"content": [{"type": "text", "text": f"Step {number}."}], "usage": {"input_tokens": 0, "output_tokens": 0}}
    call = {"content": [{"type": "tool_use", "id": key, "name": "run_shell_command", "input": command}], "usage": usage}
    result = {"type": "tool_result", "tool_use_id": key, "is_error": False, "content": output(number)}
    rows: list[dict[str, Any]] = [
        {**envelope, "type": "assistant", "message": text},
        {**envelope, "type": "assistant", "message": call},
        {**envelope, "type": "user", "message": {"role": "user", "content": [result]}},
    ]
    init = {"type": "system", "subtype": "init", "session_id": "s", "qwen_code_version": "0.15.10", "model": "m"}
    return rows if number else [init, *rows]


GENERATORS: dict[str, Callable[[Path, int], None]] = {
    "gemini-cli": lambda path, size: write(path, size, gemini),
    "gemini-stream-json": lambda path, size: write(path, size, gemini_stream),
    "qwen-code": lambda path, size: write(path, size, qwen),
    "qwen-stream-json": lambda path, size: write(path, size, qwen_stream),
}
"""For each format a function that writes a recording of about this many bytes to a path."""
