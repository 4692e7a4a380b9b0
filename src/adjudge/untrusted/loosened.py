"""A pattern as an automaton can run it: in one pass over a text, together with many others.

Python's `re` tries one pattern after another, and each at one place after another. An automaton tries all of them at once,
but can neither look around a place nor count far. Without that a pattern finds more, and never less.
"""

from __future__ import annotations

import re

COUNTED = 16
"""Repetitions that are counted; beyond them any number will do."""

_REPLACED = {
    r"\b": "",
    "(?=": "(?:",
    r"\s": r"[\s\x1c-\x1f]",
    r"\d": r"[^\x00-/:-\x7f]",
    r"\w": r"[^\x00-/:-@\[-\^`{-\x7f]",
    r"\W": "[^0-9A-Za-z_]",
}
_CHANGED = re.compile(
    "|".join(map(re.escape, _REPLACED))
    + r"|(?P<named>\(\?P<\w+>)|\(\?<!\[(?P<before>[^]]+)\]\)|(?P<absent>\(\?!(?:[^()\[]|\[[^]]+\])+\))"
    + r"|\{(?P<least>\d+)(?P<more>,)?(?P<most>\d+)?\}\+?"
)


def loosened(pattern: str) -> str:
    """A pattern of Python's that finds something in every text in which the given one does, in Rust's syntax.

    Of what only Python has, the given one may use edges of words, a look ahead at its end, a look back at its start, and
    a look at what must not follow. It stands for text in ASCII where it names letters and digits as such.
    """
    return _CHANGED.sub(_loosened, pattern)


def _loosened(found: re.Match[str]) -> str:
    if found["named"]:
        return "(?:"
    if found["before"]:
        return f"(?:^|[^{found['before']}])"
    if found["absent"]:
        return ""
    if found["least"]:
        return _counted(int(found["least"]), found)
    return _REPLACED[found[0]]


def _counted(least: int, found: re.Match[str]) -> str:
    most = int(found["most"]) if found["most"] else None if found["more"] else least
    if most is not None and most <= COUNTED:
        return f"{{{least},{most}}}"
    return f"{{{min(least, COUNTED)},}}"
