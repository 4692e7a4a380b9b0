"""Replacing known values in streams of bytes, in the forms in which programs write them, wherever a stream is cut."""

from __future__ import annotations

import base64
import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote, quote_plus


class Marks:
    """What is put in place of each form of each value: `[secret NAME]`.

    If `same_length`, a mark is filled up with `*` or cut, so that it is as long as what it replaces. `reach` is how many
    bytes an unfinished form may hold. This guards against accidents; who means to hide a value can always spell it anew.
    """

    def __init__(self, secrets: Mapping[str, str], same_length: bool = False) -> None:
        self.of: dict[bytes, bytes] = {}
        for name, value in secrets.items():
            mark = f"[secret {name}]".encode()
            for form in forms(value):
                self.of.setdefault(form, mark.ljust(len(form), b"*")[: len(form)] if same_length else mark)
        self._longest_first = sorted(self.of, key=len, reverse=True)
        self.reach = len(self._longest_first[0]) - 1 if self.of else 0
        self._heads = re.compile(b"[" + b"".join(re.escape(form[:1]) for form in self.of) + b"]" if self.of else b"(?!)")
        self._letters = {form[at : at + 1] for form in self.of for at in range(len(form) - 1)}
        self._patterns: dict[tuple[bytes, ...], re.Pattern[bytes]] = {}

    def found_in(self, data: bytes) -> Iterator[re.Match[bytes]]:
        """The forms in the data, from left to right, the longest one where several begin."""
        standing = tuple(form for form in self._longest_first if form in data)  # usually none, which is found out fast
        if not standing:
            return iter(())
        if standing not in self._patterns:
            self._patterns[standing] = re.compile(b"|".join(map(re.escape, standing)))
        return self._patterns[standing].finditer(data)

    def begun_in(self, data: bytes) -> list[int]:
        """Where forms begin that the end of the data cuts off."""
        if data[-1:] not in self._letters:  # as at the end of most lines
            return []
        rests = (
            (head.start(), data[head.start() :]) for head in self._heads.finditer(data, max(0, len(data) - self.reach))
        )
        return [start for start, rest in rests if self._begins(rest)]

    def _begins(self, rest: bytes) -> bool:
        return any(len(form) > len(rest) and form.startswith(rest) for form in self._longest_first)


class Masking:
    """One stream that is masked as it passes; `found` counts what was replaced.

    Only what may be the beginning of a form is held back. What comes out does not depend on where the stream is cut.
    """

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._held = b""
        self.found = 0

    def feed(self, data: bytes) -> bytes:
        """What may go on, now that this has come."""
        return self._masked(self._held + data if self._held else data, last=False)

    def finish(self) -> bytes:
        """What was held back, now that nothing more comes."""
        return self._masked(self._held, last=True)

    def _masked(self, data: bytes, last: bool) -> bytes:
        begun = [] if last else self._marks.begun_in(data)
        pieces: list[bytes] = []
        at = 0
        for match in self._marks.found_in(data):
            begun = _from(begun, at)
            if begun and match.start() >= begun[0]:  # what is still to come could make this another one
                break
            pieces += data[at : match.start()], self._marks.of[match[0]]
            at = match.end()
        self.found += len(pieces) // 2
        kept = min(_from(begun, at), default=len(data))
        self._held = data[kept:]
        return b"".join((*pieces, data[at:kept])) if pieces else data[:kept]


def _from(starts: list[int], at: int) -> list[int]:
    """Those from `at` on, of an ordered list."""
    return starts if not starts or starts[0] >= at else starts[bisect_left(starts, at) :]


def masked(data: bytes, marks: Marks) -> bytes:
    """All of the data, masked."""
    return Masking(marks)._masked(data, last=True)


def forms(value: str) -> frozenset[bytes]:
    """The value as it is, and as JSON strings, URLs and Base64 carry it (alone or amid other text)."""
    plain = value.encode("utf-8", "surrogateescape")
    spelled = {plain, *_in_urls(plain), *_in_base64(plain)}
    for escaped in _in_json(value):
        spelled |= {escaped.encode("utf-8", "surrogateescape"), json.dumps(escaped)[1:-1].encode()}  # JSON in JSON, too
    return frozenset(spelled)


def _in_json(value: str) -> Iterator[str]:
    for ascii_only in (True, False):
        escaped = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        yield from (escaped, escaped.replace("/", "\\/"))


def _in_urls(plain: bytes) -> Iterator[bytes]:
    """What `quote` and `quote_plus` of Python and `encodeURIComponent` and `encodeURI` of JavaScript write."""
    spelled: Iterable[str] = (
        *(quote(plain, safe=safe) for safe in ("", "/", "!'()*", "!'()*;,/?:@&=+$#")),
        quote_plus(plain),
    )
    for each in spelled:
        yield each.encode()
        yield re.sub(r"%[0-9A-F]{2}", lambda code: code[0].lower(), each).encode()


def _in_base64(plain: bytes) -> Iterator[bytes]:
    """The letters that the value alone decides, for each of the three places at which it may stand amid other bytes."""
    for before in range(3):
        first, end = -(-before * 8 // 6), (before + len(plain)) * 8 // 6
        padded = b"\0" * before + plain + b"\0\0"
        yield base64.b64encode(padded)[first:end]
        yield base64.urlsafe_b64encode(padded)[first:end]
