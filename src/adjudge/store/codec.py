"""Values as blobs: JSON under Zstandard, each stamped with the version of its layout and of the adjudge that wrote it."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
import zstandard

from adjudge import __version__
from adjudge.errors import InputError, OutsideError
from adjudge.judgment import Judge, Judgment
from adjudge.rubric import Rubric
from adjudge.run import Run

LAYOUT = 1
"""The layout of blobs that this adjudge writes; a change that older ones cannot read makes it one more."""


LONGEST = 1 << 30
"""Bytes of JSON beyond which no blob but a record's entries is read."""


class Frames(msgspec.Struct, frozen=True):
    """Where a record's entries lie: a blob of frames, where each starts, its first entry's position and its SHA-256.

    `hash` is a SHA-256 over the entries' JSON lines.
    """

    blob: str
    offsets: tuple[int, ...]
    starts: tuple[int, ...]
    digests: tuple[str, ...]
    count: int
    hash: str


class _Stamp(msgspec.Struct, frozen=True):
    layout: int
    adjudge: str


class StoredRun(_Stamp, frozen=True):
    """A run without its entries, and where those are: of its record, then of each sub-agent's, as `records` walks."""

    run: Run
    entries: tuple[Frames, ...]


class StoredJudgment(_Stamp, frozen=True):
    """A judgment, whole."""

    judgment: Judgment


class StoredRubric(_Stamp, frozen=True):
    """A rubric, whole."""

    rubric: Rubric


class StoredPass(_Stamp, frozen=True):
    """Who judges in a pass, and what it was started with, as JSON: the store does not look into that."""

    judge: Judge
    plan: dict[str, Any]


Stored = TypeVar("Stored", StoredRun, StoredJudgment, StoredRubric, StoredPass)


def packed_run(run: Run, entries: tuple[Frames, ...]) -> bytes:
    """The blob for a run whose record's entries were taken out."""
    return _packed(StoredRun(LAYOUT, __version__, run, entries))


def packed_judgment(judgment: Judgment) -> bytes:
    """The blob for a judgment."""
    return _packed(StoredJudgment(LAYOUT, __version__, judgment))


def packed_rubric(rubric: Rubric) -> bytes:
    """The blob for a rubric."""
    return _packed(StoredRubric(LAYOUT, __version__, rubric))


def packed_pass(judge: Judge, plan: dict[str, Any]) -> bytes:
    """The blob for a pass."""
    return _packed(StoredPass(LAYOUT, __version__, judge, plan))


def unpacked(data: bytes, kind: type[Stored]) -> Stored:
    """The value in a blob.

    Raises:
        InputError: a newer adjudge wrote it, in a layout that this one does not know.
        OutsideError: it is not such a blob.
    """
    try:
        if zstandard.frame_content_size(data) > LONGEST:
            raise OutsideError(f"a blob of the store is longer than {LONGEST} bytes, so it is none of adjudge's")
        lines = zstandard.ZstdDecompressor().decompress(data)
        return _decoded(lines, kind)
    except (zstandard.ZstdError, msgspec.DecodeError) as error:
        raise OutsideError(f"a blob of the store holds no {kind.__name__}: {error}") from error


def _decoded(lines: bytes, kind: type[Stored]) -> Stored:
    """The value, if this adjudge knows its layout: what cannot be read may be one that it does not."""
    try:
        value = msgspec.json.decode(lines, type=kind)
    except msgspec.DecodeError:
        _require_known(msgspec.json.decode(lines, type=_Stamp))
        raise
    _require_known(value)
    return value


def _require_known(stamp: _Stamp) -> None:
    if stamp.layout > LAYOUT:
        raise InputError(
            f"was written by adjudge {stamp.adjudge} in layout {stamp.layout}; adjudge {__version__} reads layouts "
            f"up to {LAYOUT}: use adjudge {stamp.adjudge} or later"
        )


def _packed(value: _Stamp) -> bytes:
    return zstandard.ZstdCompressor(level=3, write_checksum=True, write_content_size=True).compress(_encoded(value))


def _encoded(value: _Stamp) -> bytes:
    """As JSON. Lone surrogates, which no encoding can hold, become U+FFFD: a row that was paid for must not be lost."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_encodable(msgspec.to_builtins(value)))


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    return [_encodable(item) for item in value] if isinstance(value, list | tuple) else value
