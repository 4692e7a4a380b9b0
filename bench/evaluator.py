"""What the evaluator costs by itself: milliseconds a step, without a model and without a machine.

Run `python bench/evaluator.py`: a record of 10,000 entries, forty looks one by one, then a decision.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from itertools import pairwise
from typing import Any

from adjudge.judges.evaluator.judge import Evaluator
from adjudge.ports import Request
from adjudge.record import Record
from adjudge.testing import (
    FakeMachine,
    Scripted,
    ScriptedModel,
    calls,
    decision,
    looks,
    make_record,
    make_rubric,
    make_run,
    says,
    user,
    verdict,
)

ENTRIES = 10_000
LINES = "\n".join(f"src/module_{number}.py:{number}: return value_{number}" for number in range(20))
ASKED: dict[str, dict[str, Any]] = {
    "open_entry": {"entry": "e5000"},
    "outline": {"offset": 5_000},
    "search_record": {"pattern": "module_7"},
    "read_file": {"path": "a.txt"},
    "search_files": {"pattern": "value_7"},
    "run_command": {"command": "make"},
}


def record() -> Record:
    """A record of 10,000 entries and 10 MB."""
    steps = (
        calls("bash", f"grep -rn value_{number} src", result=LINES, exit_status=0) for number in range(ENTRIES // 2 - 1)
    )
    return make_record(user("Find it."), *steps, says("Found."))


async def steps_of(tool: str, made: Record) -> list[float]:
    """Milliseconds between the model's replies, for forty looks with one tool."""
    times: list[float] = []

    def play(request: Request) -> Scripted:
        times.append(time.perf_counter())
        proven = verdict("c1", True, ("e3", "return value_7"))
        return json.dumps(decision(proven)) if request.choice == "none" else looks((tool, ASKED[tool]))

    machine = FakeMachine({"a.txt": LINES * 10}, {"make": LINES})
    started = time.perf_counter()
    judgment = await Evaluator(ScriptedModel(play)).judge(make_run(made), make_rubric("It returns value_7"), machine)
    assert judgment.score == 1.0
    total = time.perf_counter() - started
    print(f"{tool:14} opening {1000 * (times[0] - started):6.1f} ms, whole judgment {1000 * total:7.1f} ms", end="")
    return [1000 * (later - earlier) for earlier, later in pairwise(times)]


async def main() -> None:
    """Print a line for each tool."""
    made = record()
    for tool in ASKED:
        steps = await steps_of(tool, made)
        print(f", a step: median {statistics.median(steps):6.2f} ms, worst {max(steps):6.2f} ms")


if __name__ == "__main__":
    asyncio.run(main())
