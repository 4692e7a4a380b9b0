"""What a pass takes: 200 records of 400 KB against an endpoint of 200 ms with 50 connections, beside the bare floor.

Prints records a second, CPU a record, memory and bytes written, of the whole process and of the pass alone, and the same
for requests of that size made with aiohttp and nothing around them; then six rubrics over the same records, and 1,000 small
records.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adjudge import judges
from bench.make_transcripts import write_transcripts

AT_ONCE, SECONDS = 50, 0.2
RECORDS, SMALL_RECORDS, RUBRICS = 200, 1000, 6

DIMENSIONS = (
    *("contamination", "hallucination", "tool_efficiency", "loop", "environment_problem", "gave_up_early"),
    *("test_gaming", "problem_misread", "token_efficiency"),
)


def answer() -> str:
    """A reader's answer that finds nothing wrong."""
    blameless = {"reasoning": "Nothing in the record speaks against it.", "value": 0, "citations": []}
    scores: dict[str, dict[str, object]] = {name: dict(blameless) for name in DIMENSIONS}
    scores["tool_efficiency"]["value"] = 1
    scores["token_efficiency"] |= {"share": 0, "causes": []}
    return json.dumps({"scores": scores, "summary": "It ran the tests and read files.", "steering": []})


# --- in a process of its own: one pass


def run_pass(rubric: str | None) -> None:
    """Judge all runs of the store in ADJUDGE_STORE, and print what the pass took."""
    from adjudge.passes.engine import Bounds, Stop
    from adjudge.passes.values import Sampling
    from adjudge.settings import read_settings
    from adjudge.wiring import find_any_rubric, open_store
    from adjudge.wiring.passes import plan, start

    settings = read_settings()
    with open_store(settings) as opened:
        planned = plan(find_any_rubric(rubric, settings), Sampling(None, None, (), 0), settings, opened)
        before, cpu, written = time.perf_counter(), time.process_time(), _written()
        ended = asyncio.run(start(planned, settings, opened, Bounds(AT_ONCE), Stop(), lambda _: None, lambda _: None))
        took, cpu, written = time.perf_counter() - before, time.process_time() - cpu, _written() - written
    assert ended.row.status == "finished", ended.row
    assert ended.row.errored == 0, ended.row
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"records": ended.row.landed, "seconds": took, "cpu": cpu, "memory": memory, "written": written}))


def _written() -> int:
    """Bytes that this process gave to the file system so far."""
    for line in Path("/proc/self/io").read_text().splitlines():
        if line.startswith("write_bytes:"):
            return int(line.split()[1])
    return 0


# --- in a process of its own: the floor


async def floor(port: int, count: int, size: int) -> None:
    """Make so many requests of that size with aiohttp, 50 at a time, and print what they took."""
    import aiohttp

    body = b"x" * size
    gate = asyncio.Semaphore(AT_ONCE)
    before, cpu = time.perf_counter(), time.process_time()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=AT_ONCE)) as session:

        async def one() -> None:
            async with gate, session.post(f"http://127.0.0.1:{port}/v1/chat/completions", data=body) as response:
                json.loads(await response.read())

        await asyncio.gather(*(one() for _ in range(count)))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    took, cpu = time.perf_counter() - before, time.process_time() - cpu
    print(json.dumps({"records": count, "seconds": took, "cpu": cpu, "memory": memory, "written": 0}))


# --- the bench


@contextmanager
def endpoint(folder: Path) -> Iterator[int]:
    """The endpoint's port."""
    told = folder / "answer.json"
    told.write_text(answer())
    command = [sys.executable, "-m", "bench.pass_endpoint", str(SECONDS), str(told)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def made(command: list[str], port: int, store: Path, prune: str = "full") -> dict[str, float]:
    """What a command of this module printed, with the time and the CPU of its whole process."""
    keys = {"OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1", "OPENAI_API_KEY": "none", "ADJUDGE_MODEL": "openai/judge"}
    environment = os.environ | keys | {"ADJUDGE_STORE": str(store), "ADJUDGE_PRUNE": prune}
    before, cpu = time.perf_counter(), _children()
    done = subprocess.run(
        [sys.executable, "-m", "bench.passes", *command], env=environment, stdout=subprocess.PIPE, check=True
    )
    result: dict[str, float] = json.loads(done.stdout)
    return result | {"whole": time.perf_counter() - before, "whole_cpu": _children() - cpu}


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def line(name: str, found: dict[str, float], floor_rate: float | None = None) -> str:
    """One line of figures."""
    count, rate = found["records"], found["records"] / found["seconds"]
    share = f" ({rate / floor_rate:.0%} of the floor)" if floor_rate else ""
    return (
        f"{name:<34}{rate:6.0f} records/s{share}, {1000 * found['cpu'] / count:.1f} ms of CPU a record "
        f"({1000 * found['whole_cpu'] / count:.1f} with its start), {found['memory']:.0f} MB, "
        f"{found['written'] / 1e6:.2f} MB written, {found['whole']:.1f} s in all"
    )


def filled(folder: Path, count: int, number: int, size: int) -> Path:
    """A store with so many transcripts."""
    from adjudge.store.store import open_store
    from adjudge.wiring import read_runs

    write_transcripts(folder / "data", count, number, size)
    with open_store(folder / "store") as store:
        for path in sorted((folder / "data").glob("*.json")):
            for run in read_runs(path):
                store.add_run(run)
    return folder / "store"


def six_rubrics(folder: Path) -> list[Path]:
    """Six rubrics: adjudge's own dimensions under other names."""
    own = Path(judges.__path__[0], "reader", "dimensions.yaml").read_text("utf-8")
    paths = [folder / f"rubric-{number}.yaml" for number in range(RUBRICS)]
    for path in paths:
        path.write_text(own.replace("version: 3\n", f"version: {10 + int(path.stem[-1])}\n"))
    return paths


def main() -> None:
    """Print all figures."""
    with tempfile.TemporaryDirectory() as name, endpoint(Path(name)) as port:
        folder = Path(name)
        large = filled(folder / "large", RECORDS, 200, 400_000)
        bare = made(["floor", str(port), str(RECORDS), "405000"], port, large)
        rate = bare["records"] / bare["seconds"]
        print(line("aiohttp, nothing around it", bare))
        print(line("a pass, mode full", made(["pass"], port, large), rate))
        print(line("a pass, mode pruned", made(["pass"], port, large, "pruned"), rate))
        six = [made(["pass", str(path)], port, large) for path in six_rubrics(folder)]
        took, whole = sum(each["seconds"] for each in six), sum(each["whole"] for each in six)
        print(f"six rubrics over the same records: {took:.1f} s in passes, {whole:.1f} s in all (goal 8 s)")
        small = filled(folder / "small", SMALL_RECORDS, 12, 3_000)
        bare = made(["floor", str(port), str(SMALL_RECORDS), "9000"], port, small)
        print(line("aiohttp, small bodies", bare))
        print(line("a pass, small records", made(["pass"], port, small), bare["records"] / bare["seconds"]))
        print("goals: 160 records/s, 8 ms of CPU a record, 200 MB, 1.5 MB written; 400 small records/s")


if __name__ == "__main__":
    if sys.argv[1:2] == ["pass"]:
        run_pass(sys.argv[2] if len(sys.argv) > 2 else None)
    elif sys.argv[1:2] == ["floor"]:
        asyncio.run(floor(int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
    else:
        main()
