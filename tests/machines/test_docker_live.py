"""An agent in a container: how its process ends, what reaches it, what it leaves, and what is judged afterwards."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec
import pytest
from tests.machines.docker_engine import IN_ONE_WORKER, left_in

from adjudge.errors import InputError, MachineError
from adjudge.machines.docker import DockerMachine
from adjudge.machines.docker_live import LiveDockerMachine
from adjudge.ports import Ended, Launch
from adjudge.settings import AgentLimits, MachineLimits

pytestmark = [IN_ONE_WORKER, pytest.mark.slow]

COMMANDS = MachineLimits(seconds=10.0, memory=256 << 20, processes=64, output=64 << 10, disk=64 << 20)
LIMITS = AgentLimits(seconds=20.0, grace=3.0, memory=256 << 20, processes=64, output=1 << 20, disk=64 << 20)


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """The task's folder."""
    folder = tmp_path / "task"
    (folder / "src").mkdir(parents=True)
    (folder / "README.md").write_text("Make it work.\n")
    (folder / "src" / "run.sh").write_text("echo works\n")
    (folder / "src" / "run.sh").chmod(0o755)
    return folder


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """Where what the agent prints is kept."""
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


@pytest.fixture
async def live(docker: str, docker_image: str, task: Path) -> AsyncIterator[LiveDockerMachine]:
    """A machine with the task's folder, closed at the end."""
    machine = await LiveDockerMachine.open(docker_image, task, LIMITS, COMMANDS)
    yield machine
    await machine.close()


def a_shell(command: str, **more: str) -> Launch:
    return Launch(("/bin/bash", "-c", command), more)


async def test_the_agent_works_as_a_plain_user_in_a_copy_of_the_task(live: LiveDockerMachine, scratch: Path) -> None:
    command = "id -un; id -u; pwd; echo $HOME $ASKED; cat README.md; src/run.sh; echo oops >&2; touch made ~/kept; exit 3"
    heard: list[bytes] = []
    ended = await live.work(a_shell(command, ASKED="yes"), scratch, heard.append)
    assert (ended.exit_status, ended.stopped, ended.left, ended.processes) == (3, None, (), 0)
    assert (scratch / "stdout").read_text() == ("agent\n1000\n/workspace\n/home/agent yes\nMake it work.\nworks\n")
    assert (scratch / "stderr").read_text() == "oops\n"
    assert (ended.output, ended.errors) == ((scratch / "stdout").stat().st_size, 5)
    assert sum(map(len, heard)) == ended.output + ended.errors


async def test_nothing_inside_tells_the_agent_that_it_is_judged(live: LiveDockerMachine, scratch: Path) -> None:
    command = "env; ps axww; hostname; cat /etc/passwd /proc/1/cmdline /proc/mounts /proc/1/environ; ls -a ~ /home /"
    await live.work(a_shell(command), scratch)
    told = (scratch / "stdout").read_text().lower()
    assert "agent" in told
    assert not [word for word in ("adjudge", "judge", "evaluat") if word in told]


async def test_files_for_the_agent_are_in_its_home_and_its_own(live: LiveDockerMachine, scratch: Path) -> None:
    files = {".config/agent/settings.json": b"{}", "plain": b"x"}
    launch = Launch(
        ("/bin/bash", "-c", "cd ~; find . -type f -user agent | sort; echo more >> plain; cat plain"), {}, files
    )
    await live.work(launch, scratch)
    assert (scratch / "stdout").read_text() == "./.config/agent/settings.json\n./plain\nxmore\n"


