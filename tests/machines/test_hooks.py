"""Which files of a workspace run by themselves or pose as a tool."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from adjudge.machines.files import Workspace
from adjudge.machines.hooks import hook_files


def found(folder: Path) -> tuple[str, ...]:
    workspace = Workspace(folder)
    try:
        return hook_files(workspace)
    finally:
        workspace.close()


def make(folder: Path, name: str, text: str = "", executable: bool = False) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755 if executable else 0o644)


@pytest.mark.parametrize(
    "name", ["conftest.py", "tests/deep/conftest.py", "sitecustomize.py", "lib/usercustomize.py", "venv/lib/x.pth"]
)
def test_python_hooks_are_found(tmp_path: Path, name: str) -> None:
    make(tmp_path, name)
    assert found(tmp_path) == (name,)


@pytest.mark.parametrize("name", ["pytest", "bin/git", ".local/bin/ls", "node_modules/.bin/node"])
def test_programs_that_pose_as_a_tool_are_found(tmp_path: Path, name: str) -> None:
    make(tmp_path, name, "#!/bin/sh\necho all tests passed\n", executable=True)
    assert found(tmp_path) == (name,)


def test_a_fresh_git_repository_has_none_and_a_hook_is_one(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    assert found(tmp_path) == ()
    make(tmp_path, ".git/hooks/pre-commit", "#!/bin/sh\n", executable=True)
    make(tmp_path, ".git/hooks/post-commit", "#!/bin/sh\n")
    assert found(tmp_path) == (".git/hooks/pre-commit",), "git runs only executable ones"


@pytest.mark.parametrize("setting", ["fsmonitor", "hooksPath"])
def test_a_git_setting_that_names_a_program_is_found(tmp_path: Path, setting: str) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, "config", f"core.{setting}", "./evil"], check=True)
    assert found(tmp_path) == (".git/config",)


def test_ordinary_files_are_none(tmp_path: Path) -> None:
    make(tmp_path, "src/cat.py")
    make(tmp_path, "docs/make")
    make(tmp_path, "run.sh", executable=True)
    make(tmp_path, ".git/hooks/pre-commit.sample", executable=True)
    (tmp_path / "link.pth").symlink_to("/etc/passwd")
    assert found(tmp_path) == ()


def test_of_many_the_first_twenty_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    for number in range(25):
        make(tmp_path, f"d{number:02}/conftest.py")
    names = found(tmp_path)
    assert len(names) == 21
    assert names[0] == "d00/conftest.py"
    assert names[-1] == "and 5 more"
