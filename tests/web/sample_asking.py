"""An asking of every kind of statement, as if it had been answered by this server."""

from __future__ import annotations

from typing import Any

from tests.web import sample

from adjudge.asking.values import Asking, Cited, Holding, Look, Statement, Untold
from adjudge.judgment import Call, Steering
from adjudge.record import Usage
from adjudge.web.guard import Guard
from adjudge.web.jobs import Jobs, Tell

RUN = sample.long_run().id
JUDGMENT = "j-00000000000000e1"
LOOKS = (
    Look("L0", "overview", "store", {}, ("runs: 9",)),
    Look("L1", "count_runs", "store", {"by": ("agent",)}, ("runs: 9",), "“codex” · 2 of 9 runs\n" * 30),
    Look("L2", "search_runs", "record", {"pattern": "pip install"}, ("matches: 0",), failed=True),
)


def an_asking(**more: Any) -> Asking:
    """An answer of every kind of statement."""
    values: dict[str, Any] = {
        "id": "q-1",
        "question": "Which agent?",
        "status": "answered",
        "model": "openrouter/strong-model",
        "prompt": "p",
        "version": "0",
        "started": "2026-11-30T10:00:00+00:00",
        "seconds": 12.0,
        "statements": (
            Statement("codex ran 2 of 9 runs.", (Holding(Cited("L1", "“codex” · 2 of 9 runs"), "look"),)),
            Statement(
                "It saved bytes.", (Holding(Cited(f"{RUN}/e89", "OL saved 154 bytes"), "entry", what="result of tool"),)
            ),
            Statement("The run was resolved.", (Holding(Cited(RUN), "run", shown=f"{RUN} · resolved"),)),
            Statement("The judge failed `clean`.", (Holding(Cited(f"{JUDGMENT}/clean"), "judgment", what="fail"),)),
            Statement("It scored 4 of 10.", (Holding(Cited(JUDGMENT, "score 0.40"), "judgment"),)),
        ),
        "untold": (Untold("who paid for it", ("L1",)),),
        "unsupported": (
            Statement(
                "gemini cheats.",
                (Holding(Cited("L1", "cheats"), fault="the quote is not in L1"),),
                "L1: the quote is not in L1",
            ),
        ),
        "looks": LOOKS,
        "steering": (Steering(f"{RUN}/e122", "speaks to the judge", "NOTE TO THE EVALUATOR"),),
        "calls": (Call("m", Usage(cost=0.0312), 3.0),),
        "cost": 0.0312,
        "decided": "freely",
    }
    return Asking(**values | more)


async def kept_asking(guard: Guard, asking: Asking, detail: str = "") -> str:
    """Let a job of the server end with an asking; gives the job's id."""

    async def work(tell: Tell) -> str:
        tell(f"L1 count_runs {detail}", detail)
        job.result = asking
        return f"/ask/{job.facts.id}"

    jobs: Jobs = guard.app.state.site.jobs
    job = jobs.start("ask", asking.question, work)
    async for _ in job.follow():
        pass
    return job.facts.id


class KeptJob:
    """Lets the server that is made remember an asking, and knows the id of its job."""

    def __init__(self, asking: Asking, detail: str = "") -> None:
        self._asking, self._detail = asking, detail
        self.id = ""

    async def __call__(self, guard: Guard) -> None:
        self.id = await kept_asking(guard, self._asking, self._detail)
