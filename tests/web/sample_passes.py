"""Passes as a store would have them: one that came to its end, one whose provider went down, one that goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
from tests.conftest import RUBRIC as DIMENSIONS
from tests.web import sample

from adjudge.judgment import Call, Failure, Judge, Judgment
from adjudge.passes.values import Estimate, Sampling, Stratum
from adjudge.record import Usage
from adjudge.settings import Settings
from adjudge.store.pass_rows import PassItem, PassStatus
from adjudge.store.passes import PassWriter
from adjudge.store.store import Store
from adjudge.wiring.passes import Judging

READER = Judge("reader", "openrouter/strong-model", "ef" * 32, {"prune": "pruned", "mask": True}, "0.1.0")
RUNS = tuple(f"r-{number:016x}" for number in range(8))
STRATA = (
    Stratum("claude-code", "resolved", 2, 0, 1, 1),
    Stratum("codex", "error", 1, 0, 0, 1),
    Stratum("codex", "resolved", 1, 0, 0, 1),
    Stratum("gemini-cli", "exit 0", 1, 2, 0, 1),
    Stratum("mini-swe-agent", "resolved", 1, 0, 0, 1),
    Stratum("mini-swe-agent", "unresolved", 1, 0, 0, 1),
    Stratum("opencode", "unresolved", 1, 0, 0, 1),
    Stratum("qwen-code", "unresolved", 1, 0, 0, 1),
)


def kept(seed: int, likely: float, max_cost: float | None = None) -> dict[str, Any]:
    """What is kept of how a pass was started."""
    settings = Settings(model=READER.model)
    told: dict[str, Any] = msgspec.to_builtins(
        {
            "judging": Judging(**{name: getattr(settings, name) for name in Judging.__struct_fields__}),
            "sampling": Sampling(None, 0.5, ("*/unresolved",), seed),
            "strata": STRATA,
            "estimate": Estimate(8, "rows", 34, 21_400.0, likely * 0.7, likely, likely * 1.6, True),
            "again": False,
            "max_cost": max_cost,
        }
    )
    return told


def begin(writer: PassWriter, seed: int, likely: float, failures: Sequence[Failure | None], cost: float = 0.02) -> str:
    """Begin a pass, and land a judgment for each failure or none."""
    identifier = writer.begin(READER, kept(seed, likely, 2.0 if seed else None), DIMENSIONS, RUNS)

    async def land() -> None:
        for position, failure in enumerate(failures):
            item = PassItem(position, RUNS[position], "")
            await writer.land(identifier, item, judged(identifier, RUNS[position], failure, cost))

    asyncio.run(land())
    return identifier


def judged(identifier: str, run: str, failure: Failure | None, cost: float) -> Judgment:
    first = sample.reading(sample.long_run())
    calls = (Call("strong-model", Usage(prompt=21_000, output=1_500, cost=0.0 if failure else cost), 9.0),)
    changed = {"id": f"j-{identifier[-8:]}{run[-4:]}", "run": run, "calls": calls, "judge": READER}
    if failure:
        changed |= {"status": "errored", "failure": failure, "reason": "The model could not be had: 529", "scores": ()}
    return msgspec.structs.replace(first, **changed)


def fill(store: Store) -> tuple[str, str]:
    """A pass that came to its end and one whose provider went down; gives their ids."""
    writer = store.passes.hold("a sample")
    try:
        finished = begin(writer, 0, 0.16, [None, None, "judge_parse_failed", None, None, None, None, None])
        writer.end(finished, "finished")
        down: PassStatus = "provider down"
        stopped = begin(writer, 7, 0.2, [None, None, None, "busy"])
        writer.end(stopped, down, "8 calls in a row failed, the last one so: 529 overloaded")
        return finished, stopped
    finally:
        writer.release()


@contextmanager
def passes(store: Store) -> Iterator[dict[str, str]]:
    """All of them, by what they show."""
    finished, stopped = fill(store)
    with going_on(store) as live:
        yield {"finished": finished, "stopped": stopped, "live": live}


@contextmanager
def going_on(store: Store) -> Iterator[str]:
    """A pass that this very process judges as long as this lasts."""
    writer = store.passes.hold("a sample")
    try:
        identifier = begin(writer, 3, 0.2, [None, None, None, "judge_parse_failed", "busy"])
        asyncio.run(writer.reserve(identifier, 5, 0.04))
        yield identifier
        writer.end(identifier, "stopped", "it was asked to stop")
    finally:
        writer.release()
