"""What `adjudge run` shall start, and what is refused before anything starts."""

from pathlib import Path
from typing import Any

import pytest
from tests.machines.docker_engine import IN_ONE_WORKER, docker, docker_engine, docker_image

from adjudge.agents.connections import launch_of
from adjudge.errors import InputError, MachineError
from adjudge.settings import Settings
from adjudge.wiring.planning import Asked, Started, plan

__all__ = ["docker", "docker_engine", "docker_image"]


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """A task's file, with a folder."""
    (tmp_path / "ws").mkdir()
    (tmp_path / "task.yaml").write_text("name: t\ninstructions: Do it.\nmachine: {folder: ws}\n")
    return tmp_path / "task.yaml"


async def planned(tmp_path: Path, *tasks: Path, **more: Any) -> tuple[Started, ...]:
    asked = {"agents": (("command", None),), "command": ("sh", "-c", "true"), "rubric": "none", **more}
    (tmp_path / "scratch").mkdir()
    return await plan(Asked(tasks, **asked), Settings(store=str(tmp_path / "store")), tmp_path / "scratch")


async def test_every_agent_attempts_every_task_so_many_times(task: Path, tmp_path: Path) -> None:
    started = await planned(tmp_path, task, attempts=3)
    assert [(each.assignment.task.name, each.assignment.number) for each in started] == [("t", 1), ("t", 2), ("t", 3)]


@IN_ONE_WORKER
async def test_in_an_image_a_commands_bare_name_means_a_program_of_the_image(
    task: Path, tmp_path: Path, docker: str, docker_image: str
) -> None:
    (started,) = await planned(tmp_path, task, image=docker_image, command=("only-in-the-image", "-x"))
    made = started.assignment
    launch = launch_of(made.connection, made.installation, "Do it.", None, "/home/agent", "/workspace")
    assert launch.arguments == ("/usr/bin/env", "only-in-the-image", "-x")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"agents": (("command", None), ("command", None))}, "is named twice"),
        ({"command": ()}, "runs what stands after `--`"),
        ({"command": ("no-such-program-here",)}, "no-such-program-here"),
        ({"records": ("../secret",)}, "--record '../secret'"),
        ({"rubric": None}, "names no rubric"),
        ({"agents": (("no-such-agent", None),), "command": ()}, "no-such-agent"),
        ({"agents": (("codex", None),), "command": ()}, "codex"),
    ],
)
async def test_what_cannot_be_started_is_refused_before_anything_starts(
    task: Path, tmp_path: Path, asked: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError) as refused:
        await planned(tmp_path, task, **asked)
    assert words in str(refused.value)


@IN_ONE_WORKER
async def test_an_image_that_is_not_there_is_refused_before_anything_starts(
    task: Path, tmp_path: Path, docker: str
) -> None:
    with_image = tmp_path / "image.yaml"
    with_image.write_text("name: i\ninstructions: Do it.\nmachine: {image: no-such:image}\n")
    with pytest.raises(InputError) as refused:
        await planned(tmp_path, task, with_image)
    assert f"{with_image}: image:no-such:image: there is no such image at {docker}" in str(refused.value)
    with pytest.raises(InputError, match="--machine: image:nor:this: there is no such image"):
        await plan(Asked((task,), (("command", None),), ("sh",), image="nor:this"), Settings(), tmp_path)


async def test_without_an_engine_no_task_in_an_image_is_planned(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    with pytest.raises(MachineError, match="Cannot connect to Docker Engine"):
        await planned(tmp_path, task, image="some:image")


async def test_a_rubric_without_a_model_to_judge_is_refused_before_the_agent_costs_anything(
    task: Path, tmp_path: Path
) -> None:
    (tmp_path / "rubric.yaml").write_text("- hello.txt is there.\n")
    with pytest.raises(InputError, match="needs a model to judge with"):
        await planned(tmp_path, task, rubric=str(tmp_path / "rubric.yaml"))


async def test_a_task_must_not_hold_the_store(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(f"instructions: Do it.\nmachine: {{folder: {tmp_path / 'project'}}}\n")
    (tmp_path / "project" / ".adjudge").mkdir(parents=True)
    asked = Asked((tmp_path / "task.yaml",), (("command", None),), ("sh",), rubric="none")
    with pytest.raises(InputError, match="holds the store"):
        await plan(asked, Settings(store=str(tmp_path / "project" / ".adjudge")), tmp_path)
