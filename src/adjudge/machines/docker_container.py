"""One hardened container: made, started, filled, watched, killed from outside, removed."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiodocker
import msgspec

from adjudge.errors import MachineError
from adjudge.machines.docker_engine import LABEL, TEMPORARY, Engine, engine_faults, judge
from adjudge.machines.docker_group import find_group, processes_in, refusals_in

_ROOT = "0:0"
_WAITS = ("sh", "-c", "read nothing")
"""What a container does while nothing is asked of it: its standard input stays open and never brings anything."""

Mount = Mapping[str, str | bool]

_STARTING, _LOOK = 5.0, 0.02
_PAUSES, _BETWEEN = 5, 0.2
"""Times that freezing a container is tried, and seconds between: it fails while the kernel seeks memory for it."""
_SHARED_MEMORY = 64 << 20


class Bounds(msgspec.Struct, frozen=True):
    """What all processes of a container together may use: bytes of memory, a number of processes, bytes of one file."""

    memory: int
    processes: int
    file: int


class Process(msgspec.Struct, frozen=True):
    """A process of a container, by the pids of the engine's host."""

    pid: int
    parent: int
    command: str

    @property
    def ended(self) -> bool:
        """Whether it only waits for somebody to take note of its end."""
        return self.command.endswith("<defunct>")


def read_only(source: str, target: str | None = None) -> Mount:
    """The engine's words for a path of the host that may be read in a container, at the same place or another."""
    return {"Type": "bind", "Source": source, "Target": target or source, "ReadOnly": True}


def hardened(image: str, bounds: Bounds, mounts: Sequence[Mount] = ()) -> dict[str, Any]:
    """The engine's words for a container without network, privileges, devices or ways to gain any.

    What waits in it is root's, so that no other user of it can end it; commands get their user when they are run.
    """
    return {
        "Image": image,
        "Entrypoint": list(_WAITS),
        "Cmd": [],
        "User": _ROOT,
        "WorkingDir": "/",
        "OpenStdin": True,
        "Hostname": "machine",
        "Healthcheck": {"Test": ["NONE"]},
        "Labels": {LABEL: judge()},
        "HostConfig": {
            "NetworkMode": "none",
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges"],
            "Privileged": False,
            "PidsLimit": bounds.processes,
            "Memory": bounds.memory,
            "MemorySwap": bounds.memory,
            "ShmSize": min(_SHARED_MEMORY, bounds.memory),
            "IpcMode": "private",
            "Init": True,
            "LogConfig": {"Type": "none"},
            "RestartPolicy": {"Name": "no"},
            "Mounts": [dict(mount) for mount in mounts],
            "Ulimits": [
                {"Name": "core", "Soft": 0, "Hard": 0},
                {"Name": "nofile", "Soft": 4096, "Hard": 4096},
                {"Name": "fsize", "Soft": bounds.file, "Hard": bounds.file},
            ],
        },
    }


class Container:
    """A container of ours. Its name is known before it is made, so that nothing is lost if making it is cancelled."""

    def __init__(self, engine: Engine, settings: Mapping[str, Any]) -> None:
        self.engine, self._settings = engine, settings
        self.name = TEMPORARY + secrets.token_hex(8)
        self.base: frozenset[int] = frozenset()
        self._group: Path | None = None
        self.busy_until = 0.0  # of `time.monotonic`; the engine will not notice before how a process in it ends
        self._there = engine.client.containers.container(self.name)

    @property
    def processes_allowed(self) -> int:
        """How many processes may be in it at a time."""
        return int(self._settings["HostConfig"]["PidsLimit"])

    async def create(self) -> None:
        """Make it, without starting anything.

        Raises:
            MachineError: the engine refuses; the message says what it said.
        """
        with engine_faults("no container could be made"):
            await self.engine.client.containers.create(dict(self._settings), name=self.name)

    async def start(self) -> None:
        """Start it; `base` are then the processes that belong to nobody's command.

        Raises:
            MachineError: it cannot be started; an image without a shell cannot.
        """
        with engine_faults("the container could not be started (its image needs a shell, `sh`)"):
            await self._there.start()
        state = await self.state()
        self._group = find_group(int(state["State"]["Pid"]), state["Id"])
        try:
            self.base = frozenset(process.pid for process in await self._first_processes())
        except MachineError as error:
            raise MachineError(f"the container ended at once (its image needs a shell, `sh`): {error}") from error

    async def _first_processes(self) -> tuple[Process, ...]:
        """The processes once all are there that belong to the container: an init has its child only after a moment."""
        until = time.monotonic() + _STARTING
        waiting = " ".join(self._settings["Entrypoint"])
        while True:
            found = await self.processes()
            if time.monotonic() > until or any(process.command == waiting for process in found):
                return found
            await asyncio.sleep(_LOOK)

    async def state(self) -> dict[str, Any]:
        """What the engine tells of it: `State`, `HostConfig` and so on."""
        with engine_faults("the machine was lost"):
            return await self._there.show()

    async def processes(self) -> tuple[Process, ...]:
        """All its processes, as the host's own `ps` sees them."""
        with engine_faults("the container's processes could not be listed"):
            rows: Iterable[Sequence[str]] = (await self._there.top(ps_args="-eo pid,ppid,args"))["Processes"] or ()
        return tuple(Process(int(row[0]), int(row[1]), row[2]) for row in rows)

    async def execute(self, arguments: Sequence[str], user: str, environment: Mapping[str, str], folder: str) -> Any:
        """A process of it, made ready to be started (an `aiodocker` exec)."""
        with engine_faults("the machine was lost"):
            return await self._there.exec(list(arguments), user=user, environment=dict(environment), workdir=folder)

    async def restart(self) -> None:
        """Kill everything in it from outside, whatever it ignores, and start it again on the same files."""
        with engine_faults("the machine was lost"):
            with suppress(aiodocker.DockerError):  # it may have ended by itself
                await self._there.kill()
            await self._there.wait()
        await self.start()

    async def remove(self) -> None:
        """Kill it and remove it with its files; it may be gone, or never have been made.

        Raises:
            MachineError: the engine does not remove it.
        """
        with engine_faults("the container could not be removed"):
            try:
                await self._there.delete(force=True, v=True)
            except aiodocker.DockerError as error:
                if error.status not in (404, 409):  # 409: it is being removed already
                    raise

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Let nothing in it go on meanwhile.

        Raises:
            MachineError: it could not be frozen, as may happen while the kernel is short of memory for it.
        """
        with engine_faults("the container could not be paused"):
            await self._pause()
        try:
            yield
        finally:
            with engine_faults("the container could not go on"):
                await self._there.unpause()

    async def _pause(self) -> None:
        for left in reversed(range(_PAUSES)):
            try:
                await self._there.pause()
                return
            except aiodocker.DockerError as error:
                if error.status != 500 or not left:
                    raise
            await asyncio.sleep(_BETWEEN)

    def refusals(self) -> int | None:
        """How often a process more was refused in it since it was started; `None` where that cannot be seen."""
        return None if self._group is None else refusals_in(self._group)

    async def at_process_limit(self) -> bool:
        """Whether no further process can be started in it now."""
        if self._group is not None:
            return processes_in(self._group) >= self.processes_allowed
        with engine_faults("the machine was lost"):
            threads = (await self._there.top(ps_args="-eLo pid,lwp"))["Processes"] or ()
        return len(threads) >= self.processes_allowed
