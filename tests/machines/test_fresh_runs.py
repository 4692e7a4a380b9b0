"""A fresh run: a command with a sandbox of its own, which no other command has touched and none will see."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from adjudge.errors import MachineError
from adjudge.evidence import Exhibits
from adjudge.judges.probes import run_probes
from adjudge.machines.local import LocalMachine
from adjudge.rubric import CommandProbe, Criterion
from adjudge.testing import make_record, make_rubric

LEAVES_MUCH = "echo changed > keep.txt; echo new > new.txt; echo x > ~/x; echo x > /tmp/x; echo x > /dev/shm/x"
LOOKS = "cat keep.txt; ls -A ~ /tmp /dev/shm; ls new.txt 2>/dev/null; pgrep sleep"
UNTOUCHED = "original\n/dev/shm:\n\n/home/evaluator:\n\n/tmp:\n"


async def begun(processes_with: Callable[[str], list[int]], word: str, count: int = 1) -> None:
    """Wait until so many processes with this word run."""
    for _ in range(1000):
        if len(processes_with(word)) >= count:
            return
        await asyncio.sleep(0.01)
    pytest.fail("the command has not begun in ten seconds")


@pytest.mark.parametrize("first_is_fresh", [True, False])
async def test_it_sees_nothing_of_an_earlier_command(machine: LocalMachine, first_is_fresh: bool) -> None:
    left = await machine.run(f"{LEAVES_MUCH}; (setsid sleep 99 >/dev/null 2>&1 &)", fresh=first_is_fresh)
    assert left.exit_status == 0
    assert (await machine.run(LOOKS, fresh=True)).text == UNTOUCHED


async def test_what_it_leaves_no_later_command_sees(machine: LocalMachine) -> None:
    await machine.run(f"{LEAVES_MUCH}; (setsid sleep 99 >/dev/null 2>&1 &)", fresh=True)
    assert (await machine.run(LOOKS)).text == UNTOUCHED


async def test_it_leaves_alone_what_the_other_commands_share(machine: LocalMachine) -> None:
    await machine.run("echo v1 > state")
    assert (await machine.run("ls state; rm -rf /workspace/*; kill -9 -1", fresh=True)).ended is None
    assert (await machine.run("cat state keep.txt")).text == "v1\noriginal\n"


async def test_nothing_of_it_runs_on_once_it_has_ended(
    machine: LocalMachine, processes_with: Callable[[str], list[int]]
) -> None:
    number = f"65432{os.getpid()}"
    await machine.run(f"(setsid sleep {number} >/dev/null 2>&1 &)", fresh=True)
    assert not processes_with(number)


async def test_several_asked_for_together_all_run_each_by_itself(machine: LocalMachine) -> None:
    runs = [machine.run(f"ls n*; echo > n{number}; exit {number}", fresh=number % 2 == 0) for number in range(4)]
    outputs = await asyncio.gather(*runs)
    assert [output.exit_status for output in outputs] == [0, 1, 2, 3]
    assert [output.text for output in outputs[::2]] == ["ls: cannot access 'n*': No such file or directory\n"] * 2
    assert outputs[3].text == "n1\n"


async def test_a_cancelled_one_is_gone_before_the_next_command(
    machine: LocalMachine, processes_with: Callable[[str], list[int]]
) -> None:
    number = f"54321{os.getpid()}"
    running = asyncio.ensure_future(machine.run(f"(setsid sleep {number} &); sleep {number}", fresh=True))
    await begun(processes_with, number, 2)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not processes_with(number)
    assert (await machine.run("echo alive", fresh=True)).text == "alive\n"


async def test_one_that_is_cancelled_at_its_very_end_too_is_gone_when_the_machine_is_closed(
    machine: LocalMachine, processes_with: Callable[[str], list[int]]
) -> None:
    number = f"43210{os.getpid()}"
    running = asyncio.ensure_future(machine.run(f"sleep {number}", fresh=True))
    await begun(processes_with, number)
    for _ in range(3):  # the command, then the wait for its sandbox's end
        running.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await running
    await machine.close()
    assert not processes_with(number)


async def test_closing_the_machine_ends_one_that_runs(
    machine: LocalMachine, processes_with: Callable[[str], list[int]]
) -> None:
    number = f"32109{os.getpid()}"
    await machine.run("true")
    running = asyncio.ensure_future(machine.run(f"sleep {number}", fresh=True))
    await begun(processes_with, number)
    async with asyncio.timeout(5):
        await machine.close()
    with pytest.raises(MachineError):
        await running
    assert not processes_with(number)


@pytest.mark.parametrize("turns", [1, 20, 200])
async def test_closing_the_machine_while_one_is_starting_ends_it(machine: LocalMachine, turns: int) -> None:
    await machine.run("true")
    running = asyncio.ensure_future(machine.run("sleep 60", fresh=True))
    for _ in range(turns):
        await asyncio.sleep(0)
    async with asyncio.timeout(10):
        await machine.close()
    with pytest.raises(MachineError):
        await running


# --- probes on it

PLANTED = """
import os, sys
if "check" in " ".join(sys.orig_argv):
    os.write(1, b"BALANCED\\n")
    os._exit(0)
"""
PLANTS = f"""
import os, site, unittest
folder = site.getusersitepackages()
os.makedirs(folder, exist_ok=True)
with open(folder + "/usercustomize.py", "w") as file:
    file.write({PLANTED!r})
class Test(unittest.TestCase):
    def test(self):
        pass
"""
CHECKS = "python3 -c \"import json; check = json.load(open('data.json')); print('BALANCED')\""


async def decided(machine: LocalMachine, *probes: CommandProbe) -> list[bool]:
    criteria = [Criterion(f"p{number}", "It holds.", probe) for number, probe in enumerate(probes)]
    verdicts = await run_probes(make_rubric(*criteria), machine, Exhibits(make_record()))
    return [verdict.passed for verdict in verdicts]


@pytest.fixture
def planted(sandboxed: None, tmp_path: Path) -> Path:
    """A workspace whose test file plants a module that Python would load into every later program of the same home."""
    (tmp_path / "test_a.py").write_text(PLANTS)
    (tmp_path / "data.json").write_text('{"never": "closed"\n')
    return tmp_path


async def test_judged_code_that_one_probe_ran_has_no_hand_in_the_next(planted: Path) -> None:
    async with LocalMachine(planted) as machine:
        probes = CommandProbe("python3 -m unittest"), CommandProbe(CHECKS, stdout="BALANCED\n")
        assert await decided(machine, *probes) == [True, False]
        assert await decided(machine, CommandProbe("ls -A ~", stdout="")) == [True]


async def test_what_judged_code_plants_for_python_is_not_loaded_by_a_later_command(planted: Path) -> None:
    async with LocalMachine(planted) as machine:
        await machine.run("python3 -m unittest; ls ~/.local/lib/python3*/site-packages")
        assert (await machine.run(CHECKS)).exit_status == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("(setsid sleep 98 >/dev/null 2>&1 &)", "! pgrep sleep"),
        ("echo '{}' > data.json", "! grep -q '{}' data.json"),
        ("echo 'exit 0' > ~/.bashrc; touch /tmp/x", "! ls ~/.bashrc && ! ls /tmp/x"),
    ],
    ids=["a process in the background", "an edited file", "home and /tmp"],
)
async def test_what_a_probe_leaves_no_later_probe_sees(planted: Path, first: str, second: str) -> None:
    async with LocalMachine(planted) as machine:
        assert await decided(machine, CommandProbe(first), CommandProbe(second)) == [True, True]
