"""The hostile commands of `test_hostile.py` in a container: what Docker promises holds, and what it does not is said."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio
from tests.machines.conftest import Scene, furnished
from tests.machines.docker_engine import IN_ONE_WORKER, ask, container_with, left_in
from tests.machines.test_hostile import ATTACKS, SMALL, Attack, Host, host, watched

from adjudge.machines.docker import DockerMachine
from adjudge.machines.docker_live import LiveDockerMachine
from adjudge.machines.docker_promises import NO_QUOTA, NOT_APART, OWN_FILTER
from adjudge.settings import AgentLimits

__all__ = ["host", "watched"]

pytestmark = [
    IN_ONE_WORKER,
    pytest.mark.hostile,
    pytest.mark.slow,
    pytest.mark.usefixtures("watched", "same_kernel"),
    pytest.mark.asyncio(loop_scope="module"),
]

NOT_PROMISED = {
    "memory as files": NO_QUOTA,
    "a disk hog": NO_QUOTA,
    "an inode hog": NO_QUOTA,
    "limits of another process": NOT_APART,
    "sockets to the host of a virtual machine, raw packets, kernel crypto": OWN_FILTER,
    "keyrings, bpf, io_uring, userfaultfd, perf": OWN_FILTER,
}
"""Checks that a sandbox of ours passes and a container need not, each with the words in which a machine says so."""

PROMISED = [attack for attack in ATTACKS if attack.name not in NOT_PROMISED]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """A workspace with links and special files that lead out of it; the container gets a copy."""
    return furnished(tmp_path_factory.mktemp("scene"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def machine(docker_engine: str, docker_image: str, scene: Scene) -> AsyncIterator[DockerMachine]:
    """One machine on a container with the scene's workspace."""
    name = container_with(docker_engine, scene.workspace)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DOCKER_HOST", docker_engine)
        async with await DockerMachine.open(f"docker:{name}", SMALL) as opened:
            await opened.run("true")
            yield opened
    ask(docker_engine, "DELETE", f"containers/{name}")
    assert left_in(docker_engine) == []


@pytest.fixture
def same_kernel() -> Iterator[None]:
    """Whatever is tried, the host's kernel is set as before."""
    pattern = Path("/proc/sys/kernel/core_pattern")
    before = pattern.read_text()
    yield
    assert pattern.read_text() == before


@pytest.mark.parametrize("attack", PROMISED, ids=lambda attack: attack.name)
async def test_it_is_contained(attack: Attack, machine: DockerMachine, scene: Scene, host: Host) -> None:
    output = await machine.run(_told(attack, scene, host), seconds=attack.limits.get("seconds"), fresh=True)
    assert attack.fails(output), output
    assert not host.visitors
    assert (await machine.read("keep.txt")).data == b"original\n"
    assert (await machine.run("echo alive")).text == "alive\n"


@pytest.mark.parametrize("attack", PROMISED, ids=lambda attack: attack.name)
async def test_it_is_contained_where_an_agent_has_worked(
    attack: Attack, docker_engine: str, docker_image: str, scene: Scene, host: Host, tmp_path: Path
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DOCKER_HOST", docker_engine)
        agents = AgentLimits(memory=SMALL.memory, processes=SMALL.processes, disk=SMALL.disk)
        async with await LiveDockerMachine.open(docker_image, scene.workspace, agents, SMALL) as live:
            await live.hand_over(tmp_path)
            output = await live.run(_told(attack, scene, host), seconds=attack.limits.get("seconds"))
            assert attack.fails(output), output
            assert not host.visitors
            assert (await live.run("echo alive")).text == "alive\n"


def _told(attack: Attack, scene: Scene, host: Host) -> str:
    command = attack.command
    for name, value in msgspec.structs.asdict(host).items():
        command = command.replace(f"{{{name}}}", str(value))
    return command.replace("{outside}", str(scene.outside))


async def test_what_a_container_does_not_promise_is_said(machine: DockerMachine) -> None:
    assert set(NOT_PROMISED) < {attack.name for attack in ATTACKS}
    for reason in NOT_PROMISED.values():
        assert reason in str(machine.facts["isolation"])
    assert machine.facts["commands apart"] is False


async def test_a_process_that_was_left_can_forge_what_a_later_command_prints(machine: DockerMachine) -> None:
    """This is why the facts say that commands are not apart: should it fail one day, they may say otherwise."""
    forge = "for p in /proc/[0-9]*; do [ $p != /proc/$$ ] && echo FORGED > $p/fd/1; done 2>/dev/null"
    await machine.run(f"(setsid bash -c 'while :; do {forge}; sleep 0.05; done' >/dev/null 2>&1 &)")
    assert "FORGED" in (await machine.run("sleep 0.5; echo honest; pkill -f FORGED")).text
    assert (await machine.run("sleep 0.5; echo honest", fresh=True)).text == "honest\n"


async def test_what_a_fresh_run_left_running_ends_with_it(
    machine: DockerMachine, processes_with: Callable[[str], list[int]]
) -> None:
    word = f"canary-docker-{os.getpid()}"
    waits = f"until grep -q {word} /proc/$!/cmdline; do :; done"
    running = asyncio.ensure_future(
        machine.run(f"setsid bash -c 'exec -a {word} sleep 444' >/dev/null 2>&1 & {waits}; sleep 1", fresh=True)
    )
    while not running.done() and not processes_with(word):  # noqa: ASYNC110
        await asyncio.sleep(0.05)  # the host is not told of processes
    assert not running.done()
    await running
    assert not processes_with(word)
