"""What a search looks for: as an expression, and as adjudge states it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

import regex

from adjudge import untrusted
from adjudge.evidence import fold

LONGEST_STATED = 200


def literal(words: Iterable[str]) -> str:
    """An expression for these words with any white space between them, as quotes are compared."""
    return r"[\s\x1c-\x1f]+".join(map(regex.escape, words))


def stated(pattern: str, expression: bool) -> str:
    """What was looked for, and how, for a statement of adjudge's."""
    how = "regular expression" if expression else "text, white space folded"
    return f"{as_stated(pattern if expression else fold(pattern))} ({how})"


def as_stated(text: str) -> str:
    """What the model itself sent, as a part of a statement of adjudge's.

    It stands in one line and in quotation marks that it cannot close, and nothing in it reads as a statement with a
    number (`matches: 0`), so that no quote can take a part of it for one.
    """
    line = _NUMBERED.sub("·:", untrusted.one_line(text, LONGEST_STATED))
    return json.dumps(line, ensure_ascii=False)


_NUMBERED = re.compile(r":(?=\s+[-+]?\d)")
