"""The local machine: a run's folder, read from the host's side, and commands on a copy-on-write view of it in a sandbox."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from adjudge.errors import InputError, MachineError
from adjudge.machines.files import Workspace
from adjudge.machines.hooks import find_hooks, named
from adjudge.machines.landlock import landlock_abi
from adjudge.machines.order import Order, bubblewrap_version, make_order
from adjudge.machines.places import HOME, WORKSPACE, check_exposed, check_place, check_placed
from adjudge.machines.search import search
from adjudge.machines.selftest import proven_view
from adjudge.machines.session import Session, open_session
from adjudge.ports import DirectoryItem, FilePart, Found, Hook, Output
from adjudge.settings import MachineLimits

LONGEST_COMMAND = 128 * 1024 - 1
"""Bytes; the kernel takes no longer argument."""

LONGEST_TIME = 10
"""How many times the usual limit a command may ask for."""


class LocalMachine:
    """A `ports.Machine` on this computer.

    Inside, the workspace is at `/workspace`, and at `at` as well, so that absolute paths of the place where the agent
    worked hold; commands start there. The sandbox is started by the first command, so that reading needs none; a fresh
    run has one of its own. Commands run one at a time. `expose` are absolute paths of the host's toolchain that commands
    may read; their `bin` folders come first in PATH. `placed` are other files and folders of the host, each by the path at
    which commands may read it. The last part of `home` is the user's name. Nothing may write to the folder while the
    machine is open.
    """

    def __init__(
        self,
        folder: Path,
        limits: MachineLimits | None = None,
        expose: Sequence[str] = (),
        at: str = WORKSPACE,
        home: str = HOME,
        placed: Mapping[str, Path] | None = None,
    ) -> None:
        """Check what was given; nothing is started.

        Raises:
            InputError: the folder cannot be read, or a path cannot appear inside.
        """
        self._limits = limits or MachineLimits()
        self.folder = Path(os.path.realpath(folder))
        self._at, self._home = check_place(at, (home,)), home
        self._exposed = check_exposed(expose, self.folder, at, (home,))
        self._placed = check_placed(placed or {}, self.folder, self._exposed, at, (home,))
        self._workspace = Workspace(self.folder)
        self._session: Session | None = None
        self._standing: set[Session] = set()
        self._one_at_a_time = asyncio.Lock()
        self._closing: asyncio.Task[None] | None = None
        self.facts: dict[str, str | int | bool | None] = {"kind": "local", "at": at}
        self.hooks: tuple[Hook, ...] = ()

    @classmethod
    async def open(
        cls,
        folder: Path,
        limits: MachineLimits | None = None,
        expose: Sequence[str] = (),
        at: str = WORKSPACE,
        home: str = HOME,
        placed: Mapping[str, Path] | None = None,
    ) -> Self:
        """A machine that knows its hooks already; the names of those that run by themselves are a fact.

        Raises:
            InputError: as the constructor.
        """
        machine = cls(folder, limits, expose, at, home, placed)
        found = await asyncio.to_thread(find_hooks, machine._workspace)
        machine.hooks, machine.facts["hooks"] = found.hooks, named(found)
        machine.facts["hooks complete"] = found.complete
        return machine

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
        """Run a command with `bash -c`; `seconds` may ask for up to ten times the usual limit.

        A fresh run is over only when its sandbox is gone, with all that the command left running.

        Raises:
            InputError: the command is empty, too long, or holds a NUL; or the seconds are not above 0.
            MachineError: as `ports.Machine.run`.
        """
        most = allowed_time(command, seconds, self._limits)
        async with self._one_at_a_time:
            if fresh:
                return await self._run_fresh(command, most)
            if self._session is None:
                self._session = await self._start()
            self._check_open()
            return await self._session.run(command, most)

    async def _run_fresh(self, command: str, seconds: float) -> Output:
        session = await self._start()
        try:
            self._check_open()
            return await session.run(command, seconds)
        finally:
            await session.close()
            self._standing.remove(session)  # unless we were cancelled once more: then `close` waits for its end

    async def _start(self) -> Session:
        self._check_open()
        view = await proven_view()
        order = await asyncio.to_thread(
            make_order, self.folder, self._limits, self._exposed, self._at, view, self._home, self._placed
        )
        session = await open_session(order, self._limits.output)
        self._standing.add(session)
        self.facts |= facts_of(order, session)
        return session

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
        """The path relative to the workspace, if it starts with one of the places where commands see the workspace."""
        for place in (self._at, WORKSPACE):
            if path == place or path.startswith(f"{place}/"):
                return path.removeprefix(place).lstrip("/") or "."
        return path

    # --- the end

    async def close(self) -> None:
        """End every sandbox and wait until nothing of them is left; a cancelled close goes on by itself."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        await self._end_sessions()  # a command that runs ends with its own
        async with self._one_at_a_time:
            await self._end_sessions()  # one may have been starting
            self._workspace.close()

    async def _end_sessions(self) -> None:
        for session in tuple(self._standing):
            await session.close()

    def _check_open(self) -> None:
        if self._closing is not None:
            raise MachineError("the machine is closed")


def facts_of(order: Order, session: Session) -> dict[str, str | int | bool | None]:
    """What is to be said of a sandbox."""
    return {
        "view": order.view,
        "privileges": "root" if order.privileged else "user",
        "bubblewrap": ".".join(map(str, bubblewrap_version(order.bubblewrap))),
        "landlock": landlock_abi(),
        "fresh sandbox per command": order.fresh,
        "memory limit": "cgroup" if session.in_cgroup else "rlimit",
    }


def allowed_time(command: str, seconds: float | None, limits: MachineLimits) -> float:
    """How many seconds a command may take.

    Raises:
        InputError: the command is empty, too long, or holds a NUL; or the seconds are not above 0.
    """
    _check_command(command, seconds)
    return min(seconds or limits.seconds, LONGEST_TIME * limits.seconds)


def _check_command(command: str, seconds: float | None) -> None:
    try:
        size = len(command.encode())
    except UnicodeEncodeError:
        size = 0
    if not size or command.isspace() or "\0" in command:
        raise InputError(f"command: must be a text without NUL, got {command[:80]!a}")
    if size > LONGEST_COMMAND:
        raise InputError(f"command: must be at most {LONGEST_COMMAND} bytes; write a longer one to a file in parts")
    if seconds is not None and not seconds > 0:
        raise InputError(f"seconds: must be above 0, got {seconds!r}")
