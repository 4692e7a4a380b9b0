"""Starting agents: tasks × agents × attempts, each on a machine of its own, judged there, and compared."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Literal

import msgspec

from adjudge.agents.attempt import Assignment, Means, OpenLive, Stage, attempted
from adjudge.agents.comparison import Result
from adjudge.agents.connections import Connection, command_connection, find_connection
from adjudge.agents.endpoints import AgentEndpoint, Wire, endpoint_of
from adjudge.agents.installed import Installation, find_installation
from adjudge.agents.places import prepared
from adjudge.agents.secrets import values_of
from adjudge.agents.tasks import Task, read_task
from adjudge.connected import require_apart
from adjudge.errors import AdjudgeError, InputError
from adjudge.wiring.inputs import find_rubric
from adjudge.wiring.models import model_for, require_model
from adjudge.wiring.stores import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from adjudge.judges.evaluator.judge import Evaluator
    from adjudge.judgment import Judgment
    from adjudge.ports import LiveMachine, Machine
    from adjudge.record import Usage
    from adjudge.rubric import Rubric
    from adjudge.run import Run
    from adjudge.settings import AgentLimits, Settings
    from adjudge.store.store import Store

Doing = Stage | Literal["judging"]


class Asked(msgspec.Struct, frozen=True):
    """What a user asks to be started.

    `agents` are pairs of a connection's name (or a path to one) and a model's name; `command` is what `--agent command`
    runs and `records` where its record appears in its home. `rubric` is a path, `none`, or left to the tasks. `variables`
    are names in adjudge's environment that the agent's process gets. `image` runs every task in this image.
    """

    tasks: tuple[Path, ...]
    agents: tuple[tuple[str, str | None], ...]
    command: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    attempts: int = 1
    jobs: int = 1
    rubric: str | None = None
    image: str | None = None
    variables: tuple[str, ...] = ()
    keep: bool = True


class Watch(msgspec.Struct, frozen=True):
    """Who is told how it goes; all are called in the event loop and must not block."""

    on_stage: Callable[[Assignment, Doing], None]
    on_output: Callable[[Assignment, bytes], None]
    on_result: Callable[[Assignment, Result, Run | None, Judgment | None], None]


Agent = tuple[Connection, Installation, AgentEndpoint | None]


class Started(msgspec.Struct, frozen=True):
    """An assignment and the rubric that its run is judged by; `None` means by its process alone."""

    assignment: Assignment
    rubric: Rubric | None


# --- what is to be started


async def plan(asked: Asked, settings: Settings, folder: Path) -> tuple[Started, ...]:
    """Every attempt that was asked for, with all that can be wrong found out before the first one starts.

    `folder` takes what tasks need beside their own files, such as a clone.

    Raises:
        InputError: a task, an agent, a model's name or a rubric cannot be used.
        ModelError: a key is missing.
        OutsideError: a task's repository cannot be had.
    """
    tasks = [read_task(path) for path in asked.tasks]
    _refuse_alike([task.name for task in tasks])
    if asked.image:
        tasks = [
            msgspec.structs.replace(task, machine=msgspec.structs.replace(task.machine, image=asked.image))
            for task in tasks
        ]
    rubrics = {task.name: _rubric_of(task, asked.rubric) for task in tasks}
    if any(_needs_model(rubric) for rubric in rubrics.values()):
        await require_model(settings)
    require_apart(settings, settings.expose)
    agents = [await asyncio.to_thread(_agent, name, model, asked, settings) for name, model in asked.agents]
    secrets = values_of(asked.variables, os.environ)
    started = []
    for task in tasks:
        original = await prepared(task.machine, _new(folder))
        if original is not None:
            _require_apart(original, task, settings)
        for number in range(1, asked.attempts + 1):
            for connection, installation, endpoint in agents:
                assignment = Assignment(task, connection, installation, endpoint, number, original, secrets)
                started.append(Started(assignment, rubrics[task.name]))
    return tuple(started)


def _require_apart(original: Path, task: Task, settings: Settings) -> None:
    """Refuse a folder that holds the store: the agent could read what was judged there, and the store changes meanwhile."""
    if workspaces(settings).resolve().is_relative_to(original.resolve()):
        raise InputError(
            f"{task.source}: {original} holds the store, which the agent could then read; keep the store elsewhere "
            "(--store or ADJUDGE_STORE)"
        )


def _new(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=folder))


def _refuse_alike(names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two tasks are called {name!r}; give one of them another `name`")


def _rubric_of(task: Task, named: str | None) -> Rubric | None:
    place = named or (str(task.rubric) if task.rubric else None)
    if place is None:
        raise InputError(
            f"{task.source}: names no rubric; give --rubric FILE, or --rubric none to judge by the process alone"
        )
    return None if place.casefold() == "none" else find_rubric(place)


def _needs_model(rubric: Rubric | None) -> bool:
    return rubric is not None and any(criterion.probe is None for criterion in rubric.criteria)


def _agent(name: str, model: str | None, asked: Asked, settings: Settings) -> Agent:
    """A connection, where its program is, and the endpoint of its model."""
    if (name == "command") != bool(asked.command):
        raise InputError(
            "--agent command runs what stands after `--`, as in `adjudge run TASK --agent command -- ./agent.sh`"
        )
    if name == "command":
        connection = command_connection(asked.command, asked.records, _spoken_at(model, settings) if model else None)
    else:
        connection = find_connection(name)
    endpoint = _endpoint(connection, name, model, settings)
    return connection, find_installation(connection), endpoint


def _spoken_at(model: str, settings: Settings) -> Wire:
    """The format in which a command shall be told to ask this model: its provider's own."""
    from adjudge.models.names import read_name

    return read_name(model, settings).format


