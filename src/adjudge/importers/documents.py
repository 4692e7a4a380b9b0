"""Whole-document JSON in bounded memory: the file is mapped, its long lists stay raw, and one item is decoded at a time.

A format describes its document as a Struct whose long lists are `list[msgspec.Raw]`; such items are views of the file.
"""

from __future__ import annotations

import io
import json
import mmap
import os
import re
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec
import zstandard

from adjudge.errors import InputError
from adjudge.importers.jsonl import Report, opened, whole_number
from adjudge.record import Unparsed

IN_MEMORY = 64 * 1024 * 1024
"""Bytes up to which a file is read instead of mapped: a mapped file must not be cut short while it is read."""

LARGEST = 16 * 1024**3
"""Bytes beyond which a compressed file is not unpacked."""

BOM = b"\xef\xbb\xbf"

T = TypeVar("T")


def read_document(path: Path, kind: type[T]) -> T:
    """The JSON document in a file, decoded as this Struct.

    A byte order mark, `NaN`, control characters and broken escapes in strings are accepted; so is invalid UTF-8 inside
    of raw items, which `read_item` replaces.

    Raises:
        InputError: the file cannot be opened, is a Git LFS pointer, is not one JSON document (with the place), or does
            not have the Struct's shape.
    """
    try:
        with opened(path) as file:
            data = _content(file)
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        raise InputError(f"{path}: cannot be unpacked: {error}") from error
    if not len(data):
        raise InputError(f"{path}: is empty; expected a JSON document")
    try:
        return _decode(data, kind)
    except msgspec.ValidationError as error:
        raise InputError(f"{path}: is not of the expected shape: {error}") from error
    except RecursionError as error:
        raise InputError(f"{path}: is nested too deeply to be a recording") from error
    except msgspec.DecodeError as error:
        if "trailing" in str(error):
            raise InputError(f"{path}: {_place(error, data)}") from error
        return _read_repaired(path, data, kind, error)


def _content(file: io.BufferedIOBase) -> bytes | mmap.mmap:
    """The bytes of an opened file: read if they are few, else mapped, unpacked to a temporary file if need be."""
    if isinstance(getattr(file, "raw", None), io.FileIO):
        return file.read() if os.fstat(file.fileno()).st_size < IN_MEMORY else _mapped(file)
    with tempfile.TemporaryFile(prefix="adjudge-") as unpacked:
        while piece := file.read(1 << 20):
            unpacked.write(piece)
            if unpacked.tell() > LARGEST:
                raise EOFError(f"it holds more than {LARGEST} bytes")
        return _mapped(unpacked) if unpacked.tell() else b""


def _mapped(file: IO[bytes] | io.BufferedIOBase) -> mmap.mmap:
    file.flush()
    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _decode(data: bytes | mmap.mmap, kind: type[T]) -> T:
    view = memoryview(data)
    return msgspec.json.decode(view[len(BOM) :] if data[: len(BOM)] == BOM else view, type=kind)


def _read_repaired(path: Path, data: bytes | mmap.mmap, kind: type[T], fault: msgspec.DecodeError) -> T:
    with tempfile.TemporaryFile(prefix="adjudge-") as repaired:
        _repair(data, repaired)
        try:
            return _decode(_mapped(repaired), kind)
        except msgspec.ValidationError as error:
            raise InputError(f"{path}: is not of the expected shape: {error}") from error
        except (msgspec.DecodeError, RecursionError):
            raise InputError(f"{path}: {_place(fault, data)}") from fault


def _place(fault: msgspec.DecodeError, data: bytes | mmap.mmap) -> str:
    reason = str(fault).removeprefix("JSON is malformed: ")
    return f"is not one whole JSON document: {reason}, of {len(data)} bytes"


_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|-?\b(?:NaN|Infinity)\b', re.DOTALL)
_FAULT = re.compile(rb"[\x00-\x1f]|\\u[dD][89a-fA-F]|\\u(?![0-9a-fA-F]{4})|\\[^\"\\/bfnrtu]")
_ESCAPE = re.compile(r'(\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))|\\', re.DOTALL)