@pytest.mark.parametrize(
    "launch",
    [
        Launch(("/no/such/program",)),
        Launch(("relative",)),
        Launch(()),
        Launch(("/bin/echo", "x" * 140_000)),
        Launch(("/bin/echo", "a\0b")),
        Launch(("/bin/echo",), {"A=B": "c"}),
        Launch(("/bin/echo",), {}, {"../out": b""}),
    ],
    ids=["missing", "relative", "nothing", "too long", "NUL", "name", "outside"],
)
async def test_what_cannot_be_started_is_the_callers_fault(live: LiveDockerMachine, scratch: Path, launch: Launch) -> None:
    with pytest.raises(InputError):
        await live.work(launch, scratch)
    (scratch / "again").mkdir()
    assert (await live.work(a_shell("exit 0"), scratch / "again")).exit_status == 0


@pytest.mark.parametrize("program", ["/workspace/agent.sh", "/workspace/README.md"])
async def test_of_a_program_that_is_none_the_path_is_told_once_and_what_it_must_be(
    live: LiveDockerMachine, scratch: Path, program: str
) -> None:
    with pytest.raises(InputError) as refused:
        await live.work(Launch((program,)), scratch)
    assert str(refused.value).count(program) == 1
    assert "must be an executable file inside" in str(refused.value)


# --- limits


@pytest.fixture
def limited(docker: str, docker_image: str, scratch: Path) -> Callable[..., object]:
    """Work under other limits on an empty workspace."""

    async def work(command: str, **limits: float) -> tuple[Ended, list[str]]:
        machine = await LiveDockerMachine.open(docker_image, None, msgspec.structs.replace(LIMITS, **limits), COMMANDS)
        async with machine:
            ended = await machine.work(a_shell(command), scratch)
            running = [line for line in await processes(machine) if "sleep 77" in line]
        return ended, running

    return work


async def processes(machine: LiveDockerMachine) -> list[str]:
    return [each.command for each in await machine._container.processes()]


async def test_an_agent_that_takes_too_long_is_asked_to_end(limited: Callable[..., object], scratch: Path) -> None:
    command = "trap 'echo saved; exit 5' TERM; echo begun; sleep 77 & wait"
    ended, running = await limited(command, seconds=1.0)  # type: ignore[misc]  # a coroutine
    assert (ended.stopped, ended.exit_status, running) == ("time", 5, [])
    assert (scratch / "stdout").read_text() == "begun\nsaved\n"
    assert ended.seconds < 4


async def test_one_that_does_not_want_to_end_is_killed(limited: Callable[..., object]) -> None:
    command = "trap '' TERM INT HUP; (setsid sleep 77 &); while :; do sleep 0.1; done"
    ended, running = await limited(command, seconds=1.0, grace=0.5)  # type: ignore[misc]
    assert (ended.stopped, ended.exit_status, running) == ("time", -9, [])
    assert ended.seconds < 5


async def test_one_that_prints_without_end_is_stopped(limited: Callable[..., object], scratch: Path) -> None:
    ended, _ = await limited("yes", output=3 << 20)  # type: ignore[misc]
    assert (ended.stopped, ended.exit_status) == ("output", -9)
    assert 3 << 20 < ended.output < 8 << 20
    assert (scratch / "stdout").stat().st_size == ended.output


async def test_one_that_takes_too_much_memory_is_stopped(limited: Callable[..., object]) -> None:
    ended, _ = await limited("x=0123456789abcdef; while :; do x=$x$x; done", memory=64 << 20)  # type: ignore[misc]
    assert (ended.stopped, ended.exit_status) == ("memory", -9)


async def test_one_that_forks_without_end_is_stopped(limited: Callable[..., object]) -> None:
    ended, running = await limited(":(){ :|:& };:; sleep 77")  # type: ignore[misc]
    assert (ended.stopped, ended.exit_status, running) == ("processes", -9, [])
    assert ended.seconds < 10


async def test_one_that_kills_all_it_can_ends_with_what_it_did_kept(
    live: LiveDockerMachine, scratch: Path, tmp_path: Path
) -> None:
    ended = await live.work(a_shell("echo done > result; kill -9 -1; kill -9 $$"), scratch)
    assert ended.exit_status == -9
    (tmp_path / "files").mkdir()
    await live.hand_over(tmp_path / "files")
    assert (await live.read("result")).data == b"done\n"
    assert (await live.run("cat result")).text == "done\n"


