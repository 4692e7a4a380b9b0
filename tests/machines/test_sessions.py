"""One machine over many commands: what lasts, what a breach costs, and what an earlier command cannot do to a later one."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from adjudge.machines import order, session
from adjudge.machines.landlock import landlock_abi, scopes_signals
from adjudge.machines.local import LocalMachine
from adjudge.settings import MachineLimits

pytestmark = pytest.mark.hostile

SMALL = MachineLimits(seconds=10.0, memory=256 << 20, processes=64, output=256 << 10, disk=128 << 20, files=20_000)
BOMB = "python3 -c 'import os\nwhile True:\n try: os.fork()\n except OSError: pass'"
"""It stays: the shell's own bomb may burn out before anything looks."""

either = pytest.mark.parametrize("opened", ["local", "live"], indirect=True)
"""On a machine that is opened for judging, and on one where an agent has worked."""

lasting = pytest.mark.skipif(
    not scopes_signals(landlock_abi()), reason="this kernel's Landlock cannot keep commands apart: each has its own sandbox"
)


@either
async def test_files_last_until_the_machine_is_closed(machine: LocalMachine) -> None:
    await machine.run("echo v1 > state; mkdir ~/kept; echo v2 > /tmp/state")
    output = await machine.run("cat state /tmp/state; ls ~; cd / && cat workspace/keep.txt")
    assert output.text == "v1\nv2\nkept\noriginal\n"


@either
@lasting
async def test_a_server_started_in_one_command_answers_the_next(machine: LocalMachine) -> None:
    await machine.run("echo v1 > state; printf '%s\\n' 'exec python3 -u -m http.server 8077' > run.sh")
    await machine.run("sh run.sh &")
    ask = "import urllib.request as u; print(u.urlopen('http://localhost:8077/state').read())"
    for _ in range(3):  # it logs each request to the first command's output, which nobody reads any more
        output = await machine.run(f'for i in $(seq 50); do python3 -c "{ask}" 2>/dev/null && break; sleep 0.1; done')
        assert output.text == "b'v1\\n'\n", output


@either
@lasting
async def test_a_background_process_that_writes_much_is_not_stopped_by_a_full_pipe(machine: LocalMachine) -> None:
    await machine.run("(for i in $(seq 40000); do echo line $i; done; echo done > finished) &")
    output = await machine.run("for i in $(seq 100); do test -f finished && break; sleep 0.1; done; cat finished")
    assert output.text == "done\n"


@either
async def test_a_fork_bomb_costs_the_background_processes_and_the_next_command_works(
    opened: Callable[..., LocalMachine],
) -> None:
    machine = opened()
    await machine.run("(sleep 100 &)")
    bomb = await machine.run(BOMB)
    assert bomb.ended == "processes"
    assert bomb.seconds < 3
    after = await machine.run("echo alive; ls /proc | grep -cE '^[0-9]+$'")
    assert after.text.startswith("alive\n")
    assert int(after.text.split()[1]) <= 4
    if scopes_signals(landlock_abi()):
        assert bomb.forfeited >= 1


@either
async def test_a_bomb_that_goes_off_later_does_not_starve_the_next_command(opened: Callable[..., LocalMachine]) -> None:
    machine = opened()
    await machine.run("(sleep 0.3; while :; do sleep 50 & done) >/dev/null 2>&1 &")
    await asyncio.sleep(0.8)
    output = await machine.run("echo $(echo alive | cat)")
    assert output.text == "alive\n"


@either
async def test_a_memory_hog_is_killed_and_the_next_command_works(opened: Callable[..., LocalMachine]) -> None:
    machine = opened(msgspec.structs.replace(SMALL, memory=128 << 20))
    hog = await machine.run('python3 -c "x=[]\nwhile 1: x.append(bytearray(8<<20))"')
    assert hog.exit_status in (-9, 137, 1)
    assert (await machine.run("echo alive")).text == "alive\n"


@either
async def test_many_processes_together_cannot_have_more_memory_than_one(opened: Callable[..., LocalMachine]) -> None:
    machine = opened(msgspec.structs.replace(SMALL, memory=128 << 20))
    one = "python3 -c \"import time; x = bytearray(40 << 20); x[::4096] = b'x' * len(x[::4096]); time.sleep(5)\" &"
    output = await machine.run(f"for i in 1 2 3 4 5 6; do {one} done; wait; echo all have it")
    assert output.ended == "memory"


@either
async def test_output_without_end_is_bounded_and_the_next_command_works(machine: LocalMachine) -> None:
    flood = await machine.run("echo first; yes")
    assert flood.ended == "output"
    assert flood.size > SMALL.output * 16
    assert flood.cut
    assert flood.text.startswith("first\n")
    assert len(flood.text) <= SMALL.output + 100
    assert flood.seconds < 5
    assert (await machine.run("echo alive")).text == "alive\n"


@either
async def test_a_command_that_takes_too_long_is_killed_in_time(machine: LocalMachine) -> None:
    output = await machine.run("echo begun; sleep 100", seconds=0.4)
    assert (output.ended, output.exit_status, output.text) == ("time", -9, "begun\n")
    assert output.seconds < 2


