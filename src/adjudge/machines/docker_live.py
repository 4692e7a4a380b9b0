"""A container, live: an agent works in it, and what it leaves there, running or not, is what is judged."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from adjudge.errors import InputError, MachineError
from adjudge.machines.docker import DockerMachine
from adjudge.machines.docker_agent import USER, exposed_mounts, furnish, path_with
from adjudge.machines.docker_changes import changed_programs
from adjudge.machines.docker_commands import Commands, evaluators_environment, give_home
from adjudge.machines.docker_container import Bounds, Container, hardened
from adjudge.machines.docker_engine import LABEL_USER, Engine, remove_leftovers
from adjudge.machines.docker_files import export
from adjudge.machines.docker_killing import can_signal, kill_only
from adjudge.machines.docker_promises import Facts, facts_of_engine
from adjudge.machines.docker_relay import Relay
from adjudge.machines.docker_selftest import prove_engine
from adjudge.machines.docker_source import Source
from adjudge.machines.docker_work import fetch_from_home, left_running, start_agent
from adjudge.machines.launches import check_in_home, check_launch
from adjudge.machines.local import allowed_time
from adjudge.machines.places import AGENT_HOME, WORKSPACE
from adjudge.machines.printed import PrintedStreams
from adjudge.ports import DirectoryItem, Ended, Fetched, FilePart, Found, Hook, Launch, Output
from adjudge.settings import AgentLimits, MachineLimits
from adjudge.untrusted import one_line

_SHOWN, _LONGEST_LINE = 50, 200


class LiveDockerMachine:
    """A `ports.LiveMachine` in a container of an image, which stands from `open` to `close`.

    `run` works in the container in which the agent worked, with what it left running, but with a home of its own; a fresh
    run works in a container of a snapshot that is taken at `hand_over`.
    """

    home = AGENT_HOME
    workspace = WORKSPACE

    def __init__(
        self, engine: Engine, container: Container, source: Source, limits: AgentLimits, most: MachineLimits
    ) -> None:
        """Use `open`."""
        self._engine, self._container, self._source = engine, container, source
        self._limits, self._most = limits, most
        self.hooks: tuple[Hook, ...] = ()
        self._size = 0
        self._relays: list[Relay] = []
        self._files: DockerMachine | None = None
        self._commands: Commands | None = None
        self._one_at_a_time = asyncio.Lock()
        self._closing: asyncio.Task[None] | None = None
        self.facts: Facts = {"kind": "docker", "at": WORKSPACE, "live": True}

    @classmethod
    async def open(
        cls,
        image: str,
        folder: Path | None,
        limits: AgentLimits,
        commands: MachineLimits,
        expose: Sequence[str] = (),
    ) -> Self:
        """A machine of an image, with a copy of the folder, or with what the image has at /workspace.

        `expose` are absolute paths of the host's toolchain that may be read inside; their `bin` folders come first in PATH.

        Raises:
            InputError: there is no such image (none is pulled), the folder cannot be used, or a path cannot appear inside.
            MachineError: there is no engine, it refuses, or it does not hold.
        """
        if folder is not None and not await asyncio.to_thread(folder.is_dir):
            raise InputError(f"{folder}: the workspace must be a folder")
        engine = await Engine.connect()
        try:
            await remove_leftovers(engine)
            known = await engine.image(image)
            mounts = exposed_mounts(engine, expose)
            await prove_engine(engine, known["Id"])
        except BaseException:
            await engine.close()
            raise
        source = Source(known["Id"], USER, WORKSPACE, temporary=True, mounts=mounts, path=path_with(expose, known))
        machine = cls(engine, Container(engine, _settings(source, limits)), source, limits, commands)
        try:
            await machine._start(image, folder)
        except BaseException:
            await machine.close()
            raise
        return machine

    async def _start(self, image: str, folder: Path | None) -> None:
        await self._container.create()
        self._size = await furnish(self._container, folder)
        await self._container.start()
        self.facts |= {"image": image, **await facts_of_engine(self._engine)}
        self.facts["kills one command"] = await can_signal(self._container)

    async def __aenter__(self) -> Self:
        """The machine itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await self.close()

    # --- the agent's work

    async def listen(self, port: int) -> socket.socket:
        """A socket on which connections to that port inside arrive. Raises as `ports.LiveMachine.listen`."""
        async with self._one_at_a_time:
            self._check_still_the_agents()
            self._relays.append(Relay(self._engine, self._source.image, self._container.name, port))
            return await self._relays[-1].listen()

    async def work(self, launch: Launch, folder: Path, on_output: Callable[[bytes], None] | None = None) -> Ended:
        """Start the agent and wait for its end. Raises as `ports.LiveMachine.work`."""
        check_launch(launch)
        async with self._one_at_a_time:
            self._check_still_the_agents()
            printed = PrintedStreams(folder, self._limits.output, on_output)
            try:
                ending = await start_agent(self._container, launch, self._source.path, printed, self._limits)
            finally:
                await asyncio.shield(asyncio.to_thread(printed.save))
            left = await left_running(self._container)
        return Ended(
            exit_status=ending.status,
            seconds=round(ending.seconds, 4),
            output=printed.out.size,
            errors=printed.errors.size,
            stopped=ending.breach,
            left=tuple(one_line(line, _LONGEST_LINE) for line in left[:_SHOWN]),
            processes=len(left),
        )

    async def fetch(self, paths: Sequence[str], folder: Path) -> Fetched:
        """Copy things out of the agent's home. Raises as `ports.LiveMachine.fetch`."""
        names = [check_in_home(path) for path in paths]
        async with self._one_at_a_time:
            self._check_open()
            return await fetch_from_home(self._container, names, folder, self._limits)

    async def hand_over(self, folder: Path) -> Fetched:
        """Take the machine from the agent. Raises as `ports.LiveMachine.hand_over`."""
        async with self._one_at_a_time:
            self._check_still_the_agents()
            for relay in self._relays:
                await relay.end()
            most, files = self._size + self._limits.disk, self._limits.files
            fetched = await export(self._engine, self._container.name, f"{WORKSPACE}/.", folder, most, files)
            await self._give_to_evaluator(folder)
            return fetched or Fetched(0, 0)

    async def _give_to_evaluator(self, folder: Path) -> None:
        changed = await changed_programs(self._engine, self._container.name, WORKSPACE)
        image = await self._engine.commit(self._container.name)
        source = msgspec.structs.replace(self._source, image=image, changed=changed)
        try:
            engine = await Engine.connect()
        except BaseException:
            await self._engine.remove_image(source.image)
            raise
        self._files = DockerMachine(engine, source, self._most, folder)
        await self._files.describe()
        environment = evaluators_environment(await give_home(self._container)) | {"PATH": source.path or ""}
        self._commands = Commands(self._container, USER, WORKSPACE, environment, self._most.output, kill_only)
        self.hooks = self._files.hooks
        self.facts |= {name: self._files.facts[name] for name in ("hooks", "hooks complete")}
        if changed:
            self.facts["programs changed"] = ", ".join(changed)
        self.facts["processes left"] = len(await left_running(self._container))

    # --- the evaluator's looks

    async def run(self, command: str, seconds: float | None = None, fresh: bool = False) -> Output:
        """Run a command where the agent worked; a fresh one on a snapshot of the files. Raises as `DockerMachine.run`.

        One that takes too long or prints too much is killed with all that it started. If only the engine can kill what runs
        there, or memory or processes ran out, all that runs there is lost (`Output.forfeited`).
        """
        most = allowed_time(command, seconds, self._most)
        async with self._one_at_a_time:
            files = self._handed_over()
            if fresh:
                return await files.run(command, seconds, fresh=True)
            assert self._commands is not None
            try:
                output = await self._commands.run(command, most)
            except MachineError:
                self._check_open()
                raise
            self._check_open()  # else it may be the closing that ended the command
            return output

    async def grade(self, command: str, seconds: float, files: Path | None = None) -> Output:
        """Run a grader on a snapshot of the files. Raises as `DockerMachine.grade`."""
        async with self._one_at_a_time:
            return await self._handed_over().grade(command, seconds, files)

    async def read(self, path: str, offset: int = 0, limit: int = 65536) -> FilePart:
        """Read a part of a regular file, 16 MiB at most. Raises as `ports.Machine.read`."""
        return await self._handed_over().read(path, offset, limit)

    async def list(self, path: str = ".") -> tuple[Sequence[DirectoryItem], int]:
        """Names in a directory. Raises as `ports.Machine.list`."""
        return await self._handed_over().list(path)

    async def search(self, pattern: str, path: str = ".", regex: bool = False) -> Found:
        """Search text files. Raises as `ports.Machine.search`."""
        return await self._handed_over().search(pattern, path, regex)

    def _handed_over(self) -> DockerMachine:
        self._check_open()
        if self._files is None or self._commands is None:
            raise MachineError("the machine is still the agent's: it has not been handed over")
        return self._files

    def _check_still_the_agents(self) -> None:
        self._check_open()
        if self._files is not None:
            raise MachineError("the machine is no longer the agent's: it has been handed over")

    def _check_open(self) -> None:
        if self._closing is not None:
            raise MachineError("the machine is closed")

    # --- the end

    async def close(self) -> None:
        """Remove the container and all that was made for it; a cancelled close goes on by itself."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        await self._remove()  # what runs ends with it
        async with self._one_at_a_time:
            await self._remove()  # it may just have been handed over, or be listening
            if self._commands is not None:
                await self._commands.settle()
            await self._engine.close()

    async def _remove(self) -> None:
        for relay in self._relays:
            await relay.end()
        with suppress(MachineError):  # the next judge removes it
            await self._container.remove()
        if self._files is not None:
            await self._files.close()


def _settings(source: Source, limits: AgentLimits) -> dict[str, Any]:
    bounds = Bounds(memory=limits.memory, processes=limits.processes, file=limits.disk)
    settings = hardened(source.image, bounds, source.mounts)
    settings["Labels"] |= {LABEL_USER: USER}
    return settings | {"WorkingDir": WORKSPACE}
