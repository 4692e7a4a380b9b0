"""`python -m bench [NAME…]`: print all benchmarks, or those named."""

from __future__ import annotations

import importlib
import sys
import time
import traceback

NAMES = ("startup", "install", "importers", "machine", "evaluator", "store", "cached_prompt")


def main(names: list[str]) -> int:
    """Run the benchmarks one after another; one that breaks is reported and the others go on."""
    broken = 0
    for name in names or NAMES:
        print(f"\n## {name}", flush=True)
        started = time.perf_counter()
        try:
            importlib.import_module(f"bench.{name}").main()
        except Exception:  # noqa: BLE001  a benchmark that breaks must not hide the others
            traceback.print_exc()
            broken += 1
        print(f"({time.perf_counter() - started:.1f} s)", flush=True)
    return broken


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