def _endpoint(connection: Connection, name: str, model: str | None, settings: Settings) -> AgentEndpoint | None:
    if connection.speaks is None:
        if model is not None:
            raise InputError(f"--agent {name}={model}: this agent takes no model from here; write --agent {name}")
        return None
    if model is None:
        raise InputError(f"--agent {name}: name the agent's model as well, as in --agent {name}=openrouter/MAKER/MODEL")
    return endpoint_of(model, connection.speaks, settings)


# --- starting it


async def start(asked: Asked, settings: Settings, watch: Watch) -> tuple[Result, ...]:
    """Start everything, judge it, and land each run and judgment in the store as soon as it is there.

    What goes wrong with one attempt ends that attempt alone, and its result says so.

    Raises:
        AdjudgeError: as `plan`; nothing has been started then.
    """
    with tempfile.TemporaryDirectory(prefix="adjudge-") as scratch, open_store(settings) as store:
        planned = await plan(asked, settings, Path(scratch))
        needed = any(_needs_model(each.rubric) for each in planned)
        async with _evaluator(needed, settings) as evaluator:
            starting = _Starting(asked, settings, watch, store, evaluator, Path(scratch))
            return await starting.all(planned)


@asynccontextmanager
async def _evaluator(needed: bool, settings: Settings) -> AsyncIterator[Evaluator]:
    from adjudge.judges.evaluator.judge import Evaluator
    from adjudge.models.names import same_model

    async with model_for(needed, settings, None) as (model, nonce):
        yield Evaluator(model, settings, nonce=nonce, same_model=same_model)


