"""How long commands take from the shell to their end, beside a bare interpreter on the same machine."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ADJUDGE = Path(sys.executable).with_name("adjudge")
ROUNDS = 15


def median_seconds(*command: str | Path, folder: str) -> float:
    """The median wall time of a command over some rounds, after one that fills the caches."""
    times = []
    for _ in range(ROUNDS + 1):
        started = time.perf_counter()
        subprocess.run(command, cwd=folder, check=False, capture_output=True, env={**os.environ, "ADJUDGE_STORE": folder})
        times.append(time.perf_counter() - started)
    return statistics.median(times[1:])


def main() -> None:
    """Print the medians, their goals and their ratio to `python -c pass`."""
    with tempfile.TemporaryDirectory() as folder:
        demo = Path(__file__).parent.parent / "src" / "adjudge" / "demo"
        subprocess.run(
            [ADJUDGE, "import", demo],
            cwd=folder,
            check=True,
            capture_output=True,
            env={**os.environ, "ADJUDGE_STORE": folder},
        )
        bare = median_seconds(sys.executable, "-c", "pass", folder=folder)
        print(f"python -c pass      {bare:.3f} s")
        for arguments, goal in ((("--version",), 0.15), (("list",), 0.8), (("--help",), None)):
            seconds = median_seconds(ADJUDGE, *arguments, folder=folder)
            aim = f"goal ≤ {goal} s: {'met' if seconds <= goal else 'MISSED'}" if goal else ""
            print(f"adjudge {arguments[0]:11} {seconds:.3f} s  {seconds / bare:4.1f}× bare  {aim}")


if __name__ == "__main__":
    main()
