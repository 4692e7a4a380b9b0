"""One worker and two workers of a Ray cluster on this computer, with the evaluator's probes on real machines.

Run `python -m bench.ray_workers`. Each run has a rubric of one probe that computes for about 0.3 s in a sandbox. A worker
judges one run at a time, as it takes one CPU. The goal is that two workers need at most 0.6 of the time of one.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from functools import partial
from pathlib import Path

import msgspec

from adjudge.judges.reader.tokens import calibrated
from adjudge.judgment import Judgment
from adjudge.passes.ray_work import RayWork, open_ray
from adjudge.rubric import CommandProbe, Criterion
from adjudge.run import Run
from adjudge.settings import Settings
from adjudge.store.blobs import open_blobs
from adjudge.store.pass_rows import PassItem
from adjudge.store.records import write_run
from adjudge.testing import make_rubric, make_run
from adjudge.wiring.elsewhere import WorkElsewhere

RUNS = 24
GOAL = 0.6
LOOP = "python3 -c 's = 0\nfor n in range(5_000_000): s += n\nprint(s)'"


async def free(most: float | None) -> None:
    """Probes cost nothing."""


def stored(folder: Path) -> list[PassItem]:
    """Runs in a folder of blobs, each with a workspace."""
    workspace = folder / "workspace"
    workspace.mkdir()
    run: Run = make_run(workspace=str(workspace))
    blobs = open_blobs(folder / "blobs")
    runs = [msgspec.structs.replace(run, id=f"r-{number:016x}") for number in range(RUNS)]
    return [PassItem(number, run.id, write_run(blobs, run)) for number, run in enumerate(runs)]


async def seconds(work: RayWork, items: list[PassItem]) -> float:
    """How long all runs take."""
    started = time.perf_counter()
    made: list[Judgment] = await asyncio.gather(*(work.judge(item, free) for item in items))
    assert all(each.score == 1.0 for each in made), made[0]
    return time.perf_counter() - started


async def compare(factory: WorkElsewhere, items: list[PassItem]) -> dict[int, float]:
    """Seconds by the number of workers; each worker has judged a run before it is timed."""
    taken = {}
    for workers in (1, 2):
        work = await RayWork.open(factory, workers, 1)
        await asyncio.gather(*(work.judge(item, free) for item in items[:workers]))
        taken[workers] = await seconds(work, items)
        print(f"{workers} worker{'s' * (workers > 1):1}  {taken[workers]:6.2f} s for {len(items)} runs", flush=True)
        await work.close()
    return taken


def main() -> None:
    """Print both times and their ratio."""
    probe = Criterion("sum", "The sum is right", CommandProbe(LOOP, stdout="12499997500000\n"))
    with tempfile.TemporaryDirectory(prefix="adjudge-bench-") as name, open_ray(None, cpus=2):
        items = stored(Path(name))
        settings = Settings(store=str(Path(name) / "none"))
        factory = partial(WorkElsewhere, make_rubric(probe), settings, calibrated(()))
        taken = asyncio.run(compare(factory(str(Path(name) / "blobs")), items))
    ratio = taken[2] / taken[1]
    print(f"two in {ratio:.2f} of the time of one; goal ≤ {GOAL}: {'met' if ratio <= GOAL else 'MISSED'}")


if __name__ == "__main__":
    main()
