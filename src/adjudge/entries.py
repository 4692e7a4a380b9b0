"""Entries on disk: a sequence of entries as Zstandard frames of JSON lines, decoded as they are read.

A record of a gigabyte is written while it is imported and walked while it is judged, with one frame in memory at a time.
The frames together are one ordinary Zstandard stream: `zstd -dc` prints the lines.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import overload

import msgspec
import zstandard

from adjudge.errors import OutsideError
from adjudge.record import Entry

FRAME = 256 * 1024
"""Bytes of JSON lines after which a frame ends."""

IN_MEMORY = 4 * 1024 * 1024
"""Compressed bytes that are kept in memory; a longer sequence goes to an unnamed temporary file."""

Reader = Callable[[int, int], bytes]
"""Gives the bytes of a blob from a start to an end."""

_encode = msgspec.json.Encoder().encode
_decoder = msgspec.json.Decoder(Entry)


class _Spill:
    """An unnamed temporary file, gone when nothing refers to it any more."""

    _descriptor = -1

    def __init__(self) -> None:
        self._descriptor, name = tempfile.mkstemp(prefix="adjudge-")
        os.unlink(name)

    def __del__(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def append(self, data: bytes | bytearray) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]

    def read(self, start: int, end: int) -> bytes:
        return os.pread(self._descriptor, end - start, start)


class EntryFile(Sequence[Entry]):
    """An immutable sequence of entries in frames. `hash` is a SHA-256 over the uncompressed JSON lines.

    The compressed frames lie wherever the reader fetches them from: memory, a temporary file, a blob.
    """

    def __init__(self, read: Reader, offsets: array[int], starts: array[int], count: int, digest: str) -> None:
        self._read = read
        self._offsets = offsets
        self._starts = starts
        self._count = count
        self._cached: tuple[int, list[Entry]] = (-1, [])
        self.hash = digest

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | Sequence[Entry]:
        if isinstance(index, slice):
            return tuple(self[position] for position in range(*index.indices(self._count)))
        position = index + self._count if index < 0 else index
        if not 0 <= position < self._count:
            raise IndexError(f"entry {index} of {self._count}")
        frame = bisect_right(self._starts, position) - 1
        return self._frame(frame)[position - self._starts[frame]]

    def __iter__(self) -> Iterator[Entry]:
        if len(self._starts) == 1:
            yield from self._frame(0)
            return
        for frame in range(len(self._starts)):  # a walk over many leaves none behind
            yield from self._decoded(frame)

    def _frame(self, number: int) -> list[Entry]:
        entries = self._decoded(number)
        self._cached = (number, entries)
        return entries

    def _decoded(self, number: int) -> list[Entry]:
        cached, entries = self._cached
        if cached == number:
            return entries
        lines = zstandard.ZstdDecompressor().decompress(self._bytes(number))
        return _decoder.decode_lines(lines)

    def _bytes(self, number: int) -> bytes:
        return self._read(self._offsets[number], self._offsets[number + 1])

    def frames(self) -> Iterator[bytes]:
        """The compressed frames, in order; together they are the blob to store."""
        for number in range(len(self._starts)):
            yield self._bytes(number)

    @property
    def places(self) -> tuple[list[int], list[int]]:
        """Where each frame starts in the blob (and where the last ends), and the position of its first entry."""
        return list(self._offsets), list(self._starts)


class EntryWriter:
    """Takes entries one by one and gives an `EntryFile` at the end."""

    def __init__(self) -> None:
        self._lines = bytearray()
        self._blob = bytearray()
        self._spill: _Spill | None = None
        self._offsets, self._starts = array("Q", [0]), array("Q")
        self._count = self._framed = 0
        self._hash = hashlib.sha256()
        self._compressor = zstandard.ZstdCompressor(level=3, write_content_size=True)

    def add(self, entry: Entry) -> None:
        """Append one entry.

        Raises:
            OutsideError: there is no room for it on the disk.
        """
        self._lines += _encode(entry)
        self._lines += b"\n"
        self._count += 1
        if len(self._lines) >= FRAME:
            self._end_frame()

    def _end_frame(self) -> None:
        if not self._lines:
            return
        self._hash.update(self._lines)
        frame = self._compressor.compress(self._lines)
        self._starts.append(self._framed)
        self._offsets.append(self._offsets[-1] + len(frame))
        self._framed = self._count
        self._lines.clear()
        try:
            self._keep(frame)
        except OSError as error:
            raise OutsideError(f"entries cannot be kept in a temporary file: {error.strerror}") from error

    def _keep(self, frame: bytes) -> None:
        if self._spill is None and len(self._blob) + len(frame) > IN_MEMORY:
            self._spill = _Spill()
            self._spill.append(self._blob)
            self._blob.clear()
        if self._spill is None:
            self._blob += frame
        else:
            self._spill.append(frame)

    def finish(self) -> EntryFile:
        """The sequence of all entries added; the writer must not be used afterwards."""
        self._end_frame()
        read = self._spill.read if self._spill else _reader(bytes(self._blob))
        return EntryFile(read, self._offsets, self._starts, self._count, self._hash.hexdigest())


def _reader(blob: bytes) -> Reader:
    return lambda start, end: blob[start:end]


def hash_of(entries: Sequence[Entry]) -> str:
    """The SHA-256 over the entries as JSON lines, whether they lie on disk or not."""
    if isinstance(entries, EntryFile):
        return entries.hash
    digest = hashlib.sha256()
    for entry in entries:
        digest.update(_encode(entry) + b"\n")
    return digest.hexdigest()
