"""Judges that are killed at random moments: a program of its own, so that whatever they leave behind becomes its child.

    python killed_judges.py FOLDER JUDGES SECONDS KIND

Each judge opens a machine on FOLDER and runs commands; on a machine of the kind "live" it lets an agent work before, and
again and again. Within SECONDS of its start it gets SIGKILL. As a child subreaper
this program inherits every process that survives its judge, so that "no child is left" means "nothing survived". It prints
how many were killed, and what was left, as JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from adjudge.machines import cgroups
from adjudge.machines.live import LiveLocalMachine
from adjudge.machines.order import make_live_order, make_order
from adjudge.machines.places import WORKSPACE
from adjudge.machines.session import open_session
from adjudge.ports import Launch
from adjudge.settings import AgentLimits, MachineLimits

AT_ONCE = 4
SUBREAPER = 36
LIMITS = MachineLimits(memory=256 << 20, disk=64 << 20)
AGENTS = AgentLimits(memory=256 << 20, disk=64 << 20)


async def judge(folder: Path) -> None:
    order = await asyncio.to_thread(make_order, folder, LIMITS, (), WORKSPACE, "overlay")
    session = await open_session(order, LIMITS.output)
    for number in range(1000):
        await session.run(f"echo {number} > kept; (setsid sleep 300 &); sleep 0.01", 5)


async def start_agents(folder: Path) -> None:
    order = await asyncio.to_thread(make_live_order, folder, AGENTS, LIMITS, (), "overlay")
    machine = LiveLocalMachine(await open_session(order, LIMITS.output), order, AGENTS, LIMITS)
    await machine.listen(47113)
    script = "trap '' TERM; echo x > kept; echo x > ~/kept; (setsid sleep 300 &); (setsid yes &); sleep 0.03"
    for number in range(2):
        await machine.work(Launch(("/bin/bash", "-c", script)), made(folder.parent / "out" / f"{os.getpid()}-{number}"))
        await machine.fetch(["kept"], made(folder.parent / "out" / f"{os.getpid()}-{number}-home"))
    await machine.hand_over(made(folder.parent / "out" / f"{os.getpid()}-copy"))
    for number in range(1000):
        await machine.run(f"echo {number} > kept; (setsid sleep 300 &); sleep 0.2", 0.1)


def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def start(folder: Path, kind: str) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            asyncio.run(judge(folder) if kind == "local" else start_agents(folder))
        finally:
            os._exit(1)
    return pid


def kill_them(folder: Path, judges: int, longest: float, kind: str) -> tuple[int, set[str]]:
    """Start and kill, some at the same time; returns how many were killed while they were at work, and which judges
    were started, by pid and start."""
    chance, killed = random.Random(0), 0
    started: set[str] = set()
    running: list[tuple[float, int]] = []
    for _ in range(judges):
        delay = longest * chance.random() ** 2  # most of them early, while the sandbox is being built
        running.append((time.monotonic() + delay, start(folder, kind)))
        started.add(f"{running[-1][1]}-{cgroups.start_of(running[-1][1])}")
        if len(running) == AT_ONCE:
            killed += kill_next(running)
    while running:
        killed += kill_next(running)
    return killed, started


def kill_next(running: list[tuple[float, int]]) -> int:
    when, pid = running.pop(running.index(min(running)))
    time.sleep(max(0.0, when - time.monotonic()))
    os.kill(pid, signal.SIGKILL)
    while True:
        found, status = os.waitpid(pid, 0)
        if found == pid:
            return os.waitstatus_to_exitcode(status) == -signal.SIGKILL


def survivors(seconds: float) -> list[str]:
    """The names of the processes that are still our children after at most this time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.01)
        except ChildProcessError:
            return []
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ") for pid in children]


def groups(judges: set[str]) -> list[str]:
    """Control groups of these judges, which are all dead; others may be judging here too, and pids are used again."""
    found = cgroups.ROOT.rglob(f"{cgroups.PREFIX}*")
    return [str(each) for each in found if each.name.removeprefix(cgroups.PREFIX).rpartition("-")[0] in judges]


def main() -> None:
    folder, judges, longest = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    temporary = set(os.listdir(os.environ.get("TMPDIR", "/tmp")))
    killed, started = kill_them(folder, judges, longest, sys.argv[4])
    left = survivors(20)
    appeared = set(os.listdir(os.environ.get("TMPDIR", "/tmp"))) - temporary
    result = {
        "killed": killed,
        "survivors": left,
        "groups": groups(started),
        "folders": sorted(name for name in appeared if name.startswith("adjudge")),
        "mounts": [
            line for line in Path("/proc/mounts").read_text().splitlines() if "overlay" in line and str(folder) in line
        ],
    }
    with contextlib.suppress(BrokenPipeError):
        print(json.dumps(result))


if __name__ == "__main__":
    main()
