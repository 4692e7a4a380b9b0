"""What Codex hands back to the model for a call: its text, and the exit status that the harness states in its header.

A command prints what it likes, so that only the header counts that the harness writes before the output, and only for
the tools for which it writes one.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import msgspec

from adjudge.importers.build import count_of, media, text_of

SHELLS = frozenset(
    {
        "apply_patch",
        "container.exec",
        "exec_command",
        "local_shell",
        "local_shell_call",
        "shell",
        "shell_command",
        "unified_exec",
        "write_stdin",
    }
)
"""Tools whose results start with a header of the harness, or are its JSON."""

SCRIPTS = frozenset({"exec", "wait"})
"""Code mode: a script that runs commands, and waiting for one."""

_COMMAND = re.compile(r"Command: ([^\n]{0,20000})\n")
_CHUNK = re.compile(
    r"(?:Chunk ID: [0-9a-f]+\n)?Wall time: [\d.]+ seconds\nProcess exited with code (-?\d{1,9})\n"
    r"(?:[A-Z][^\n:]*: \d+\n)*Output:"
)
_EXIT = re.compile(r"Exit code: (-?\d{1,9})\nWall time: [\d.]+ seconds\n(?:[A-Z][^\n:]*: \d+\n)*Output:")
_REFUSED = (
    "failed to parse function arguments: ",
    "apply_patch verification failed: ",
    "execution error: ",
    "exec_command failed",
)


class Returned(msgspec.Struct, frozen=True):
    """What came back for a call: its text, and what the harness states about it."""

    text: str
    exit_status: int | None = None
    is_error: bool | None = None


def returned(output: Any, name: str | None) -> Returned:
    """What a call of this tool returned, from the `output` of its row."""
    success = output.get("success") if isinstance(output, dict) else None
    if isinstance(output, dict) and "content" in output:
        output = output["content"]
    text = _text(output)
    if success is False or text == f"unsupported call: {name}":
        return Returned(text, None, True)
    if name in SCRIPTS:
        return Returned(text, None, True if text.startswith("Script failed\nWall time ") else None)
    if name not in SHELLS:
        return Returned(text)
    status = _status(text)
    return Returned(text, status, True if status is None and text.startswith(_REFUSED) else None)


def _text(output: Any) -> str:
    if not isinstance(output, list):
        return text_of(output)
    return "\n".join(_part(part) for part in output)


def _part(part: Any) -> str:
    """One part of a content: text as it is, an image as its kind, size and hash."""
    if not isinstance(part, dict):
        return text_of(part)
    if isinstance(part.get("text"), str):
        return str(part["text"])
    address = part.get("image_url")
    if isinstance(address, str) and address.startswith("data:") and ";base64," in address[:200]:
        kind, data = address[5:].split(";base64,", 1)
        return media(kind, data)
    return text_of(part)


def texts_of(content: Any) -> list[str]:
    """The texts of a content, one for each part; images as their kind, size and hash."""
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        return []
    return [text for part in content if (text := _part(part))]


def shows(script_output: str, output: str) -> bool:
    """Whether what a script printed has the whole output of a command in it, as it is or as JSON."""
    bare = output.strip()
    return bare in script_output or text_of([bare])[2:-2] in script_output


def _status(text: str) -> int | None:
    """The exit status that the harness's own header or envelope states."""
    if text.startswith('{"output":'):
        return _status_in_json(text)
    start = 0
    if command := _COMMAND.match(text):
        if not _complete(command[1]):
            return None  # a command of several lines can write the rest of a header itself
        start = command.end()
    found = _CHUNK.match(text, start) or _EXIT.match(text, start)
    return int(found[1]) if found else None


def _status_in_json(text: str) -> int | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    metadata = value.get("metadata")
    return count_of(metadata.get("exit_code")) if isinstance(metadata, dict) else None


def _complete(command: str) -> bool:
    """Whether the quotes of a quoted command line close on that line."""
    try:
        shlex.split(command)
    except ValueError:
        return False
    return True
