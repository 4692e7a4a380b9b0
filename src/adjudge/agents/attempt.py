"""One attempt: an agent works on a machine, its process ends, and the machine stands as it was left."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from adjudge.agents.connections import Connection, launch_of
from adjudge.agents.endpoints import PORT, AgentEndpoint
from adjudge.agents.installed import Installation
from adjudge.agents.masking import Marks, Masking, masked
from adjudge.agents.outcome import grade_of, outcome_of
from adjudge.agents.patch import OpenStill, patch_between
from adjudge.agents.records import FoundRecord, find_record, is_packed
from adjudge.agents.secrets import ScrubbedMachine, scrub
from adjudge.agents.tasks import Task
from adjudge.agents.traffic import Traffic
from adjudge.importers.build import run_id
from adjudge.machines.hook_origin import compare
from adjudge.ports import LEFT_RUNNING, Ended, LiveMachine, Machine
from adjudge.record import Usage
from adjudge.run import Outcome, Run
from adjudge.settings import AgentLimits

Stage = Literal["preparing", "working", "collecting", "grading"]
OpenLive = Callable[[Path | None, AgentLimits, Sequence[str]], Awaitable[LiveMachine]]


class Assignment(msgspec.Struct, frozen=True):
    """One attempt to be made: an agent, the task it is given, and for the how-manieth time.

    `original` is the folder whose files it finds in its workspace. `secrets` are variables that its process gets by name.
    """

    task: Task
    connection: Connection
    installation: Installation
    endpoint: AgentEndpoint | None
    number: int
    original: Path | None
    secrets: Mapping[str, str] = {}

    @property
    def limits(self) -> AgentLimits:
        """What the attempt may use."""
        return self.task.limits


class Means(msgspec.Struct, frozen=True):
    """What attempts are made with: how machines are opened, what tokens cost, and who watches.

    `on_stage` and `on_output` are called in the event loop and must not block.
    """

    open_live: OpenLive
    open_still: OpenStill
    price: Callable[[AgentEndpoint, Usage], float | None]
    on_stage: Callable[[Assignment, Stage], None]
    on_output: Callable[[Assignment, bytes], None]


class Attempt(msgspec.Struct, frozen=True):
    """An attempt whose agent has ended: the run, and the machine as it was left."""

    run: Run
    machine: Machine


@asynccontextmanager
async def attempted(assignment: Assignment, means: Means, scratch: Path, kept: Path) -> AsyncIterator[Attempt]:
    """Make an attempt, and give it away while its machine still runs; afterwards the machine is destroyed.

    `scratch` is an empty folder for what is needed meanwhile, `kept` an empty one that the workspace is copied to.

    Raises:
        InputError: the task or the agent cannot be started like this.
        MachineError: the machine could not be had, or was lost.
    """
    means.on_stage(assignment, "preparing")
    machine = await means.open_live(assignment.original, assignment.limits, assignment.installation.expose)
    try:
        started = datetime.now(UTC).isoformat()
        ended, traffic = await _worked(assignment, means, machine, scratch)
        means.on_stage(assignment, "collecting")
        home = scratch / "home"
        home.mkdir()
        await machine.fetch(assignment.connection.records, home)
        await machine.hand_over(kept)
        machine.facts[LEFT_RUNNING] = _listed(ended)
        original = _original(assignment, scratch)
        machine.hooks = await asyncio.to_thread(compare, machine.hooks, kept, original)
        await asyncio.to_thread(_make_safe, home, (scratch, kept), assignment.secrets)
        found = await asyncio.to_thread(
            find_record, home, assignment.connection.records, scratch, assignment.task.instructions
        )
        run = _run_of(assignment, found, ended, traffic, started, kept)
        run, notes = await _patched(means, run, original, kept)
        run = msgspec.structs.replace(run, notes=(*found.notes, *notes))
        run = await _graded(assignment, means, run, machine)
        run = _masked(_priced(run, assignment.endpoint, means), assignment.secrets)
        standing = ScrubbedMachine(machine, assignment.secrets) if assignment.secrets else machine
        yield Attempt(run, standing)
    finally:
        await machine.close()


def _listed(ended: Ended) -> str:
    more = ended.processes - len(ended.left)
    return "\n".join([*ended.left, *([f"and {more} more"] if more > 0 else [])])


async def _worked(
    assignment: Assignment, means: Means, machine: LiveMachine, scratch: Path
) -> tuple[Ended, Traffic | None]:
    """Let the agent work, with its model's endpoint as its only network."""
    launch = launch_of(
        assignment.connection,
        assignment.installation,
        assignment.task.instructions,
        assignment.endpoint,
        machine.home,
        machine.workspace,
    )
    if assignment.secrets:
        environment = {**launch.environment, **assignment.secrets}
        launch = msgspec.structs.replace(launch, environment=environment)
    proxy = None
    if assignment.endpoint is not None:
        from adjudge.agents.proxy import ModelProxy  # noqa: PLC0415  half a second, only where a model is asked

        proxy = ModelProxy(assignment.endpoint, most=assignment.limits.requests)
        await proxy.serve(await machine.listen(PORT))
    means.on_stage(assignment, "working")
    masking = Masking(Marks(assignment.secrets))
    try:
        ended = await machine.work(launch, scratch, lambda data: means.on_output(assignment, masking.feed(data)))
    finally:
        if proxy is not None:
            await proxy.close()
    return ended, proxy.traffic if proxy is not None else None


