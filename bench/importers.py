"""How fast each format is imported, and in how much memory: `python -m bench.importers [--size MB] [FORMAT …]`.

Each format is written once and imported in a process of its own, whose peak memory is what the system says of it. A
further group of formats is a file `make_<group>.py` here with a dict `GENERATORS` from a format's name to a function
of a path and a number of bytes that writes a recording there.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import multiprocessing
import resource
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Generator = Callable[[Path, int], None]


def generators() -> dict[str, Generator]:
    """The generators of all groups."""
    found: dict[str, Generator] = {}
    for file in sorted(Path(__file__).parent.glob("make_*.py")):
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found |= getattr(module, "GENERATORS", {})  # golden runs are made as well, by a module of such a name
    return found


def measure(path: Path) -> dict[str, Any]:
    """Import a recording; what it took, and what it would take with nothing to import."""
    from adjudge.importers.sniff import read_runs

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    own = _Own()
    start, busy = time.perf_counter(), time.process_time()
    records = [run.record for run in read_runs(path)]
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    return {
        "seconds": seconds,
        "cpu_seconds": busy,
        "own_mb": own.most() / 1024,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "start_mb": before / 1024,
        "entries": sum(len(record.entries) for record in records),
    }


class _Own:
    """The most anonymous memory of this process, looked up every 10 ms.

    What is left out is the recording itself where it is mapped: pages that the system takes back when it needs room.
    """

    def __init__(self) -> None:
        self._most, self._over = 0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while not self._over.wait(0.01):
            lines = Path("/proc/self/status").read_text().splitlines()
            self._most = max(self._most, next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")))

    def most(self) -> int:
        """In KiB; ends the watching."""
        self._over.set()
        self._thread.join()
        return self._most


def main() -> None:
    """Print a line for each format."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("formats", nargs="*", help="only these formats")
    parser.add_argument("--size", type=int, default=100, help="size of each recording in MB (default 100)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    given = parser.parse_args()
    for name, generate in generators().items():
        if given.formats and name not in given.formats:
            continue
        with tempfile.TemporaryDirectory(prefix="adjudge-bench-") as folder:
            path = Path(folder) / "recording"
            generate(path, given.size * 1_000_000)
            size = sum(file.stat().st_size for file in [path, *path.rglob("*")] if file.is_file()) / 1e6
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                took = pool.apply(measure, (path,))
        if given.json:
            print(json.dumps({"format": name, "mb": size, **took}))
        else:
            speed = f"{size / took['seconds']:7.1f} MB/s ({size / took['cpu_seconds']:.1f} MB per CPU second)"
            memory = f"own {took['own_mb']:5.0f} MB, peak with what is mapped {took['peak_mb']:.0f} MB"
            print(f"{name:<22}{size:8.0f} MB {speed}   {memory}   {took['entries']} entries")


if __name__ == "__main__":
    main()
