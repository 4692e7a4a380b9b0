"""What passes go through, in processes of their own; prints what happened as JSON. Run by test_durability.py.

    python -m tests.passes.trials FOLDER SEED [NAME[=TIMES][@URL]]…

    kill      kill -9 at random moments, resume, until all is judged
    signal    SIGTERM and SIGINT, once, twice, and SIGKILL behind
    sleep     stop a holder past its lease, replace it, wake it up
    start     two starters at once
    fill      a disk that fills up; in a mount namespace of its own
    bare      the same without a reserve
    readonly  a disk that cannot be written; in one too

The store is in the folder, or at the URL of a database. One process forks all others, so that Python and SQLAlchemy start
once. Each of them is a life: it goes on with the pass that is under way or begins one, as `adjudge pass` does, and reports
each judgment once it is acknowledged.
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
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from tests.passes.audit import Place, contradictions
from tests.passes.lives import Life, Trial, fill_store
from tests.store.trials import fill

from adjudge.store.store import open_store


def kill_often(trial: Trial, kills: int, seed: int) -> dict[str, Any]:
    """Each dies at a random moment after it reported so many lines; every eighth while it opens the store."""
    moments, took = random.Random(seed), list[float]()
    while trial.statuses.get(-signal.SIGKILL, 0) < kills:
        with trial.life() as life:
            began = time.monotonic()
            if trial.lives % 8:
                life.hear(1)
                took.append(time.monotonic() - began)
                life.hear(moments.randrange(40))
            time.sleep(moments.uniform(0.0, 0.03))
            trial.ended(life, life.end(signal.SIGKILL))
    trial.finish()
    return {**trial.result(), "slowest_hold": max(took)}


SIGNALS: Sequence[tuple[int, ...]] = (
    (signal.SIGTERM,),
    (signal.SIGTERM, signal.SIGTERM),
    (signal.SIGINT,),
    (signal.SIGTERM, signal.SIGKILL),
    (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL),
)


def signal_often(trial: Trial, times: int, seed: int) -> dict[str, Any]:
    """Ask a pass to end, in five ways, at random moments; then take the lock, which must be free."""
    moments, slowest, stopped = random.Random(seed), 0.0, list[tuple[str, int, str]]()
    for number in range(times):
        signals = SIGNALS[number % len(SIGNALS)]
        with trial.life(latency=0.1) as life:
            life.hear(2 + moments.randrange(10))
            time.sleep(moments.uniform(0.0, 0.05))
            began = time.monotonic()
            for each in signals:
                os.kill(life.process, each)
                time.sleep(moments.uniform(0.0, 0.01))
            trial.ended(life, status := life.end())
            slowest = max(slowest, time.monotonic() - began)
        last = "SELECT status FROM passes ORDER BY added DESC LIMIT 1"
        stopped.append((" ".join(signal.Signals(each).name for each in signals), status, trial.place.rows(last)[0][0]))
    trial.finish()
    holders = trial.place.rows("SELECT holder FROM locks")
    return {**trial.result(), "slowest_end": slowest, "stopped": stopped, "holders": holders}


def sleep_past_lease(trial: Trial) -> dict[str, Any]:
    """A holder sleeps; it is not replaced before its lease is over; then another finishes, and the first wakes up."""
    with trial.life(latency=0.05) as sleeper:
        sleeper.hear(20)
        put_to_sleep(sleeper, trial.place)
        with trial.life() as early:
            trial.ended(early, early.end())
        time.sleep(1.0)
        trial.waits = True
        with trial.life(lease=1.0) as other:
            trial.ended(other, status := other.end())
        before = everything(trial.place)
        os.kill(sleeper.process, signal.SIGCONT)
        trial.ended(sleeper, woken := sleeper.end())
        after = everything(trial.place)
    words = {"early": early.said, "sleeper": sleeper.said[-1]}
    return {**trial.result(), **words, "finished": status, "woken": woken, "same": before == after}


def put_to_sleep(life: Life, place: Place) -> None:
    """Stop it, but not amid a transaction: until it goes on or dies, that one keeps every other writer out of SQLite."""
    for _ in range(1000):
        os.kill(life.process, signal.SIGSTOP)
        os.waitpid(life.process, os.WUNTRACED)
        if not is_written(place):
            return
        os.kill(life.process, signal.SIGCONT)
        time.sleep(0.003)
    raise AssertionError("it is always amid a transaction")


def is_written(place: Place) -> bool:
    """Whether a transaction that writes is under way."""
    with closing(sqlite3.connect(Path(place.store) / "adjudge.db", timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
    return False


def everything(place: Place) -> dict[str, list[str]]:
    tables = ("runs", "rubrics", "judgments", "passes", "pass_runs", "locks")
    return {table: sorted(map(repr, place.rows(f"SELECT * FROM {table}"))) for table in tables}


def start_at_once(trial: Trial, times: int) -> dict[str, Any]:
    """Two take the lock in the same moment. Every other winner is killed, so that a dead one's lock is fought for too."""
    outcomes = list[list[str]]()
    for number in range(times):
        starting, go = os.pipe()
        lives = [Life(partial(held_once, trial.place, starting, go)) for _ in "ab"]
        os.close(starting)
        try:
            for life in lives:
                life.hear(1)
            os.close(go)
            for life in lives:
                life.hear(2)
            outcomes.append(sorted(life.said[1].split(":")[0] for life in lives))
            for life in lives:
                life.end(signal.SIGKILL if number % 2 else signal.SIGTERM)
        finally:
            for life in lives:
                life.cut_off()
    return {"outcomes": outcomes}


