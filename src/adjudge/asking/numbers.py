"""The numbers of a statement, and whether they stand in what it cites."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

_IDS = re.compile(r"\b[rjp]-[0-9a-f]{4,}(?:/[^\s,;)\]“”]*)?|\b(?:s\d+\.)*[etL]\d+\b")
"""Ids of runs, judgments, passes, entries, turns and looks."""

_NAMES = re.compile(r"(?<!\w)[^\W\d_]\w*(?:[-./#@]\w+|:\d+[a-z]\w*)+")
"""Words that go on beyond a sign, such as `gpt-5.5`, `utf-8`, `src/3.py` and `qwen3:8b`."""

_NUMBER = re.compile(
    r"(?<![\w.,])(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?:\s?(%|percent\b|per cent\b)|(?:(?:ms|s|x|k|K|M|KB|MB|GB|kB)\b)?(?![\w]))"
)
"""A number that is no part of a word: in `c1` and `4c94ab` there is none."""

_WORDS = {
    word: Decimal(value)
    for value, word in enumerate(
        ("zero", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
    if word
}
_WORD = re.compile(rf"(?<![\w-])(?:{'|'.join(_WORDS)})(?![\w-])", re.I)
"""Numbers in words; `one` is more often no number."""


class Number(NamedTuple):
    """A number as it was written, without its sign, and what it may stand as in what is cited."""

    written: str
    values: frozenset[Decimal]


def numbers(text: str) -> list[Number]:
    """The numbers in a text, those in ids and names left out; of 68 % also 0.68."""
    text = _NAMES.sub(" ", _IDS.sub(" ", text))
    found = [_number(match) for match in _NUMBER.finditer(text)]
    return found + [Number(match[0], frozenset([_WORDS[match[0].lower()]])) for match in _WORD.finditer(text)]


def _number(match: re.Match[str]) -> Number:
    value = Decimal(match[1].replace(",", ""))
    return Number(match[0].strip(), frozenset([value, value / 100] if match[2] else [value]))


def missing(text: str, cited: Iterable[str], counts: Iterable[int]) -> list[str]:
    """The numbers of a text that stand in nothing of what is cited, and are no count of the things that are."""
    known = {value for words in cited for number in numbers(words) for value in number.values}
    known.update(map(Decimal, counts))
    return list(dict.fromkeys(number.written for number in numbers(text) if not number.values & known))
