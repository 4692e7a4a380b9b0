"""`python -m bench [NAME…]`: print all benchmarks, or those named, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

NAMES = (
    *("startup", "install", "importers", "machine", "evaluator", "store", "profile", "reader_input"),
    *("reader_judge", "reader", "cached_prompt", "proxy", "landing", "passes", "ray_workers", "scale", "web"),
)


def main(names: list[str]) -> int:
    """Run the benchmarks one after another; returns how many broke. Byte code is kept, as it is for users."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    broken = 0
    for name in names or NAMES:
        print(f"\n## {name}", flush=True)
        started = time.perf_counter()
        command = [sys.executable, "-m", f"bench.{name}"]
        broken += subprocess.run(command, cwd=Path(__file__).parent.parent, env=environment, check=False).returncode != 0
        print(f"({time.perf_counter() - started:.1f} s)", flush=True)
    return broken


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
