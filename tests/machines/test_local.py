"""The local machine: what is inside, where, and what its facts say."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import InputError, MachineError
from adjudge.machines import local, selftest
from adjudge.machines.local import LocalMachine
from adjudge.machines.selftest import Check
from adjudge.settings import MachineLimits

Opening = Callable[..., LocalMachine]


async def test_the_environment_holds_nothing_of_the_judges(machine: LocalMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-secret")
    names = {line.partition("=")[0] for line in (await machine.run("env")).text.splitlines()}
    assert names == {
        "PATH", "HOME", "USER", "LANG", "TERM", "PAGER", "PYTHONDONTWRITEBYTECODE", "PYTHONNOUSERSITE", "PWD", "SHLVL", "_",
        "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0", "GIT_CONFIG_KEY_1", "GIT_CONFIG_VALUE_1",
    }  # fmt: skip


async def test_programs_come_from_the_host_and_never_from_the_workspace(
    scene: Any, sandboxed: None, tmp_path: Path
) -> None:
    folder = tmp_path / "trap"
    (folder / "bin").mkdir(parents=True)
    for name in ("ls", "bin/ls", "bin/cat"):
        (folder / name).write_text("#!/bin/sh\necho all tests passed\n")
        (folder / name).chmod(0o755)
    async with LocalMachine(folder) as machine:
        assert (await machine.run("type -P ls cat; ls")).text == "/usr/bin/ls\n/usr/bin/cat\nbin\nls\n"
        assert (await machine.run("touch /usr/bin/x /usr/local/bin/x")).exit_status == 1


async def test_what_only_the_owner_may_read_can_be_read(machine: LocalMachine) -> None:
    assert (await machine.run("cat private; stat -c %U:%a private")).text == "for the owner alone\nevaluator:600\n"


async def test_files_of_every_owner_are_at_hand_when_root_judges(scene: Any, sandboxed: None, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    folder = tmp_path / "of_another"
    folder.mkdir()
    for name, owner in (("his", 1000), ("roots", 0)):
        (folder / name).write_text(f"{name}\n")
        (folder / name).chmod(0o600 if owner else 0o644)
        os.chown(folder / name, owner, owner)
    os.chown(folder, 1000, 1000)
    async with LocalMachine(folder) as machine:
        assert (await machine.run("cat his roots; echo new > his; cat his")).text == "his\nroots\nnew\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit and one change since, which another user owns if that can be arranged."""
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "file").write_text("one\n")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "first"], check=True)
    (tmp_path / "file").write_text("two\n")
    if os.geteuid() == 0:
        for path in (tmp_path / ".git", tmp_path / ".git" / "config"):
            os.chown(path, 4321, 4321)
    return tmp_path


async def test_git_works_although_the_repository_has_another_owner(sandboxed: None, repository: Path) -> None:
    async with LocalMachine(repository) as machine:
        output = await machine.run("git log --format=%s; git status --short; git diff | tail -n 2")
        assert output.text == "first\n M file\n-one\n+two\n"


async def test_a_test_run_leaves_no_bytecode_for_git_to_show(sandboxed: None, tmp_path: Path) -> None:
    (tmp_path / "mod.py").write_text("x = 1\n")
    async with LocalMachine(tmp_path) as machine:
        assert (await machine.run("python3 -c 'import mod'; ls -A")).text == "mod.py\n"


async def test_the_workspace_appears_where_the_agent_worked(opened: Opening) -> None:
    machine = opened(at="/home/agent/repo")
    output = await machine.run(
        "pwd; cat /home/agent/repo/keep.txt /workspace/keep.txt; echo new > keep.txt; cat /workspace/keep.txt"
    )
    assert output.text == "/home/agent/repo\noriginal\noriginal\nnew\n"
    assert (await machine.read("/home/agent/repo/keep.txt")).data == b"original\n"
    assert (await machine.read("/workspace/keep.txt")).data == b"original\n"
    assert machine.facts["at"] == "/home/agent/repo"


@pytest.mark.parametrize("at", ["/root/repo", "/testbed", "/tmp/work", "/srv/a/b", "/Users/x/y z"])
async def test_it_may_appear_in_many_places(opened: Opening, at: str) -> None:
    assert (await opened(at=at).run("pwd; cat keep.txt")).text == f"{at}\noriginal\n"


