"""A machine on a container or an image: what it is opened on, that it changes nothing, and what it leaves behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from tests.machines.docker_engine import IN_ONE_WORKER, ask, container_with, left_in

from adjudge.errors import InputError, MachineError
from adjudge.machines.cgroups import start_of
from adjudge.machines.docker import DockerMachine
from adjudge.machines.docker_container import Bounds, hardened
from adjudge.machines.docker_engine import LABEL, TEMPORARY, Engine, is_dead, judge
from adjudge.machines.docker_selftest import container_checks
from adjudge.machines.docker_watch import status_of
from adjudge.settings import MachineLimits

pytestmark = IN_ONE_WORKER

LIMITS = MachineLimits(seconds=10.0, memory=256 << 20, processes=64, output=16 << 10, disk=1 << 20, files=1000)


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """A workspace as an agent left it."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "hello.txt").write_text("hello\n")
    (tmp_path / "sub" / "conftest.py").write_text("")
    return tmp_path


Making = Callable[..., str]


@pytest.fixture
def made(docker: str, left: Path) -> Iterator[Making]:
    """Makes containers with the workspace, which are removed at the end; returns what they are judged as."""
    names: list[str] = []

    def make(**settings: object) -> str:
        names.append(container_with(docker, left, **settings))
        return f"docker:{names[-1]}"

    yield make
    for name in names:
        ask(docker, "DELETE", f"containers/{name}", force="1", v="1")


# --- what it is opened on


async def test_an_image_is_judged_as_it_is(docker: str, docker_image: str) -> None:
    before = ask(docker, "GET", f"images/{docker_image}/json")
    async with await DockerMachine.open(f"image:{docker_image}", LIMITS, "/etc") as machine:
        assert (await machine.read("group")).data.startswith(b"root:x:0:")
        assert (await machine.run("pwd; id -u; echo x > group; cat group")).text == "/etc\n0\nx\n"
        assert (await machine.run("head -c 4 group", fresh=True)).text == "root"
    assert ask(docker, "GET", f"images/{docker_image}/json") == before


async def test_a_program_that_was_put_in_the_place_of_another_is_told(made: Making, docker: str) -> None:
    script = "printf '#!/bin/sh\\necho 3 passed\\n' > /usr/local/bin/pytest; chmod +x /usr/local/bin/pytest"
    name = made(Cmd=["bash", "-c", f"mkdir -p /usr/local/bin; {script}"], User="0:0")
    container = name.removeprefix("docker:")
    ask(docker, "POST", f"containers/{container}/start")
    ask(docker, "POST", f"containers/{container}/wait")
    async with await DockerMachine.open(name, LIMITS) as machine:
        assert machine.facts["programs changed"] == "/usr/local/bin/pytest"
        assert (await machine.run("pytest")).text == "3 passed\n"


async def test_what_was_not_touched_is_not_told(made: Making) -> None:
    async with await DockerMachine.open(made(), LIMITS) as machine:
        assert "programs changed" not in machine.facts


async def test_a_running_container_goes_on_and_is_not_changed(made: Making, docker: str) -> None:
    name = made(Cmd=["bash", "-c", "echo $$ > /workspace/alive; sleep 600"], HostConfig={"NetworkMode": "none"})
    container = name.removeprefix("docker:")
    ask(docker, "POST", f"containers/{container}/start")
    for _ in range(100):  # nothing tells when its first command has run
        changes = ask(docker, "GET", f"containers/{container}/changes")
        if any(change["Path"] == "/workspace/alive" for change in changes or ()):
            break
    async with await DockerMachine.open(name, LIMITS) as machine:
        assert (await machine.read("alive")).data == b"1\n"
        assert (await machine.run("rm -r ./*; ls; pgrep -c sleep")).text == "0\n"
    after = ask(docker, "GET", f"containers/{container}/changes")
    assert sorted(map(str, after)) == sorted(map(str, changes))
    assert ask(docker, "GET", f"containers/{container}/json")["State"]["Status"] == "running"


async def test_absolute_paths_of_the_container_lead_to_the_same_files(made: Making) -> None:
    async with await DockerMachine.open(made(), LIMITS) as machine:
        assert (await machine.read("/workspace/hello.txt")).data == b"hello\n"
        assert [item.name for item in (await machine.list("/workspace/sub"))[0]] == ["conftest.py"]
        assert (await machine.search("hello", "/workspace")).total == 1
        assert machine.facts["at"] == "/workspace"
        assert machine.facts["hooks"] == "sub/conftest.py"


async def test_commands_run_as_the_containers_user_without_any_capability(made: Making) -> None:
    for user, uid in (("1000:1000", "1000"), ("nobody", "65534"), ("", "0")):
        async with await DockerMachine.open(made(User=user), LIMITS) as machine:
            output = await machine.run("id -u; grep -E 'CapEff|NoNewPrivs' /proc/self/status")
            assert output.text == f"{uid}\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\n"


