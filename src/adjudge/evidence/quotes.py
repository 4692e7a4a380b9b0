"""Whether a quote stands in a text, white space folded and nothing else, and what may be wrong with one that does not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice

SHORTEST = 3
"""Letters and digits that a quote must have; fewer are found everywhere."""

LONGEST = 10_000
"""Characters that a quote may have; more do not point at anything."""

WORD_LIKE = 8
"""A quote shorter than this must stand as a word of its own: `240` is not found in `12400`."""

EVERYWHERE = 20
"""Places of one text from which on such a short quote points at nothing."""

PIECE = 1 << 16
"""Characters of a text that are folded at a time, so that a text of any size takes little memory."""

HINTED = 1 << 20
"""Characters of a text beyond which no reason is looked for."""


def fold(text: str) -> str:
    """The text with every run of white space as one space, and none at its ends."""
    return " ".join(text.split())


_FILLERS = str.maketrans(dict.fromkeys("\u115f\u1160\u3164\uffa0"))
"""Letters by their kind, and nothing to the eye."""


def says_something(text: str) -> bool:
    """Whether a text has a letter or a digit that can be seen."""
    return any(map(str.isalnum, text.translate(_FILLERS)))


def contains(text: str, quote: str) -> bool:
    """Whether a folded quote stands in a text, as a word of its own if it is short."""
    if len(quote) < WORD_LIKE:
        return any(_words(text, quote))
    if _cuts_nothing(text, quote):
        return True
    if " " not in quote or max(quote.split(" "), key=len) not in text:
        return False
    return any(_cuts_nothing(piece, quote) for piece in _folded(text, len(quote) + NEAR))


def _cuts_nothing(text: str, quote: str) -> bool:
    """Whether a quote stands somewhere with no part of a number or word beyond its edges.

    `0 failed` is not in `10 failed`, nor `successful` in `unsuccessful`.
    """
    first, last = quote[:1], quote[-1:]
    at = text.find(quote)
    while at >= 0:
        end = at + len(quote)
        if not _goes_on(first, _COLOUR.sub("", text[max(0, at - 16) : at])[-NEAR:][::-1]) and not _goes_on(
            last, text[end : end + NEAR]
        ):
            return True
        at = text.find(quote, at + 1)
    return False


def _goes_on(edge: str, beyond: str) -> bool:
    """Whether the number or word at a quote's edge goes on beyond it; `beyond` is read outwards."""
    return (edge.isdigit() and _NUMBER_GOES_ON.match(beyond) is not None) or (_is_letter(edge) and _is_letter(beyond[:1]))


def _is_letter(character: str) -> bool:
    """Whether a character is a letter of a script that writes spaces between words."""
    return character.isalpha() and ord(character) < _UNSPACED


NEAR = 2
"""Characters beside a quote that may make a number of its edge a part of a longer one."""

_UNSPACED = 0x0E00
"""From Thai on, most scripts of the kind write no spaces; those that do are treated as they are."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_NUMBER_GOES_ON = re.compile(r"\d|[.,]\d")


def stands_everywhere(text: str, quote: str) -> bool:
    """Whether a short quote stands in so many places of a text that it points at none."""
    return len(quote) < WORD_LIKE and len(list(islice(_words(text, quote), EVERYWHERE + 1))) > EVERYWHERE


def _words(text: str, quote: str) -> Iterator[re.Match[str]]:
    words = r"\s+".join(map(re.escape, quote.split(" ")))
    return re.finditer(rf"(?<![^\W_]){words}(?![^\W_])", text)


def _folded(text: str, overlap: int) -> Iterator[str]:
    """The folded text in pieces, each beginning with the last `overlap` characters of the one before."""
    tail = ""
    for start in range(0, len(text), PIECE):
        piece = text[start : start + PIECE]
        folded = fold(piece)
        if piece[0].isspace() and not tail.endswith(" "):
            folded = " " + folded
        if piece[-1].isspace() and not folded.endswith(" "):
            folded += " "
        folded = tail + folded
        yield folded
        tail = folded[-overlap:]


_ESCAPES = (("\\n", " "), ("\\r", " "), ("\\t", " "), ('\\"', '"'), ("\\'", "'"), ("\\\\", "\\"))
_PLAIN = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "\u00a0": " ", "…": "..."})


def reason(text: str, quote: str) -> str | None:
    """Why a folded quote is not in a text, in words that an evaluator can act on, or `None` if nothing is likely."""
    if len(text) > HINTED:
        return None
    for words, found in _REASONS:
        if found(text, quote):
            return words
    return _beginning(text, quote)


def _spliced(text: str, quote: str) -> bool:
    parts = [part for part in map(str.strip, re.split(r"\[?(?:\.{3,}|…)\]?", quote)) if part]
    return len(parts) > 1 and all(contains(text, part) for part in parts)


def _escaped(text: str, quote: str) -> bool:
    for escape, plain in _ESCAPES:
        quote = quote.replace(escape, plain)
    return contains(text, fold(quote))


def _framed(text: str, quote: str) -> bool:
    inner = fold(quote.strip("\"'`“”‘’*.… "))
    return bool(inner) and inner != quote and contains(text, inner)


def _numbered(text: str, quote: str) -> bool:
    """Whether the quote carries the numbers of its lines, one after the other."""
    kept: list[str] = []
    following: int | None = None
    for word in quote.split(" "):
        match = _LINE_NUMBER.match(word)
        if match and following in (None, int(match[1])):
            following, word = int(match[1]) + 1, match[2]  # noqa: PLW2901
        elif following is None:
            return False
        kept.append(word)
    return contains(text, fold(" ".join(kept)))


_LINE_NUMBER = re.compile(r"(\d{1,7})[:|→-]?(.*)")


def _within_a_word(text: str, quote: str) -> bool:
    return quote in text or quote in fold(text)


def _in_other_characters(text: str, quote: str) -> bool:
    return contains(text.translate(_PLAIN), fold(quote.translate(_PLAIN)))


def _in_other_case(text: str, quote: str) -> bool:
    return contains(text.casefold(), quote.casefold())


_REASONS: tuple[tuple[str, Callable[[str, str], bool]], ...] = (
    ("it begins or ends within a word or number; copy it whole", _within_a_word),
    ("it joins places that stand apart; quote one of them, or give each its own citation", _spliced),
    (r"it stands there without the escapes; write the plain characters, not \n or \"", _escaped),
    ("it stands there without the marks around it; leave them out", _framed),
    ("it stands there without line numbers; leave them out", _numbered),
    ("it stands there with other quotation marks, dashes or spaces; copy them as they are", _in_other_characters),
    ("it stands there in another case; copy it as it is", _in_other_case),
)


def _beginning(text: str, quote: str) -> str | None:
    """Up to where the quote agrees with the text, if that is some way."""
    words, known = quote.split(" "), 0
    step = len(words)
    while step := step // 2:
        while known + step < len(words) and contains(text, " ".join(words[: known + step])):
            known += step
    agreed = " ".join(words[:known])
    if known < 3 or len(agreed) < WORD_LIKE:
        return None
    return f"it agrees only up to {agreed[-60:]!r}"
