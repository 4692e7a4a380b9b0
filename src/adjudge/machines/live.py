"""The local machine, live: an agent works in a sandbox, and what it leaves there, running or not, is what is judged."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from adjudge.errors import InputError, MachineError
from adjudge.machines.copying import Copier, size_of
from adjudge.machines.gate import Gate
from adjudge.machines.landlock import scopes_signals
from adjudge.machines.launches import check_in_home, check_launch, not_started
from adjudge.machines.local import LocalMachine, allowed_time, facts_of
from adjudge.machines.order import HOME_SIZE, Order, environment_inside, make_live_order
from adjudge.machines.places import AGENT_HOME, GRADER, OWN_HOME, WORKSPACE, check_exposed
from adjudge.machines.program import Program
from adjudge.machines.selftest import proven_view
from adjudge.machines.session import Session, open_session
from adjudge.machines.spill import Printed
from adjudge.ports import DirectoryItem, Ended, Fetched, FilePart, Found, Hook, Launch, Output
from adjudge.settings import AgentLimits, MachineLimits
from adjudge.untrusted import one_line

_LONGEST_LINE = 200


class LiveLocalMachine:
    """A `ports.LiveMachine` on this computer: one sandbox, which stands from `open` to `close`.

    The agent works on a copy-on-write view of a folder, which nothing may write to while the machine is open. Its home is
    on a file system of its own. `run` then works in the same sandbox, with what the agent left running, but with a home
    that nothing of the agent's has ever seen; a fresh run and all that reads files work on the folder of `hand_over`.
    """

    home = AGENT_HOME
    workspace = WORKSPACE

    def __init__(
        self,
        session: Session,
        order: Order,
        limits: AgentLimits,
        commands: MachineLimits,
    ) -> None:
        """Take over a session that was opened with this order; everything has been checked."""
        self._session, self._order, self._limits, self._commands = session, order, limits, commands
        self._gates: list[Gate] = []
        self._files: LocalMachine | None = None
        self._grading: LocalMachine | None = None
        self._one_at_a_time = asyncio.Lock()
        self._closing: asyncio.Task[None] | None = None
        self.hooks: tuple[Hook, ...] = ()
        apart = scopes_signals(order.landlock)
        self.facts = facts_of(order, session) | {"kind": "local", "at": WORKSPACE, "live": True, "commands apart": apart}

    @classmethod
    async def open(
        cls,
        folder: Path | None,
        limits: AgentLimits,
        commands: MachineLimits,
        expose: Sequence[str] = (),
    ) -> Self:
        """A machine with the folder, or with an empty workspace.

        `expose` are absolute paths of the host's toolchain that may be read inside; their `bin` folders come first in PATH.

        Raises:
            InputError: the folder cannot be used, or a path cannot appear inside.
            MachineError: no sandbox can be had here; the message says why and what would help.
        """
        original = None if folder is None else _existing(folder)
        exposed = check_exposed(expose, original, WORKSPACE, (AGENT_HOME, OWN_HOME))
        view = await proven_view()
        order = await asyncio.to_thread(make_live_order, original, limits, commands, exposed, view)
        return cls(await open_session(order, commands.output), order, limits, commands)

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
            self._gates.append(Gate(await self._session.listen(port)))
            return self._gates[-1]

    async def work(self, launch: Launch, folder: Path, on_output: Callable[[bytes], None] | None = None) -> Ended:
        """Start the agent and wait for its end. Raises as `ports.LiveMachine.work`."""
        program = self._program(launch)
        async with self._one_at_a_time:
            self._check_still_the_agents()
            printed = Printed(folder, self._limits.output, self._session.stop, on_output)
            self._session.keep(printed.out, printed.errors)
            try:
                answer = await self._session.execute(program, printed.out.write_end, printed.errors.write_end)
                await asyncio.gather(printed.out.settle(), printed.errors.settle())
            finally:
                printed.pause()
                await asyncio.shield(asyncio.to_thread(printed.save))
        if refused := answer["refused"]:
            raise not_started(launch.arguments[0], refused)
        return Ended(
            exit_status=answer["status"],
            seconds=round(answer["seconds"], 4),
            output=printed.out.size,
            errors=printed.errors.size,
            stopped=answer["ended"],
            full=answer["full"],
            left=tuple(one_line(line, _LONGEST_LINE) for line in answer["left"]),
            processes=answer["processes"],
        )

    def _program(self, launch: Launch) -> Program:
        check_launch(launch)
        files = {f"{AGENT_HOME}/{path}": content for path, content in launch.files.items()}
        environment = self._order.environment | launch.environment
        return Program(
            launch.arguments[0], launch.arguments, environment, self._limits.seconds, grace=self._limits.grace, files=files
        )

    async def fetch(self, paths: Sequence[str], folder: Path) -> Fetched:
        """Copy things out of the agent's home. Raises as `ports.LiveMachine.fetch`."""
        names = [check_in_home(path) for path in paths]
        async with self._one_at_a_time:
            self._check_open()
            copier = Copier(self._session, HOME_SIZE, self._limits.files)
            return await copier.copy(AGENT_HOME, names, folder) if names else Fetched(0, 0)

    async def hand_over(self, folder: Path) -> Fetched:
        """Take the machine from the agent. Raises as `ports.LiveMachine.hand_over`."""
        async with self._one_at_a_time:
            self._check_still_the_agents()
            for gate in self._gates:
                gate.shut()
            size, files = await asyncio.to_thread(size_of, self._order.workspace)
            copier = Copier(self._session, size + self._limits.disk, files + self._limits.files)
            fetched = await copier.copy(WORKSPACE, ["."], folder)
            await self._give_to_evaluator(folder)
            return fetched

    async def _give_to_evaluator(self, folder: Path) -> None:
        commands = self._commands
        left = await self._session.hand_over(OWN_HOME, commands.disk, commands.memory, commands.processes)
        self._session.environment = environment_inside(self._order.exposed, OWN_HOME, os.path.basename(AGENT_HOME))
        self._session.spares = True
        self._files = await LocalMachine.open(folder, commands, self._order.exposed, home=AGENT_HOME)
        self.hooks = self._files.hooks
        self.facts |= {name: self._files.facts[name] for name in ("hooks", "hooks complete")}
        self.facts["processes left"] = left

    # --- the evaluator's looks

    async def run(self, command: str, seconds: float | None = None, fresh: bool = False) -> Output:
        """Run a command where the agent worked; a fresh one on a copy of the files. Raises as `LocalMachine.run`.

        One that takes too long or prints too much is killed with all that it started, and the rest of the machine goes on.
        One that takes too much memory or too many processes costs all that runs there (`Output.forfeited`).
        """
        most = allowed_time(command, seconds, self._commands)
        async with self._one_at_a_time:
            files = self._handed_over()
            if fresh:
                return await files.run(command, seconds, fresh=True)
            return await self._session.run(command, most)

    async def grade(self, command: str, seconds: float, files: Path | None = None) -> Output:
        """Run a grader in a sandbox that nothing else ever enters. Raises as `ports.LiveMachine.grade`, and InputError.

        InputError says that the command cannot be one, or that `files` are not there or lie in the workspace.
        """
        async with self._one_at_a_time:
            folder, limits = self._handed_over().folder, msgspec.structs.replace(self._commands, seconds=seconds)
            placed = {GRADER: files} if files else {}
            self._grading = LocalMachine(folder, limits, self._order.exposed, home=AGENT_HOME, placed=placed)
            try:
                return await self._grading.run(command, seconds)
            finally:
                await self._grading.close()

    async def read(self, path: str, offset: int = 0, limit: int = 65536) -> FilePart:
        """Read a part of a regular file, 16 MiB at most. Raises as `ports.Machine.read`."""
        return await self._handed_over().read(path, offset, limit)

    async def list(self, path: str = ".") -> tuple[Sequence[DirectoryItem], int]:
        """Names in a directory. Raises as `ports.Machine.list`."""
        return await self._handed_over().list(path)

    async def search(self, pattern: str, path: str = ".", regex: bool = False) -> Found:
        """Search text files. Raises as `ports.Machine.search`."""
        return await self._handed_over().search(pattern, path, regex)

    def _handed_over(self) -> LocalMachine:
        self._check_open()
        if self._files is None:
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
        """End the sandbox and wait until nothing of it is left; a cancelled close goes on by itself."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        for gate in self._gates:
            gate.shut()
        for machine in (self._session, self._files, self._grading):  # what runs ends with it
            if machine:
                await machine.close()
        async with self._one_at_a_time:
            if self._files:  # it may just have been handed over
                await self._files.close()


def _existing(folder: Path) -> Path:
    if not folder.is_dir():
        raise InputError(f"{folder}: the workspace must be a folder")
    return Path(os.path.realpath(folder))
