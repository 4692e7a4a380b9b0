"""Fills a disk with a store, in a mount namespace of its own, and prints what was lost. Run by test_durability.py.

Arguments: an empty folder. With `readonly` as a second argument the disk is made unwritable instead.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from nursery import RUBRIC, a_judgment, a_run

from adjudge.errors import OutsideError
from adjudge.store import open_store


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
        reserved = (store.folder / "reserve").stat().st_size
        fill(place)
        judgments, full = until_refused(lambda number: store.add_judgment(a_judgment(f"{number}", "0", 20_000), RUBRIC))
        released = not (store.folder / "reserve").exists()
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


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(folder)], check=True)
    print(json.dumps(make_unwritable(folder) if "readonly" in sys.argv else fill_the_disk(folder)))
