"""A provider that bills: it stands in for models, judges runs as a pass's work, and notes each call as its bill would."""

from __future__ import annotations

import asyncio
import json
import os
import random
from pathlib import Path
from typing import Any

from adjudge.judgment import Call, Judge, Judgment, Verdict
from adjudge.passes.work import Paying
from adjudge.record import Usage
from adjudge.rubric import Criterion, Rubric, rubric_hash
from adjudge.store.pass_rows import PassItem

CRITERIA = (Criterion("c", "x"),)
RUBRIC = Rubric("r", CRITERIA, rubric_hash(CRITERIA), "r.yaml")
JUDGE = Judge("evaluator", "m", "p", {}, "0")

MOST = 0.02
"""What a call may cost at most, in US dollars; each costs between a fifth of that and all of it."""

LARGE = 70_000
"""Bytes of the judgments of every tenth run, which do not lie in the database."""

UNSEEN = 0.05
"""The share of calls that the provider bills and whose answer never comes."""


class Bill:
    """A file to which a line is appended for each call, in one write: what a killed process wrote there stays."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def note(self, life: str, run: str, price: float) -> None:
        os.write(self._handle, json.dumps({"life": life, "run": run, "price": price}).encode() + b"\n")

    def close(self) -> None:
        os.close(self._handle)


def billed(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


class BilledWork:
    """Judges with one to three calls, each reserved, then billed, then slept for at most `latency` seconds.

    `life` names the process that judges; it is in the ids of judgments, so that rows tell who made them.
    """

    def __init__(self, bill: Bill, life: str, latency: float, unseen: float = UNSEEN) -> None:
        self._bill, self._life, self._latency, self._unseen = bill, life, latency, unseen

    async def judge(self, item: PassItem, paying: Paying) -> Judgment:
        chance, calls = random.Random(f"{self._life} {item.run}"), list[Call]()
        for _ in range(chance.choice((1, 1, 2, 3))):
            await paying(MOST)
            price = chance.uniform(MOST / 5, MOST)
            self._bill.note(self._life, item.run, price)
            await asyncio.sleep(chance.random() * self._latency)
            if chance.random() < self._unseen:
                late = Call("m", Usage(cost=0.0), 1.0, error="no answer in time")
                return judgment(self._life, item.run, [*calls, late], timeout=True)
            calls.append(Call("m", Usage(prompt=100, output=10, cost=price), 1.0))
        return judgment(self._life, item.run, calls)

    async def close(self) -> None:
        self._bill.close()


def judgment(life: str, run: str, calls: list[Call], timeout: bool = False) -> Judgment:
    size = LARGE if run.endswith("7") else 200
    verdicts = () if timeout else (Verdict("c", False, os.urandom(size).hex(), cause="unproven"),)
    return Judgment(
        f"j-{life}-{run}",
        run,
        "r",
        RUBRIC.hash,
        JUDGE,
        "errored" if timeout else "judged",
        "2026-01-01",
        1.0,
        verdicts,
        None if timeout else 0.0,
        reason="no answer in time" if timeout else None,
        calls=tuple(calls),
        failure="timeout" if timeout else None,
    )