def _repair(data: bytes | mmap.mmap, target: IO[bytes]) -> None:
    """Copy a document with what some writers put into JSON although it is none replaced by what comes nearest."""
    end = len(BOM) if data[: len(BOM)] == BOM else 0
    for match in _TOKEN.finditer(data):
        token = match[0]
        if token[:1] == b'"' and not _FAULT.search(token):
            continue
        _copy(data, end, match.start(), target)
        target.write(_repaired_string(token) if token[:1] == b'"' else b"null")
        end = match.end()
    _copy(data, end, len(data), target)


def _copy(data: bytes | mmap.mmap, start: int, end: int, target: IO[bytes]) -> None:
    for place in range(start, end, 1 << 20):
        target.write(data[place : min(place + (1 << 20), end)])


def _repaired_string(token: bytes) -> bytes:
    """A JSON string with raw control characters, lone surrogates and unknown escapes made legal."""
    text = _ESCAPE.sub(lambda match: match[1] or "\\\\", token.decode("utf-8", "replace"))
    try:
        value: str = json.loads(text, strict=False)
    except ValueError:  # a string that the document's end cuts off
        return token
    return msgspec.json.encode(value.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def read_items(raws: Iterable[msgspec.Raw], name: str, report: Report) -> Iterator[tuple[str, dict[str, Any]]]:
    """A list's items that are objects, each decoded when it is asked for, with its place (`name[number]`)."""
    for number, raw in enumerate(raws):
        place = f"{name}[{number}]"
        if (item := read_item(raw, place, report)) is not None:
            yield place, item


def read_item(raw: msgspec.Raw, place: str, report: Report) -> dict[str, Any] | None:
    """One raw item as an object; anything else is reported with its place, and `None` is returned."""
    data = bytes(raw)
    try:
        value = msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError):
        value = _tolerant(data, place, report)
        if value is None:
            return None
    if isinstance(value, dict):
        return value
    report(Unparsed(place, f"a JSON {type(value).__name__}, not an object", len(data)))
    return None


def _tolerant(data: bytes, place: str, report: Report) -> Any:
    """An item with invalid UTF-8 (replaced) or with numbers beyond 64 bits; `None`, and a report, if that is not all."""
    try:
        return json.loads(data.decode("utf-8", "replace"), strict=False, parse_int=whole_number)
    except (ValueError, RecursionError) as error:
        report(Unparsed(place, f"not JSON: {str(error)[:120]}", len(data)))
        return None


_PIECE = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|"|[\[\]{},]', re.DOTALL)
_CLOSING = {b"{": b"}", b"[": b"]"}


DEEPEST = 500
"""Brackets within brackets beyond which the beginning of a file is no recording's."""


@lru_cache(maxsize=8)
def beginning(head: bytes) -> Any:
    """The JSON value that a file's first bytes begin, as far as they go.

    Of its last, broken member nothing is kept, but that a long text was there: an empty one stands in its place.

    `None` if they begin no object and no array. For recognising a format without reading the file.
    """
    head = head.removeprefix(BOM).lstrip()
    if head[:1] not in _CLOSING:
        return None
    cut, closing, open_brackets = 0, b"", [b""]
    for match in _PIECE.finditer(head):
        token = match[0]
        if token == b'"':  # a string that goes on beyond the first bytes
            if head[: match.start()].rstrip().endswith(b":"):
                return _lenient(head[: match.start()] + b'""' + b"".join(reversed(open_brackets)))
            break
        if token in _CLOSING:
            open_brackets.append(_CLOSING[token])
            if len(open_brackets) > DEEPEST:
                return None
            cut, closing = match.end(), b"".join(reversed(open_brackets))
        elif token == b",":
            cut, closing = match.start(), b"".join(reversed(open_brackets))
        elif token in (b"}", b"]"):
            open_brackets.pop()
            cut, closing = match.end(), b"".join(reversed(open_brackets))
            if len(open_brackets) == 1:
                break
    return _lenient(head[:cut] + closing)


def _lenient(data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8", "replace"), strict=False, parse_int=whole_number)
    except (ValueError, RecursionError):
        return None
