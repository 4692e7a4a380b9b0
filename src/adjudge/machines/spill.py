"""What an agent's process prints: head and tail of each stream in a file, whatever the length, and little in memory."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from adjudge.errors import MachineError
from adjudge.machines.capture import Pipe

KEPT = 64 << 20
"""Bytes that are kept of one stream: a half of them from its beginning, the rest from its end."""


class Spill(Pipe):
    """A stream on its way to a file. The tail goes round in a file without a name until `save` appends it."""

    def __init__(self, path: Path, took: Callable[[bytes], None], kept: int = KEPT) -> None:
        """Make the file, which must not be there yet."""
        self._path, self._took, self._half = path, took, kept // 2
        self._file = path.open("xb")
        self._ring: IO[bytes] | None = None
        self._head = self._tail = 0
        self._fault: OSError | None = None
        super().__init__()

    def keep(self, data: bytes) -> None:
        """Write it where it belongs; if the disk cannot hold it, `save` will tell."""
        self._took(data)
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


class Printed:
    """Both streams of one process, in the files `stdout` and `stderr`, with one bound for how much it may print."""

    def __init__(
        self, folder: Path, limit: int, flooded: Callable[[], None], on_output: Callable[[bytes], None] | None
    ) -> None:
        self._limit, self._flooded, self._on_output = limit, flooded, on_output
        self._size = 0
        self.out, self.errors = Spill(folder / "stdout", self._took), Spill(folder / "stderr", self._took)

    def _took(self, data: bytes) -> None:
        within = self._size <= self._limit
        self._size += len(data)
        if within and self._on_output:
            self._on_output(data)
        if within and self._size > self._limit:
            self._flooded()

    def pause(self) -> None:
        """Take nothing more; `save` must come after this."""
        self.out.pause()
        self.errors.pause()

    def save(self) -> None:
        """Complete both files. Raises MachineError as `Spill.save`."""
        try:
            self.out.save()
        finally:
            self.errors.save()
