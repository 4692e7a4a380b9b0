"""What is wrong with a run that is being built, field by field, before anything starts; and what judging it may cost."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from adjudge.agents.connections import COMMAND
from adjudge.agents.installed import require_installed
from adjudge.agents.secrets import values_of
from adjudge.agents.task_fields import read_folder, read_image, read_limits, read_repository, read_revision
from adjudge.agents.tasks import FILE, read_task
from adjudge.connected import require_apart
from adjudge.errors import InputError, OutsideError
from adjudge.rubric.fields import read_text
from adjudge.settings import KEYS
from adjudge.wiring.building import Build, at_home, name_of, rubric_of, settings_for, task_text, told_of
from adjudge.wiring.models import needs_model
from adjudge.wiring.planning import Asked, connection_of, is_bare, require_store_apart

if TYPE_CHECKING:
    from adjudge.passes.values import Estimate
    from adjudge.record import Usage
    from adjudge.rubric import Rubric
    from adjudge.settings import Settings
    from adjudge.store.store import Store

AT = "task"
"""Where messages say that something is wrong."""
ROOT = Path("/")
MEASURED = 50
"""Earlier judgments from which an estimate is made."""


class Fault(msgspec.Struct, frozen=True):
    """What is wrong with a field; with `agents` it is told of which agent, if of one."""

    field: str
    words: str
    agent: str | None = None


def faults_of(build: Build, settings: Settings, store: Store) -> tuple[Fault, ...]:
    """Everything that can be found out without starting anything. In no event loop: it reads files, and asks an engine.

    What a repository or a provider would answer is not asked.
    """
    settings = settings_for(build, settings)
    faults = [
        *_of_task(build),
        *_of_machine(build, settings),
        *_of_agents(build, settings),
        *_of_judge(build, settings, store),
    ]
    return tuple(faults) if faults else tuple(_of_whole(build))


def _tried(field: str, attempt: Callable[[], object], agent: str | None = None) -> Iterator[Fault]:
    try:
        attempt()
    except (InputError, OutsideError) as error:
        yield Fault(field, str(error), agent)


def _of_task(build: Build) -> Iterator[Fault]:
    yield from _tried("instructions", lambda: read_text(AT, "instructions", build.instructions or "", most=200_000))
    if not name_of(build).isprintable():
        yield Fault("name", f'{AT}: "name" must be one line that can be printed')
    for field in ("seconds", "memory", "requests"):
        if (value := getattr(build, field)) is not None:
            yield from _tried(field, partial(read_limits, f"{AT}: limits", {field: value}))
    if build.grader is not None:
        yield from _tried("grader", lambda: read_text(AT, "grader", build.grader))
    if build.grader_files is not None:
        yield from _tried("grader_files", lambda: _folder("grader_files", build.grader_files))
        if build.grader is None:
            yield Fault("grader", f'{AT}: "grader" is missing; its files alone grade nothing')
    if build.context is not None:
        yield from _tried("context", lambda: read_text(AT, "context", build.context, most=200_000))


def _folder(field: str, value: str | None) -> Path:
    """A folder of this machine. Raises InputError if it is none, or named by a path that is not absolute."""
    path = at_home(value) or ""
    if not path.startswith("/"):
        raise InputError(f'{AT}: "{field}" must be an absolute path on the machine on which adjudge runs')
    return read_folder(AT, field, path, ROOT)


def _of_machine(build: Build, settings: Settings) -> Iterator[Fault]:
    if build.files == "folder":
        yield from _tried("folder", lambda: _apart(_folder("folder", build.folder), settings))
    if build.files == "git":
        yield from _tried("git", lambda: _repository(at_home(build.git) or ""))
        yield from _tried("commit", lambda: read_revision(AT, build.commit or ""))
    if build.image is not None:
        yield from _tried("image", lambda: _image(build.image))


def _apart(folder: Path, settings: Settings) -> None:
    require_store_apart(folder, AT, settings)
    require_apart(settings, (folder, *settings.expose))


def _repository(place: str) -> None:
    if "://" not in place and ":" not in place:
        _folder("git", place)
    read_repository(AT, place, ROOT)


def _image(name: str | None) -> None:
    from adjudge.wiring.docker import require_image

    asyncio.run(require_image(read_image(AT, name)))


# --- agents


def _of_agents(build: Build, settings: Settings) -> Iterator[Fault]:
    if not build.agents:
        yield Fault("agents", "no agent is chosen; several are compared")
    for number, chosen in enumerate(build.agents):
        if chosen in build.agents[:number]:
            yield Fault("agents", "is chosen twice; attempts say how often each agent tries", chosen.agent)
    try:
        asked = told_of(build, ROOT, None)
    except InputError as error:
        yield Fault("command", str(error))
        return
    for chosen, (name, model) in zip(build.agents, asked.agents, strict=True):
        yield from _tried("agents", partial(_agent, name, model, asked, build, settings), chosen.agent)
    yield from _tried("variables", lambda: values_of(build.variables, os.environ))


def _agent(name: str, model: str | None, asked: Asked, build: Build, settings: Settings) -> None:
    if name == COMMAND and not asked.command:
        raise InputError("write the command that is run")
    connection, _ = connection_of(name, model, asked, settings)
    if not (build.image and is_bare(connection)):
        require_installed(connection)


# --- the judge


def _of_judge(build: Build, settings: Settings, store: Store) -> Iterator[Fault]:
    try:
        rubric = rubric_of(build, store)
    except (InputError, OutsideError) as error:
        yield Fault("rubric", str(error))
        return
    if rubric is not None and needs_model(rubric):
        yield from _tried("model", lambda: _judge(settings))


def _judge(settings: Settings) -> None:
    from adjudge.models.names import read_name

    if settings.model is None:
        raise InputError("the rubric needs a model to judge with: name one, or set ADJUDGE_MODEL before `adjudge serve`")
    read_name(settings.model, settings)


def _of_whole(build: Build) -> Iterator[Fault]:
    """What only shows when the fields come together, found by reading the task's file as `adjudge run` does."""
    with tempfile.TemporaryDirectory(prefix="adjudge-") as folder:
        path = Path(folder, FILE)
        path.write_text(task_text(build), encoding="utf-8")
        for fault in _tried("instructions", lambda: read_task(path)):
            yield msgspec.structs.replace(fault, words=fault.words.replace(str(path), AT))


# --- what it may cost


def estimate_of(rubric: Rubric, settings: Settings, store: Store, judgments: int) -> Estimate | None:
    """What so many judgments may cost, from earlier ones by the same model; `None` if the settings name no model."""
    from adjudge.models.names import read_name
    from adjudge.models.prices import price
    from adjudge.passes.estimate import estimate_from_rows, free

    if not needs_model(rubric):
        return free(judgments)
    if settings.model is None:
        return None
    endpoint = read_name(settings.model, _with_any_key(settings))
    rows = [usage for usage in store.passes.consumed("evaluator", endpoint.name, None, MEASURED) if usage.prompt]

    def priced(usage: Usage) -> float | None:
        return price(endpoint, usage)

    return estimate_from_rows(judgments, rows, priced)


def name_of_model(name: str, settings: Settings) -> str | None:
    """A model's full name, as rows have it; `None` for one that means nothing."""
    from adjudge.models.names import read_name

    try:
        return read_name(name, _with_any_key(settings)).name
    except InputError:
        return None


def _with_any_key(settings: Settings) -> Any:
    """Settings with which a model can be named and priced, though nobody could ask it."""
    return msgspec.structs.replace(settings, keys=dict.fromkeys(KEYS, "none") | dict(settings.keys))
