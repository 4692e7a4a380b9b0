"""Where the `adjudge` command starts: the version at once, everything else through the application."""

from __future__ import annotations

import gc
import sys

OBJECTS = 500_000
"""New objects after which garbage is looked for."""


def main() -> None:
    """Run the command line and leave with its exit status."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from adjudge import __version__

        sys.stdout.write(f"adjudge {__version__}\n")
        return
    gc.set_threshold(OBJECTS, 20, 20)  # what imports make stays: looking for garbage in it costs a fifth of the start
    from adjudge.cli.app import run

    sys.exit(run())
