"""Where the `adjudge` command starts: the version at once, everything else through the application."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and leave with its exit status."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from adjudge import __version__

        sys.stdout.write(f"adjudge {__version__}\n")
        return
    from adjudge.cli.app import run

    sys.exit(run())
