"""Where the `adjudge` command starts: the version at once, everything else through the application."""

from __future__ import annotations

import gc
import os
import sys
from typing import TextIO

OBJECTS = 500_000
"""New objects after which garbage is looked for."""


def main() -> None:
    """Run the command line and leave with its exit status; with 0 if nobody reads on, as in `adjudge list | head`."""
    try:
        status = _status()
    except BrokenPipeError:
        status = 0
    sys.exit(status if _flushed(sys.stdout) & _flushed(sys.stderr) else 0)


def _status() -> int:
    if sys.argv[1:] in (["--version"], ["-V"]):
        from adjudge import __version__

        sys.stdout.write(f"adjudge {__version__}\n")
        return 0
    gc.set_threshold(OBJECTS, 20, 20)  # what imports make stays: looking for garbage in it costs a fifth of the start
    from adjudge.cli.app import run

    return run()


def _flushed(stream: TextIO) -> bool:
    """Whether all that was written got out. What is left over would be flushed at the very end, with a complaint."""
    try:
        stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return False
    return True
