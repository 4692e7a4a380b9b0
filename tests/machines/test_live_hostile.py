"""Agents that misbehave on a live machine: each ends in time, what it did is kept, and there is a machine to judge."""

from __future__ import annotations

import asyncio
import os
import resource
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.machines.agents import ASKS, SERVER, handed_over, made, work
from tests.machines.test_sessions import KILLS_OTHERS, WRITES_TO_OTHERS

from adjudge.machines.landlock import landlock_abi, scopes_signals
from adjudge.machines.live import LiveLocalMachine
from adjudge.machines.printed import KEPT
from adjudge.ports import Launch

pytestmark = pytest.mark.hostile

Opening = Callable[..., Awaitable[LiveLocalMachine]]
BOMB = "python3 -c 'import os\nwhile True:\n try: os.fork()\n except OSError: pass'"
HOG = 'python3 -c "x=[]\nwhile 1: x.append(bytearray(8<<20))"'
EATS = "python3 -c \"import time; x = bytearray(150 << 20); x[::4096] = b'x' * len(x[::4096]); time.sleep(9)\""
HOGS = f"for i in 1 2 3 4 5; do {EATS} & done; wait"
"""Together more than the agent and the evaluator may have, each alone less."""

apart = pytest.mark.skipif(not scopes_signals(landlock_abi()), reason="this kernel's Landlock cannot keep signals apart")


async def alive(machine: LiveLocalMachine) -> bool:
    return (await machine.run("echo alive")).text == "alive\n"


# --- the agent against its limits


async def test_one_that_hangs_and_ignores_signals_is_killed_with_all_that_it_started(live: Opening, tmp_path: Path) -> None:
    machine = await live(seconds=0.5, grace=0.5)
    worked = await work(
        machine, tmp_path / "s", "trap '' TERM INT HUP; (setsid sleep 60 &); echo hanging; while :; do sleep 60; done"
    )
    assert (worked.ended.stopped, worked.ended.exit_status, worked.out) == ("time", -9, "hanging\n")
    assert 1 <= worked.ended.seconds < 3
    assert (worked.ended.left, worked.ended.processes) == ((), 0)
    await handed_over(machine, tmp_path / "copy")
    assert await alive(machine)


async def test_a_fork_bomb_is_ended(live: Opening, tmp_path: Path) -> None:
    machine = await live()
    worked = await work(machine, tmp_path / "s", f"echo kept > kept; {BOMB}")
    assert (worked.ended.stopped, worked.ended.exit_status) == ("processes", -9)
    assert worked.ended.seconds < 5
    await handed_over(machine, tmp_path / "copy")
    assert (await machine.run("cat kept; pgrep -c python")).text == "kept\n0\n"


async def test_a_bomb_that_goes_off_afterwards_costs_only_what_was_left_running(live: Opening, tmp_path: Path) -> None:
    machine = await live()
    await work(
        machine, tmp_path / "s", f"echo kept > kept; (setsid bash -c 'sleep 0.3; {BOMB.replace(chr(39), chr(34))}' &)"
    )
    await asyncio.sleep(0.8)
    await handed_over(machine, tmp_path / "copy")
    assert (await machine.run("cat kept")).text == "kept\n"


async def test_one_that_takes_all_memory_is_ended(live: Opening, tmp_path: Path) -> None:
    machine = await live(memory=96 << 20)
    worked = await work(machine, tmp_path / "s", f"exec {HOG}")
    assert worked.ended.stopped == "memory" or worked.ended.exit_status != 0
    assert worked.ended.seconds < 10
    await handed_over(machine, tmp_path / "copy")
    assert await alive(machine)


async def test_one_that_fills_the_workspace_keeps_its_record(live: Opening, tmp_path: Path) -> None:
    machine = await live(disk=16 << 20)
    fills = "cat /dev/zero > a 2>/dev/null; cat /dev/zero > /tmp/b; echo $?; echo it is full > ~/record; cat ~/record"
    worked = await work(machine, tmp_path / "s", fills)
    assert (worked.out, worked.ended.full, worked.ended.stopped) == ("1\nit is full\n", True, None)
    assert (await machine.fetch(["record"], made(tmp_path / "home"))).size == 11
    copied = await machine.hand_over(made(tmp_path / "copy"))
    assert not copied.cut
    assert (await machine.run("echo mine > ~/x && cat ~/x")).text == "mine\n"


async def test_one_that_uses_up_the_names_of_files_is_told_of_as_full(live: Opening, tmp_path: Path) -> None:
    machine = await live(files=500)
    worked = await work(
        machine, tmp_path / "s", "for i in $(seq 600); do : > f$i; done 2>/dev/null; touch ~/x && echo room"
    )
    assert (worked.out, worked.ended.full) == ("room\n", True)


