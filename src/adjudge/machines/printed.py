"""What an agent's process prints: head and tail of each stream in a file, whatever the length, and little in memory."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from adjudge.errors import MachineError

KEPT = 64 << 20
"""Bytes that are kept of one stream: a half of them from its beginning, the rest from its end."""


class PrintedStream:
    """One stream on its way to a file. The tail goes round in a file without a name until `save` appends it."""

    def __init__(self, path: Path, kept: int = KEPT) -> None:
        self._path, self._half = path, kept // 2
        self._file = path.open("wb")
        self._ring: IO[bytes] | None = None
        self._head = self._tail = 0

    @property
    def size(self) -> int:
        """The true number of bytes."""
        return self._head + self._tail

    def take(self, data: bytes) -> None:
        """Write the next bytes where they belong. Raises OSError."""
        first = data[: self._half - self._head]
        self._file.write(first)
        self._head += len(first)
        rest = data[len(first) :]
        if rest and self._ring is None:
            self._ring = tempfile.TemporaryFile(dir=self._path.parent)  # noqa: SIM115  closed by `save`
        while rest and self._ring:
            at = self._tail % self._half
            self._ring.seek(at)
            self._tail += self._ring.write(rest[: self._half - at])
            rest = rest[self._half - at :]

    def save(self) -> None:
        """Complete the file and let go of it. Raises OSError."""
        with self._file:
            if self._ring:
                with self._ring:
                    self._append(self._ring)

    def _append(self, ring: IO[bytes]) -> None:
        turned = self._tail % self._half
        if (left_out := self._tail - self._half) > 0:
            self._file.write(f"\n[{left_out} bytes left out]\n".encode())
            ring.seek(turned)
            shutil.copyfileobj(ring, self._file, 1 << 20)
            ring.truncate(turned)
        ring.seek(0)
        shutil.copyfileobj(ring, self._file, 1 << 20)


class Printed:
    """Both streams of a process in the files `stdout` and `stderr` of a folder; `limit` bounds the bytes of both."""

    def __init__(self, folder: Path, limit: int, on_output: Callable[[bytes], None] | None, kept: int = KEPT) -> None:
        self._folder, self._limit, self._on_output = folder, limit, on_output
        self.out, self.errors = PrintedStream(folder / "stdout", kept), PrintedStream(folder / "stderr", kept)
        self._fault: OSError | None = None

    def take(self, stream: int, data: bytes) -> None:
        """Take the next bytes of output (1) or errors (2); that the disk cannot hold them is told by `save`."""
        if self._on_output and not self.flooded:
            self._on_output(data)
        try:
            (self.errors if stream == 2 else self.out).take(data)
        except OSError as error:
            self._fault = self._fault or error

    @property
    def flooded(self) -> bool:
        """Whether the process has printed more than it may."""
        return self.out.size + self.errors.size > self._limit

    def save(self) -> None:
        """Complete both files.

        Raises:
            MachineError: the disk could not hold them.
        """
        for stream in (self.out, self.errors):
            try:
                stream.save()
            except OSError as error:
                self._fault = self._fault or error
        if self._fault:
            raise MachineError(f"{self._folder}: the output cannot be written: {self._fault.strerror}") from self._fault
