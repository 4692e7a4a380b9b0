"""The view itself: a text as a model or a person may see it."""

from __future__ import annotations

import re

import regex

from adjudge.untrusted.secrets import masked

STACKED = 4
"""Combining marks that one letter may carry; more are counted instead of shown."""

IN_A_ROW = 40
"""Marks for invisible characters that may stand in a row; more are counted instead of shown."""

_NOISE = re.compile(r"\x1b\[[0-9;:]*m|\x1b\[[0-2]?K|\x1b\(B|\r(?=\n)")
"""Colours, "erase to the end of the line" and "back to ASCII", which tools print all the time, and the CR of a CRLF."""

_PICTURE = "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_JOINING = "\u0600-\u0dff"
_UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_ANY_UNSEEN = re.compile(f"[{_UNSEEN}]")
_ANY_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_INVISIBLE = re.compile(
    rf"(?<=[{_PICTURE}0-9#*])[\ufe0e\ufe0f]"
    + rf"|(?<=[{_PICTURE}\ufe0f])\u200d(?=[{_PICTURE}])"
    + rf"|(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"
    + rf"|(?P<unseen>[{_UNSEEN}])"
)
"""Characters that a reader would not see or that change what stands around them, in the group `unseen`.

Without the group match what belongs to ordinary writing: the variation selector after a picture, the joiner inside one,
and joiners between letters of scripts that need them.
"""

_ROW = re.compile(rf"((?:<U\+[0-9A-F]{{4,6}}>){{{IN_A_ROW}}})((?:<U\+[0-9A-F]{{4,6}}>)+)")
_STACK = regex.compile(rf"(\p{{M}}{{{STACKED}}})(\p{{M}}+)")

_CONTROL_TOKEN = re.compile(
    r"<(?=\|[^\s|<>]{1,64}\|?>|\w{1,32}\|>|\uff5c[^\s\uff5c<>]{1,64}\uff5c>|</?SYS>>"
    r"|/?(?:s|bos|eos|sop|eop|start_of_turn|end_of_turn|think|tool_calls?|tool_response)>)"
    r"|\[(?=/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|SYSTEM_PROMPT|THINK|gMASK)\])"
    r"|\n\n(?:Human|Assistant)(?=:)"
)
"""The start of what a chat template would take for a turn or a role, as published with the models that use them."""


def shown(text: str, mask: bool = True) -> str:
    """The text as a model or a person may see it; shown again, it stays as it is.

    Colours are dropped. Invisible and control characters stand as `<U+200B>`, control tokens of models are broken by a
    middle dot (`<·|im_start|>`), stacks of combining marks are cut, and credentials are masked unless `mask` is false.
    """
    if "\x1b" in text or "\r" in text:
        text = _NOISE.sub("", text)
    if mask:
        text = masked(text)
    if (_ANY_CONTROL if text.isascii() else _ANY_UNSEEN).search(text):
        text = _INVISIBLE.sub(_named, text)
        text = _ROW.sub(lambda row: f"{row[1]}<+{row[2].count('>')} more>", text)
    if not text.isascii():
        text = _STACK.sub(lambda stack: f"{stack[1]}<+{len(stack[2])} marks>", text)
    return _CONTROL_TOKEN.sub(r"\g<0>·", text)


def _named(match: re.Match[str]) -> str:
    return f"<U+{ord(match[0]):04X}>" if match["unseen"] else match[0]


def one_line(text: str, width: int, mask: bool = True) -> str:
    """The view in one line of at most `width` characters: line ends stand as `⏎`, what was cut off as `…`."""
    start = text[: 8 * width + 4096]
    line = " ⏎ ".join(part.strip() for part in shown(start, mask).split("\n") if part.strip()).replace("\t", " ")
    return line if len(line) <= width and len(start) == len(text) else line[: width - 1] + "…"