async def test_one_that_fills_its_home_leaves_the_workspace_usable(live: Opening, tmp_path: Path) -> None:
    machine = await live()
    worked = await work(
        machine, tmp_path / "s", "head -c 1G /dev/zero > ~/x; echo $?; echo kept > kept; stat -c %s ~/x | cut -c1-1"
    )
    assert (worked.out, worked.ended.full) == ("1\n5\n", False)  # of 536,870,912 bytes
    await handed_over(machine, tmp_path / "copy")
    assert (await machine.read("kept")).data == b"kept\n"


async def test_one_that_prints_a_gigabyte_costs_little_memory(live: Opening, tmp_path: Path) -> None:
    machine = await live(output=2 << 30, seconds=60.0)
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    launch = Launch(("/bin/sh", "-c", "echo first; head -c 1G /dev/zero; echo last"))
    ended = await machine.work(launch, tmp_path)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before  # KiB
    assert (ended.output, ended.stopped, ended.exit_status) == ((1 << 30) + 11, None, 0)
    assert grown < 32 << 10
    assert time.monotonic() - started < 60
    with open(tmp_path / "stdout", "rb") as file:  # noqa: ASYNC230
        text = file.read()
    assert text.startswith(b"first\n\0")
    assert text.endswith(b"\0last\n")
    words = f"\n[{ended.output - KEPT} bytes left out]\n".encode()
    assert len(text) == KEPT + len(words)
    assert text[KEPT // 2 :].startswith(words)


async def test_one_that_prints_without_end_is_ended(live: Opening, tmp_path: Path) -> None:
    machine = await live(output=8 << 20)
    heard: list[int] = []
    launch = Launch(("/bin/bash", "-c", "(yes >&2 &); yes"))
    ended = await machine.work(launch, tmp_path, lambda data: heard.append(len(data)))
    assert (ended.stopped, ended.exit_status) == ("output", -15)
    assert ended.output + ended.errors > 8 << 20
    assert sum(heard) < (8 << 20) + (1 << 20)
    assert ended.seconds < 10


# --- the agent against its surroundings


@pytest.mark.parametrize(
    "kills", ["kill -9 $PPID", "kill -9 1", "kill -9 -1", "kill -9 0", "kill -9 1 2 3 4 5 6 7; kill -9 -1"]
)
async def test_one_that_kills_its_parent_and_everything_kills_nobody_but_itself(
    live: Opening, tmp_path: Path, kills: str
) -> None:
    machine = await live()
    worked = await work(machine, tmp_path / "s", f"echo kept > kept; (setsid sleep 60 &); {kills}; exit 5")
    assert worked.ended.exit_status in (5, -9)
    assert worked.ended.stopped is None
    await handed_over(machine, tmp_path / "copy")
    assert (await machine.run("cat kept")).text == "kept\n"


async def test_daemons_that_hold_its_output_are_not_waited_for_and_go_on(live: Opening, tmp_path: Path) -> None:
    machine = await live()
    daemons = "(setsid bash -c 'while :; do echo noise; echo noise >&2; sleep 0.01; done' &); "
    twice = "python3 -c 'import os, time\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n    time.sleep(60)'; "
    worked = await work(machine, tmp_path / "s", f"{daemons}{twice}echo bye")
    assert worked.ended.seconds < 5
    assert "bye\n" in worked.out
    assert worked.ended.processes >= 2
    assert "bash -c while" in worked.ended.left[0]
    await handed_over(machine, tmp_path / "copy")
    noisy, python = (await machine.run("sleep 0.3; pgrep -fc noise; pgrep -c python3")).text.split()
    assert int(noisy) >= 2, "the loop, and the command that asks"
    assert python == "1"


async def test_one_that_removes_everything_leaves_a_machine(live: Opening, tmp_path: Path) -> None:
    machine = await live()
    await work(
        machine,
        tmp_path / "s",
        "echo x > ~/record; rm -rf ~ ~/* ~/.[a-z]* /home /workspace /tmp/* 2>/dev/null",
        {},
        key=b"x",
    )
    fetched = await machine.fetch(["record", "key"], made(tmp_path / "home"))
    assert (fetched.files, fetched.left_out) == (0, 0)
    assert list((await handed_over(machine, tmp_path / "copy")).iterdir()) == []
    assert await alive(machine)


async def test_one_that_does_nothing_leaves_everything(live: Opening, tmp_path: Path, scene: Any) -> None:
    machine = await live()
    worked = await work(machine, tmp_path / "s", "exit 0")
    assert (worked.ended.exit_status, worked.ended.output, worked.ended.errors, worked.ended.processes) == (0, 0, 0, 0)
    copy = await handed_over(machine, tmp_path / "copy")
    assert {path.name for path in copy.iterdir()} == {path.name for path in scene.workspace.iterdir()} - {"pipe"}


SWAPS = """
import os, time
os.makedirs("rec/d", exist_ok=True)
end = time.time() + 15
while time.time() < end:
    for target in ("/etc", "/", "../../../../../../etc"):
        os.rename("rec/d", "rec/e"); os.symlink(target, "rec/d"); os.unlink("rec/d"); os.rename("rec/e", "rec/d")
        open("rec/passwd", "w").write("the agent's own"); os.unlink("rec/passwd")
        os.symlink("/etc/passwd", "rec/passwd"); os.unlink("rec/passwd")
"""


async def test_files_that_change_while_they_are_copied_never_become_the_hosts(live: Opening, tmp_path: Path) -> None:
    machine = await live()
    left = f"cat > /tmp/s <<'E'\n{SWAPS}\nE\nmkdir ~/rec; echo x > ~/rec/kept; cd ~; (setsid python3 /tmp/s &); sleep 0.2"
    await work(machine, tmp_path / "s", left)
    for number in range(5):
        home = made(tmp_path / f"home{number}")
        fetched = await machine.fetch(["rec"], home)
        assert not fetched.cut
        assert (home / "rec" / "kept").read_text() == "x\n"
        texts = [path.read_text() for path in home.rglob("*") if path.is_file() and not path.is_symlink()]
        assert {"x\n"} <= set(texts) <= {"x\n", "", "the agent's own", "\0" * 15}


# --- what it left against the evaluator


@pytest.mark.parametrize("daemon", [WRITES_TO_OTHERS, KILLS_OTHERS], ids=["writing to its output", "killing it"])
@apart
async def test_a_daemon_of_its_cannot_forge_the_evaluators_commands(live: Opening, tmp_path: Path, daemon: str) -> None:
    machine = await live()
    longer = daemon.replace("+ 4", "+ 15")
    starts = "(setsid python3 /tmp/d.py >/dev/null 2>&1 &); sleep 0.3"
    await work(machine, tmp_path / "s", f"cat > /tmp/d.py <<'E'\n{longer}\nE\n{starts}")
    await handed_over(machine, tmp_path / "copy")
    assert "d.py" in (await machine.run("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")).text, "the daemon is at work"
    output = await machine.run("sleep 1; echo honest: 1 failed; exit 3")
    assert (output.text, output.exit_status) == ("honest: 1 failed\n", 3)


FORKS_TWICE = "import os, time\nif os.fork() == 0:\n  os.setsid()\n  if os.fork(): os._exit(0)\ntime.sleep(61)"
BREAKS = {
    "time": "sleep 60",
    "time, with daemons": f"(setsid sleep 61 &); python3 -c '{FORKS_TWICE}'",
    "time, ignoring signals": "trap '' TERM INT HUP; exec 2>/dev/null; while :; do sleep 61; done",
    "output": "(setsid yes &); yes",
}


@pytest.mark.parametrize("name", BREAKS)
async def test_a_command_of_the_evaluators_that_goes_too_far_does_not_cost_the_agents_server(
    live: Opening, tmp_path: Path, name: str
) -> None:
    machine = await live()
    await work(machine, tmp_path / "s", SERVER)
    await handed_over(machine, tmp_path / "copy")
    output = await machine.run(BREAKS[name], seconds=None if name == "output" else 0.5)
    assert (output.ended, output.exit_status, output.forfeited) == (name.partition(",")[0], -9, 0)
    after = await machine.run(f"pgrep -c 'sleep|yes'; pgrep -fc 'import os, time'; {ASKS}")
    assert after.text.splitlines()[0] == "0"
    assert after.text.endswith("original\n")


@pytest.mark.parametrize(("command", "reason"), [(BOMB, "processes"), (HOGS, "memory")], ids=["processes", "memory"])
async def test_one_that_takes_all_processes_or_memory_costs_everything_and_says_so(
    live: Opening, tmp_path: Path, command: str, reason: str
) -> None:
    machine = await live()
    await work(machine, tmp_path / "s", SERVER)
    await handed_over(machine, tmp_path / "copy")
    output = await machine.run(command)
    assert (output.ended, output.forfeited) == (reason, 1)
    assert await alive(machine)


async def test_nothing_of_it_outlives_the_machine(
    live: Opening, tmp_path: Path, processes_with: Callable[[str], list[int]]
) -> None:
    machine, number = await live(), f"76543{os.getpid()}"
    await work(machine, tmp_path / "s", f"(setsid sleep {number} &); (nohup sleep {number} >/dev/null 2>&1 &); sleep 0.1")
    await handed_over(machine, tmp_path / "copy")
    assert len(processes_with(number)) == 2
    await machine.close()
    assert not processes_with(number)
