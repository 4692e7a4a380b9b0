"""What the web interface does that takes a while: judging, starting agents, asking. Each is a task with steps to follow.

A job lives in this process: what it makes lies in the store, what it said on the way is gone when the server ends.
"""

from __future__ import annotations

import asyncio
import secrets
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Literal

import msgspec

from adjudge.errors import AdjudgeError, InputError

Kind = Literal["judge", "run", "ask", "import", "follow"]
State = Literal["running", "done", "failed", "stopped"]

MOST_AT_ONCE = 8
"""Jobs that are under way at one time."""
MOST_KEPT = 100
"""Jobs that are remembered, those that ended longest ago forgotten first."""
MOST_STEPS = 2_000
"""Steps that are remembered of one job; later ones are counted only."""


class Step(msgspec.Struct, frozen=True):
    """One thing that happened: a sentence, and what belongs to it in full, as untrusted as whatever it came from."""

    number: int
    words: str
    detail: str = ""


class JobFacts(msgspec.Struct, frozen=True):
    """Where a job stands. `href` is the page of what it made, `failure` why it failed, `began` and `ended` ISO times."""

    id: str
    kind: Kind
    title: str
    state: State
    steps: int
    began: str
    ended: str | None = None
    href: str | None = None
    failure: str | None = None


Tell = Callable[[str, str], None]
"""Says a step, and its detail; called in the event loop."""
Work = Callable[[Tell], Awaitable[str | None]]
"""Does a job and gives the address of the page of what it made."""


class Job:
    """One job. Everything but `facts` and `after` happens in the event loop.

    `result` is what it made, if no store keeps that.
    """

    def __init__(self, kind: Kind, title: str) -> None:
        self.steps: list[Step] = []
        self.result: object = None
        self._facts = JobFacts(f"job-{secrets.token_hex(8)}", kind, title, "running", 0, _now())
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def facts(self) -> JobFacts:
        """Where it stands."""
        return self._facts

    def after(self, number: int) -> Sequence[Step]:
        """The steps behind a number; the first has number 1."""
        return tuple(self.steps[max(0, number) :])

    def begin(self, work: Work) -> None:
        """Start."""
        self._task = asyncio.create_task(self._do(work))

    async def stop(self) -> None:
        """Cancel it, and wait until it has ended."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])
            if self._facts.state == "running":  # it was stopped before it began
                self._end("stopped")

    async def follow(self, number: int = 0) -> AsyncIterator[Sequence[Step]]:
        """The steps behind a number as they come, several at a time, until the job has ended."""
        while True:
            changed, ended = self._changed, self._facts.state != "running"
            if steps := self.after(number):
                number = steps[-1].number
                yield steps
            elif ended:
                return
            else:
                await changed.wait()

    def _tell(self, words: str, detail: str = "") -> None:
        number = self._facts.steps + 1
        if number <= MOST_STEPS:
            self.steps.append(Step(number, words, detail))
        self._change(steps=number)

    async def _do(self, work: Work) -> None:
        try:
            self._end("done", href=await work(self._tell))
        except asyncio.CancelledError:
            self._end("stopped")
        except AdjudgeError as error:
            self._end("failed", failure=str(error))
        except Exception as error:  # noqa: BLE001  a bug: whoever runs the server sees where, whoever asked does not
            traceback.print_exception(error)
            self._end("failed", failure="This is a bug of adjudge; the terminal of `adjudge serve` says where.")

    def _end(self, state: State, href: str | None = None, failure: str | None = None) -> None:
        self._change(state=state, ended=_now(), href=href, failure=failure)

    def _change(self, **values: object) -> None:
        self._facts = msgspec.structs.replace(self._facts, **values)
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


class Jobs:
    """All jobs of this server."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    def start(self, kind: Kind, title: str, work: Work) -> Job:
        """Begin a job; in the event loop only.

        Raises:
            InputError: too many are under way.
        """
        if sum(job.facts.state == "running" for job in self._jobs.values()) >= MOST_AT_ONCE:
            raise InputError(f"{MOST_AT_ONCE} jobs are under way already; stop one, or wait until one has ended")
        job = Job(kind, title)
        self._jobs[job.facts.id] = job
        self._forget()
        job.begin(work)
        return job

    def start_once(self, kind: Kind, title: str, work: Work) -> Job:
        """Begin a job, unless one with this title is under way: then it is that. Raises as `start`."""
        for job in self._jobs.values():
            if (job.facts.kind, job.facts.title, job.facts.state) == (kind, title, "running"):
                return job
        return self.start(kind, title, work)

    def find(self, name: str) -> Job:
        """A job by its id. Raises InputError if there is none."""
        job = self._jobs.get(name)
        if job is None:
            raise InputError(f"job {name}: is not known here; jobs are forgotten when `adjudge serve` ends")
        return job

    def all(self) -> list[JobFacts]:
        """Where each job stands, the latest first."""
        return [job.facts for job in reversed(list(self._jobs.values()))]

    async def close(self) -> None:
        """Stop what is under way."""
        for job in list(self._jobs.values()):
            await job.stop()

    def _forget(self) -> None:
        ended = [name for name, job in self._jobs.items() if job.facts.state != "running"]
        for name in ended[: max(0, len(self._jobs) - MOST_KEPT)]:
            del self._jobs[name]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
