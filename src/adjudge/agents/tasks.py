"""Tasks: what an agent is asked to do, where, within which limits, and how its result is graded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from adjudge.agents.task_fields import (
    read_file,
    read_folder,
    read_image,
    read_limits,
    read_repository,
    read_revision,
    read_seconds,
)
from adjudge.errors import InputError
from adjudge.rubric.fields import read_text, refuse_unknown, told
from adjudge.rubric.syntax import LARGEST, read_data
from adjudge.settings import AgentLimits

FILE = "task.yaml"
"""The file by which a folder is a task."""

KEYS = (
    "instructions",
    "name",
    "machine",
    "limits",
    "grader",
    "context",
    "hidden_tests",
    "rubric",
    "gold_patch",
)
"""What a task's file may say; the last is dropped unread."""

MOST_TESTS = 100_000
"""Ids of tests of one task."""

_RIGHT = "a task is a mapping with instructions; long texts belong into files of its workspace"


class Place(msgspec.Struct, frozen=True, omit_defaults=True):
    """What lies on the machine before the agent starts: a folder, or a commit of a git repository; nothing by default.

    `git` is an absolute path or an address. With an `image` that is the machine, and folder or commit is put to
    `/workspace` there.
    """

    folder: Path | None = None
    git: str | None = None
    commit: str | None = None
    image: str | None = None


class Grader(msgspec.Struct, frozen=True, omit_defaults=True):
    """A command that says whether the task is solved: it is if the exit status is 0.

    `files` is a folder of the user's, which the agent never sees; `seconds` bound the command.
    """

    run: str
    files: Path | None = None
    seconds: float = 600.0


class Task(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an agent is given. `source` is the file; all paths are absolute.

    `context` and `hidden_tests` are for the judge alone (see `run.Run`). A reference solution has no field here, so that
    none can reach a prompt or a machine.
    """

    name: str
    instructions: str
    source: Path
    machine: Place = Place()
    limits: AgentLimits = AgentLimits()
    grader: Grader | None = None
    context: str | None = None
    hidden_tests: tuple[str, ...] = ()
    rubric: Path | None = None


def read_task(path: Path) -> Task:
    """The task in a file, or in the `task.yaml` of a folder.

    Raises:
        InputError: it is no such task; the message names the file, the place, what is wrong and what would be right.
    """
    source = path / FILE if path.is_dir() else path
    if path.is_dir() and not source.is_file():
        raise InputError(f"{path}: has no {FILE}; a folder is a task if one is in it")
    data = read_data(source, _RIGHT)
    if not isinstance(data, dict):
        raise InputError(f"{source}: must be a mapping with instructions, got {told(data)}")
    refuse_unknown(str(source), data, KEYS)
    task = _task(source, {key: value for key, value in data.items() if key != "gold_patch"})
    _refuse_given_away(task)
    return task


def _task(source: Path, data: dict[str, Any]) -> Task:
    at, base = str(source), source.absolute().parent
    if "instructions" not in data:
        raise InputError(f'{at}: "instructions" is missing; it must say what the agent shall do')
    return Task(
        name=_name(at, data.get("name", base.name if source.name == FILE else source.stem)),
        instructions=read_text(at, "instructions", data["instructions"], most=LARGEST),
        source=source.absolute(),
        machine=_place(f"{at}: machine", data["machine"], base) if "machine" in data else Place(),
        limits=read_limits(f"{at}: limits", data["limits"]) if "limits" in data else AgentLimits(),
        grader=_grader(at, data["grader"], base) if "grader" in data else None,
        context=read_text(at, "context", data["context"], most=LARGEST) if "context" in data else None,
        hidden_tests=_tests(at, data["hidden_tests"]) if "hidden_tests" in data else (),
        rubric=read_file(at, "rubric", data["rubric"], base) if "rubric" in data else None,
    )


def _refuse_given_away(task: Task) -> None:
    """The agent sees all that lies in its folder, and shall not see what it is judged by."""
    if task.machine.folder is None:
        return
    folder = task.machine.folder.resolve()
    kept = {"this file": task.source, '"rubric"': task.rubric, '"files" of the grader': task.grader and task.grader.files}
    for name, path in kept.items():
        if path and path.resolve().is_relative_to(folder):
            raise InputError(
                f'{task.source}: machine: "folder" must not hold {name}, which the agent would see; put its files into a '
                "folder of their own"
            )


def _name(at: str, value: Any) -> str:
    name = read_text(at, "name", value, most=100)
    if not name.isprintable():
        raise InputError(f'{at}: "name" must be one line that can be printed, got {name!a}')
    return name


def _place(at: str, value: Any, base: Path) -> Place:
    if not isinstance(value, dict):
        raise InputError(f"{at}: must be a mapping with folder, git or image, got {told(value)}")
    refuse_unknown(at, value, Place.__struct_fields__)
    if "folder" in value and "git" in value:
        raise InputError(f'{at}: "folder" and "git" exclude each other; both become the workspace')
    if ("git" in value) != ("commit" in value):
        raise InputError(f'{at}: "git" and "commit" go together: every attempt shall start from the same files')
    return Place(
        folder=read_folder(at, "folder", value["folder"], base) if "folder" in value else None,
        git=read_repository(at, value["git"], base) if "git" in value else None,
        commit=read_revision(at, value["commit"]) if "commit" in value else None,
        image=read_image(at, value["image"]) if "image" in value else None,
    )


def _grader(at: str, value: Any, base: Path) -> Grader:
    if isinstance(value, str):
        return Grader(read_text(at, "grader", value))
    at = f"{at}: grader"
    if not isinstance(value, dict):
        raise InputError(f"{at}: must be a command, or a mapping with run, got {told(value)}")
    refuse_unknown(at, value, Grader.__struct_fields__)
    if "run" not in value:
        raise InputError(f'{at}: "run" is missing; it must be the command that tells by its exit status')
    return Grader(
        read_text(at, "run", value["run"]),
        read_folder(at, "files", value["files"], base) if "files" in value else None,
        read_seconds(at, "seconds", value["seconds"]) if "seconds" in value else Grader("").seconds,
    )


def _tests(at: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InputError(f'{at}: "hidden_tests" must be a list of ids of tests, got {told(value)}')
    if len(value) > MOST_TESTS:
        raise InputError(f'{at}: "hidden_tests" has {len(value)} ids; at most {MOST_TESTS} are read')
    return tuple(dict.fromkeys(read_text(at, f"hidden_tests[{number}]", each) for number, each in enumerate(value)))
