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
from adjudge.agents.incomplete import IncompleteMachine, told_of
from adjudge.agents.installed import Installation
from adjudge.agents.masking import Marks, Masking, masked
from adjudge.agents.outcome import grade_of, outcome_of
from adjudge.agents.patch import OpenStill, patch_between
from adjudge.agents.records import FoundRecord, find_record, is_packed
from adjudge.agents.secrets import ScrubbedMachine, scrub
from adjudge.agents.tasks import Task
from adjudge.agents.traffic import Traffic, told_of_refused
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
        original = _original(assignment, scratch)
        collected = await _collected(assignment, machine, original, scratch, kept)
        machine.facts[LEFT_RUNNING] = _listed(ended)
        run = _run_of(assignment, collected, ended, traffic, started, kept)
        if collected.whole:
            run = await _patched(means, run, original, kept)
        run = await _graded(assignment, means, run, machine, collected.whole)
        run = _masked(_priced(run, assignment.endpoint, means), assignment.secrets)
        yield Attempt(run, _standing(machine, collected.whole, assignment.secrets))
    finally:
        await machine.close()


class Collected(msgspec.Struct, frozen=True):
    """What was brought out of a machine: the record, whether the workspace's copy is whole, and what is to be said."""

    found: FoundRecord
    whole: bool
    notes: tuple[str, ...]


async def _collected(
    assignment: Assignment, machine: LiveMachine, original: Path | None, scratch: Path, kept: Path
) -> Collected:
    """Copy the record and the workspace, and take the machine from the agent."""
    home, records, task = scratch / "home", assignment.connection.records, assignment.task.instructions
    home.mkdir()
    fetched = await machine.fetch(records, home)
    copied = await machine.hand_over(kept)
    machine.hooks = await asyncio.to_thread(compare, machine.hooks, kept, original)
    await asyncio.to_thread(_make_safe, home, (scratch, kept), assignment.secrets)
    found = await asyncio.to_thread(find_record, home, records, scratch, task)
    notes = (*found.notes, *told_of(fetched, "the record"), *told_of(copied, "the workspace"))
    return Collected(found, not copied.cut, notes)


def _standing(machine: LiveMachine, whole: bool, secrets: Mapping[str, str]) -> Machine:
    """The machine as it is judged: without files that are not all known, and without secrets."""
    standing: Machine = machine if whole else IncompleteMachine(machine)
    return ScrubbedMachine(standing, secrets) if secrets else standing


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
    assignment: Assignment, collected: Collected, ended: Ended, traffic: Traffic | None, started: str, kept: Path
) -> Run:
    task, told = assignment.task, collected.found.run
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
        workspace=str(kept) if collected.whole else None,
        context=task.context,
        hidden_tests=task.hidden_tests,
        task_name=task.name,
        started=started,
        seconds=round(ended.seconds, 3),
        notes=(*collected.notes, *told_of_refused(traffic)),
    )


def _original(assignment: Assignment, scratch: Path) -> Path | None:
    """The workspace as the agent found it, `None` if it came with an image."""
    if assignment.original is None and assignment.task.machine.image is None:
        nothing = scratch / "nothing"
        nothing.mkdir()
        return nothing
    return assignment.original


async def _patched(means: Means, run: Run, original: Path | None, kept: Path) -> Run:
    """The run with its patch, or with a note why there is none."""
    if original is None:
        return _with_note(run, "no patch: what the agent started from came with the image")
    patch, reason = await patch_between(original, kept, means.open_still)
    return _with_note(run, reason) if reason else msgspec.structs.replace(run, patch=patch)


def _with_note(run: Run, note: str) -> Run:
    return msgspec.structs.replace(run, notes=(*run.notes, note))


async def _graded(assignment: Assignment, means: Means, run: Run, machine: LiveMachine, whole: bool) -> Run:
    """The run with its grader's result, if the task has a grader. How it came about, is the outcome's grading."""
    grader = assignment.task.grader
    if grader is None:
        return run
    means.on_stage(assignment, "grading")
    if whole:
        grade, reason = grade_of(await machine.grade(grader.run, grader.seconds, grader.files))
    else:
        grade, reason = "error", "the grader was not run, as the workspace could not be copied whole"
    outcome: Outcome = msgspec.structs.replace(run.outcome, grade=grade, grading=reason)
    return msgspec.structs.replace(run, outcome=outcome)


def _masked(run: Run, secrets: Mapping[str, str]) -> Run:
    """The run without the secrets in what was made outside of the folders that were scrubbed."""
    marks = Marks(secrets)

    def mask(text: str | None) -> str | None:
        return masked(text.encode(), marks).decode("utf-8", "replace") if text and secrets else text

    outcome: Outcome = msgspec.structs.replace(
        run.outcome, detail=mask(run.outcome.detail), grading=mask(run.outcome.grading)
    )
    return msgspec.structs.replace(run, patch=mask(run.patch), outcome=outcome)


def _priced(run: Run, endpoint: AgentEndpoint | None, means: Means) -> Run:
    """The run with its cost: what the record states, else its tokens at the list's price."""
    usage = run.record.consumed()
    cost = usage.cost
    if cost is None and endpoint is not None and usage.prompt is not None:
        cost = means.price(endpoint, usage)
    return msgspec.structs.replace(run, cost=cost)
