"""What a store goes through, in processes of its own; prints what happened as JSON. Run by test_durability.py.

    trials.py kill STORE BLOBS WARM KILLS SEED   start writers, kill each at some moment, tell what they reported as saved
    trials.py write STORE BLOBS WRITERS COUNT    let several write at once
    trials.py fill FOLDER                        fill a disk; in a mount namespace of its own
    trials.py readonly FOLDER                    open a store on a disk that cannot be written; in such a namespace too

A store is a folder or a URL; BLOBS is `-` where the store keeps them itself. WARM is another store of that kind. One
process forks all writers, so that Python and SQLAlchemy start once.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import alembic.command  # so that killed writers also die while they migrate  # noqa: F401

from adjudge.entries import EntryWriter
from adjudge.errors import OutsideError
from adjudge.judgment import Judge, Judgment, Verdict
from adjudge.record import Entry, Record
from adjudge.rubric import Criterion, Rubric, rubric_hash
from adjudge.run import Run
from adjudge.store.store import open_store

CRITERIA = (Criterion("c", "x"),)
RUBRIC = Rubric("r", CRITERIA, rubric_hash(CRITERIA), "r.yaml")


Place = tuple[str, str | None]
"""A folder or a URL, and where the blobs are if they are apart."""


def place(store: str, blobs: str) -> Place:
    return store, None if blobs == "-" else blobs


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


def save(place: Place, prefix: str, count: int, report: int) -> None:
    with open_store(*place) as store:
        for number in range(count):
            name = f"{prefix}-{number}"
            store.add_run(a_run(name))
            os.write(report, f"r-{name}\n".encode())
            store.add_judgment(a_judgment(name), RUBRIC)
            os.write(report, f"j-{name}\n".encode())


def forked(place: Place, prefix: str, count: int) -> tuple[int, int]:
    reading, writing = os.pipe()
    if process := os.fork():
        os.close(writing)
        return process, reading
    status = 1
    try:
        os.close(reading)
        save(place, prefix, count, writing)
        status = 0
    except BaseException:  # noqa: BLE001  whatever it is, the test shows it
        traceback.print_exc()
    finally:
        os._exit(status)


def reported(reading: int) -> list[str]:
    with os.fdopen(reading) as pipe:
        return whole(pipe.readlines())


def whole(lines: list[str]) -> list[str]:
    return [line.strip() for line in lines if line.endswith("\n")]


def kill_often(place: Place, warm: Place, kills: int, seed: int) -> dict[str, object]:
    """Each dies at a random moment after it reported so many rows; every sixth while it opens the store."""
    save(warm, "warm", 1, os.open(os.devnull, os.O_WRONLY))  # SQLAlchemy's first use is slow
    moments, saved, killed = random.Random(seed), list[str](), 0
    for number in range(kills):
        process, reading = forked(place, f"kill{number}", 100_000)
        with os.fdopen(reading) as pipe:
            seen = [pipe.readline() for _ in range(number % 6)]
            time.sleep(moments.uniform(0.0, 0.04))
            os.kill(process, signal.SIGKILL)
            saved += whole([*seen, *pipe.readlines()])
        killed += os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL
    return {"saved": saved, "killed": killed}


def write_at_once(place: Place, writers: int, count: int) -> dict[str, object]:
    started = [forked(place, f"writer{number}", count) for number in range(writers)]
    saved = [name for _, reading in started for name in reported(reading)]
    ends = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process, _ in started]
    return {"saved": saved, "ends": ends}


def until_refused(save: Callable[[int], object]) -> tuple[int, str]:
    """How often it went well, and the words of the refusal."""
    for number in range(10_000):
        try:
            save(number)
        except OutsideError as error:
            return number, str(error)
    raise AssertionError("the disk never filled")


def fill(place: Path) -> None:
    """Leave not a byte free."""
    with (place / "filler").open("wb", buffering=0) as file:
        try:
            while file.write(b"\0" * 4096):
                pass
        except OSError:
            return


def fill_the_disk(place: Path) -> dict[str, object]:
    with open_store(place / "store") as store:
        runs, refusal = until_refused(lambda number: store.add_run(a_run(f"{number}", 1_000_000)))
        reserve = place / "store" / "reserve"
        reserved = reserve.stat().st_size
        fill(place)
        judgments, full = until_refused(lambda number: store.add_judgment(a_judgment(f"{number}", "0", 20_000), RUBRIC))
        released = not reserve.exists()
        (place / "filler").unlink()
        store.add_judgment(a_judgment("healed", "0"), RUBRIC)
    with open_store(place / "store") as again:
        lost = runs - sum(len(again.run(row.id).record.entries) == 5 for row in again.runs())
        lost += judgments + 1 - sum(again.judgment(row.id).id == row.id for row in again.judgments())
    connection = sqlite3.connect(place / "store" / "adjudge.db")
    (check,) = connection.execute("PRAGMA quick_check").fetchone()
    connection.close()
    return {
        "refusal": refusal,
        "reserved": reserved,
        "saved": [runs, judgments],
        "full": full,
        "released": released,
        "lost": lost,
        "check": check,
    }


def make_unwritable(place: Path) -> dict[str, object]:
    open_store(place / "store").close()
    subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
    try:
        open_store(place / "store").close()
    except OutsideError as error:
        return {"refusal": str(error)}
    return {"refusal": None}


def small_disk(folder: str) -> Path:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", folder], check=True)
    return Path(folder)


if __name__ == "__main__":
    match sys.argv[1:]:
        case "kill", store, blobs, warm, kills, seed:
            print(json.dumps(kill_often(place(store, blobs), place(warm, blobs), int(kills), int(seed))))
        case "write", store, blobs, writers, count:
            print(json.dumps(write_at_once(place(store, blobs), int(writers), int(count))))
        case "fill", folder:
            print(json.dumps(fill_the_disk(small_disk(folder))))
        case "readonly", folder:
            print(json.dumps(make_unwritable(small_disk(folder))))
