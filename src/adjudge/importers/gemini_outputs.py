"""What Gemini CLI and Qwen Code state about a shell command, around what it printed.

Both write lines below an output. A command prints what it likes, so that an exit status counts only where the lines
that follow the output are known to be all the harness's own. Source: `shell.ts` of google-gemini/gemini-cli 0.61 and of
QwenLM/qwen-code 0.15.
"""

from __future__ import annotations

import re
from typing import Any

from adjudge.importers.documents_values import text

_LARGE = re.compile(r"Output too large\. Showing first [^\n]*\n")
_WRAPPED = re.compile(r"<untrusted_context>\n(.*)\n</untrusted_context>\s*", re.DOTALL)
_ENDING = re.compile(
    r"(?:\nError: (?P<error>.*?))?(?:\nExit Code: (?P<code>-?\d{1,9}))?(?:\nSignal: (?P<signal>[^\n]*))?"
    r"(?:\nBackground PIDs: [\d, ]*)?\nProcess Group PGID: \d+",
    re.DOTALL,
)
_SILENT = re.compile(r"\s*|Command (?:exited with code|terminated by signal|failed)[^\n]*")
"""What is displayed in place of an empty output."""

BLOCKED = "Command injection detected: "
"""How Gemini CLI answers for a command that it did not run; what a command prints never stands at the beginning."""

_CUT = re.compile(r"Tool output was too large and has been truncated\.\n(?:[^\n]*\n){3}\nTruncated part of the output:\n")
_STATED = re.compile(
    r"\nExit Code: (-?\d{1,9}|\(none\))\nSignal: [^\n]*\nProcess Group PGID: (?:\d+|\(none\))"
    r"(?:\n\nNote: this foreground command ran for .*)?\s*",
    re.DOTALL,
)


def unwrapped(output: str) -> str:
    """Gemini CLI's result without the element that it puts around the texts of tools."""
    large = _LARGE.match(output)
    start = large.end() if large else 0
    if not (match := _WRAPPED.fullmatch(output, start)):
        return output
    return output[:start] + match[1].replace("&lt;/untrusted_context&gt;", "</untrusted_context>")


def gemini_exit_status(output: str, display: Any) -> int | None:
    """The exit status of a command, from its result without the element and from what was displayed of it.

    The display is the bare output, so that what follows it in the result is the harness's. A status of 0 is not written.
    """
    if not isinstance(display, str):
        return None
    ending = _after_large(output, display) if _LARGE.match(output) else _after(output, display)
    match = _ENDING.fullmatch(ending) if ending is not None else None
    if match is None:
        return None
    if match["code"] is not None:
        return int(match["code"])
    return None if match["error"] is not None or match["signal"] is not None else 0


def _after(output: str, display: str) -> str | None:
    """What follows the printed text, if the result begins with it."""
    if not display.isspace() and display and output.startswith(f"Output: {display}\n"):
        return output[len("Output: ") + len(display) :]
    if output.startswith("Output: (empty)\n") and _SILENT.fullmatch(display):
        return output[len("Output: (empty)") :]
    return None


def _after_large(output: str, display: str) -> str | None:
    """What follows the end of a printed text whose middle was left out."""
    tail = display[-500:]
    at = output.rfind(f"{tail}\n") if tail.strip() else -1
    return output[at + len(tail) :] if at >= 0 else None


def qwen_exit_status(output: Any) -> int | None:
    """The exit status in Qwen Code's result of a command: always the last of its kind, as the harness writes it last."""
    output = text(output)
    cut = _CUT.match(output)
    if not output.startswith("Command: ", cut.end() if cut else 0):
        return None
    at = output.rfind("\nExit Code: ")
    match = _STATED.fullmatch(output, at) if at >= 0 else None
    return int(match[1]) if match and match[1] != "(none)" else None
