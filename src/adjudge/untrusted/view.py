"""The view itself: a text as a model or a person may see it."""

from __future__ import annotations

import re

import regex

from adjudge.untrusted.loosened import loosened
from adjudge.untrusted.secrets import masked
from adjudge.untrusted.suspicion import fold, suspicion

STACKED = 4
"""Combining marks that one letter may carry; more are counted instead of shown."""

IN_A_ROW = 40
"""Marks for invisible characters that may stand in a row; more are counted instead of shown."""

_NOISE = re.compile(r"\x1b(?:\[[0-9;:]*m|\[[0-2]?K|\(B)")
"""Colours, "erase to the end of the line" and "back to ASCII", which tools print all the time."""

_TAG = re.compile(r"\s*</?[\w:.-]+>\s*")
"""A tag alone on its line, such as those that harnesses put around a task."""

_PLAIN = bytes([0x09, 0x0A, *range(0x20, 0x7F)])
"""What no check of characters objects to, alone or between others."""

_PICTURE = "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_JOINING = "\u0600-\u0dff"
_UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_SURROGATES = "\ud800-\udfff"
_ANY_UNSEEN = re.compile(f"[{_UNSEEN}{_SURROGATES}]")
_INVISIBLE = re.compile(
    rf"(?<=[{_PICTURE}0-9#*])[\ufe0e\ufe0f]"
    + rf"|(?<=[{_PICTURE}\ufe0f])\u200d(?=[{_PICTURE}])"
    + rf"|(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"
    + rf"|(?P<unseen>[{_UNSEEN}{_SURROGATES}])"
)
"""Characters that a reader would not see or that change what stands around them, in the group `unseen`.

Without the group match what belongs to ordinary writing: the variation selector after a picture, the joiner inside one,
and joiners between letters of scripts that need them.
"""

_JOINER = "\u200c\u200d\ufe0e\ufe0f"
"""Those of them that may be ordinary writing."""

FEW = 16
"""Different unseen characters of a text that are looked for one by one, which is faster."""

_ROW = re.compile(rf"((?:<U\+[0-9A-F]{{4,6}}>){{{IN_A_ROW}}})((?:<U\+[0-9A-F]{{4,6}}>)+)")
_STACK = regex.compile(rf"(\p{{M}}{{{STACKED}}})(\p{{M}}+)")

_TOKEN = re.compile(
    r"<(?=\|[^\s|<>]{1,64}\|?>|\w{1,32}\|>|\uff5c[^\s\uff5c<>]{1,64}\uff5c>|</?SYS>>"
    r"|/?(?:s|bos|eos|sop|eop|start_of_turn|end_of_turn|think|tool_calls?|tool_response)>)"
)
_BRACKETED = re.compile(r"\[(?=/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|SYSTEM_PROMPT|THINK|gMASK)\])")
_ROLES = ("\n\nHuman", "\n\nAssistant")
"""The start of what a chat template would take for a turn or a role, as published with the models that use them."""

LOOSENED = (f"[{_UNSEEN}]", loosened(_TOKEN.pattern), loosened(_BRACKETED.pattern), *(f"{role}:" for role in _ROLES))
"""What an automaton looks for in UTF-8: where it finds nothing, and no marks are stacked, no character is changed."""


def shown(text: str, mask: bool = True) -> str:
    """The text as a model or a person may see it; shown again, it stays as it is.

    Colours are dropped. Invisible and control characters stand as `<U+200B>`, control tokens of models are broken by a
    middle dot (`<·|im_start|>`), stacks of combining marks are cut, and credentials are masked unless `mask` is false.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if "\x1b" in text:
        text = _NOISE.sub("", text)
    data = text.encode("utf-8", "surrogatepass")
    folded = fold(data)
    special = _special(data, folded)
    if mask:
        text = masked(text, suspicion(data, folded))
    if special and (unseen := [letter for letter in set(_ANY_UNSEEN.findall(special)) if letter in text]):
        text = _with_unseen(text, unseen)
    if special and _STACK.search(special):
        text = _STACK.sub(lambda stack: f"{stack[1]}<+{len(stack[2])} marks>", text)
    return _without_tokens(text)


def stacks_marks(text: str) -> bool:
    """Whether more combining marks than one letter may carry stand in a row."""
    return bool(_STACK.search(_but_plain(text.encode("utf-8", "surrogatepass"))))


def _special(data: bytes, folded: bytes) -> str:
    """All characters of a text but those that no check of characters objects to."""
    if data.isascii() and b"\0" not in folded:
        return ""
    return _but_plain(data)


def _but_plain(data: bytes) -> str:
    return data.translate(None, _PLAIN).decode("utf-8", "surrogatepass")


def _with_unseen(text: str, unseen: list[str]) -> str:
    """The text with each of these characters by its number, where it would not be seen."""
    named = text
    if len(unseen) > FEW or any(letter in _JOINER for letter in unseen):
        named = _ANY_UNSEEN.sub(_named, text)
    else:
        for letter in unseen:
            named = named.replace(letter, _number(letter))
    return _ROW.sub(lambda row: f"{row[1]}<+{row[2].count('>')} more>", named) if named.count("<U+") > IN_A_ROW else named


def _named(unseen: re.Match[str]) -> str:
    match = _INVISIBLE.match(unseen.string, unseen.start())  # which looks at what stands around it
    return _number(unseen[0]) if match and match["unseen"] else unseen[0]


def _number(letter: str) -> str:
    return f"<U+{ord(letter):04X}>"


def _without_tokens(text: str) -> str:
    """The text with control tokens of models broken; each pattern starts with one letter, which is found fast."""
    if "<" in text:
        text = _TOKEN.sub("<·", text)
    if "[" in text:
        text = _BRACKETED.sub("[·", text)
    for role in _ROLES:
        text = text.replace(f"{role}:", f"{role}·:")
    return text


def one_line(text: str, width: int, mask: bool = True) -> str:
    """The view in one line of at most `width` characters: line ends stand as `⏎`, what was cut off as `…`."""
    start = text[: 8 * width + 4096]
    line = " ⏎ ".join(part.strip() for part in shown(start, mask).split("\n") if part.strip()).replace("\t", " ")
    return line if len(line) <= width and len(start) == len(text) else line[: width - 1] + "…"


def first_line(text: str, width: int) -> str | None:
    """The first line that says something, in at most `width` characters: a tag that is alone on its line does not."""
    lines = [line for line in text[:100_000].splitlines() if line.strip()]
    telling = next((line for line in lines if not _TAG.fullmatch(line)), next(iter(lines), None))
    return None if telling is None else one_line(telling, width)
