"""Starts writers, kills each at some moment, and prints what they had reported as saved. Run by test_durability.py.

One process forks them all, so that Python and SQLAlchemy start once. Arguments: `kill`, a folder, the number of kills and a
seed; or `write`, a folder, the number of writers and what each writes.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time

import alembic.command  # so that killed writers also die while they migrate  # noqa: F401

from adjudge.entries import EntryWriter
from adjudge.judgment import Judge, Judgment, Verdict
from adjudge.record import Entry, Record
from adjudge.rubric import Criterion, Rubric
from adjudge.run import Run
from adjudge.store import open_store

RUBRIC = Rubric("r", (Criterion("c", "x"),), "cc" * 32, "r.yaml")


def a_run(name: str, size: int = 2000) -> Run:
    """A run whose entries do not compress: their text is random."""
    writer = EntryWriter()
    for number in range(1, 6):
        writer.add(Entry(f"e{number}", "result", "tool", number, os.urandom(size // 10).hex()))
    return Run(f"r-{name}", Record("chat", writer.finish()), "x.jsonl", task=name)


def a_judgment(name: str, run: str | None = None, size: int = 500) -> Judgment:
    judge = Judge("evaluator", "m", "p", {}, "0")
    verdicts = (Verdict("c", False, os.urandom(size).hex(), cause="unproven"),)
    return Judgment(f"j-{name}", f"r-{run or name}", "r", RUBRIC.hash, judge, "judged", "2026-01-01", 1.0, verdicts, 0.0)


def save(folder: str, prefix: str, count: int, report: int) -> None:
    with open_store(folder) as store:
        for number in range(count):
            name = f"{prefix}-{number}"
            store.add_run(a_run(name))
            os.write(report, f"r-{name}\n".encode())
            store.add_judgment(a_judgment(name), RUBRIC)
            os.write(report, f"j-{name}\n".encode())


def forked(folder: str, prefix: str, count: int) -> tuple[int, int]:
    reading, writing = os.pipe()
    if process := os.fork():
        os.close(writing)
        return process, reading
    status = 1
    try:
        os.close(reading)
        save(folder, prefix, count, writing)
        status = 0
    finally:
        os._exit(status)


def reported(reading: int) -> list[str]:
    with os.fdopen(reading) as pipe:
        return [line.strip() for line in pipe if line.endswith("\n")]


def kill_often(folder: str, kills: int, seed: int) -> dict[str, object]:
    save(f"{folder}-first", "warm", 1, os.open(os.devnull, os.O_WRONLY))  # SQLAlchemy's first use is slow
    moments, saved, killed = random.Random(seed), list[str](), 0
    for number in range(kills):
        process, reading = forked(folder, f"kill{number}", 100_000)
        time.sleep(moments.uniform(0.0, 0.35))
        os.kill(process, signal.SIGKILL)
        saved += reported(reading)
        killed += os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL
    return {"saved": saved, "killed": killed}


def write_at_once(folder: str, writers: int, count: int) -> dict[str, object]:
    started = [forked(folder, f"writer{number}", count) for number in range(writers)]
    saved = [name for _, reading in started for name in reported(reading)]
    ends = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process, _ in started]
    return {"saved": saved, "ends": ends}


if __name__ == "__main__":
    what, where, first, second = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    result = kill_often(where, first, second) if what == "kill" else write_at_once(where, first, second)
    print(json.dumps(result))
