"""How fast the store keeps and gives: rows a second with every commit synced, a list of 1,000 runs, one entry of 50,000."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from adjudge.entries import EntryWriter
from adjudge.evidence import Look
from adjudge.judgment import Judge, Judgment, Verdict
from adjudge.record import Entry, Record
from adjudge.rubric import Criterion, Rubric, rubric_hash
from adjudge.run import Run
from adjudge.store.checking import verify_stored
from adjudge.store.store import Store, open_store

RUNS, ENTRIES = 1000, 50_000
CRITERIA = (Criterion("c", "`pytest` exits with 0"),)
RUBRIC = Rubric("bench", CRITERIA, rubric_hash(CRITERIA), "bench.yaml")
LIST = (
    "import sys; from adjudge.store.store import open_store\n"
    "with open_store(sys.argv[1]) as store: print(len(store.runs()))"
)


def a_record(count: int) -> Record:
    """A record with that many entries, each a line of text."""
    writer = EntryWriter()
    for number in range(1, count + 1):
        writer.add(Entry(f"e{number}", "result", "tool", number, f"line {number}: " + "tests passed " * 12))
    return Record("bench", writer.finish())


def a_judgment(run: str) -> Judgment:
    """A judgment with forty looks of 2 kB."""
    looks = tuple(Look(f"L{n}", "run", "command", {"command": "ls"}, os.urandom(1000).hex()) for n in range(40))
    verdicts = (Verdict("c", False, "It does not.", cause="unproven"),)
    judge = Judge("evaluator", "m", "p", {}, "0")
    return Judgment(f"j{run}", run, "bench", RUBRIC.hash, judge, "judged", "2026-01-01", 1.0, verdicts, 0.0, looks=looks)


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def writes(store: Store) -> Iterator[str]:
    """Rows a second, one after another, as judgments come in."""
    small = Run("r", a_record(100), "bench.jsonl", task="Fix it.", agent="bench", model="m")
    names = [f"r-{number:04}" for number in range(RUNS)]
    took = seconds(lambda: [store.add_run(msgspec.structs.replace(small, id=name)) for name in names])
    yield f"runs kept            {RUNS / took:8.0f} /s   100 entries each"
    judgments = [a_judgment(name) for name in names[:200]]
    took = seconds(lambda: keep(store, judgments))
    yield f"judgments kept       {len(judgments) / took:8.0f} /s   40 looks of 2 kB each"


def keep(store: Store, judgments: list[Judgment]) -> None:
    """Add them one by one."""
    for judgment in judgments:
        store.add_judgment(judgment, RUBRIC)


def lists(store: Store) -> Iterator[str]:
    """A list of all runs, in a process that is there and in a new one."""
    took = statistics.median(seconds(store.runs) for _ in range(10))
    yield f"list of {RUNS:,} runs   {1000 * took:8.1f} ms"
    command = [sys.executable, "-c", LIST, str(store.folder)]
    took = statistics.median(seconds(lambda: subprocess.run(command, check=True, capture_output=True)) for _ in range(8))
    yield f"the same, from start {1000 * took:8.0f} ms  Python's start and all imports included"


def reads(store: Store) -> Iterator[str]:
    """One entry of a long record, and checking a judgment of it."""
    store.add_run(Run("r-long", a_record(ENTRIES), "bench.jsonl"))
    took = statistics.median(seconds(lambda: store.run("r-long").record.entries[ENTRIES - 1]) for _ in range(10))
    yield f"entry {ENTRIES:,}         {1000 * took:8.1f} ms  opening the run included"
    store.add_judgment(a_judgment("r-long"), RUBRIC)
    took = seconds(lambda: verify_stored(store, "jr-long"))
    yield f"verify               {1000 * took:8.0f} ms  every frame of {ENTRIES:,} entries read and checked"


def main() -> None:
    """Print a line for each figure."""
    with tempfile.TemporaryDirectory(prefix="adjudge-bench-") as folder, open_store(Path(folder) / "store") as store:
        for part in (writes, lists, reads):
            for line in part(store):
                print(line, flush=True)


if __name__ == "__main__":
    main()
