"""Passes over more and more stored runs, with a model in the same process: seconds, memory and bytes for each run.

    python -m bench.scale [RUNS…]

The store, the engine and the reader are the real ones; the model answers at once, so that all time is adjudge's own. Runs
are rows that share one stored record. Each size has a process of its own. Time and bytes a run must stay flat, and memory
must not grow with the number of runs.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from adjudge.judges.reader.judge import Reader
from adjudge.judgment import Judgment
from adjudge.passes.engine import Bounds, Engine, Stop
from adjudge.passes.work import Paying
from adjudge.ports import Model, Reply, Request
from adjudge.record import Usage
from adjudge.rubric import SEVERITY, Dimension, Rubric, hash_of_dimensions
from adjudge.run import Run
from adjudge.store import rows, schema
from adjudge.store.pass_rows import PassItem
from adjudge.store.records import read_run
from adjudge.store.standing import add_runs
from adjudge.store.store import Store, open_store
from adjudge.testing import calls, make_record, make_reply, make_run, says, user

SIZES = (1_000, 10_000)
FLAT = 1.25
"""How much more a run may take at the largest size than at the smallest."""
MORE = 64.0
"""MB that the process may be larger at the largest size than at the smallest."""

LOOP = Dimension("loop", SEVERITY, 0, "higher", "Repeated the same thing without new information.")
GAVE_UP = Dimension("gave_up_early", SEVERITY, 0, "higher", "Stopped although more could be done.")
RUBRIC = Rubric("scale", (), hash_of_dimensions((LOOP, GAVE_UP), "1"), "scale.yaml", (LOOP, GAVE_UP), "1")
ANSWER = json.dumps(
    {
        "scores": {
            "loop": {
                "reasoning": "It ran the same tests twice in a row.",
                "value": 1,
                "citations": [{"turn": "t2", "quote": "13 passed in 0.40s"}],
            },
            "gave_up_early": {"reasoning": "It finished what was asked.", "value": 0, "citations": []},
        },
        "summary": "It ran the tests twice and reported what they said.",
        "steering": [],
    }
)


class InstantModel:
    """Answers at once, always the same, and keeps nothing."""

    name = "scripted/instant"
    window: int | None = None

    async def answer(self, request: Request) -> Reply:
        return make_reply(ANSWER, request, self.name)

    def price(self, usage: Usage) -> float | None:
        return ((usage.prompt or 0) + 4 * (usage.output or 0)) / 1e6

    async def close(self) -> None:
        pass


class OwnWork:
    """Reads the stored run, and judges it under the id of its row."""

    def __init__(self, store: Store, model: Model) -> None:
        self._store, self._model = store, model

    async def judge(self, item: PassItem, paying: Paying) -> Judgment:
        from adjudge.models.paid import PaidModel

        run = await asyncio.to_thread(self._run, item)
        return await Reader(PaidModel(self._model, paying)).judge(run, RUBRIC, None)

    def _run(self, item: PassItem) -> Run:
        return msgspec.structs.replace(read_run(self._store.blobs, item.blob), id=item.run)

    async def close(self) -> None:
        pass


def fill(store: Store, count: int) -> list[str]:
    """So many rows of runs, and their ids. All point to one record of 40 entries."""
    tests = ("bash", "pytest -q billing", ".......... 13 passed in 0.40s\n" + "billing/rates.py: ok\n" * 30)
    record = make_record(user("Make the tests pass."), *(calls(*tests, exit_status=0) for _ in range(19)), says("Done."))
    run = make_run(record, agent="claude-code")
    store.add_run(run)
    with store.reading() as connection:
        values = rows.values_of_run(run, rows.blob_of(connection, schema.runs, run.id, "run"))
    names = [f"r-{number:016x}" for number in range(count)]
    for start in range(0, count, 10_000):
        with store.writing() as connection:
            part = [values | {"id": name} for name in names[start : start + 10_000]]
            add_runs(connection, part)
    return names


def peak() -> float:
    """The most memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def size_of(folder: Path) -> tuple[int, int]:
    """Bytes of a closed store's database, and of its blobs."""
    rows = (folder / "adjudge.db").stat().st_size
    blobs = sum(path.stat().st_size for path in (folder / "blobs").rglob("*.zst"))
    return rows, blobs


async def judge(store: Store, names: list[str]) -> None:
    """One pass over all of them, to its end."""
    work = OwnWork(store, InstantModel())
    writer = store.passes.hold("bench")
    try:
        identifier = writer.begin(Reader(InstantModel()).identity, {}, RUBRIC, names)
        ending = await Engine(writer, store.passes.row(identifier), work, Bounds(16), Stop()).run()
        assert (ending.status, ending.progress.landed, ending.progress.failures) == ("finished", len(names), {})
    finally:
        writer.release()


def measure(count: int) -> dict[str, float]:
    """What a pass over so many runs takes, for each run."""
    with tempfile.TemporaryDirectory(prefix="adjudge-bench-") as name:
        folder = Path(name) / "store"
        with open_store(folder) as store:
            names = fill(store, count)
        before, filled = size_of(folder), peak()
        started, cpu = time.perf_counter(), time.process_time()
        with open_store(folder) as store:
            asyncio.run(judge(store, names))
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        after = size_of(folder)
    found = {"seconds": seconds / count, "cpu": cpu / count, "before": filled, "peak": peak()}
    return found | {"rows": (after[0] - before[0]) / count, "blobs": (after[1] - before[1]) / count}


def main(sizes: tuple[int, ...]) -> None:
    """Print a line for each size, and whether it stayed flat."""
    print(f"{'runs':>9}{'ms/run':>9}{'CPU ms/run':>12}{'peak MB':>9}{'before':>8}{'rows B/run':>12}{'blobs B/run':>13}")
    found = []
    for size in sizes:
        command = [sys.executable, "-m", "bench.scale", "--one", str(size)]
        found.append(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))
        one = found[-1]
        figures = f"{1e3 * one['seconds']:9.2f}{1e3 * one['cpu']:12.2f}{one['peak']:9.0f}{one['before']:8.0f}"
        print(f"{size:9,}{figures}{one['rows']:12.0f}{one['blobs']:13.0f}", flush=True)
    first, last = found[0], found[-1]
    slower, larger = last["cpu"] / first["cpu"], last["peak"] - first["peak"]
    verdict = "met" if slower <= FLAT and larger <= MORE else "MISSED"
    print(f"CPU a run × {slower:.2f}, {larger:+.0f} MB; goal ≤ {FLAT} and ≤ +{MORE:.0f} MB: {verdict}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(int(sys.argv[2]))))
    else:
        main(tuple(int(each.replace(",", "")) for each in sys.argv[1:]) or SIZES)
