"""An agent's process in its container: started, watched, stopped at a limit; and what it leaves behind."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adjudge.machines.docker_agent import AGENT, USER
from adjudge.machines.docker_container import Container
from adjudge.machines.docker_engine import engine_faults
from adjudge.machines.docker_files import Item, export, put, tar_of
from adjudge.machines.docker_killing import kill_only, terminate
from adjudge.machines.docker_watch import Ending, NotStartedError, follow
from adjudge.machines.launches import not_started
from adjudge.machines.places import AGENT_HOME, WORKSPACE
from adjudge.machines.printed import PrintedStreams
from adjudge.ports import Fetched, Launch
from adjudge.settings import AgentLimits


async def start_agent(
    container: Container, launch: Launch, path: str | None, printed: PrintedStreams, limits: AgentLimits
) -> Ending:
    """Start an agent's process and wait for its end; at a limit, or if this is cancelled, it is killed.

    Raises:
        InputError: it cannot be started.
        MachineError: the machine was lost.
    """
    await _put_files(container, launch.files)
    environment = {"HOME": AGENT_HOME, "USER": "agent", "TERM": "dumb"} | ({"PATH": path} if path else {})
    process = await container.execute(launch.arguments, USER, environment | launch.environment, WORKSPACE)

    async def ask(pid: int) -> bool:
        return await terminate(container, pid)

    try:
        ending = await follow(container, process, printed, limits.seconds, ask, limits.grace)
    except NotStartedError as error:
        raise not_started(launch.arguments[0], str(error)) from error
    except asyncio.CancelledError:
        await asyncio.shield(_kill(container, process))
        raise
    if ending.breach:
        await _kill(container, process)
    return ending


async def _put_files(container: Container, files: Mapping[str, bytes]) -> None:
    """Write files into the agent's home, which are its own and nobody else's to read."""
    folders = {parent for path in files for parent in Path(path).parents} - {Path()}
    items = [Item(f"{AGENT_HOME}/{folder}", mode=0o700, owner=AGENT) for folder in sorted(folders)]
    items += [Item(f"{AGENT_HOME}/{path}", data, 0o600, AGENT) for path, data in files.items()]
    if items:
        await put(container.engine, container.name, tar_of(items))


async def _kill(container: Container, process: Any) -> None:
    with engine_faults("the machine was lost"):
        facts = await process.inspect()
    await kill_only(container, int(facts.get("Pid") or 0))


async def left_running(container: Container) -> list[str]:
    """The command lines of what still runs. A container that has ended, killed by what was in it, is started again."""
    if not (await container.state())["State"]["Running"]:
        await container.restart()
    processes = await container.processes()
    return [each.command for each in processes if each.pid not in container.base and not each.ended]


async def fetch_from_home(container: Container, names: Sequence[str], folder: Path, limits: AgentLimits) -> Fetched:
    """Copy things out of the agent's home to the same paths in a folder; what is not there is passed over.

    Raises:
        MachineError: the machine was lost.
    """
    fetched = Fetched(0, 0)
    for name in names:
        size, files = limits.disk - fetched.size, limits.files - fetched.files
        with tempfile.TemporaryDirectory(dir=folder, prefix=".", ignore_cleanup_errors=True) as new:
            came = await export(container.engine, container.name, f"{AGENT_HOME}/{name}", Path(new), size, files)
            if came is not None:
                moved = await asyncio.to_thread(_move, Path(new), os.path.basename(name), folder, name)
                fetched = _sum(fetched, came if moved else Fetched(0, 0, left_out=1))
    return fetched


def _move(new: Path, name: str, folder: Path, path: str) -> bool:
    """Move what was unpacked to its place, unless something of that name is there or a link stands in its way."""
    place = folder
    for part in path.split("/")[:-1]:
        place /= part
        if not os.path.lexists(place):
            place.mkdir()
        if place.is_symlink() or not place.is_dir():
            return False
    if not os.path.lexists(new / name) or os.path.lexists(place / name):
        return False
    shutil.move(new / name, place / name)
    return True


def _sum(one: Fetched, other: Fetched) -> Fetched:
    return Fetched(one.files + other.files, one.size + other.size, one.left_out + other.left_out, one.cut or other.cut)
