"""What an agent's process prints: head and tail of each stream in a file, whatever the length, and little in memory."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from adjudge.errors import MachineError

KEPT = 64 << 20
"""Bytes that are kept of one stream: a half of them from its beginning, the rest from its end."""


class PrintedStream:
    """One stream on its way to a file. The tail goes round in a file without a name until `save` appends it.

    `size` is the true number of bytes.
    """

    def __init__(self, path: Path, kept: int = KEPT) -> None:
        """Make the file, which must not be there yet."""
        self._path, self._half = path, kept // 2
        self._file = path.open("xb")
        self._ring: IO[bytes] | None = None
        self._head = self._tail = self.size = 0
        self._fault: OSError | None = None

    def take(self, data: bytes) -> None:
        """Write the next bytes where they belong; if the disk cannot hold them, `save` will tell."""
        self.size += len(data)
        if self._fault is None:
            try:
                self._write(data)
            except OSError as error:
                self._fault = error

    def _write(self, data: bytes) -> None:
        first = data[: self._half - self._head]
        self._head += self._file.write(first)
        rest = data[len(first) :]
        if rest and self._ring is None:
            self._ring = tempfile.TemporaryFile(dir=self._path.parent)  # noqa: SIM115  closed by `save`
        while rest and self._ring:
            at = self._tail % self._half
            self._ring.seek(at)
            written = self._ring.write(rest[: self._half - at])
            self._tail += written
            rest = rest[written:]

    def save(self) -> None:
        """Complete the file and let go of it.

        Raises:
            MachineError: the disk could not hold it.
        """
        try:
            with self._file, self._ring or contextlib.nullcontext():
                self._append()
        except OSError as error:
            self._fault = self._fault or error
        if self._fault:
            raise MachineError(f"{self._path}: cannot be written: {self._fault.strerror}") from self._fault

    def _append(self) -> None:
        """Write the tail behind the head."""
        if self._ring is None:
            return
        end = self._tail % self._half
        if (left_out := self._tail - self._half) > 0:
            self._file.write(f"\n[{left_out} bytes left out]\n".encode())
            self._ring.seek(end)
            shutil.copyfileobj(self._ring, self._file, 1 << 20)
            self._ring.truncate(end)
        self._ring.seek(0)
        shutil.copyfileobj(self._ring, self._file, 1 << 20)


class PrintedStreams:
    """Both streams of a process in the files `stdout` and `stderr` of a folder; `limit` bounds the bytes of both."""

    def __init__(self, folder: Path, limit: int, on_output: Callable[[bytes], None] | None, kept: int = KEPT) -> None:
        self._limit, self._on_output = limit, on_output
        self.out, self.errors = PrintedStream(folder / "stdout", kept), PrintedStream(folder / "stderr", kept)

    def take(self, stream: int, data: bytes) -> None:
        """Take the next bytes of output (1) or errors (2)."""
        if self._on_output and not self.flooded:
            self._on_output(data)
        (self.errors if stream == 2 else self.out).take(data)

    @property
    def flooded(self) -> bool:
        """Whether the process has printed more than it may."""
        return self.out.size + self.errors.size > self._limit

    def save(self) -> None:
        """Complete both files. Raises MachineError as `PrintedStream.save`."""
        try:
            self.out.save()
        finally:
            self.errors.save()
