"""What an agent's process prints into pipes, on its way to files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from adjudge.machines.capture import Pipe
from adjudge.machines.printed import KEPT, PrintedStream


class Spill(Pipe):
    """A stream on its way to a file."""

    def __init__(self, path: Path, took: Callable[[bytes], None], kept: int = KEPT) -> None:
        """Make the file, which must not be there yet."""
        self._stream, self._took = PrintedStream(path, kept), took
        super().__init__()

    def keep(self, data: bytes) -> None:
        """Write it where it belongs; if the disk cannot hold it, `save` will tell."""
        self._took(data)
        self._stream.take(data)

    def save(self) -> None:
        """Complete the file and let go of it. Raises MachineError as `PrintedStream.save`."""
        self._stream.save()


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