async def test_variables_of_the_container_are_kept(made: Making) -> None:
    async with await DockerMachine.open(made(Env=["PATH=/opt/bin:/usr/bin:/bin", "TOOL=x"]), LIMITS) as machine:
        assert (await machine.run("echo $PATH $TOOL")).text == "/opt/bin:/usr/bin:/bin x\n"


async def test_a_home_that_somebody_prepared_is_not_taken(made: Making, docker: str) -> None:
    name = made(Cmd=["bash", "-c", "mkdir -p /home/evaluator; echo forged > /home/evaluator/.gitconfig"], User="0")
    finish(docker, name)
    async with await DockerMachine.open(name, LIMITS) as machine:
        assert (await machine.run("echo $HOME; ls -A ~")).text == "/home/evaluator-1\n"


def finish(docker: str, name: str) -> None:
    container = name.removeprefix("docker:")
    ask(docker, "POST", f"containers/{container}/start")
    assert ask(docker, "POST", f"containers/{container}/wait")["StatusCode"] == 0


async def test_an_image_without_bash_has_its_commands_run_by_sh(made: Making, docker: str) -> None:
    name = made(Cmd=["rm", "/usr/bin/bash"], User="0")
    finish(docker, name)
    async with await DockerMachine.open(name, LIMITS) as machine:
        output = await machine.run("echo ${BASH_VERSION:-no bash}; exit 4")
        assert (output.text, output.exit_status) == ("no bash\n", 4)


