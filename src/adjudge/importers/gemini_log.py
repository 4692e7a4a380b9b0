"""The messages of a log of updates: the last version of each, in the order in which they first appeared.

Versions wait compressed in a temporary file; only their places stay in memory, so that a log of a gigabyte needs little.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import msgspec
import zstandard

from adjudge.errors import OutsideError

IN_MEMORY = 4 * 1024 * 1024
"""Compressed bytes that are kept in memory; more go to an unnamed temporary file."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class MessageLog:
    """Takes versions of messages, and gives the last one of each.

    A message has either a row of its own or stands in the row of another thing. A row of its own is what happened; a list
    that is written over it later (when the harness shortens what the model sees) does not replace it.
    """

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY, prefix="adjudge-")  # noqa: SIM115  closed below
        self._places: dict[str, tuple[int, int, bool]] = {}
        self._compress = zstandard.ZstdCompressor(level=1).compress
        self._end = 0

    def __enter__(self) -> MessageLog:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    def __contains__(self, identifier: str) -> bool:
        return identifier in self._places

    def __len__(self) -> int:
        return len(self._places)

    def put(self, identifier: str, message: dict[str, Any], own: bool = True) -> bool:
        """Take a version; whether it replaces one that had a row of its own.

        Raises:
            OutsideError: there is no room for it on the disk.
        """
        data = self._compress(_encode(message))
        before = self._places.get(identifier)
        self._places[identifier] = (self._end, len(data), own)
        try:
            self._file.seek(self._end)
            self._file.write(data)
        except OSError as error:
            raise OutsideError(f"messages cannot be kept in a temporary file: {error.strerror}") from error
        self._end += len(data)
        return before is not None and before[2]

    def messages(self) -> Iterator[tuple[dict[str, Any], bool]]:
        """Each message's last version, and whether it has a row of its own."""
        decompress = zstandard.ZstdDecompressor().decompress
        for start, size, own in self._places.values():
            self._file.seek(start)
            yield _decode(decompress(self._file.read(size))), own