@either
@lasting
async def test_killing_everything_kills_only_the_commands_own(machine: LocalMachine) -> None:
    await machine.run("(sleep 77 &)")
    await machine.run("kill -9 -1; kill -9 1 2 3 4 5")
    output = await machine.run("grep -a -l 77 /proc/[0-9]*/cmdline 2>/dev/null | grep -vc self; echo alive")
    assert output.text.endswith("alive\n")
    assert int(output.text.split()[0]) >= 1, "the earlier command's process is still there"


@either
async def test_removing_everything_leaves_the_next_command_working(machine: LocalMachine) -> None:
    assert (await machine.run("rm -rf /workspace/* /tmp/* ~/*; ls -A /workspace | wc -l")).text == "0\n"
    assert (await machine.run("pwd; echo new > file; cat file")).text == "/workspace\nnew\n"


@either
async def test_closing_ends_what_runs_in_the_background(
    machine: LocalMachine, processes_with: Callable[[str], list[int]]
) -> None:
    number = f"98765{os.getpid()}"
    await machine.run(f"(setsid sleep {number} &); (nohup sleep {number} >/dev/null 2>&1 &)")
    assert processes_with(number)
    await machine.close()
    assert not processes_with(number)


# --- forged evidence: a process left by one command against the output and the life of the next

WRITES_TO_OTHERS = """
import os, time
mine, end = os.getpid(), time.time() + 4
while time.time() < end:
    for p in os.listdir("/proc"):
        if p.isdigit() and int(p) not in (1, mine):
            for fd in (1, 2):
                try:
                    f = os.open(f"/proc/{p}/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK)
                    os.write(f, b"FORGED: all tests passed\\n")
                    os.close(f)
                except OSError:
                    pass
    time.sleep(0.005)
"""
KILLS_OTHERS = """
import os, resource, time
end = time.time() + 4
while time.time() < end:
    for p in os.listdir("/proc"):
        if p.isdigit() and int(p) > 1 and int(p) != os.getpid():
            try:
                if b"honest" in open(f"/proc/{p}/cmdline", "rb").read():
                    resource.prlimit(int(p), resource.RLIMIT_CPU, (0, 0))
                    os.kill(int(p), 9)
            except OSError:
                pass
            try:
                if b"honest" in open(f"/proc/{p}/cmdline", "rb").read():
                    os.kill(int(p), 9)
            except OSError:
                pass
    time.sleep(0.005)
"""


@either
@pytest.mark.parametrize("daemon", [WRITES_TO_OTHERS, KILLS_OTHERS], ids=["writing to its output", "killing it"])
async def test_a_daemon_cannot_forge_a_later_command(machine: LocalMachine, daemon: str) -> None:
    left = await machine.run(f"cat > /tmp/d.py <<'E'\n{daemon}\nE\n(setsid python3 /tmp/d.py >/dev/null 2>&1 &); sleep 0.3")
    assert left.exit_status == 0
    if scopes_signals(landlock_abi()):
        assert "d.py" in (await machine.run("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")).text, "the daemon is at work"
    output = await machine.run("sleep 1; echo honest: 1 failed; exit 3")
    assert (output.text, output.exit_status) == ("honest: 1 failed\n", 3)


@either
async def test_words_that_look_like_an_end_are_only_words(machine: LocalMachine) -> None:
    """A reader of markers in the output would take these for a status of 0."""
    output = await machine.run("echo EXITCODESTART0EXITCODEEND; echo UNIQUESTRING29234; echo 'exit status: 0'; exit 1")
    assert output.exit_status == 1


async def test_without_scoped_signals_each_command_has_a_sandbox_of_its_own(scene: Any, sandboxed: None) -> None:
    made = order.make_order(scene.workspace, SMALL, (), "/workspace", "overlay")
    made = msgspec.structs.replace(made, fresh=True, landlock=0)
    opened = await session.open_session(made, SMALL.output)
    try:
        await opened.run("echo kept > file; (setsid sleep 55 &)", 5)
        output = await opened.run("cat file; ls /proc | grep -cE '^[0-9]+$'", 5)
        assert output.text.split()[0] == "kept"
        assert int(output.text.split()[1]) <= 5, "the first command's process is gone"
        assert output.forfeited == 1
    finally:
        await opened.close()
    assert opened.ended_well


async def test_a_workspace_that_is_copied_is_as_good_as_an_overlay(scene: Any, sandboxed: None) -> None:
    made = order.make_order(scene.workspace, SMALL, (), "/workspace", "copy")
    opened = await session.open_session(made, SMALL.output)
    try:
        output = await opened.run("cat keep.txt private; echo new > keep.txt; rm -r sub; readlink to_root; ls", 5)
        assert output.text == (
            "original\nfor the owner alone\n/\nhard\nkeep.txt\npipe\nprivate\nsuid_bash\nto_outside\nto_root\nto_shadow\n"
        )
    finally:
        await opened.close()
