"""A quick look at a text for where credentials may be: wrong now and then on the careful side, never on the other.

Looking for each format and each telling name by itself is thirty passes over every text. Here one pass folds the text into
an alphabet in which many of them share a rare letter, and a few passes look for those letters. Most texts end here.
"""

from __future__ import annotations

import re
import string
from typing import NamedTuple


class Suspicion(NamedTuple):
    """Which kinds of credentials a text may hold; a kind that is not suspected is not there."""

    formats: bool
    names: bool
    addresses: bool


def _folding() -> bytes:
    """Lower case; b and w as k, I as J, - as _, and control characters (but tabs and line ends) as NUL."""
    folded = bytearray(range(256))
    for letter in string.ascii_letters:
        folded[ord(letter)] = ord(letter.lower())
    for letter, stand_in in zip("bBwWIJ-", "kkkkJJ_", strict=True):
        folded[ord(letter)] = ord(stand_in)
    for control in (*range(9), *range(0x0B, 0x20), 0x7F):
        folded[control] = 0
    return bytes(folded)


_FOLDING = _folding()

_WORD = rb"a-zJ0-9_."
_VALUE = rb"a-zJ+/=_.~!@#$%^&*\x80-\xff"  # of letters beyond ASCII four are a's to z's where case does not matter
_SPACE = rb"[\s\0\x80-\xff]"  # what is white space in a text, and more


def _value(least: int) -> bytes:
    """A value of at least so many letters, with a digit among the first 64 or too long to go on looking for one."""
    return rb"(?=[" + _VALUE + rb"]{0,63}[0-9]|[" + _VALUE + rb"]{64})[" + _VALUE + rb"0-9]{%d}" % least


_GIVEN = (
    rb"[a-zJ_\x80-\xff]{0,40}[\\\"']{0,3}" + _SPACE + rb"{0,16}[:=][=>]?" + _SPACE + rb"{0,16}[\\\"'`]{0,3}" + _value(10)
)
_SENT = _SPACE + rb"{1,16}" + _value(16)

_PREFIXES = (rb"gsk_", rb"gh[pous]_", rb"huk_pat_", rb"glpat_", rb"xox[akeoprs]_", rb"hf_", rb"npm_", rb"pypi_", rb"xai_")
_AT_LINE = re.compile(
    rb"_[" + _WORD + rb"]{10}(?<=[aefikmoprstu]_.{10})(?:(?<![a-zJ0-9]sk_.{10})(?<=sk_.{10})|"
    + b"|".join(rb"(?<=" + prefix + rb".{10})" for prefix in _PREFIXES) + rb")"
)  # fmt: skip
_AT_CAPITAL = re.compile(
    rb"J(?:a(?<=a[ks]Ja)[" + _WORD + rb"]{16}|za(?<=aJza)[" + _WORD + rb"]{16}|n (?<=_____kegJn )"
    rb"|[" + _WORD + rb"]{8}(?<=\.eyJ.{8}))"
)
_AT_K = re.compile(
    rb"k(?:en(?<=token)" + _GIVEN + rb"|ey(?:(?<=ap[iJ]key)|(?<=ap[iJ]_key))" + _GIVEN + rb"|d(?<=pkd)" + _GIVEN
    + rb"|earer" + _SENT + rb"|as[iJ]c" + _SENT + rb")"
)  # fmt: skip
_PASSWORD, _SECRET = re.compile(b"passk" + _GIVEN), re.compile(b"secret" + _GIVEN)
_ADDRESS = re.compile(rb"://[^/\s:@\"'<>]{0,256}:[^/\s@\"'<>{}$]{8,1024}@")
_KELVIN = "\u212a".encode()
"""A letter that is no k and becomes one in lower case."""


def fold(data: bytes) -> bytes:
    """A text in UTF-8 in the alphabet in which credentials are looked for; as long as it was."""
    return data.translate(_FOLDING)


def suspicion(data: bytes, folded: bytes) -> Suspicion:
    """What a text in UTF-8 may hold; `folded` is what `fold` makes of it."""
    formats = b"ya29." in folded or bool(_AT_LINE.search(folded) or _AT_CAPITAL.search(folded))
    names = bool(
        _AT_K.search(folded)
        or (b"passk" in folded and _PASSWORD.search(folded))
        or (b"secret" in folded and _SECRET.search(folded))
        or (not data.isascii() and _KELVIN in data)
    )
    return Suspicion(formats, names, b"@" in data and bool(_ADDRESS.search(data)))