async def test_an_exposed_toolchain_is_found_first_and_cannot_be_changed(opened: Opening, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    (tools / "bin").mkdir(parents=True)
    (tools / "bin" / "greet").write_text("#!/bin/sh\necho hello\n")
    (tools / "bin" / "greet").chmod(0o755)
    machine = opened(expose=(str(tools),))
    output = await machine.run(f"greet; type -P greet; echo x > {tools}/bin/greet; greet; ls {tmp_path}")
    assert output.text.startswith(f"hello\n{tools}/bin/greet\n")
    assert output.text.endswith("Read-only file system\nhello\ntools\n")
    assert (tools / "bin" / "greet").read_text() == "#!/bin/sh\necho hello\n"


async def test_a_file_of_the_host_can_be_placed_at_another_path(scene: Any, sandboxed: None, tmp_path: Path) -> None:
    grader = tmp_path / "grader"
    grader.mkdir()
    (grader / "check").write_text("expected\n")
    placed = {"/grader": grader, "/srv/one": grader / "check"}
    async with LocalMachine(scene.workspace, placed=placed) as machine:
        output = await machine.run(f"cat /grader/check /srv/one; touch /grader/x /srv/one; ls {tmp_path}")
        assert output.text.startswith("expected\nexpected\n")
        assert output.text.count("cannot touch") == 2
    assert [path.name for path in grader.iterdir()] == ["check"]


async def test_this_interpreter_can_be_exposed_wherever_it_is_installed(opened: Opening) -> None:
    if sys.base_prefix.startswith("/usr"):
        pytest.skip("this Python is the system's, which is visible anyway")
    output = await opened(expose=(sys.base_prefix,)).run("python3 -c 'import sys, json, ssl; print(sys.prefix)'")
    assert output.text == f"{sys.base_prefix}\n"


async def test_localhost_has_a_name_and_the_user_too(machine: LocalMachine) -> None:
    program = (
        "import getpass, os, socket; print(getpass.getuser(), os.path.expanduser('~'), socket.gethostbyname('localhost'))"
    )
    assert (await machine.run(f'python3 -c "{program}"')).text == "evaluator /home/evaluator 127.0.0.1\n"


async def test_disk_and_inodes_are_bounded_for_all_places_together(opened: Opening) -> None:
    machine = opened(MachineLimits(disk=8 << 20, files=200))
    output = await machine.run(
        "head -c 5M /dev/zero > /tmp/a; head -c 5M /dev/zero > b; stat -c %s /tmp/a; du -m b | cut -f1"
    )
    assert "No space left" in output.text
    assert int(output.text.split()[-1]) < 4
    assert "No space left" in (await machine.run("rm /tmp/a b; for i in {1..300}; do echo > f$i; done")).text


async def test_the_time_asked_for_is_at_most_ten_times_the_usual(opened: Opening) -> None:
    output = await opened(MachineLimits(seconds=0.1)).run("sleep 60", seconds=1000)
    assert output.ended == "time"
    assert 0.9 < output.seconds < 3


@pytest.mark.parametrize("command", ["", "  ", "echo \0", "echo \ud800", "echo " + "x" * 131_072])
async def test_a_command_that_cannot_be_one_is_refused(opened: Opening, command: str) -> None:
    with pytest.raises(InputError, match="command"):
        await opened().run(command)


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
async def test_a_time_that_is_none_is_refused(opened: Opening, seconds: float) -> None:
    with pytest.raises(InputError, match="seconds"):
        await opened().run("true", seconds=seconds)


@pytest.mark.parametrize("sign", ["x", "é", "\x01", "\n", "\\"])
async def test_the_longest_command_runs(machine: LocalMachine, sign: str) -> None:
    command = "true " + sign * ((local.LONGEST_COMMAND - 5) // len(sign.encode()))
    assert (await machine.run(command)).exit_status == 0


def version_of_bubblewrap() -> str:
    return subprocess.run(["bwrap", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]


async def test_facts_tell_how_commands_were_run(machine: LocalMachine) -> None:
    await machine.run("true")
    facts = machine.facts
    assert facts["kind"] == "local"
    assert facts["privileges"] == ("root" if os.geteuid() == 0 else "user")
    assert facts["bubblewrap"] == version_of_bubblewrap()
    assert isinstance(facts["landlock"], int)
    assert facts["memory limit"] in ("cgroup", "rlimit")
    assert facts["view"] in ("overlay", "copy")
    assert isinstance(facts["fresh sandbox per command"], bool)


async def test_facts_tell_which_files_run_by_themselves(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "conftest.py").write_text("")
    async with await LocalMachine.open(tmp_path) as machine:
        assert machine.facts["hooks"] == "conftest.py, tests/conftest.py"
        assert machine.facts["hooks complete"]
        assert [hook.path for hook in machine.hooks] == ["conftest.py", "tests/conftest.py"]


async def test_where_no_sandbox_holds_nothing_is_run_and_files_are_read(
    scene: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing() -> tuple[None, tuple[Check, ...]]:
        return None, (Check("sandbox", True), Check("no network", False, "a command reached out", "stay away"))

    monkeypatch.setattr(selftest, "self_test", failing)
    monkeypatch.setattr(selftest, "_known", {})
    async with LocalMachine(scene.workspace) as machine:
        with pytest.raises(MachineError, match="no network: a command reached out; stay away"):
            await machine.run("true")
        assert (await machine.read("keep.txt")).data == b"original\n"


async def test_without_bubblewrap_the_message_says_what_to_install(scene: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(selftest, "_known", {})
    async with LocalMachine(scene.workspace) as machine:
        with pytest.raises(MachineError, match="install the package `bubblewrap`"):
            await machine.run("true")


async def test_a_cancelled_close_goes_on(machine: LocalMachine, processes_with: Callable[[str], list[int]]) -> None:
    number = f"87654{os.getpid()}"
    await machine.run(f"(setsid sleep {number} &)")
    closing = asyncio.ensure_future(machine.close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    await machine.close()
    assert not processes_with(number)


async def test_a_machine_that_is_lost_says_so(machine: LocalMachine, processes_with: Callable[[str], list[int]]) -> None:
    number = f"76543{os.getpid()}"
    await machine.run(f"(setsid sleep {number} &)")
    machine._session._process.kill()  # type: ignore[union-attr]  # the helper, as the kernel's out-of-memory killer might
    for _ in range(2):
        with pytest.raises(MachineError, match="the machine was lost"):
            await machine.run("true")
    for _ in range(100):
        if not processes_with(number):
            break
        await asyncio.sleep(0.02)
    assert not processes_with(number)


async def test_two_machines_know_nothing_of_each_other(opened: Opening) -> None:
    first, second = opened(), opened()
    await first.run("echo first > keep.txt; (sleep 60 &)")
    assert (await second.run("cat keep.txt; pgrep sleep")).text == "original\n"
