"""What a killed `adjudge run` or `adjudge serve` leaves is removed by whoever comes next, and nothing of those who live."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from tests.agents.started import STORE, write_task
from tests.machines.conftest import sandboxed

from adjudge.settings import Settings
from adjudge.store.store import open_store
from adjudge.testing import make_record, make_run, says
from adjudge.wiring.folders import owned, remove_left, temporary_folder

__all__ = ["sandboxed"]

OWNER = """
import sys
from pathlib import Path
from adjudge.wiring.folders import owned, temporary_folder
def make():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True)
    return folder
with temporary_folder() as folder, owned(make):
    (folder / "home").mkdir()
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary folders, of this process and of those that it starts."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


def remove(tmp_path: Path) -> None:
    settings = Settings(store=str(tmp_path / STORE))
    with open_store(settings.store) as store:
        remove_left(settings, store)


@contextmanager
def killed_at_the_end(*words: object, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that is killed, and is seen to be dead, at the end."""
    process = subprocess.Popen(
        [sys.executable, *map(str, words)],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGKILL)


def line_of(process: subprocess.Popen[str], words: str) -> str:
    """The first line that these words stand in."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if words in line:
            return line.strip()
    raise AssertionError("".join(lines))


def test_what_a_killed_process_owned_is_removed_and_not_before(tmp_path: Path) -> None:
    workspace = tmp_path / STORE / "workspaces" / "t-command-1-0123abcd"
    with killed_at_the_end("-c", OWNER, workspace, folder=tmp_path) as owner:
        folder = Path(line_of(owner, "adjudge-run-"))
        remove(tmp_path)
        assert (folder / "home").is_dir()
        assert workspace.is_dir()
    assert (folder.is_dir(), workspace.is_dir()) == (True, True)
    remove(tmp_path)
    assert (folder.exists(), workspace.exists()) == (False, False)


def test_what_this_process_owns_stays(tmp_path: Path) -> None:
    def make() -> Path:
        (tmp_path / STORE / "workspaces" / "t-command-1-0123abcd").mkdir(parents=True)
        return tmp_path / STORE / "workspaces" / "t-command-1-0123abcd"

    with temporary_folder() as folder, owned(make) as workspace:
        remove(tmp_path)
        assert (folder.is_dir(), workspace.is_dir()) == (True, True)
    assert (folder.exists(), workspace.exists()) == (False, True)


def test_a_folder_that_was_removed_before_it_was_owned_is_made_anew(tmp_path: Path) -> None:
    made: list[Path] = []

    def make() -> Path:
        made.append(tmp_path / f"w-{len(made)}")
        if len(made) > 1:
            made[-1].mkdir()
        return made[-1]

    with owned(make) as folder:
        assert (folder, folder.is_dir()) == (tmp_path / "w-1", True)


def test_workspaces_with_files_and_those_of_stored_runs_stay(tmp_path: Path) -> None:
    place = tmp_path / STORE / "workspaces"
    filled, stored, other, left = (place / name for name in ("a-00000001", "b-00000002", "notes", "d-00000004"))
    for folder in (filled, stored, other, left):
        folder.mkdir(parents=True)
    (filled / "made.txt").write_text("made")
    (tmp_path / "link").symlink_to(tmp_path / STORE)
    run = msgspec.structs.replace(
        make_run(make_record(says("Done."))), workspace=str(tmp_path / "link/workspaces" / stored.name)
    )
    with open_store(tmp_path / STORE) as store:
        store.add_run(run)
    remove(tmp_path)
    assert [folder.exists() for folder in (filled, stored, other, left)] == [True, True, True, False]


def test_links_and_files_with_such_names_stay(tmp_path: Path, temporary: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("kept")
    (temporary / "adjudge-run-link").symlink_to(kept)
    (temporary / "adjudge-run-file").write_text("kept")
    remove(tmp_path)
    assert (kept / "file").is_file()
    assert (temporary / "adjudge-run-file").is_file()


@pytest.mark.slow
@pytest.mark.usefixtures("sandboxed")
def test_the_next_run_removes_what_a_killed_one_left_while_its_agent_worked(tmp_path: Path, temporary: Path) -> None:
    task = write_task(tmp_path, name="t")
    begin = ("-m", "adjudge", "run", "--store", STORE, task, "--agent", "command", "--rubric", "none", "--verbose", "--")
    with killed_at_the_end(*begin, "sh", "-c", "echo it is at work; tail -f /dev/null", folder=tmp_path) as first:
        line_of(first, "it is at work")
        (held,) = temporary.glob("adjudge-run-*")
        (empty,) = (tmp_path / STORE / "workspaces").iterdir()
        with killed_at_the_end(*begin, "sh", "-c", "true", folder=tmp_path) as beside:
            line_of(beside, "Kept as")
        assert (held.is_dir(), empty.is_dir()) == (True, True)
    assert (held.is_dir(), empty.is_dir()) == (True, True)
    with killed_at_the_end(*begin, "sh", "-c", "true", folder=tmp_path) as second:
        line_of(second, "Kept as")
        second.wait(60)
    assert (held.exists(), empty.exists()) == (False, False)
    assert [*temporary.iterdir()] == []


def test_a_server_that_starts_removes_what_was_left(tmp_path: Path) -> None:
    workspace = tmp_path / STORE / "workspaces" / "t-command-1-0123abcd"
    with killed_at_the_end("-c", OWNER, workspace, folder=tmp_path) as owner:
        folder = Path(line_of(owner, "adjudge-run-"))
    with killed_at_the_end("-m", "adjudge", "serve", "--store", STORE, "--port", 0, folder=tmp_path) as server:
        line_of(server, "http://")
    assert (folder.exists(), workspace.exists()) == (False, False)