class _Starting:
    """All attempts of one command, so many at a time."""

    def __init__(
        self, asked: Asked, settings: Settings, watch: Watch, store: Store, evaluator: Evaluator, scratch: Path
    ) -> None:
        self._asked, self._settings, self._watch = asked, settings, watch
        self._store, self._evaluator, self._scratch = store, evaluator, scratch
        self._free = asyncio.Semaphore(asked.jobs)

    async def all(self, planned: Sequence[Started]) -> tuple[Result, ...]:
        """The results in the order in which they were planned."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._one(each)) for each in planned]
        return tuple(task.result() for task in tasks)

    async def _one(self, started: Started) -> Result:
        async with self._free:
            run = judgment = None
            try:
                run, judgment, notes = await self._made(started)
                result = _result(started.assignment, run, judgment, notes)
            except AdjudgeError as error:
                result = msgspec.structs.replace(_result(started.assignment, None, None, ()), error=str(error))
            self._watch.on_result(started.assignment, result, run, judgment)
            return result

    async def _made(self, started: Started) -> tuple[Run, Judgment, tuple[str, ...]]:
        assignment, watch = started.assignment, self._watch
        means = Means(self._open_live(assignment), self._open_still, self._price, watch.on_stage, watch.on_output)
        with tempfile.TemporaryDirectory(dir=self._scratch) as scratch, self._workspace(assignment) as kept:
            async with attempted(assignment, means, Path(scratch), kept) as attempt:
                run: Run = attempt.run if self._asked.keep else msgspec.structs.replace(attempt.run, workspace=None)
                self._store.add_run(run)
                watch.on_stage(assignment, "judging")
                judgment = await self._evaluator.judge(run, started.rubric, attempt.machine)
            await self._store.land(judgment, started.rubric)
        return run, judgment, attempt.notes

    @contextmanager
    def _workspace(self, assignment: Assignment) -> Iterator[Path]:
        """An empty folder for the workspace as the agent leaves it: one in the store, or one that is gone afterwards."""
        if not self._asked.keep:
            with tempfile.TemporaryDirectory(dir=self._scratch) as folder:
                yield Path(folder)
            return
        name = re.sub(r"[^A-Za-z0-9.]+", "-", f"{assignment.task.name} {assignment.connection.name} {assignment.number}")
        kept = workspaces(self._settings) / f"{name.strip('-.')[:80]}-{token_hex(4)}"
        kept.mkdir(parents=True)
        try:
            yield kept
        except BaseException:
            if not any(kept.iterdir()):
                kept.rmdir()
            raise

    def _open_live(self, assignment: Assignment) -> OpenLive:
        """How the machine is opened on which the agent works: a container if the task names an image, else a sandbox."""
        image, commands = assignment.task.machine.image, self._settings.machine

        async def open_live(folder: Path | None, limits: AgentLimits, expose: Sequence[str]) -> LiveMachine:
            if image is None:
                from adjudge.machines.live import LiveLocalMachine

                return await LiveLocalMachine.open(folder, limits, commands, (*expose, *self._settings.expose))
            from adjudge.wiring.docker import start_container

            return await start_container(image, folder, limits, self._settings, expose)

        return open_live

    def _price(self, endpoint: AgentEndpoint, usage: Usage) -> float | None:
        from adjudge.models.names import read_name
        from adjudge.models.prices import price

        return price(read_name(endpoint.name, self._settings), usage)

    def _open_still(self, folder: Path, places: Mapping[str, Path], output: int) -> Machine:
        from adjudge.machines.local import LocalMachine

        limits = msgspec.structs.replace(self._settings.machine, output=output)
        return LocalMachine(folder, limits, placed=places)


def workspaces(settings: Settings) -> Path:
    """The folder for workspaces of started runs: in the store, or beside where one would be if it is a database."""
    return Path(".adjudge" if "://" in settings.store else settings.store).absolute() / "workspaces"


def _result(assignment: Assignment, run: Run | None, judgment: Judgment | None, notes: tuple[str, ...]) -> Result:
    endpoint = assignment.endpoint
    result = Result(
        assignment.task.name,
        assignment.connection.name,
        endpoint.name if endpoint else None,
        assignment.number,
        notes=notes,
    )
    if run is None or judgment is None:
        return result
    return msgspec.structs.replace(
        result,
        run=run.id,
        judgment=judgment.id,
        status=judgment.status,
        outcome=run.outcome,
        score=judgment.score,
        passed=sum(verdict.passed for verdict in judgment.verdicts),
        criteria=len(judgment.verdicts),
        usage=run.record.whole_usage(),
        cost=run.cost,
        judging_cost=judgment.usage().cost,
        seconds=run.seconds,
        workspace=run.workspace,
        error=judgment.reason if judgment.status == "errored" else None,
    )
