"""Records in blobs: the entries' frames as they are, so that one entry can be read without the others."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator
from itertools import pairwise

import msgspec

from adjudge.entries import EntryFile, EntryWriter, Reader
from adjudge.errors import OutsideError
from adjudge.record import Record
from adjudge.run import Run
from adjudge.store.blobs import Blobs
from adjudge.store.codec import Frames, StoredRun, packed_run, unpacked


def write_run(blobs: Blobs, run: Run) -> str:
    """Keep a run: each record's frames as a blob of its own, and all the rest in one that points to them."""
    entries = tuple(_write_entries(blobs, record) for record in records(run.record))
    bare = msgspec.structs.replace(run, record=_with_entries(run.record, iter(())))
    return blobs.write([packed_run(bare, entries)])


def read_run(blobs: Blobs, name: str) -> Run:
    """The run in a blob, with entries that are fetched from their own blobs as they are used.

    Raises:
        InputError: a newer adjudge wrote it.
        OutsideError: it is damaged, or cannot be read.
    """
    stored = unpacked(blobs.read(name), StoredRun)
    entries = iter([_opened(blobs, frames) for frames in stored.entries])
    return msgspec.structs.replace(stored.run, record=_with_entries(stored.run.record, entries))


def records(record: Record) -> Iterator[Record]:
    """A record and those of its sub-agents, in the order in which their frames are kept."""
    yield record
    for child in record.children:
        yield from records(child)


def _with_entries(record: Record, entries: Iterator[EntryFile]) -> Record:
    own = next(entries, ())
    children = tuple(_with_entries(child, entries) for child in record.children)
    return msgspec.structs.replace(record, entries=own, children=children)


def _write_entries(blobs: Blobs, record: Record) -> Frames:
    entries = _framed(record)
    offsets, starts = entries.places
    digests: list[str] = []
    name = blobs.write(_noted(entries.frames(), digests))
    return Frames(name, tuple(offsets), tuple(starts), tuple(digests), len(entries), entries.hash)


def _framed(record: Record) -> EntryFile:
    if isinstance(record.entries, EntryFile):
        return record.entries
    writer = EntryWriter()
    for entry in record.entries:
        writer.add(entry)
    return writer.finish()


def _noted(frames: Iterator[bytes], digests: list[str]) -> Iterator[bytes]:
    for frame in frames:
        digests.append(hashlib.sha256(frame).hexdigest())
        yield frame


def _opened(blobs: Blobs, frames: Frames) -> EntryFile:
    offsets, starts = array("Q", frames.offsets), array("Q", frames.starts)
    return EntryFile(_reader(blobs, frames), offsets, starts, frames.count, frames.hash)


def _reader(blobs: Blobs, frames: Frames) -> Reader:
    """Reads a frame and checks it against the hash that the run's own blob, itself checked, states for it."""
    expected = dict(zip(pairwise(frames.offsets), frames.digests, strict=True))

    def read(start: int, end: int) -> bytes:
        data = blobs.part(frames.blob, start, end)
        if hashlib.sha256(data).hexdigest() != expected[start, end]:
            raise OutsideError(f"blob {frames.blob}: bytes {start} to {end} were changed or damaged")
        return data

    return read
