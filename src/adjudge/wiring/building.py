"""A run that a person builds field by field: the same task and the same command as `adjudge run` would be given."""

from __future__ import annotations

import os
import re
import shlex
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from adjudge.agents.connections import COMMAND
from adjudge.agents.tasks import FILE
from adjudge.errors import InputError, OutsideError
from adjudge.rubric.reading import read_rubric
from adjudge.rubric.writing import rubric_text, yaml_text
from adjudge.store.blobs import make_closed_folder
from adjudge.wiring.inputs import known_rubric
from adjudge.wiring.planning import Asked, workspaces

if TYPE_CHECKING:
    from adjudge.rubric import Rubric
    from adjudge.settings import Settings
    from adjudge.store.store import Store

Text = Annotated[str, msgspec.Meta(max_length=200_000)]
Line = Annotated[str, msgspec.Meta(max_length=4_096)]
Word = Annotated[str, msgspec.Meta(max_length=300)]
Lines = Annotated[tuple[Line, ...], msgspec.Meta(max_length=50)]
Files = Literal["none", "folder", "git"]

NONE = "none"
"""The rubric that is none: the process alone is judged."""
OF_FILE = "file"
"""The rubric that lies in a file of this machine."""
RUBRIC = "rubric.yaml"
LONGEST_NAME = 40
"""Characters of a task's name that is made of its instructions."""


class Chosen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An agent and its model."""

    agent: Line
    model: Word | None = None


class Build(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that is chosen. What is not is `None`, and then as in a task's file or on the command line.

    Paths are absolute, on the machine on which adjudge runs, or begin with `~/`. `rubric` is the hash of one that is kept
    or comes with adjudge, `file` for the one in `rubric_file`, or `none`. `command` is what the agent `command` runs, as a
    shell reads it. `model`, `looks` and `budget` are the judge's.
    """

    instructions: Text | None = None
    name: Word | None = None
    files: Files = "none"
    folder: Line | None = None
    git: Line | None = None
    commit: Word | None = None
    image: Word | None = None
    grader: Line | None = None
    grader_files: Line | None = None
    seconds: float | None = None
    memory: Word | None = None
    requests: int | None = None
    context: Text | None = None
    agents: Annotated[tuple[Chosen, ...], msgspec.Meta(max_length=20)] = ()
    command: Line | None = None
    records: Lines = ()
    variables: Lines = ()
    attempts: Annotated[int, msgspec.Meta(ge=1, le=50)] | None = None
    jobs: Annotated[int, msgspec.Meta(ge=1, le=16)] | None = None
    keep: bool = True
    rubric: Word = NONE
    rubric_file: Line | None = None
    model: Word | None = None
    looks: Annotated[int, msgspec.Meta(ge=1, le=1_000)] | None = None
    budget: Annotated[float, msgspec.Meta(gt=0, le=1e6)] | None = None


def settings_for(build: Build, settings: Settings) -> Settings:
    """The settings with what was chosen for the judge."""
    chosen = {"model": build.model, "looks": build.looks, "budget": build.budget}
    return msgspec.structs.replace(settings, **{name: value for name, value in chosen.items() if value is not None})


# --- the task


def task_of(build: Build) -> dict[str, Any]:
    """The task as its file would hold it: only what was chosen."""
    files = {"folder": at_home(build.folder)} if build.files == "folder" else {}
    files |= {"git": at_home(build.git), "commit": build.commit} if build.files == "git" else {}
    task = {
        "name": name_of(build),
        "instructions": build.instructions,
        "machine": _set({**files, "image": build.image}),
        "limits": _set({"seconds": build.seconds, "memory": build.memory, "requests": build.requests}),
        "grader": _grader(build),
        "context": build.context,
    }
    return {key: value for key, value in task.items() if value not in (None, {})}


def task_text(build: Build) -> str:
    """The task's file."""
    return yaml_text(task_of(build))


def name_of(build: Build) -> str:
    """The task's name: the one given, else the beginning of its instructions."""
    if build.name:
        return build.name
    words = re.sub(r"[^\w.-]+", "-", (build.instructions or "")[:200].strip().partition("\n")[0]).strip("-._")
    whole = words if len(words) <= LONGEST_NAME else words[:LONGEST_NAME].rpartition("-")[0] or words[:LONGEST_NAME]
    return whole.strip("-._") or "task"


