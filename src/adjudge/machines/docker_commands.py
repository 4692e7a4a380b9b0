"""An evaluator's commands in one container, one after another."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from adjudge.errors import MachineError
from adjudge.machines.capture import Kept
from adjudge.machines.docker_container import Container
from adjudge.machines.docker_engine import engine_faults
from adjudge.machines.docker_files import Item, put, tar_of
from adjudge.machines.docker_killing import kill_everything
from adjudge.machines.docker_watch import Breach, Ending, NotStartedError, follow
from adjudge.machines.order import environment_inside
from adjudge.machines.places import HOME
from adjudge.ports import Output

_TOGETHER = 'exec "$0" -c "$1" 2>&1'
"""One pipe for output and errors keeps their order; the shell that makes it gives way to the one that runs the command."""

_IMAGES_OWN = ("PATH", "USER", "LANG")

_NEWER_THAN_ALL = 1 << 31
_MOST_HOMES = 100
_ITS_OWN = (None, "time", "output")
"""Breaches of which only the command itself is the cause; what memory and processes are short of, all have taken."""

Killing = Callable[[Container, int], Awaitable[int]]
"""Kills a command with all that it started, by its pid; returns how many other processes were lost with it."""


class _Printed:
    """Head and tail of what a command prints."""

    def __init__(self, limit: int) -> None:
        self.kept = Kept(limit)

    def take(self, _stream: int, data: bytes) -> None:
        self.kept.add(data)

    @property
    def flooded(self) -> bool:
        return self.kept.flooded


def evaluators_environment(home: str) -> dict[str, str]:
    """The variables of a command besides those of the image, whose PATH stays: its toolchain may be anywhere."""
    kept = {name: value for name, value in environment_inside(()).items() if name not in _IMAGES_OWN}
    return kept | {"HOME": home}


async def give_home(container: Container) -> str:
    """Make a home for commands, for whatever user, where nothing was before: nobody can have prepared it.

    Returns its path, absolute, inside.
    """
    paths = (HOME, *(f"{HOME}-{number}" for number in range(1, _MOST_HOMES)))
    for path in paths:
        if not await container.engine.has(container.name, path):
            await put(container.engine, container.name, tar_of([Item(path, mode=0o1777)]))
            return path
    raise MachineError(f"{HOME} and {_MOST_HOMES - 1} places like it are taken in the container")


class Commands:
    """Runs commands in a started container; the caller sees to it that one runs at a time."""

    def __init__(
        self,
        container: Container,
        user: str,
        folder: str,
        environment: Mapping[str, str],
        limit: int,
        killing: Killing = kill_everything,
    ) -> None:
        """`limit` is how many bytes of a command's output are kept."""
        self._container, self._user, self._folder, self._limit = container, user, folder, limit
        self._environment, self._kill = environment, killing
        self._shell = "bash"
        self._mending: asyncio.Task[int] | None = None

    async def run(self, command: str, seconds: float) -> Output:
        """Run a command with bash, or with `sh` if the image has no bash.

        Raises:
            MachineError: the machine is lost.
        """
        if self._mending is not None:  # a cancelled command is being killed
            await self._mending
            self._mending = None
        lost = 0
        while True:
            try:
                output = await self._run(command, seconds)
            except NotStartedError as error:
                lost += await self._make_way(error)
            else:
                return msgspec.structs.replace(output, forfeited=output.forfeited + lost)

    async def _make_way(self, error: NotStartedError) -> int:
        """Remove what keeps a command from being started; returns how many processes that costs."""
        if await self._container.at_process_limit():
            return await kill_everything(self._container, _NEWER_THAN_ALL)
        if self._shell == "sh":
            raise MachineError(f"commands cannot be run: the image needs `bash` or `sh`: {error}") from error
        self._shell = "sh"
        return 0

    async def _run(self, command: str, seconds: float) -> Output:
        printed = _Printed(self._limit)
        process = await self._process(command)
        try:
            ending = await follow(self._container, process, printed, seconds)
        except asyncio.CancelledError:
            self._mending = asyncio.ensure_future(self._end(process))
            raise
        forfeited = await self._end(process, ending.breach) if ending.breach else 0
        return _output(printed.kept, ending, forfeited)

    async def _process(self, command: str) -> Any:
        arguments = (self._shell, "-c", _TOGETHER, self._shell, command)
        try:
            return await self._container.execute(arguments, self._user, self._environment, self._folder)
        except MachineError:
            if (await self._container.state())["State"]["Running"]:
                raise
        await self._container.restart()  # an earlier command has ended it
        return await self._container.execute(arguments, self._user, self._environment, self._folder)

    async def _end(self, process: Any, breach: Breach | None = None) -> int:
        with engine_faults("the machine was lost"):
            facts = await process.inspect()
        kill = self._kill if breach in _ITS_OWN else kill_everything
        return await kill(self._container, int(facts.get("Pid") or 0))

    async def settle(self) -> None:
        """Wait until a cancelled command has been killed."""
        if self._mending is not None:
            await asyncio.wait((self._mending,))


def _output(kept: Kept, ending: Ending, forfeited: int) -> Output:
    return Output(
        text=kept.text(),
        exit_status=ending.status,
        size=kept.size,
        seconds=round(ending.seconds, 4),
        ended=ending.breach,
        cut=kept.cut,
        forfeited=forfeited,
    )
