"""A process that shall run inside, as a session sends it to `boot`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import IO, Any

import msgspec


class Program(msgspec.Struct, frozen=True):
    """A program, its arguments (the first is its name) and its whole environment.

    It may run for `seconds`. With a `grace` it is asked to end then (SIGTERM to its process group), and that many seconds
    later everything inside is killed; without one it is killed at once, and everything inside with it unless it `spares`
    what it did not start itself. `files` are written before, by absolute paths inside, for their owner alone. `reads_all`
    lets it read what refuses even its owner.
    """

    program: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    seconds: float
    grace: float | None = None
    spares: bool = False
    reads_all: bool = False
    files: Mapping[str, bytes] = {}

    def watched(self) -> dict[str, Any]:
        """What the process outside needs to know."""
        return {name: getattr(self, name) for name in ("seconds", "grace", "spares", "reads_all")}

    def written(self) -> IO[bytes]:
        """The rest, for the process inside alone: in memory that no message could hold and no file shows.

        Raises:
            UnicodeEncodeError: a text is none.
        """
        words = {name: getattr(self, name) for name in ("program", "arguments", "environment", "files")}
        file = os.fdopen(os.memfd_create("program"), "r+b")
        try:
            file.write(msgspec.json.encode(words))
        except BaseException:
            file.close()
            raise
        file.seek(0)
        return file


def bash(command: str, environment: Mapping[str, str], seconds: float, spares: bool) -> Program:
    """A command line for bash."""
    return Program("/bin/bash", ("bash", "-c", command), environment, seconds, spares=spares)
