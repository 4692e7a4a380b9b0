"""A finished container or an image as a machine: its files read from the host's side, commands in a hardened container."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from adjudge.errors import InputError, MachineError
from adjudge.machines.docker_agent import AGENT
from adjudge.machines.docker_commands import Commands, evaluators_environment, give_home
from adjudge.machines.docker_container import Bounds, Container, hardened
from adjudge.machines.docker_engine import Engine, remove_leftovers
from adjudge.machines.docker_files import export, put_folder
from adjudge.machines.docker_folders import own_folder
from adjudge.machines.docker_promises import Facts, facts_of_engine
from adjudge.machines.docker_selftest import prove_engine
from adjudge.machines.docker_source import Source, find_source
from adjudge.machines.files import Workspace
from adjudge.machines.hooks import find_hooks, named
from adjudge.machines.local import allowed_time
from adjudge.machines.places import GRADER
from adjudge.machines.search import search
from adjudge.ports import DirectoryItem, Fetched, FilePart, Found, Hook, Output
from adjudge.settings import MachineLimits


class DockerMachine:
    """A `ports.Machine` on a container or an image. Neither is changed: of a container a snapshot is judged.

    The container for commands is started by the first one, so that reading needs none; a fresh run has one of its own.
    Commands run one at a time, as the image's user, without any capability.
    """

    def __init__(self, engine: Engine, source: Source, limits: MachineLimits, folder: Path) -> None:
        """A machine whose files have been exported to a folder already; `open` exports them."""
        self._engine, self._source, self._limits = engine, source, limits
        self._workspace = Workspace(folder)
        self._standing: list[Container] = []
        self._container = self._new_container()
        self._commands: Commands | None = None
        self._temporary: Path | None = None
        self._one_at_a_time = asyncio.Lock()
        self._closing: asyncio.Task[None] | None = None
        self.facts: Facts = {"kind": "docker", "at": source.workspace}
        self.hooks: tuple[Hook, ...] = ()

    @classmethod
    async def open(cls, name: str, limits: MachineLimits | None = None, workspace: str | None = None) -> Self:
        """A machine on `docker:NAME` or `image:NAME`.

        `workspace` is an absolute path in it; without one it is the working directory that was set for it.

        Raises:
            InputError: there is no such container or image, or no such folder in it.
            MachineError: there is no engine, or it refuses.
        """
        engine = await Engine.connect()
        try:
            await remove_leftovers(engine)
            source = await find_source(engine, name, workspace)
        except BaseException:
            await engine.close()
            raise
        folder = own_folder()
        machine = cls(engine, source, limits or MachineLimits(), folder)
        machine._temporary = folder
        try:
            fetched = await machine._export(name, folder)
            await machine.describe()
        except BaseException:
            await machine.close()
            raise
        machine.facts |= {"source": name, **_missing(fetched)}
        return machine

    async def _export(self, name: str, folder: Path) -> Fetched:
        place, most = self._source.workspace, self._limits
        await self._container.create()
        fetched = await export(self._engine, self._container.name, f"{place}/.", folder, most.disk, most.files)
        if fetched is None:
            raise InputError(f"{name}: there is no folder {place} in it; name another with --workspace PATH")
        return fetched

    async def describe(self) -> None:
        """Complete the facts: the engine, what it does not promise, and what in the workspace runs by itself."""
        found = await asyncio.to_thread(find_hooks, self._workspace)
        self.hooks = found.hooks
        self.facts |= await facts_of_engine(self._engine)
        self.facts |= {"hooks": named(found), "hooks complete": found.complete}
        if self._source.changed:
            self.facts["programs changed"] = ", ".join(self._source.changed)

    async def __aenter__(self) -> Self:
        """The machine itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await self.close()

    # --- commands

    async def run(self, command: str, seconds: float | None = None, fresh: bool = False) -> Output:
        """Run a command with `bash -c` (`sh -c` without bash); `seconds` may ask for up to ten times the usual limit.

        Raises:
            InputError: as `machines.local.allowed_time`.
            MachineError: as `ports.Machine.run`.
        """
        most = allowed_time(command, seconds, self._limits)
        return await self._alone(lambda: self._run_fresh(command, most) if fresh else self._run(command, most))

    async def grade(self, command: str, seconds: float, files: Path | None = None) -> Output:
        """Run a command in a container that nothing else enters, which finds a copy of `files` at /grader.

        Raises:
            InputError: the command cannot be one, or the files are not there.
            MachineError: as `ports.Machine.run`.
        """
        most = allowed_time(command, seconds, msgspec.structs.replace(self._limits, seconds=seconds))
        if files is not None and not await asyncio.to_thread(files.exists):
            raise InputError(f"{files}: is not there, so that a grader cannot have it")
        return await self._alone(lambda: self._run_fresh(command, most, files))

    async def _alone(self, running: Callable[[], Awaitable[Output]]) -> Output:
        async with self._one_at_a_time:
            self._check_open()
            try:
                await prove_engine(self._engine, self._source.image)
                output = await running()
            except MachineError:
                self._check_open()
                raise
            self._check_open()  # else it may be the closing that ended the command
            return output

    async def _run(self, command: str, seconds: float) -> Output:
        if self._commands is None:
            self._commands = await self._started(self._container)
        self._check_open()
        return await self._commands.run(command, seconds)

    async def _run_fresh(self, command: str, seconds: float, files: Path | None = None) -> Output:
        container = self._new_container()
        try:
            await container.create()
            if files is not None:
                await put_folder(self._engine, container.name, files, GRADER, AGENT)
            commands = await self._started(container)
            self._check_open()
            return await commands.run(command, seconds)
        finally:
            await container.remove()
            self._standing.remove(container)  # unless we were cancelled once more: then `close` removes it

    def _new_container(self) -> Container:
        most = self._limits
        bounds = Bounds(memory=most.memory, processes=most.processes, file=most.disk)
        self._standing.append(Container(self._engine, hardened(self._source.image, bounds, self._source.mounts)))
        return self._standing[-1]

    async def _started(self, container: Container) -> Commands:
        source = self._source
        environment = evaluators_environment(await give_home(container)) | ({"PATH": source.path} if source.path else {})
        await container.start()
        return Commands(container, source.user, source.workspace, environment, self._limits.output)

    # --- files, as the agent left them

    async def read(self, path: str, offset: int = 0, limit: int = 65536) -> FilePart:
        """Read a part of a regular file, 16 MiB at most. Raises as `ports.Machine.read`."""
        self._check_open()
        return await asyncio.to_thread(self._workspace.read, self._within(path), offset, limit)

    async def list(self, path: str = ".") -> tuple[Sequence[DirectoryItem], int]:
        """Names in a directory. Raises as `ports.Machine.list`."""
        self._check_open()
        return await asyncio.to_thread(self._workspace.list, self._within(path))

    async def search(self, pattern: str, path: str = ".", regex: bool = False) -> Found:
        """Search text files. Raises as `ports.Machine.search`."""
        self._check_open()
        return await asyncio.to_thread(search, self._workspace, pattern, self._within(path), regex)

    def _within(self, path: str) -> str:
        """The path relative to the workspace, if it starts with the place where commands see the workspace."""
        place = self._source.workspace
        return path.removeprefix(place).lstrip("/") or "." if f"{path}/".startswith(f"{place}/") else path

    # --- the end

    async def close(self) -> None:
        """Remove every container and snapshot of this machine; a cancelled close goes on by itself."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        await self._remove_containers()  # a command that runs ends with its own
        async with self._one_at_a_time:
            await self._remove_containers()  # one may have been starting
            if self._commands is not None:
                await self._commands.settle()
            if self._source.temporary:
                await self._engine.remove_image(self._source.image)
            await self._engine.close()
            self._workspace.close()
            if self._temporary is not None:
                await asyncio.to_thread(shutil.rmtree, self._temporary, True)

    async def _remove_containers(self) -> None:
        for container in tuple(self._standing):
            with suppress(MachineError):  # the next judge removes it
                await container.remove()

    def _check_open(self) -> None:
        if self._closing is not None:
            raise MachineError("the machine is closed")


def _missing(fetched: Fetched) -> Facts:
    """What of the workspace cannot be read from the host's side, if anything."""
    facts: Facts = {"files left out": fetched.left_out} if fetched.left_out else {}
    return facts | ({"files cut": True} if fetched.cut else {})
