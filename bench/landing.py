"""What it takes to keep the judgments of a pass: CPU and bytes for each, with the real store and engine and no model.

    python -m bench.landing [COUNT]

Each run is loaded from the store with all its entries, its call is paid for, and a judgment that was made before lands.
Beside it the floor: the same bytes in one table of SQLite, sixteen of them in a transaction.
"""

from __future__ import annotations

import asyncio
import json
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from adjudge.judges.reader.judge import Reader
from adjudge.judges.reader.own import own_rubric
from adjudge.judgment import Judge, Judgment
from adjudge.passes.engine import Bounds, Engine, Stop
from adjudge.passes.work import Paying
from adjudge.ports import Reply, Request
from adjudge.record import Usage
from adjudge.store.codec import packed_judgment
from adjudge.store.pass_rows import PassItem
from adjudge.store.records import read_run
from adjudge.store.rows import values_of_judgment
from adjudge.store.store import Store, open_store
from adjudge.testing import make_reply
from bench.make_transcripts import sentence
from bench.passes import DIMENSIONS, filled

COUNT, AT_ONCE, GROUP = 1000, (16, 50), 16
PRICE = 0.001
"""US dollars, for a call."""

MILLISECONDS, TIMES = 1.5, 3.0
"""Goals: CPU for each judgment, and bytes written for each byte that must be kept."""


class WordyModel:
    """Finds nothing wrong, in other words each time."""

    name = "scripted/wordy"
    window: int | None = None

    def __init__(self) -> None:
        self._chance = random.Random(0)

    async def answer(self, request: Request) -> Reply:
        scores = {name: self._score(1 if name == "tool_efficiency" else 0) for name in DIMENSIONS}
        scores["token_efficiency"] |= {"share": 0, "causes": []}
        told = {"scores": scores, "summary": sentence(self._chance, 20), "steering": []}
        reply = make_reply(json.dumps(told), request, self.name)
        usage = msgspec.structs.replace(reply.call.usage, cost=PRICE)
        return msgspec.structs.replace(reply, call=msgspec.structs.replace(reply.call, usage=usage))

    def _score(self, value: int) -> dict[str, object]:
        return {"reasoning": sentence(self._chance, 12), "value": value, "citations": []}

    def price(self, usage: Usage) -> float | None:  # noqa: ARG002  the same for all
        return PRICE

    async def close(self) -> None:
        pass


class ReadyWork:
    """Loads a run, pays for a call, and gives the judgment that was made of it before."""

    def __init__(self, store: Store, made: dict[str, Judgment]) -> None:
        self._store, self._made = store, made

    async def judge(self, item: PassItem, paying: Paying) -> Judgment:
        await asyncio.to_thread(self._walk, item)
        await paying(PRICE)
        return self._made[item.run]

    def _walk(self, item: PassItem) -> None:
        for _ in read_run(self._store.blobs, item.blob).record.entries:
            pass

    async def close(self) -> None:
        pass


async def judged(store: Store) -> tuple[Judge, dict[str, Judgment]]:
    """A judgment for each run by its id, and who judged."""
    reader, rubric = Reader(WordyModel()), own_rubric()
    made = {row.id: await reader.judge(store.run(row.id), rubric, None) for row in store.runs()}
    assert {judgment.status for judgment in made.values()} == {"judged"}
    return reader.identity, made


def landed(folder: Path, at_once: int) -> dict[str, float]:
    """What landing all judgments takes, the closing of the store included."""
    with open_store(folder) as store:
        judge, made = asyncio.run(judged(store))
        before = Spent()
        writer = store.passes.hold("bench")
        identifier = writer.begin(judge, {}, own_rubric(), list(made))
        engine = Engine(writer, store.passes.row(identifier), ReadyWork(store, made), Bounds(at_once), Stop())
        ending = asyncio.run(engine.run())
        assert (ending.status, ending.progress.landed) == ("finished", len(made))
        writer.release()
    return before.since(len(made)) | {"payload": sum(map(len, payload(list(made.values())))) / len(made)}


def payload(made: Sequence[Judgment]) -> list[bytes]:
    """What must be kept of each judgment: its blob and its row."""
    rows = (json.dumps(values_of_judgment(judgment, "0" * 64, None)).encode() for judgment in made)
    return [packed_judgment(judgment) + row for judgment, row in zip(made, rows, strict=True)]


def floor(folder: Path) -> dict[str, float]:
    """The same bytes with nothing around them."""
    with open_store(folder) as store:
        _, made = asyncio.run(judged(store))
    data = payload(list(made.values()))
    before = Spent()
    with closing(sqlite3.connect(folder / "floor.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE kept (id TEXT PRIMARY KEY, data BLOB)")
        for start in range(0, len(data), GROUP):
            connection.execute("BEGIN IMMEDIATE")
            part = zip(list(made)[start : start + GROUP], data[start : start + GROUP], strict=True)
            connection.executemany("INSERT INTO kept VALUES (?, ?)", part)
            connection.execute("COMMIT")
    return before.since(len(data)) | {"payload": sum(map(len, data)) / len(data)}


class Spent:
    """What this process has used up to now, and what it has used since."""

    def __init__(self) -> None:
        self._seconds, self._cpu, self._written = time.perf_counter(), time.process_time(), written()

    def since(self, count: int) -> dict[str, float]:
        """For each of so many judgments."""
        seconds, cpu = time.perf_counter() - self._seconds, time.process_time() - self._cpu
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        found = {"rate": count / seconds, "milliseconds": 1e3 * cpu / count, "memory": memory}
        return found | {"written": (written() - self._written) / count}


def written() -> int:
    """Bytes that this process gave to the file system so far."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("write_bytes:"))


def measured(store: Path, folder: Path, *command: str) -> dict[str, float]:
    """What a command of this module finds in a copy of the store."""
    shutil.copytree(store, folder)
    whole = [sys.executable, "-m", "bench.landing", command[0], str(folder), *command[1:]]
    found: dict[str, float] = json.loads(subprocess.run(whole, check=True, stdout=subprocess.PIPE).stdout)
    shutil.rmtree(folder)
    return found


def line(name: str, found: dict[str, float]) -> str:
    """One line of figures."""
    times = found["written"] / found["payload"]
    return (
        f"{name:<24}{found['rate']:6.0f}/s, {found['milliseconds']:.2f} ms of CPU, {found['written']:,.0f} bytes written, "
        f"{times:.1f} × the {found['payload']:,.0f} to keep, {found['memory']:.0f} MB"
    )


def main(count: int) -> None:
    """Print the figures for each judgment, and whether the goals are met."""
    with tempfile.TemporaryDirectory(prefix="adjudge-bench-") as name:
        folder = Path(name)
        store = filled(folder / "made", count, 12, 3_000)
        print(line("the floor", measured(store, folder / "floor", "floor")), flush=True)
        cpu = times = 0.0
        for at_once in AT_ONCE:
            found = measured(store, folder / "landed", "land", str(at_once))
            print(line(f"landed, {at_once} at once", found), flush=True)
            cpu, times = max(cpu, found["milliseconds"]), max(times, found["written"] / found["payload"])
    print(f"goals: ≤ {MILLISECONDS} ms of CPU: {'met' if cpu <= MILLISECONDS else 'MISSED'}", end="; ")
    print(f"≤ {TIMES:.0f} × what is to keep: {'met' if times <= TIMES else 'MISSED'}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case "land", folder, at_once:
            print(json.dumps(landed(Path(folder), int(at_once))))
        case "floor", folder:
            print(json.dumps(floor(Path(folder))))
        case rest:
            main(int(rest[0]) if rest else COUNT)
