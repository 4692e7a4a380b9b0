"""JSON Lines as they are really written: one tolerant reader for every format.

It accepts byte order marks, CRLF, several objects on a line, one object over many lines, arrays of objects, a half-written
last line, invalid UTF-8, lone surrogates, and `.gz` and `.zst` files, damaged ones too. What it cannot read it counts, with
its place; nothing is raised once the file is open.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import zstandard

from adjudge.errors import InputError
from adjudge.record import Unparsed

LONGEST = 64 << 20
"""Bytes of a single line beyond which it is not parsed; the rest of such a line is passed over without being kept."""

SPREAD = 16 << 20
"""Bytes of one object over many lines beyond which its lines are taken one by one."""

EXCERPT = 300
"""Bytes of what cannot be read that a reader is shown."""

WHOLE = 16 << 30
"""Bytes of a file, once decompressed, after which nothing more is read."""

LFS = b"version https://git-lfs"

Report = Callable[[Unparsed], None]
Row = tuple[str, dict[str, Any]]


def whole_number(digits: str) -> int | str:
    """A whole number of JSON; one that no counter ever reached stays as it is written."""
    return int(digits) if len(digits) <= 300 else digits


_decode = msgspec.json.Decoder().decode
_tolerant = json.JSONDecoder(strict=False, parse_int=whole_number)


def rows(path: Path, report: Report) -> Iterator[Row]:
    """The JSON objects of a file, each with its place (`name:line`), one at a time.

    Raises:
        InputError: the file cannot be opened, or is a Git LFS pointer in place of a recording.
    """
    with opened(path) as file:
        yield from rows_of(file, path.name, report)


def opened(path: Path) -> io.BufferedIOBase:
    """The file's bytes, decompressed if its first bytes say that it is compressed.

    Raises:
        InputError: it cannot be opened, is a pipe or a device, or is a Git LFS pointer.
    """
    try:
        file = io.BufferedReader(io.FileIO(path, opener=_open_at_once), buffer_size=1 << 20)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise InputError(f"{path}: is not a regular file; write what the pipe or device gives to a file, then import that")
    start = file.read(32)
    file.seek(0)
    if start.startswith(LFS):
        file.close()
        raise InputError(f"{path}: is a Git LFS pointer, not a recording; fetch the file with `git lfs pull`")
    if start.startswith(b"\x1f\x8b"):
        return _Gzip(file)
    if start.startswith(b"\x28\xb5\x2f\xfd"):
        reader = zstandard.ZstdDecompressor().stream_reader(file, closefd=True, read_across_frames=True)
        return io.BufferedReader(reader, buffer_size=1 << 20)
    return file


def _open_at_once(path: str, flags: int) -> int:
    """Open without waiting for the other end, should this be a pipe; a regular file is opened as ever."""
    return os.open(path, flags | os.O_NONBLOCK)


class _Gzip(gzip.GzipFile):
    """A gzip file that closes the file beneath it."""

    def __init__(self, file: io.BufferedReader[io.FileIO]) -> None:
        super().__init__(fileobj=file)
        self._beneath = file

    def close(self) -> None:
        super().close()
        self._beneath.close()


def head_rows(head: bytes, limit: int = 50) -> list[dict[str, Any]]:
    """The first objects among the first bytes of a file, for recognising its format."""
    found: list[dict[str, Any]] = []
    for _, row in rows_of(io.BytesIO(head), "", _ignore):
        found.append(row)
        if len(found) >= limit:
            break
    return found


def is_lines(path: Path) -> bool:
    """Whether the first line is an object by itself and something follows it, as in no JSON document.

    Raises:
        InputError: the file cannot be opened.
    """
    with opened(path) as file:
        lines = (line for _, line in _lines(file, "", _ignore) if line.strip())
        first = next(lines, b"").lstrip()
        return first.startswith(b"{") and next(lines, None) is not None and bool(head_rows(first, 1))


def _ignore(_: Unparsed) -> None:
    """Reports nothing: recognising a format is no reading."""


def rows_of(file: io.BufferedIOBase, name: str, report: Report) -> Iterator[Row]:
    """The JSON objects of an open file, as `rows` gives them."""
    spread = _Spread(name, report)
    for number, line in _lines(file, name, report):
        if spread.first:
            yield from spread.add(line.strip())
        elif b"{" not in line:
            if (stripped := line.strip()) and stripped not in _PUNCTUATION:
                report(_not_an_object(stripped, f"{name}:{number}"))
        elif (value := _whole(line)).__class__ is dict:
            yield f"{name}:{number}", value
        elif (stripped := line.strip()) == b"{":
            spread.first = number
            yield from spread.add(stripped)
        else:
            value = _whole(_member(stripped)) if value is None else value
            yield from _objects(value, stripped, f"{name}:{number}", report)
    yield from spread.salvaged()


def _not_an_object(line: bytes, place: str) -> Unparsed:
    """A line on which no object can stand: brackets of an array over many lines are none, and are passed over."""
    return Unparsed(place, f"holds no JSON object; it begins: {_excerpt(line)}", len(line))


def _excerpt(data: bytes) -> str:
    return data[:EXCERPT].decode("utf-8", "replace")


def _member(line: bytes) -> bytes:
    """The line without what belongs to an array around it, one of whose objects stands on it."""
    bare = line.removesuffix(b",")
    return bare.removeprefix(b"[") if bare.startswith(b"[{") else bare.removesuffix(b"]")


_PUNCTUATION = frozenset({b"[", b"]", b",", b"],"})
_BRACKET = re.compile(rb"[][{}]")
_STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')


class _Spread:
    """One object over many lines: gathered until its brackets close, so that each line is looked at once.

    `first` is the number of the line that it begins on, 0 if there is none. The lines are kept as one piece of text: a
    list of them would take many times their size.
    """

    def __init__(self, name: str, report: Report) -> None:
        self._name, self._report = name, report
        self.first = self._depth = 0
        self._text = bytearray()

    def add(self, line: bytes) -> Iterator[Row]:
        self._text += line + b"\n"
        bare = _STRINGS.sub(b"", line) if _BRACKET.search(line) else b""  # a JSON string never spans lines
        self._depth += bare.count(b"{") + bare.count(b"[") - bare.count(b"}") - bare.count(b"]")
        if self._depth <= 0:
            yield from self._closed()
        elif len(self._text) > SPREAD:
            yield from self.salvaged()

    def _closed(self) -> Iterator[Row]:
        data = bytes(self._text).rstrip().removesuffix(b",")
        value = _whole(data)
        if value is None:
            value = _leniently(data)
        if value is None:
            yield from self.salvaged()
            return
        place = f"{self._name}:{self.first}"
        self._clear()
        yield from _objects(value, data, place, self._report)

    def salvaged(self) -> Iterator[Row]:
        """The lines of something that never became an object, each on its own."""
        first, text = self.first, io.BytesIO(self._text)
        self._clear()
        for number, line in enumerate(text, first):
            stripped, place = line.strip(), f"{self._name}:{number}"
            if b"{" in stripped:
                yield from _objects(_whole(stripped), stripped, place, self._report)
            elif stripped:
                self._report(_not_an_object(stripped, place))

    def _clear(self) -> None:
        self._text = bytearray()
        self.first = self._depth = 0


def _lines(file: io.BufferedIOBase, name: str, report: Report) -> Iterator[tuple[int, bytes]]:
    """The lines with their numbers; what is too long or damaged is reported in their place."""
    number = total = 0
    try:
        while line := file.readline(LONGEST):
            number += 1
            total += len(line)
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if len(line) == LONGEST and not line.endswith(b"\n"):
                size = len(line) + _passed_over(file)
                total += size
                report(Unparsed(f"{name}:{number}", f"a line longer than {LONGEST} bytes", size))
                continue
            if total > WHOLE:
                report(Unparsed(f"{name}:{number}", f"more than {WHOLE} bytes; the rest was not read"))
                return
            yield number, line
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        report(Unparsed(f"{name}:{number + 1}", f"the file is damaged or cut off here: {error}"))


def _passed_over(file: io.BufferedIOBase) -> int:
    """Read to the end of the line, keeping nothing; how many bytes that were."""
    size = 0
    while part := file.readline(1 << 20):
        size += len(part)
        if part.endswith(b"\n") or size > WHOLE:
            break
    return size


def _whole(data: bytes) -> Any:
    """The JSON value that the bytes are, or `None`."""
    try:
        return _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _leniently(data: bytes) -> Any:
    """The JSON value, infinities and control characters in strings allowed, or `None`."""
    text = data.decode("utf-8", "replace")
    try:
        return _encodable(_tolerant.decode(text), text)
    except (ValueError, RecursionError):
        return None


def _objects(value: Any, data: bytes, place: str, report: Report) -> Iterator[Row]:
    if isinstance(value, dict):
        yield place, value
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for item in value:
            if isinstance(item, dict):
                yield place, item
            else:
                report(Unparsed(place, f"a {type(item).__name__} in an array of objects"))
    elif value is not None or data == b"null":
        report(Unparsed(place, f"a JSON {type(value).__name__}, not an object", len(data)))
    else:
        yield from _several(data, place, report)


def _several(data: bytes, place: str, report: Report) -> Iterator[Row]:
    """Objects standing one after another on a line, up to the first thing that is none."""
    text, position, size = data.decode("utf-8", "replace"), 0, len(data)
    while position < len(text):
        if text[position].isspace() or (position and text[position] == ","):
            position += 1
            continue
        start = position
        try:
            value, position = _tolerant.raw_decode(text, position)
            value = _encodable(value, text[start:position])
        except (ValueError, RecursionError) as error:
            fault = "nested too deeply" if isinstance(error, RecursionError) else f"not JSON: {str(error)[:120]}"
            rest = size if start == 0 else len(text) - start
            report(Unparsed(place, f"{fault}; it begins: {text[start : start + EXCERPT]}", rest))
            return
        yield from _objects(value, b"null" if value is None else b"", place, report)


def _encodable(value: Any, text: str) -> Any:
    """The value without lone surrogates, which no UTF-8 can hold."""
    if "\\ud" not in text and "\\uD" not in text:
        return value
    safe = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _tolerant.decode(safe)
