"""A workspace as an untrusted agent could have left it, a machine on it, and the proof that it stays as it was."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.machines.docker_engine import docker, docker_engine, docker_image

from adjudge.errors import MachineError
from adjudge.machines.live import LiveLocalMachine
from adjudge.machines.local import LocalMachine
from adjudge.machines.places import WORKSPACE
from adjudge.machines.selftest import proven_view
from adjudge.ports import FilePart, Output
from adjudge.settings import AgentLimits, MachineLimits

__all__ = ["docker", "docker_engine", "docker_image"]

SMALL = MachineLimits(seconds=10.0, memory=256 << 20, processes=64, output=256 << 10, disk=128 << 20, files=20_000)


AGENTS = AgentLimits(seconds=20.0, grace=1.0, memory=256 << 20, processes=64, output=64 << 20, disk=64 << 20, files=20_000)


class Scene(msgspec.Struct, frozen=True):
    """A workspace and a file next to it, which nothing may change."""

    workspace: Path
    outside: Path

    def fingerprint(self) -> str:
        """A hash over every file's content, mode, size, owner and time of change, and over the outside file."""
        digest = hashlib.sha256(self.outside.read_bytes() + repr(self.outside.stat().st_mtime_ns).encode())
        for path in sorted(self.workspace.rglob("*")):
            facts = path.lstat()
            name = path.relative_to(self.workspace)
            digest.update(repr((str(name), facts.st_mode, facts.st_size, facts.st_mtime_ns, facts.st_uid)).encode())
            digest.update(repr(os.listxattr(path, follow_symlinks=False)).encode())
            if stat.S_ISREG(facts.st_mode):
                digest.update(path.read_bytes())
        return digest.hexdigest()


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """The workspace, with links and special files that lead out of it, compared before and after the test."""
    made = furnished(tmp_path)
    before = made.fingerprint()
    yield made
    assert made.fingerprint() == before, "the original was changed"


def furnished(folder: Path) -> Scene:
    """A workspace as hostile as files can make it, and a file beside it."""
    workspace, outside = folder / "ws", folder / "outside.txt"
    (workspace / "sub").mkdir(parents=True)
    outside.write_text("host secret\n")
    (workspace / "keep.txt").write_text("original\n")
    (workspace / "sub" / "x").write_text("1\n")
    (workspace / "private").write_text("for the owner alone\n")
    (workspace / "private").chmod(0o600)
    (workspace / "to_shadow").symlink_to("/etc/shadow")
    (workspace / "to_outside").symlink_to("../outside.txt")
    (workspace / "to_root").symlink_to("/")
    os.link(outside, workspace / "hard")
    os.mkfifo(workspace / "pipe")
    shutil.copy("/bin/bash", workspace / "suid_bash")
    (workspace / "suid_bash").chmod(0o4755)
    return Scene(workspace, outside)


@pytest.fixture
async def sandboxed() -> None:
    """Skip where no sandbox can be had; but root must have one."""
    try:
        await proven_view()
    except MachineError as error:
        if os.geteuid() == 0 and shutil.which("bwrap") is None:
            pytest.fail(f"`make test` installs bubblewrap when it is root: {error}")
        pytest.skip(str(error))


class AfterAnAgent:
    """A live machine on which an agent has done nothing, opened and handed over by the first look.

    Half of each limit was the agent's, the other half is the evaluator's, so that together they are those that were given.
    """

    def __init__(self, workspace: Path, copy: Path, limits: MachineLimits) -> None:
        self._workspace, self._copy = workspace, copy
        halves = {name: getattr(limits, name) // 2 for name in ("memory", "processes", "disk")}
        self._agents = AgentLimits(files=limits.files, **halves)
        self._commands = msgspec.structs.replace(limits, **halves)
        self._live: LiveLocalMachine | None = None

    async def _opened(self) -> LiveLocalMachine:
        if self._live is None:
            self._live = await LiveLocalMachine.open(self._workspace, self._agents, self._commands)
            self._copy.mkdir()
            await self._live.hand_over(self._copy)
        return self._live

    async def run(self, command: str, seconds: float | None = None, fresh: bool = False) -> Output:
        return await (await self._opened()).run(command, seconds, fresh)

    async def read(self, path: str) -> FilePart:
        return await (await self._opened()).read(path)

    async def close(self) -> None:
        if self._live:
            await self._live.close()


Opening = Callable[..., Any]


@pytest.fixture
async def opened(sandboxed: None, scene: Scene, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Opening]:
    """Machines on the scene's workspace, closed at the end; with the parameter "live", such that an agent has left."""
    machines: list[LocalMachine | AfterAnAgent] = []

    def open_one(
        limits: MachineLimits = SMALL, expose: tuple[str, ...] = (), at: str = WORKSPACE
    ) -> LocalMachine | AfterAnAgent:
        if getattr(request, "param", "local") == "local":
            machines.append(LocalMachine(scene.workspace, limits, expose, at))
        else:
            machines.append(AfterAnAgent(scene.workspace, tmp_path / f"copy{len(machines)}", limits))
        return machines[-1]

    yield open_one
    for machine in machines:
        await machine.close()


@pytest.fixture
async def live(sandboxed: None, scene: Scene) -> AsyncIterator[Callable[..., Awaitable[LiveLocalMachine]]]:
    """Live machines on the scene's workspace, closed at the end; names of limits change those of the agent."""
    machines: list[LiveLocalMachine] = []

    async def open_one(folder: Path | None = scene.workspace, **limits: Any) -> LiveLocalMachine:
        changed = msgspec.structs.replace(AGENTS, **limits)
        machines.append(await LiveLocalMachine.open(folder, changed, SMALL))
        return machines[-1]

    yield open_one
    for machine in machines:
        await machine.close()


@pytest.fixture
def machine(opened: Opening) -> Any:
    """One machine with small limits."""
    return opened()


@pytest.fixture
def processes_with() -> Callable[[str], list[int]]:
    """The host's processes whose command line holds a word."""

    def find(word: str) -> list[int]:
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if word.encode() in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))
        return found

    return find
