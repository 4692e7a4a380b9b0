from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from adjudge.judgment import Judgment
from adjudge.rubric import Rubric
from adjudge.run import Run
from adjudge.store.store import Store
from adjudge.store.workspace import fingerprint


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "src").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "src" / "main.py").write_text("print(1)\n")
    (folder / "link").symlink_to("src/main.py")
    return folder


def test_a_workspace_that_was_left_alone_looks_the_same(workspace: Path) -> None:
    assert fingerprint(str(workspace)) == fingerprint(str(workspace))


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "src" / "main.py").write_text("print(22)\n"),
        lambda folder: os.utime(folder / "src" / "main.py", ns=(1, 1)),
        lambda folder: (folder / "src" / "main.py").chmod(0o755),
        lambda folder: (folder / "src" / "main.py").rename(folder / "src" / "other.py"),
        lambda folder: (folder / "new").mkdir(),
        lambda folder: [(folder / "link").unlink(), (folder / "link").symlink_to("/etc/passwd")],
    ],
    ids=["content", "time", "mode", "name", "new", "link"],
)
def test_a_change_shows(workspace: Path, change: object) -> None:
    before = fingerprint(str(workspace))
    assert callable(change)
    change(workspace)
    assert fingerprint(str(workspace)) != before


def test_looking_with_git_is_no_change(workspace: Path) -> None:
    before = fingerprint(str(workspace))
    (workspace / ".git" / "index").write_text("refreshed")
    assert fingerprint(str(workspace)) == before


def test_a_folder_that_is_gone_has_no_fingerprint(tmp_path: Path) -> None:
    assert fingerprint(str(tmp_path / "gone")) is None


def test_the_store_says_whether_the_workspace_changed_since_the_judgment(
    store: Store, run: Run, rubric: Rubric, judgment: Judgment, workspace: Path
) -> None:
    store.add_run(msgspec.structs.replace(run, workspace=str(workspace)))
    store.add_judgment(judgment, rubric)
    assert store.workspace_changed(judgment.id) is False
    (workspace / "src" / "main.py").unlink()
    assert store.workspace_changed(judgment.id) is True


def test_without_a_workspace_nothing_tells(stored: Store, judgment: Judgment) -> None:
    assert stored.workspace_changed(judgment.id) is None