async def test_what_has_no_shell_can_be_read_and_says_why_nothing_runs(made: Making, docker: str) -> None:
    name = made(Cmd=["rm", "-f", "/usr/bin/bash", "/usr/bin/sh", "/usr/bin/dash"], User="0")
    finish(docker, name)
    async with await DockerMachine.open(name, LIMITS) as machine:
        assert (await machine.read("hello.txt")).data == b"hello\n"
        with pytest.raises(MachineError, match="shell"):
            await machine.run("true")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("docker:no-such-thing", "docker:no-such-thing: there is no such container"),
        ("image:no-such-thing", "image:no-such-thing: there is no such image"),
        ("image:Not A Name", "there is no such image"),
        ("podman:x", "must be docker:NAME"),
        ("docker:", "must be docker:NAME"),
        ("nothing", "must be docker:NAME"),
    ],
)
async def test_what_is_not_there_is_named(docker: str, name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        await DockerMachine.open(name, LIMITS, "/workspace")


@pytest.mark.parametrize(
    ("workspace", "words"),
    [
        (None, "--workspace PATH"),
        ("/", "--workspace PATH"),
        ("relative", "must be an absolute path"),
        ("/a/../b", "must be an absolute path"),
        ("/no/such/folder", "no folder /no/such/folder"),
    ],
)
async def test_a_workspace_that_cannot_be_is_named(
    docker: str, docker_image: str, workspace: str | None, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        await DockerMachine.open(f"image:{docker_image}", LIMITS, workspace)


async def test_a_workspace_that_is_a_file_is_refused(docker: str, docker_image: str) -> None:
    with pytest.raises((InputError, MachineError)):
        await DockerMachine.open(f"image:{docker_image}", LIMITS, "/etc/passwd")


async def test_a_workspace_on_a_mount_is_refused_since_a_snapshot_lacks_it(made: Making) -> None:
    name = made(HostConfig={"Mounts": [{"Type": "volume", "Target": "/workspace"}]})
    with pytest.raises(InputError, match="/workspace is a mount"):
        await DockerMachine.open(name, LIMITS)


async def test_what_is_too_large_to_be_exported_is_counted(made: Making, left: Path) -> None:
    (left / "large").write_bytes(b"x" * (LIMITS.disk + 1))
    async with await DockerMachine.open(made(), msgspec.structs.replace(LIMITS, disk=LIMITS.disk)) as machine:
        assert machine.facts.get("files left out") == 1
        assert (await machine.read("hello.txt")).size == 6


async def test_without_an_engine_that_is_what_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such/docker.sock")
    with pytest.raises(MachineError, match=r"/no/such/docker\.sock"):
        await DockerMachine.open("docker:x", LIMITS)
    monkeypatch.setenv("DOCKER_HOST", "nonsense")
    with pytest.raises(MachineError, match="nonsense"):
        await DockerMachine.open("docker:x", LIMITS)


# --- commands


async def test_processes_of_earlier_commands_are_counted_when_they_are_lost(made: Making) -> None:
    async with await DockerMachine.open(made(), LIMITS) as machine:
        await machine.run("for i in 1 2 3; do setsid sleep 300 >/dev/null 2>&1 & done")
        output = await machine.run("sleep 200 & setsid sleep 200 & sleep 200", seconds=0.5)
        assert (output.ended, output.forfeited) == ("time", 3)
        assert (await machine.run("pgrep -c sleep")).text == "0\n"


async def test_a_crowd_that_was_left_behind_makes_way_for_the_next_command(made: Making) -> None:
    async with await DockerMachine.open(made(), msgspec.structs.replace(LIMITS, processes=20)) as machine:
        for _ in range(2):
            await machine.run("for i in {1..9}; do setsid sleep 300 >/dev/null 2>&1 & done 2>/dev/null", seconds=2)
        assert (await machine.run("echo alive")).text == "alive\n"


async def test_a_daemon_that_holds_the_output_delays_no_judgment_of_the_next(made: Making) -> None:
    async with await DockerMachine.open(made(), LIMITS) as machine:
        await machine.run("true")
        held = await machine.run("(sleep 300 &); echo bye")
        following = await machine.run("echo hello")
        assert (held.text, following.text) == ("bye\n", "hello\n")
        assert max(held.seconds, following.seconds) < 2


@pytest.mark.parametrize(("code", "status"), [(0, 0), (1, 1), (127, 127), (128, 128), (137, -9), (143, -15), (255, 255)])
def test_the_engines_codes_are_told_as_wait_would(code: int, status: int) -> None:
    assert status_of(code) == status


# --- the self-test


@pytest.mark.parametrize(
    ("spoilt", "failed"),
    [
        ({"CapDrop": []}, {"no capabilities"}),
        ({"SecurityOpt": []}, {"no new privileges"}),
        ({"NetworkMode": "host"}, {"no network"}),
        ({"PidsLimit": 1000}, {"process limit"}),
        ({"Memory": 0, "MemorySwap": 0}, {"memory limit"}),
    ],
    ids=lambda value: next(iter(value)),
)
@pytest.mark.slow
async def test_an_engine_that_does_not_do_as_it_is_told_is_found_out(
    docker: str, docker_image: str, spoilt: dict[str, object], failed: set[str]
) -> None:
    settings = hardened(docker_image, Bounds(memory=64 << 20, processes=40, file=16 << 20))
    if "NetworkMode" in spoilt:
        del settings["Hostname"]
    settings["HostConfig"] |= spoilt
    engine = await Engine.connect()
    try:
        checks = await container_checks(engine, settings)
    finally:
        await engine.close()
    assert {check.name for check in checks if not check.works} == failed


# --- leftovers

JUDGE = """
import asyncio, sys
from adjudge.machines.docker import DockerMachine
async def main():
    machine = await DockerMachine.open(sys.argv[1])
    await machine.run("true")
    print("running", flush=True)
    await machine.run("sleep 60", fresh=True)
asyncio.run(main())
"""


@pytest.mark.slow
async def test_what_a_killed_judge_left_is_removed_by_the_next(made: Making, docker: str, docker_image: str) -> None:
    name = made()
    before, folders = left_in(docker), temporary_folders()
    judging = await asyncio.create_subprocess_exec(sys.executable, "-c", JUDGE, name, stdout=subprocess.PIPE)
    assert judging.stdout is not None
    assert await judging.stdout.readline() == b"running\n"
    judging.send_signal(signal.SIGKILL)
    await judging.wait()
    judging.stdout._transport.close()  # type: ignore[attr-defined]  # asyncio leaves it open
    assert len(left_in(docker)) > len(before)
    assert len(temporary_folders()) > len(folders)
    async with await DockerMachine.open(f"image:{docker_image}", LIMITS, "/etc"):
        assert len(left_in(docker)) == len(before) + 1
    assert left_in(docker) == before
    assert temporary_folders() <= folders


def temporary_folders() -> set[str]:
    return {path.name for path in Path(tempfile.gettempdir()).glob("adjudge-docker-*")}


async def test_only_what_is_ours_and_has_lost_its_judge_is_removed(docker: str, docker_image: str) -> None:
    host = judge().rsplit(":", 2)[0]
    kept = {
        "adjudge-kept": f"{host}:1:0",  # a person named it
        f"{TEMPORARY}alive": f"{host}:{os.getppid()}:{start_of(os.getppid())}",
        f"{TEMPORARY}elsewhere": "another-boot:4026531836:1:0",
        "somebodys": "",
    }
    for name, label in (kept | {f"{TEMPORARY}dead": f"{host}:1:0"}).items():
        asked = {"Image": docker_image, "Cmd": ["true"], "Labels": {LABEL: label}}
        ask(docker, "POST", "containers/create", json.dumps(asked), name=name)
    try:
        async with await DockerMachine.open(f"image:{docker_image}", LIMITS, "/etc"):
            left = {name.strip("/") for name in left_in(docker)}
        assert {name for name in left if not name.startswith(TEMPORARY) or name in kept} == set(kept)
        assert f"{TEMPORARY}dead" not in left
    finally:
        for name in kept:
            ask(docker, "DELETE", f"containers/{name}")


def test_a_judge_is_dead_only_if_its_process_ran_here_and_is_gone() -> None:
    host = judge().rsplit(":", 2)[0]
    assert not is_dead(judge())
    assert is_dead(f"{host}:{os.getpid()}:1")
    assert not is_dead(f"elsewhere:1:{os.getpid()}:1")
    assert not is_dead("")
    assert not is_dead("nonsense")