async def test_a_cancelled_agent_is_killed(live: LiveDockerMachine, scratch: Path) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1.0):
            await live.work(a_shell("sleep 78"), scratch)
    assert not [line for line in await processes(live) if "sleep 78" in line]


# --- the agent's network


async def test_the_agent_reaches_its_socket_and_nothing_else(live: LiveDockerMachine, scratch: Path) -> None:
    listening = await live.listen(47113)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.read()
        writer.write(b"heard " + asked)
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(answer, sock=listening):
        client = (
            "import socket, sys\n"
            "s = socket.create_connection(('127.0.0.1', 47113))\n"
            "s.sendall(b'x' * 300000); s.shutdown(1)\n"
            "got = b''\n"
            "while data := s.recv(65536): got += data\n"
            "print(len(got), got[:8])\n"
            "try: socket.create_connection(('1.1.1.1', 80), 2)\n"
            "except OSError as error: print('no way', error.errno)\n"
        )
        ended = await live.work(Launch(("/usr/bin/python3", "-c", client)), scratch)
    assert ended.exit_status == 0, (scratch / "stderr").read_text()
    assert (scratch / "stdout").read_text() == "300006 b'heard xx'\nno way 101\n"  # ENETUNREACH


async def test_after_the_agent_nothing_inside_can_connect_any_more(
    live: LiveDockerMachine, scratch: Path, tmp_path: Path
) -> None:
    listening = await live.listen(47113)
    with listening:
        connect = "(exec 3<>/dev/tcp/127.0.0.1/47113) 2>/dev/null && echo connected"
        await live.work(a_shell(f"{connect}; ls /relay /run 2>&1 | grep -c relay"), scratch)
        assert (scratch / "stdout").read_text().startswith("connected\n")
        (tmp_path / "files").mkdir()
        await live.hand_over(tmp_path / "files")
        assert (await live.run(f"{connect} || echo refused")).text == "refused\n"


