"""Killing one command in a container from outside, and nothing else, where this process may signal what runs there."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from adjudge.errors import MachineError
from adjudge.machines.docker_container import Container, Process


async def kill_everything(container: Container, pid: int) -> int:
    """Kill everything in the container and start it again: the files stay, no process does.

    Returns how many processes were lost that are older than the command's (pids grow as time goes by), and so not its own.
    """
    try:
        older = [process for process in await container.processes() if process.pid < pid]
    except MachineError:  # it has ended by itself
        older = []
    lost = sum(process.pid not in container.base for process in older)
    await container.restart()
    return lost


async def kill_only(container: Container, pid: int) -> int:
    """Kill a command with all that it started, or everything where only the engine can kill. Returns what was lost."""
    if not pid or not await can_signal(container):
        return await kill_everything(container, pid)
    try:
        async with container.paused():  # so that nothing is started meanwhile, and no pid changes hands
            doomed = started_by(pid, await container.processes(), container.base)
            signal_all(doomed, signal.SIGKILL)
    except MachineError:  # what cannot be frozen must not go on either
        return await kill_everything(container, pid)
    return 0


async def terminate(container: Container, pid: int) -> bool:
    """Ask a command to end, with all that it started; returns whether that was possible."""
    if not pid or not await can_signal(container):
        return False
    async with container.paused():
        signal_all(started_by(pid, await container.processes(), container.base), signal.SIGTERM)
    return True


def started_by(pid: int, processes: Iterable[Process], base: frozenset[int]) -> set[int]:
    """The process, what descends from it, and what is newer than it and has lost its parent, with all their descendants."""
    found = {pid}
    for process in sorted(processes, key=lambda each: each.pid):
        orphaned = process.parent in base and process.pid > pid
        if process.pid not in base and (process.parent in found or orphaned):
            found.add(process.pid)
    return found


def signal_all(pids: Iterable[int], number: int) -> None:
    """Send a signal to processes, some of which may have ended."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


async def can_signal(container: Container) -> bool:
    """Whether the engine's pids are ours too, and ours to signal: the container's first process tells."""
    state = await container.state()
    first = int(state["State"]["Pid"])
    return first > 0 and _is_ours_to_signal(first, state["Id"])


def _is_ours_to_signal(pid: int, container: str) -> bool:
    try:
        groups = Path(f"/proc/{pid}/cgroup").read_text()
        os.kill(pid, 0)
    except OSError:
        return False
    return container in groups
