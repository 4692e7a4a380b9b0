"""What a store holds of passes, read past adjudge with plain SQL, and what contradicts the bill or itself."""

from __future__ import annotations

import hashlib
import importlib
import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import zstandard
from tests.passes.provider import MOST, billed


class Place:
    """A store by its folder or URL, and the folder of its blobs."""

    def __init__(self, store: str, blobs: str) -> None:
        self.store, self.blobs = store, blobs

    @property
    def apart(self) -> str | None:
        """The blobs as `open_store` wants them named."""
        return self.blobs if "://" in self.store else None

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        with closing(self._connection()) as connection:
            cursor = connection.cursor()
            cursor.execute(statement)
            return list(cursor.fetchall())

    def _connection(self) -> Any:
        if "://" in self.store:
            return importlib.import_module("psycopg").connect(self.store)
        return sqlite3.connect(Path(self.store) / "adjudge.db")

    def spend(self) -> float:
        """What the store says that judging has cost at most: of all rows, lost, and reserved now."""
        sums = ("cost) FROM judgments", "lost) FROM passes", "reserved) FROM pass_runs")
        return float(sum(self.rows(f"SELECT sum({each}")[0][0] or 0 for each in sums))


def contradictions(place: Place) -> list[str]:
    """Rows that are there by half, and blobs that are not what rows say."""
    halves = [f"{words}: {row}" for words, query in HALVES.items() for row in place.rows(query)]
    beside = "LEFT JOIN judgment_blobs ON number = blob_number"
    for identifier, blob, number, kept in place.rows(f"SELECT id, blob, number, data FROM judgments {beside}"):
        path = Path(place.blobs) / blob[:2] / f"{blob}.zst"
        data = path.read_bytes() if number is None and path.exists() else kept
        if hashlib.sha256(data or b"").hexdigest() != blob:
            halves.append(f"the blob of {identifier} is missing or damaged")
        elif json.loads(zstandard.ZstdDecompressor().decompress(data))["judgment"]["id"] != identifier:
            halves.append(f"the blob of {identifier} is another judgment's")
    return halves + ([] if "://" in place.store else _of_sqlite(place))


HALVES = {
    "a run points at no judgment by its pass's judge": (
        'SELECT p."pass", p.position FROM pass_runs p JOIN passes q ON q.id = p."pass" LEFT JOIN judgments j '
        "ON j.id = p.judgment AND j.run = p.run AND j.rubric = q.rubric AND j.judge_hash = q.judge_hash "
        "WHERE p.judgment IS NOT NULL AND j.id IS NULL"
    ),
    "a judgment that no run of its pass points at": (
        'SELECT j.id FROM judgments j LEFT JOIN pass_runs p ON p.judgment = j.id AND p."pass" = j."pass" '
        'WHERE j."pass" IS NOT NULL AND p.run IS NULL'
    ),
    "a small blob without its judgment": (
        "SELECT number FROM judgment_blobs LEFT JOIN judgments ON blob_number = number WHERE id IS NULL"
    ),
    "money is reserved for a run that is judged": (
        'SELECT "pass", position FROM pass_runs WHERE judgment IS NOT NULL AND reserved IS NOT NULL'
    ),
    "a pass without all its runs": (
        'SELECT id, selected FROM passes WHERE selected <> (SELECT count(*) FROM pass_runs WHERE "pass" = passes.id)'
    ),
    "a judged run that stands as if nobody had judged it": (
        "SELECT run FROM standings WHERE state IS NULL AND EXISTS (SELECT 1 FROM judgments j WHERE j.run = standings.run "
        "AND j.id NOT IN (SELECT judgment FROM underived))"
    ),
    "a judgment without its items, and nothing that says so": (
        "SELECT id FROM judgments WHERE itemised AND criteria + dimensions > 0 "
        "AND NOT EXISTS (SELECT 1 FROM judged_items WHERE judgment = judgments.id) "
        "AND id NOT IN (SELECT judgment FROM underived)"
    ),
    "a finished pass with something left": (
        "SELECT id FROM passes WHERE status = 'finished' AND EXISTS (SELECT 1 FROM pass_runs WHERE \"pass\" = passes.id "
        "AND (judgment IS NULL OR reserved IS NOT NULL))"
    ),
}


def _of_sqlite(place: Place) -> list[str]:
    check, orphans = place.rows("PRAGMA quick_check"), place.rows("PRAGMA foreign_key_check")
    return [str(row) for row in check if row != ("ok",)] + [f"an orphan: {row}" for row in orphans]


def audited(place: Place, bill: Path) -> dict[str, Any]:
    """The bill against the rows. An attempt is a life's work on one run; it is wasted if its judgment did not land."""
    calls = billed(bill)
    put_off = [f"nothing follows yet from {identifier}" for (identifier,) in place.rows("SELECT judgment FROM underived")]
    attempts = Counter((call["life"], call["run"]) for call in calls)
    landed = {identifier for (identifier,) in place.rows("SELECT id FROM judgments")}
    unseen = {identifier for (identifier,) in place.rows("SELECT id FROM judgments WHERE failure = 'timeout'")}
    wasted = Counter(life for life, run in attempts if f"j-{life}-{run}" not in landed)
    uncertain = (landed_of for landed_of in calls if _is_uncertain(landed_of, landed, unseen))
    return {
        "contradictions": contradictions(place) + put_off,
        "rows": len(landed),
        "judged_without_bill": sorted(landed - {f"j-{life}-{run}" for life, run in attempts})[:5],
        "judged_again": sum(wasted.values()),
        "most_wasted_in_a_life": max(wasted.values(), default=0),
        "bill": sum(call["price"] for call in calls),
        "spend": place.spend(),
        "may_exceed": sum(MOST - call["price"] for call in uncertain),
        "statuses": dict(Counter(status for (status,) in place.rows("SELECT status FROM passes"))),
    }


def _is_uncertain(call: dict[str, Any], landed: set[str], unseen: set[str]) -> bool:
    """Whether adjudge may count the most that a call could have cost, as it did not see its end."""
    name = f"j-{call['life']}-{call['run']}"
    return name not in landed or name in unseen