JUDGE = """
import asyncio, sys
from adjudge.machines.docker_live import LiveDockerMachine
from adjudge.settings import AgentLimits, MachineLimits
async def main():
    machine = await LiveDockerMachine.open(sys.argv[1], None, AgentLimits(), MachineLimits())
    with await machine.listen(47113):
        print("listening", flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""


async def test_the_network_ends_with_a_judge_that_is_killed(docker: str, docker_image: str) -> None:
    with subprocess.Popen([sys.executable, "-c", JUDGE, docker_image], stdout=subprocess.PIPE) as judging:  # noqa: ASYNC220
        assert judging.stdout is not None
        assert await asyncio.to_thread(judging.stdout.readline) == b"listening\n"
        assert len(left_in(docker)) == 2
        judging.kill()
    until = time.monotonic() + 20
    while len(left_in(docker)) > 1 and time.monotonic() < until:  # noqa: ASYNC110
        await asyncio.sleep(0.1)  # the engine removes it by itself
    assert len(left_in(docker)) == 1
    async with await DockerMachine.open(f"image:{docker_image}", COMMANDS, "/etc"):
        assert len(left_in(docker)) == 1  # its own


# --- what it leaves


SERVER = (
    "nohup python3 -c 'import http.server; http.server.test(http.server.SimpleHTTPRequestHandler, port=8000, "
    'bind="127.0.0.1")\' >/dev/null 2>&1 & '
    "for i in $(seq 100); do (exec 3<>/dev/tcp/127.0.0.1/8000) 2>/dev/null && break; sleep 0.1; done"
)
ASK = "exec 3<>/dev/tcp/127.0.0.1/8000; printf 'GET /README.md HTTP/1.0\\r\\n\\r\\n' >&3; tail -n 1 <&3"


@pytest.fixture
async def handed_over(live: LiveDockerMachine, scratch: Path, tmp_path: Path) -> LiveDockerMachine:
    """A machine whose agent left a server running and a file changed."""
    ended = await live.work(a_shell(f"echo Served. > README.md; ln -s /etc/passwd link; {SERVER}"), scratch)
    assert ended.processes == 1
    assert "http.server" in ended.left[0]
    (tmp_path / "files").mkdir()
    await live.hand_over(tmp_path / "files")
    return live


async def test_the_evaluator_reaches_the_server_that_the_agent_left(handed_over: LiveDockerMachine) -> None:
    assert (await handed_over.run(ASK)).text == "Served.\n"
    assert handed_over.facts["processes left"] == 1
    assert handed_over.facts["commands apart"] is False


async def test_a_fresh_run_sees_the_files_and_none_of_the_processes(handed_over: LiveDockerMachine) -> None:
    output = await handed_over.run("cat README.md; rm README.md; pgrep -c python3", fresh=True)
    assert output.text == "Served.\n0\n"
    assert (await handed_over.run("cat README.md")).text == "Served.\n"


async def test_reading_shows_the_files_as_they_were_handed_over(handed_over: LiveDockerMachine, tmp_path: Path) -> None:
    await handed_over.run("echo later > README.md")
    assert (await handed_over.read("README.md")).data == b"Served.\n"
    assert [item.name for item in (await handed_over.list())[0]] == ["README.md", "link", "src"]
    assert (await handed_over.search("works")).total == 1
    with pytest.raises(InputError):
        await handed_over.read("link")
    assert (tmp_path / "files" / "README.md").read_text() == "Served.\n"


async def test_the_evaluators_home_was_prepared_by_nobody(live: LiveDockerMachine, scratch: Path, tmp_path: Path) -> None:
    await live.work(a_shell("echo 'echo forged' > ~/.bashrc; mkdir -p /home/evaluator 2>/dev/null; true"), scratch)
    (tmp_path / "files").mkdir()
    await live.hand_over(tmp_path / "files")
    assert (await live.run("ls -A ~; touch ~/x && echo writable; echo $HOME")).text == "writable\n/home/evaluator\n"


async def test_a_command_that_takes_too_long_costs_only_itself(handed_over: LiveDockerMachine) -> None:
    output = await handed_over.run("trap '' TERM; sleep 77 & (setsid sleep 77 &); sleep 77", seconds=0.5)
    assert (output.ended, output.exit_status, output.forfeited) == ("time", -9, 0)
    assert (await handed_over.run("pgrep -c sleep")).text == "0\n"
    assert (await handed_over.run(ASK)).text == "Served.\n"


async def test_a_command_that_takes_all_memory_costs_what_ran_and_says_so(handed_over: LiveDockerMachine) -> None:
    output = await handed_over.run("x=0123456789abcdef; while :; do x=$x$x; done")
    assert (output.ended, output.forfeited) == ("memory", 1)
    assert (await handed_over.run("cat README.md")).text == "Served.\n"


async def test_what_the_agent_kept_at_home_is_fetched_and_links_stay_links(
    live: LiveDockerMachine, scratch: Path, tmp_path: Path
) -> None:
    command = (
        "mkdir -p ~/.agent/sessions; echo '{}' > ~/.agent/sessions/1.jsonl; mkfifo ~/.agent/pipe; "
        "ln -s /etc/passwd ~/.agent/link; ln -s / ~/way; echo one > ~/alone"
    )
    await live.work(a_shell(command), scratch)
    home = tmp_path / "home"
    home.mkdir()
    fetched = await live.fetch([".agent", "alone", "absent", "way/etc/hostname", "way"], home)
    assert (home / ".agent" / "sessions" / "1.jsonl").read_text() == "{}\n"
    assert (home / "alone").read_text() == "one\n"
    assert os.readlink(home / ".agent" / "link") == "/etc/passwd"
    assert sorted(path.name for path in home.iterdir()) == [".agent", "alone", "way"]
    assert fetched.left_out >= 1  # the pipe
    assert not fetched.cut


async def test_a_link_that_was_fetched_leads_nothing_out(live: LiveDockerMachine, scratch: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    await live.work(a_shell(f"mkdir -p ~/real; echo x > ~/real/file; ln -s {outside} ~/way"), scratch)
    home = tmp_path / "home"
    home.mkdir()
    await live.fetch(["way"], home)
    (scratch / "again").mkdir()
    await live.work(a_shell("rm ~/way; mv ~/real ~/way"), scratch / "again")
    assert (await live.fetch(["way/file"], home)).left_out == 1
    assert not list(outside.iterdir())


# --- order, closing


async def test_the_order_of_calls_is_kept(live: LiveDockerMachine, scratch: Path, tmp_path: Path) -> None:
    for early in (live.run("true"), live.read("README.md"), live.list(), live.search("x")):
        with pytest.raises(MachineError, match="not been handed over"):
            await early
    (tmp_path / "files").mkdir()
    await live.hand_over(tmp_path / "files")
    for late in (live.work(a_shell("true"), scratch), live.listen(1), live.hand_over(tmp_path / "files")):
        with pytest.raises(MachineError, match="no longer the agent's"):
            await late
    await live.close()
    await live.close()
    with pytest.raises(MachineError, match="closed"):
        await live.run("true")


async def test_the_hosts_toolchain_can_be_read_and_not_changed(
    docker: str, docker_image: str, scratch: Path, tmp_path: Path
) -> None:
    tool = tmp_path / "tool"
    (tool / "bin").mkdir(parents=True)
    (tool / "bin" / "greet").write_text("#!/bin/sh\necho hello\n")
    (tool / "bin" / "greet").chmod(0o755)
    for folder in (tmp_path, *tmp_path.parents[:-1]):  # whoever made the temporary folders kept them to themselves
        assert os.access(folder, os.X_OK)
    async with await LiveDockerMachine.open(docker_image, None, LIMITS, COMMANDS, [str(tool)]) as machine:
        await machine.work(a_shell(f"greet; touch {tool}/x 2>/dev/null || echo refused"), scratch)
    assert (scratch / "stdout").read_text() == "hello\nrefused\n"


@pytest.mark.parametrize("path", ["relative", "/no/such/path", "/", "/usr", "/workspace", "/tmp/.."])
async def test_paths_that_cannot_be_exposed_are_refused(docker: str, docker_image: str, path: str) -> None:
    with pytest.raises(InputError, match="expose"):
        await LiveDockerMachine.open(docker_image, None, LIMITS, COMMANDS, [path])


async def test_an_image_that_is_not_there_is_named(docker: str) -> None:
    with pytest.raises(InputError, match="image:no-such-image: there is no such image"):
        await LiveDockerMachine.open("no-such-image", None, LIMITS, COMMANDS)


async def test_the_graders_files_are_seen_by_the_grader_alone(
    docker: str, docker_image: str, scratch: Path, tmp_path: Path
) -> None:
    (tmp_path / "grader").mkdir()
    (tmp_path / "grader" / "secret").write_text("the answer\n")
    (tmp_path / "files").mkdir()
    async with await LiveDockerMachine.open(docker_image, None, LIMITS, COMMANDS) as machine:
        await machine.work(a_shell("ls /grader 2>/dev/null; echo looked"), scratch)
        await machine.hand_over(tmp_path / "files")
        graded = await machine.grade("cat /grader/secret; touch seen; exit 7", 5, tmp_path / "grader")
        assert (graded.text, graded.exit_status) == ("the answer\n", 7)
        assert (await machine.grade("ls; ls /grader", 5)).exit_status == 2
        for fresh in (True, False):
            assert (await machine.run("ls; cat /grader/secret 2>/dev/null", fresh=fresh)).text == ""
        with pytest.raises(InputError, match="nothing"):
            await machine.grade("true", 5, tmp_path / "nothing")
    assert (scratch / "stdout").read_text() == "looked\n"