def _make_safe(home: Path, folders: Sequence[Path], secrets: Mapping[str, str]) -> None:
    """Take away what must not be read: links, which would make a file of the host a record, packed files, and secrets."""
    for directory, names, files in os.walk(home):
        for name in (*names, *files):
            path = Path(directory, name)
            if path.is_symlink() or (path.is_file() and is_packed(path)):
                path.unlink()
    for folder in folders if secrets else ():
        scrub(folder, secrets)


def _run_of(
    assignment: Assignment, found: FoundRecord, ended: Ended, traffic: Traffic | None, started: str, kept: Path
) -> Run:
    task, told = assignment.task, found.run
    model = assignment.endpoint.name if assignment.endpoint else told.model
    who = f"{assignment.connection.name}\0{task.name}\0{started}\0{assignment.number}"
    return Run(
        id=run_id(told.record, who, model),
        record=told.record,
        source=str(task.source),
        task=task.instructions,
        agent=assignment.connection.name,
        agent_version=told.agent_version or assignment.installation.version,
        model=model,
        outcome=outcome_of(ended, traffic, told),
        workspace=str(kept),
        context=task.context,
        hidden_tests=task.hidden_tests,
        task_name=task.name,
        started=started,
        seconds=round(ended.seconds, 3),
    )


def _original(assignment: Assignment, scratch: Path) -> Path | None:
    """The workspace as the agent found it, `None` if it came with an image."""
    if assignment.original is None and assignment.task.machine.image is None:
        nothing = scratch / "nothing"
        nothing.mkdir()
        return nothing
    return assignment.original


async def _patched(means: Means, run: Run, original: Path | None, kept: Path) -> tuple[Run, tuple[str, ...]]:
    """The run with its patch, if it is known what the agent started from."""
    if original is None:
        return run, ("no patch: what the agent started from came with the image",)
    patch, reason = await patch_between(original, kept, means.open_still)
    return msgspec.structs.replace(run, patch=patch), (reason,) if reason else ()


async def _graded(assignment: Assignment, means: Means, run: Run, machine: LiveMachine) -> Run:
    """The run with its grader's result, if the task has a grader. Why there is none, is the outcome's detail."""
    grader = assignment.task.grader
    if grader is None:
        return run
    means.on_stage(assignment, "grading")
    grade, reason = grade_of(await machine.grade(grader.run, grader.seconds, grader.files))
    detail = "; ".join(part for part in (run.outcome.detail, reason) if part) or None
    outcome: Outcome = msgspec.structs.replace(run.outcome, grade=grade, detail=detail)
    return msgspec.structs.replace(run, outcome=outcome)


def _masked(run: Run, secrets: Mapping[str, str]) -> Run:
    """The run without the secrets in what was made outside of the folders that were scrubbed."""
    marks = Marks(secrets)

    def mask(text: str | None) -> str | None:
        return masked(text.encode(), marks).decode("utf-8", "replace") if text and secrets else text

    outcome: Outcome = msgspec.structs.replace(run.outcome, detail=mask(run.outcome.detail))
    return msgspec.structs.replace(run, patch=mask(run.patch), outcome=outcome)


def _priced(run: Run, endpoint: AgentEndpoint | None, means: Means) -> Run:
    """The run with its cost: what the record states, else its tokens at the list's price."""
    usage = run.record.whole_usage()
    stated = run.record.reported.cost if run.record.reported else None
    cost = stated if stated is not None else usage.cost
    if cost is None and endpoint is not None and usage.prompt is not None:
        cost = means.price(endpoint, usage)
    return msgspec.structs.replace(run, cost=cost)
