"""What `adjudge run` shall start, with all that can be wrong found out before the first agent starts."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from adjudge.agents.attempt import Assignment
from adjudge.agents.connections import COMMAND, Connection, command_connection, find_connection
from adjudge.agents.endpoints import AgentEndpoint, Wire, endpoint_of
from adjudge.agents.installed import Installation, find_installation
from adjudge.agents.places import prepared
from adjudge.agents.secrets import values_of
from adjudge.agents.tasks import Task, read_task
from adjudge.connected import require_apart
from adjudge.errors import InputError
from adjudge.machines.launches import check_in_home
from adjudge.rubric import Rubric
from adjudge.settings import is_url
from adjudge.wiring.inputs import find_rubric
from adjudge.wiring.models import needs_model, require_model

if TYPE_CHECKING:
    from adjudge.settings import Settings


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


Agent = tuple[Connection, Installation, AgentEndpoint | None]


ENV = "/usr/bin/env"
"""What looks a program up where it runs."""

NO_JUDGE = (
    "the rubric needs a model to judge with: give --model PROVIDER/MODEL or set ADJUDGE_MODEL, and set its provider's key; "
    "--rubric none judges by the process alone"
)


class Started(msgspec.Struct, frozen=True):
    """An assignment and the rubric that its run is judged by; `None` means by its process alone."""

    assignment: Assignment
    rubric: Rubric | None


async def plan(asked: Asked, settings: Settings, folder: Path) -> tuple[Started, ...]:
    """Every attempt that was asked for, with all that can be wrong found out before the first one starts.

    `folder` takes what tasks need beside their own files, such as a clone.

    Raises:
        InputError: a task, its image, an agent, a model's name or a rubric cannot be used.
        MachineError: a task names an image, and no engine can be reached.
        ModelError: a key is missing.
        OutsideError: a task's repository cannot be had.
    """
    for named in asked.agents:
        if asked.agents.count(named) > 1:
            raise InputError(f"--agent {named[0]}: is named twice; --attempts says how often each agent tries")
    tasks = [read_task(path) for path in asked.tasks]
    _refuse_alike([task.name for task in tasks])
    if asked.image:
        tasks = [
            msgspec.structs.replace(task, machine=msgspec.structs.replace(task.machine, image=asked.image))
            for task in tasks
        ]
    await _require_images(tasks, asked)
    rubrics = {task.name: _rubric_of(task, asked.rubric) for task in tasks}
    if any(rubric is not None and needs_model(rubric) for rubric in rubrics.values()):
        if settings.model is None:
            raise InputError(NO_JUDGE)
        await require_model(settings)
    require_apart(settings, settings.expose)
    in_images = all(task.machine.image for task in tasks)
    agents = [await asyncio.to_thread(_agent, name, model, asked, settings, in_images) for name, model in asked.agents]
    secrets = values_of(asked.variables, os.environ)
    started = []
    for task in tasks:
        original = await prepared(task.machine, _new(folder))
        if original is not None:
            require_store_apart(original, task.source, settings)
            await asyncio.to_thread(require_apart, settings, [original])
        for number in range(1, asked.attempts + 1):
            for agent in agents:
                connection, installation, endpoint = _within(task, agent)
                assignment = Assignment(task, connection, installation, endpoint, number, original, secrets)
                started.append(Started(assignment, rubrics[task.name]))
    return tuple(started)


async def _require_images(tasks: Sequence[Task], asked: Asked) -> None:
    from adjudge.wiring.docker import require_image

    for name, task in {task.machine.image: task for task in reversed(tasks)}.items():
        if name is None:
            continue
        try:
            await require_image(name)
        except InputError as error:
            raise InputError(f"{'--machine' if asked.image else task.source}: {error}; none is pulled here") from error


def _within(task: Task, agent: Agent) -> Agent:
    """The agent as it is found on the task's machine: in an image a command's bare name means a program of the image."""
    connection, _, endpoint = agent
    if task.machine.image is None or not is_bare(connection):
        return agent
    looked_up = msgspec.structs.replace(connection, program=ENV, arguments=(connection.program, *connection.arguments))
    return looked_up, Installation(ENV), endpoint


def require_store_apart(original: Path, source: object, settings: Settings) -> None:
    """Refuse a folder that holds the store: the agent could read what was judged there, and the store changes meanwhile."""
    if workspaces(settings).resolve().is_relative_to(original.resolve()):
        raise InputError(
            f"{source}: {original} holds the store, which the agent could then read; keep the store elsewhere "
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


def _agent(name: str, model: str | None, asked: Asked, settings: Settings, in_images: bool) -> Agent:
    """A connection, where its program is, and the endpoint of its model.

    With `in_images` every task has an image, so that a command need not be found here.
    """
    connection, endpoint = connection_of(name, model, asked, settings)
    if in_images and is_bare(connection):
        return connection, Installation(connection.program), endpoint
    return connection, find_installation(connection), endpoint


def connection_of(
    name: str, model: str | None, asked: Asked, settings: Settings
) -> tuple[Connection, AgentEndpoint | None]:
    """The connection that is named, and the endpoint of its model; its program is not looked for.

    Raises:
        InputError: there is no such connection, or it and its command, its records or its model do not go together.
        ModelError: the key of the model's provider is missing.
    """
    among = any(each == COMMAND for each, _ in asked.agents)
    if (name == COMMAND and not asked.command) or (asked.command and not among):
        raise InputError(
            "--agent command runs what stands after `--`, as in `adjudge run TASK --agent command -- ./agent.sh`"
        )
    for record in asked.records:
        try:
            check_in_home(record)
        except InputError as error:
            raise InputError(f"--record {error}") from error
    if name == COMMAND:
        connection = command_connection(asked.command, asked.records, _spoken_at(model, settings) if model else None)
    else:
        connection = find_connection(name)
    return connection, _endpoint(connection, name, model, settings)


def is_bare(connection: Connection) -> bool:
    """Whether it is a command that is named without a path."""
    return connection.name == COMMAND and "/" not in connection.program


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


def workspaces(settings: Settings) -> Path:
    """The folder for workspaces of started runs: in the store, or beside where one would be if it is a database."""
    return Path(".adjudge" if is_url(settings.store) else settings.store).absolute() / "workspaces"
