"""Which paths may appear inside."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.errors import InputError
from adjudge.machines.places import check_exposed, check_place, check_placed


@pytest.mark.parametrize(
    "at", ["/workspace", "/root/repo", "/testbed", "/tmp/work", "/home/agent/repo", "/opt/app", "/app"]
)
def test_a_place_of_its_own_is_accepted(at: str) -> None:
    assert check_place(at) == at


@pytest.mark.parametrize(
    "at",
    [
        "", "relative", "/", "//", "//app", "/a/../b", "/a/", "/a//b", "/a/.", "/a\0b",
        "/usr", "/usr/local/x", "/etc", "/etc/x",
        "/proc/1", "/dev/x", "/dev", "/sys", "/bin", "/lib64/x", "/run/x", "/tmp", "/home", "/home/evaluator",
        "/home/evaluator/x",
        "/workspace/sub", "/boot",
    ],
)  # fmt: skip
def test_a_place_that_commands_need_is_refused(at: str) -> None:
    with pytest.raises(InputError, match="at"):
        check_place(at)


def test_what_is_visible_anyway_is_left_out_and_nothing_twice(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    workspace = tmp_path / "ws"
    workspace.mkdir()
    assert check_exposed(["/usr/bin", str(tools), str(tools)], workspace, "/workspace") == (str(tools),)


@pytest.mark.parametrize(
    "path",
    ["/", "/etc", "/proc", "/dev/shm", "/home", "relative", "/nonexistent", "/tmp", "/tmp/..", "/run", "/sys/kernel"],
)
def test_a_path_that_would_cover_something_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(InputError, match="expose"):
        check_exposed([path], tmp_path, "/workspace")


def test_nothing_of_the_workspace_can_be_a_toolchain(tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    (workspace / ".venv").mkdir(parents=True)
    (tmp_path / "link").symlink_to(workspace / ".venv")
    for path in (workspace / ".venv", workspace, tmp_path, tmp_path / "link"):
        with pytest.raises(InputError, match="overlaps the workspace"):
            check_exposed([str(path)], workspace, "/workspace")


def test_a_toolchain_cannot_be_where_the_workspace_appears(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    with pytest.raises(InputError, match="expose"):
        check_exposed([str(tools)], Path("/elsewhere"), str(tools))


def test_a_path_may_be_placed_where_nothing_else_is(tmp_path: Path) -> None:
    workspace, grader = tmp_path / "ws", tmp_path / "grader"
    grader.mkdir()
    (grader / "file").write_text("")
    placed = {"/grader": grader, "/tmp/grader/file": grader / "file"}
    assert check_placed(placed, workspace, (), "/workspace") == placed


@pytest.mark.parametrize(
    "inside",
    [
        "/",
        "relative",
        "/a/..",
        "/etc/x",
        "/usr/x",
        "/home/evaluator/x",
        "/home",
        "/workspace/x",
        "/tmp",
        "/opt/x/y",
        "/opt",
    ],
)
def test_it_cannot_be_placed_on_what_commands_need(tmp_path: Path, inside: str) -> None:
    (tmp_path / "grader").mkdir()
    with pytest.raises(InputError, match="placed"):
        check_placed({inside: tmp_path / "grader"}, tmp_path / "ws", ("/opt/x",), "/at")


def test_what_is_placed_is_there_and_apart_from_the_workspace_and_the_rest(tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    (workspace / "sub").mkdir(parents=True)
    for path in (tmp_path / "nothing", workspace / "sub", tmp_path):
        with pytest.raises(InputError, match="placed"):
            check_placed({"/grader": path}, workspace, (), "/workspace")
    (tmp_path / "a").mkdir()
    with pytest.raises(InputError, match="placed"):
        check_placed({"/grader": tmp_path / "a", "/grader/b": tmp_path / "a"}, workspace, (), "/workspace")
