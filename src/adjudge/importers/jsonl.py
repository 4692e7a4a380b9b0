"""JSON Lines as they are really written: one tolerant reader for every format.

It accepts byte order marks, CRLF, several objects on a line, one object over many lines, arrays of objects, a half-written
last line, invalid UTF-8, and `.gz` and `.zst` files. What it cannot read it counts, with its place; nothing is raised.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import zstandard

from adjudge.errors import InputError
from adjudge.record import Unparsed

LONGEST = 256 * 1024 * 1024
"""Bytes of a single line beyond which it is not parsed."""

LFS = b"version https://git-lfs"

Report = Callable[[Unparsed], None]
Row = tuple[str, dict[str, Any]]

_decode = msgspec.json.Decoder().decode


def rows(path: Path, report: Report) -> Iterator[Row]:
    """The JSON objects of a file, each with its place (`name:line`), one at a time.

    Raises:
        InputError: the file cannot be opened, or is a Git LFS pointer in place of a recording.
    """
    with opened(path) as file:
        yield from _rows(file, path.name, report)


def opened(path: Path) -> io.BufferedIOBase:
    """The file's bytes, decompressed if its first bytes say that it is compressed.

    Raises:
        InputError: it cannot be opened, or is a Git LFS pointer.
    """
    try:
        file: io.BufferedReader = path.open("rb", buffering=1 << 20)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    start = file.read(32)
    file.seek(0)
    if start.startswith(LFS):
        file.close()
        raise InputError(f"{path}: is a Git LFS pointer, not a recording; fetch the file with `git lfs pull`")
    if start.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=file)
    if start.startswith(b"\x28\xb5\x2f\xfd"):
        return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(file, closefd=True))
    return file


def _rows(file: io.BufferedIOBase, name: str, report: Report) -> Iterator[Row]:
    pending, first = b"", 0
    for number, line in enumerate(file, 1):
        stripped = (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).strip()
        if not stripped:
            continue
        if not pending:
            first = number
        if pending or stripped in (b"{", b"["):  # an object or array that is spread over lines
            pending += line
            value = _whole(pending)
            if value is None and len(pending) < LONGEST:
                continue
            yield from _objects(value, pending, f"{name}:{first}", report)
            pending = b""
            continue
        yield from _objects(_whole(stripped), stripped, f"{name}:{number}", report)
    if pending:
        yield from _salvaged(pending, name, first, report)


def _whole(data: bytes) -> Any:
    """The JSON value that the bytes are, or `None`."""
    try:
        return _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
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
    elif value is not None:
        report(Unparsed(place, f"a JSON {type(value).__name__}, not an object", len(data)))
    else:
        yield from _several(data, place, report)


_tolerant = json.JSONDecoder(strict=False)


def _several(data: bytes, place: str, report: Report) -> Iterator[Row]:
    """Objects standing one after another on a line, up to the first thing that is none."""
    if len(data) > LONGEST:
        report(Unparsed(place, f"longer than {LONGEST} bytes", len(data)))
        return
    text, position = data.decode("utf-8", "replace"), 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        try:
            value, position = _tolerant.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            report(Unparsed(place, f"not JSON: {str(error)[:120]}", len(text) - position))
            return
        if isinstance(value, dict):
            yield place, value
        else:
            report(Unparsed(place, f"a JSON {type(value).__name__}, not an object"))


def _salvaged(data: bytes, name: str, first: int, report: Report) -> Iterator[Row]:
    """The lines of something that began like a spread object and never closed, each on its own."""
    for number, line in enumerate(data.splitlines(), first):
        if line.strip():
            yield from _objects(_whole(line.strip()), line.strip(), f"{name}:{number}", report)
