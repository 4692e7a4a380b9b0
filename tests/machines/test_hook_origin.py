"""Whether the agent or the task put a hook there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from adjudge.machines.hook_origin import compare
from adjudge.machines.hooks import hooks_in


@pytest.fixture
def original(tmp_path: Path) -> Path:
    folder = tmp_path / "original"
    folder.mkdir()
    (folder / "conftest.py").write_text("import pytest\n")
    (folder / "pytest").write_text("#!/bin/sh\n")
    (folder / "pytest").chmod(0o755)
    (folder / "make").write_text("#!/bin/sh\n")
    (folder / "other.py").write_text("")
    (folder / "tests").mkdir()
    (folder / "tests/conftest.py").symlink_to("../conftest.py")
    return folder


def origins(left: Path, original: Path | None) -> dict[str, str | None]:
    return {hook.path: hook.by for hook in compare(hooks_in(left).hooks, left, original)}


def test_hooks_are_the_tasks_as_long_as_nobody_changes_them(original: Path, tmp_path: Path) -> None:
    left = shutil.copytree(original, tmp_path / "left", symlinks=True)
    assert origins(left, original) == dict.fromkeys(("conftest.py", "pytest", "tests/conftest.py"), "task")


def test_what_the_agent_made_or_changed_is_the_agents(original: Path, tmp_path: Path) -> None:
    left = shutil.copytree(original, tmp_path / "left", symlinks=True)
    (left / "conftest.py").write_text("import pytesT\n")
    (left / "sitecustomize.py").write_text("")
    (left / "make").chmod(0o755)
    (left / "tests/conftest.py").unlink()
    (left / "tests/conftest.py").symlink_to("../other.py")
    agents = dict.fromkeys(("conftest.py", "sitecustomize.py", "make", "tests/conftest.py"), "agent")
    assert origins(left, original) == {**agents, "pytest": "task"}


def test_a_link_whose_file_was_changed_is_the_agents(original: Path, tmp_path: Path) -> None:
    left = shutil.copytree(original, tmp_path / "left", symlinks=True)
    (left / "conftest.py").write_text("changed\n")
    assert origins(left, original)["tests/conftest.py"] == "agent"


def test_without_an_original_nobody_knows(original: Path) -> None:
    assert set(origins(original, None).values()) == {None}


def test_a_link_out_of_the_workspace_is_nobodys(original: Path, tmp_path: Path) -> None:
    (original / "python").symlink_to("/workspace/bin/x")
    left = shutil.copytree(original, tmp_path / "left", symlinks=True)
    assert origins(left, original)["python"] is None
