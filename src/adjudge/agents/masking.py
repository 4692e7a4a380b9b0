"""Replacing known values in streams of bytes, in the forms in which programs write them, wherever a stream is cut."""

from __future__ import annotations

import base64
import json
import re
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
        self._any = re.compile(b"|".join(map(re.escape, self._longest_first)))
        self._heads = re.compile(b"[" + b"".join(re.escape(form[:1]) for form in self.of) + b"]" if self.of else b"(?!)")

    def stand_in(self, data: bytes) -> bool:
        """Whether there is anything to replace; far faster than to look where."""
        return any(form in data for form in self._longest_first)

    def first(self, data: bytes, start: int) -> re.Match[bytes] | None:
        """The first form in data that holds some; the longest one at its place."""
        return self._any.search(data, start)

    def begun(self, data: bytes, start: int) -> int:
        """Where a form begins that the end of the data cuts off; the data's length if there is none."""
        start = max(start, len(data) - self.reach)
        for head in self._heads.finditer(data, start):
            rest = data[head.start() :]
            if any(len(form) > len(rest) and form.startswith(rest) for form in self._longest_first):
                return head.start()
        return len(data)


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
        pieces: list[bytes] = []
        at = 0
        match = self._marks.first(data, 0) if self._marks.stand_in(data) else None
        while match and (last or self._is_whole(match, at)):
            pieces += data[at : match.start()], self._marks.of[match[0]]
            self.found += 1
            at = match.end()
            match = self._marks.first(data, at)
        kept = len(data) if last else self._marks.begun(data, at)
        self._held = data[kept:]
        return b"".join((*pieces, data[at:kept])) if pieces else data[:kept]

    def _is_whole(self, match: re.Match[bytes], at: int) -> bool:
        """Whether nothing that is still to come could make another, earlier or longer match."""
        data = match.string
        return match.start() < len(data) - self._marks.reach or match.start() < self._marks.begun(data, at)


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
