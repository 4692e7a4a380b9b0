"""A task's file is read as it is meant, or refused with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge.agents.tasks import Grader, Place, Task, read_task
from adjudge.errors import InputError
from adjudge.settings import AgentLimits


def written(folder: Path, text: str, name: str = "fix.yaml") -> Path:
    """A task's file with a workspace, a grader's files and a rubric beside it."""
    for each in ("ws", "hidden", "repo"):
        (folder / each).mkdir(exist_ok=True)
    (folder / "rubric.yaml").write_text("- The tests pass.\n")
    (folder / name).write_text(text)
    return folder / name


def read(folder: Path, text: str, name: str = "fix.yaml") -> Task:
    """The task in such a file."""
    return read_task(written(folder, text, name))


def test_instructions_are_enough(tmp_path: Path) -> None:
    task = read(tmp_path, "instructions: Fix the mean.\n")
    assert task == Task("fix", "Fix the mean.", tmp_path / "fix.yaml", Place(), AgentLimits())


FULL = """
name: The mean
instructions: |
  - Fix the mean.
  - Run the tests.
machine: { folder: ws, image: python:3.12-slim }
limits: { seconds: 90, memory: 2 GiB, processes: 64, output: 1 MB, disk: 1048576, files: 1000, requests: 20 }
grader: { run: sh check.sh, files: hidden, seconds: 5 }
context: The mean of nothing is an error.
hidden_tests: ["tests/test_a.py::test_new", "tests/test_a.py::test_new"]
rubric: rubric.yaml
"""


def test_a_task_can_say_all_of_it(tmp_path: Path) -> None:
    assert read(tmp_path, FULL) == Task(
        name="The mean",
        instructions="- Fix the mean.\n- Run the tests.",
        source=tmp_path / "fix.yaml",
        machine=Place(folder=tmp_path / "ws", image="python:3.12-slim"),
        limits=AgentLimits(
            seconds=90.0, memory=2147483648, processes=64, output=1000000, disk=1048576, files=1000, requests=20
        ),
        grader=Grader("sh check.sh", tmp_path / "hidden", 5.0),
        context="The mean of nothing is an error.",
        hidden_tests=("tests/test_a.py::test_new",),
        rubric=tmp_path / "rubric.yaml",
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("fix.json", json.dumps({"instructions": "Fix it.", "grader": "make test"})),
        ("fix.toml", 'instructions = "Fix it."\ngrader = "make test"\n'),
    ],
)
def test_toml_and_json_are_read_too_and_a_grader_may_be_a_command(tmp_path: Path, name: str, text: str) -> None:
    assert read(tmp_path, text, name).grader == Grader("make test", None, 600.0)


def test_a_folder_with_a_task_in_it_is_a_task_with_the_folders_name(tmp_path: Path) -> None:
    (tmp_path / "mean").mkdir()
    path = written(tmp_path / "mean", "instructions: Fix it.\nmachine: {folder: ws}\n", "task.yaml")
    assert read_task(tmp_path / "mean") == read_task(path)
    assert (read_task(path).name, read_task(path).machine.folder) == ("mean", tmp_path / "mean/ws")


def test_paths_start_at_the_tasks_file_and_not_where_the_command_is_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tasks").mkdir()
    written(tmp_path / "tasks", "instructions: Fix it.\nmachine: {folder: ws}\n")
    monkeypatch.chdir(tmp_path)
    task = read_task(Path("tasks/fix.yaml"))
    assert (task.machine.folder, task.source) == (tmp_path / "tasks/ws", tmp_path / "tasks/fix.yaml")


def test_a_reference_solution_is_dropped_unread(tmp_path: Path) -> None:
    task = read(tmp_path, "instructions: Fix it.\ngold_patch: [no, 7, {patch: SOLUTION}]\n")
    assert "SOLUTION" not in repr(task)


@pytest.mark.parametrize(
    "given",
    ["https://example.org/group/name.git", "ssh://git@example.org/name", "git@example.org:group/name.git", "file:///srv/x"],
)
def test_a_repository_may_be_an_address(tmp_path: Path, given: str) -> None:
    task = read(tmp_path, f"instructions: Fix it.\nmachine: {{git: '{given}', commit: 0a1b2c3}}\n")
    assert task.machine == Place(git=given, commit="0a1b2c3")


def test_a_repository_may_be_a_path(tmp_path: Path) -> None:
    task = read(tmp_path, "instructions: Fix it.\nmachine: {git: repo, commit: v1.0, image: x}\n")
    assert task.machine == Place(git=str(tmp_path / "repo"), commit="v1.0", image="x")


OK = "instructions: Fix it.\n"

REFUSED = {
    "": "must be a mapping with instructions, got nothing",
    "name: x\n": '"instructions" is missing',
    "instructions: 7\n": '"instructions" must be text, got 7; put it in quotes',
    f"{OK}instruction: x\n": '"instruction" is not known here',
    f'{OK}name: "a\\nb"\n': '"name" must be one line',
    f"{OK}machine: ws\n": "machine: must be a mapping with folder, git or image",
    f"{OK}machine: {{folders: ws}}\n": 'machine: "folders" is not known here; known are folder, git, commit, image',
    f"{OK}machine: {{folder: wz}}\n": 'machine: "folder" must be a path that exists',
    f"{OK}machine: {{folder: rubric.yaml}}\n": 'machine: "folder" must be a folder',
    f"{OK}machine: {{folder: ws, git: repo, commit: x}}\n": '"folder" and "git" exclude each other',
    f"{OK}machine: {{git: repo}}\n": '"git" and "commit" go together',
    f"{OK}machine: {{folder: ws, commit: x}}\n": '"git" and "commit" go together',
    f"{OK}machine: {{git: repo, commit: --upload-pack}}\n": '"commit" must be the id of a commit',
    f"{OK}machine: {{git: repo, commit: v1..v2}}\n": '"commit" must be the id of a commit',
    f"{OK}machine: {{git: 'ext::sh -c x', commit: x}}\n": '"git" must be a path that exists',
    f"{OK}machine: {{git: 'http://example.org/x', commit: x}}\n": "must be a path, or an address with https://",
    f"{OK}machine: {{git: 'https://me:hunter2@example.org/x', commit: x}}\n": "must hold no user and no password",
    f"{OK}machine: {{git: 'ssh://-oProxyCommand=x/y', commit: x}}\n": '"git" must name its host',
    f"{OK}machine: {{image: --privileged}}\n": '"image" must be the name of an image',
    f"{OK}limits: 5\n": "limits: must be a mapping",
    f"{OK}limits: {{patience: 5}}\n": 'limits: "patience" is not known here',
    f"{OK}limits: {{seconds: 0}}\n": '"seconds" must be a number of seconds above 0, got 0',
    f"{OK}limits: {{seconds: .nan}}\n": '"seconds" must be a number of seconds above 0',
    f"{OK}limits: {{seconds: true}}\n": '"seconds" must be a number of seconds above 0, got true',
    f"{OK}limits: {{memory: 2 GIGS}}\n": '"memory" must be a size, in bytes or as in "2 GiB"',
    f"{OK}limits: {{memory: -1}}\n": '"memory" must be a size',
    f"{OK}limits: {{disk: 9999999 TiB}}\n": '"disk" must be a size',
    f"{OK}limits: {{requests: 1.5}}\n": '"requests" must be a whole number above 0, got 1.5',
    f"{OK}grader: []\n": "grader: must be a command",
    f"{OK}grader: {{files: hidden}}\n": 'grader: "run" is missing',
    f"{OK}grader: {{run: x, files: nowhere}}\n": 'grader: "files" must be a path that exists',
    f"{OK}hidden_tests: a\n": '"hidden_tests" must be a list of ids',
    f"{OK}rubric: ws\n": '"rubric" must be a file',
    f"{OK}machine: {{folder: .}}\n": '"folder" must not hold this file, which the agent would see',
    f"{OK}machine: {{folder: hidden}}\ngrader: {{run: x, files: hidden}}\n": 'must not hold "files" of the grader',
    f"{OK}context: *x\n": "aliases (*x) are not read here",
    f"{OK}context: {'[' * 20}{']' * 20}\n": "is nested too deeply; a task is a mapping",
    f"{OK}context: {'x' * 1_000_000}\n": "is larger than 1000000 bytes; a task is a mapping",
}


@pytest.mark.parametrize(("text", "words"), REFUSED.items(), ids=lambda value: value[:40])
def test_what_is_wrong_is_refused_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError) as raised:
        read(tmp_path, text)
    assert str(raised.value).startswith(f"{tmp_path}/fix.yaml: ")
    assert words in str(raised.value)


def test_a_password_is_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        read(tmp_path, f"{OK}machine: {{git: 'https://me:hunter2@example.org/x', commit: x}}\n")
    assert "hunter2" not in str(raised.value)


def test_a_folder_without_a_task_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no task\.yaml"):
        read_task(tmp_path)


def test_a_link_does_not_hide_that_the_agent_would_see_the_rubric(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws/rubric.yaml").write_text("- x\n")
    (tmp_path / "beside.yaml").symlink_to("ws/rubric.yaml")
    (tmp_path / "fix.yaml").write_text(f"{OK}machine: {{folder: ws}}\nrubric: beside.yaml\n")
    with pytest.raises(InputError, match='must not hold "rubric"'):
        read_task(tmp_path / "fix.yaml")