def at_home(path: str | None) -> str | None:
    """A path with the home that `~/` stands for."""
    return os.path.expanduser(path) if path and path.startswith("~/") else path


def _grader(build: Build) -> dict[str, Any] | str | None:
    if build.grader_files is None:
        return build.grader
    return _set({"run": build.grader, "files": at_home(build.grader_files)})


def _set(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


# --- what is asked


def rubric_of(build: Build, store: Store) -> Rubric | None:
    """The rubric that was chosen, `None` for none.

    Raises:
        InputError: there is no such rubric, or it is one of dimensions, which is for a reader.
        OutsideError: it is damaged, or cannot be read.
    """
    if build.rubric == NONE:
        return None
    if build.rubric == OF_FILE:
        path = at_home(build.rubric_file) or ""
        if not path.startswith("/"):
            raise InputError("rubric: must be the absolute path of a file on the machine on which adjudge runs")
        rubric = read_rubric(Path(path))
    else:
        rubric = known_rubric(build.rubric, store)
    if rubric.dimensions:
        raise InputError(f"rubric {rubric.name!r}: holds dimensions, which a reader scores; a run is judged by criteria")
    return rubric


def asked_of(build: Build, task: Path, rubric: str) -> Asked:
    """What `adjudge run` would be asked. Raises InputError if the command cannot be taken apart."""
    agents = tuple((at_home(each.agent) or "", each.model) for each in build.agents)
    return Asked(
        tasks=(task,),
        agents=agents,
        command=words_of(build) if any(name == COMMAND for name, _ in agents) else (),
        records=build.records,
        attempts=build.attempts or 1,
        jobs=build.jobs or 1,
        rubric=rubric,
        variables=build.variables,
        keep=build.keep,
    )


def words_of(build: Build) -> tuple[str, ...]:
    """The words of the command. Raises InputError if a quote is open."""
    try:
        return tuple(shlex.split(build.command or ""))
    except ValueError as error:
        raise InputError(f"command: {error}; it is taken apart as a shell does, and run without one") from error


def command_of(asked: Asked, build: Build) -> str:
    """The command that does the same."""
    words = ["adjudge", "run", *map(str, asked.tasks)]
    for name, model in asked.agents:
        words += ["--agent", f"{name}={model}" if model else name]
    words += ["--rubric", asked.rubric or NONE]
    numbers = (("--attempts", asked.attempts, 1), ("--jobs", asked.jobs, 1), ("--looks", build.looks, None))
    for option, value, usual in (*numbers, ("--budget", build.budget, None), ("--model", build.model, None)):
        words += [option, f"{value:g}" if isinstance(value, float) else str(value)] if value not in (usual, None) else []
    words += [part for name in asked.variables for part in ("--env", name)]
    words += [part for path in asked.records for part in ("--record", path)]
    words += [] if asked.keep else ["--destroy"]
    return shlex.join([*words, *(["--", *asked.command] if asked.command else [])])


# --- files


def folder_of(build: Build, settings: Settings, rubric: Rubric | None) -> Path:
    """The folder in which the task is kept: beside the workspaces, named by what is in it."""
    content = sha256(f"{task_text(build)}\0{rubric.hash if rubric else NONE}".encode("utf-8", "surrogatepass"))
    name = re.sub(r"[^A-Za-z0-9.]+", "-", name_of(build)).strip("-.")[:60]
    return workspaces(settings).parent / "tasks" / f"{name or 'task'}-{content.hexdigest()[:8]}"


def keep_files(folder: Path, build: Build, rubric: Rubric | None) -> None:
    """Write the task and its rubric, so that the command can be given again.

    Raises:
        OutsideError: they cannot be written.
    """
    texts = {FILE: task_text(build)} | ({RUBRIC: rubric_text(rubric)} if rubric else {})
    try:
        make_closed_folder(folder.parent.parent)
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutsideError(f"{folder}: {error.strerror or error}") from error


def told_of(build: Build, folder: Path, rubric: Rubric | None) -> Asked:
    """What is asked once the files are kept in a folder. Raises InputError as `asked_of`."""
    return asked_of(build, folder / FILE, str(folder / RUBRIC) if rubric else NONE)