def held_once(place: Place, starting: int, go: int, report: int) -> int:
    """Take the lock once `starting` ends, and keep it until SIGTERM."""
    os.close(go)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    with open_store(place.store, place.apart) as store:
        os.write(report, b"ready\n")
        os.read(starting, 1)
        writer = store.passes.hold("one of two")
        os.write(report, b"held\n")
        signal.sigwait([signal.SIGTERM])
        writer.release()
    return 0


def fill_the_disk(trial: Trial, disk: Path, reserve: bool) -> dict[str, Any]:
    """The disk is full after some judgments, and with it the reserve or not; then there is room again."""
    with trial.life() as life:
        life.hear(30)
        os.kill(life.process, signal.SIGSTOP)
        if not reserve:
            (disk / "store" / "reserve").unlink()
        fill(disk)
        trial.ended(life, full := life.end(signal.SIGCONT))
    row = trial.place.rows("SELECT status, reason FROM passes")[0]
    with trial.life() as again:
        trial.ended(again, still := again.end())
    halves = contradictions(trial.place)
    (disk / "filler").unlink()
    trial.finish()
    return {**trial.result(), "full": [full, still], "row": row, "halves": halves, "said": [life.said[-1], again.said[-1]]}


def make_unwritable(trial: Trial, disk: Path) -> dict[str, Any]:
    with trial.life() as life:
        life.hear(20)
        trial.ended(life, life.end(signal.SIGTERM))
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    with trial.life() as refused:
        status = refused.end()
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    trial.finish()
    return {**trial.result(), "refused": [status, *refused.said]}


def small_disk(folder: Path) -> Path:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(folder)], check=True)
    return folder


def tried(folder: Path, name: str, times: int, url: str, seed: int) -> dict[str, Any]:
    folder.mkdir()
    bill = folder.with_suffix(".bill")
    disk = small_disk(folder) if name in ("fill", "bare", "readonly") else folder
    place = Place(url or str(disk / "store"), str(disk / ("blobs" if url else "store/blobs")))
    trial = Trial(place, bill, folder.parent / "filled")
    match name:
        case "kill":
            return kill_often(trial, times, seed)
        case "signal":
            return signal_often(trial, times, seed)
        case "sleep":
            return sleep_past_lease(trial)
        case "start":
            return start_at_once(trial, times)
        case "fill" | "bare":
            return fill_the_disk(trial, disk, name == "fill")
        case "readonly":
            return make_unwritable(trial, disk)
    raise AssertionError(name)


def main(folder: Path, seed: int, *wanted: str) -> dict[str, Any]:
    """Each trial's result by its name, or how it broke off."""
    fill_store(Place(str(folder / "filled"), ""), folder / "filled")
    results = dict[str, Any]()
    for each in wanted:
        what, _, url = each.partition("@")
        name, _, times = what.partition("=")
        try:
            results[name] = tried(folder / name, name, int(times or 1), url, seed)
        except Exception:  # noqa: BLE001  the other trials shall not suffer for it
            results[name] = {"broke_off": traceback.format_exc()}
    return results


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])))
