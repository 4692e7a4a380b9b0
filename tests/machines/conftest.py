"""A workspace as an untrusted agent could have left it, a machine on it, and the proof that it stays as it was."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from tests.machines.docker_engine import docker, docker_engine, docker_image

from adjudge.errors import MachineError
from adjudge.machines.local import LocalMachine
from adjudge.machines.places import WORKSPACE
from adjudge.machines.selftest import proven_view
from adjudge.settings import MachineLimits

__all__ = ["docker", "docker_engine", "docker_image"]

SMALL = MachineLimits(seconds=10.0, memory=256 << 20, processes=64, output=256 << 10, disk=128 << 20, files=20_000)


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
    made = _furnished(tmp_path)
    before = made.fingerprint()
    yield made
    assert made.fingerprint() == before, "the original was changed"


def _furnished(folder: Path) -> Scene:
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


Opening = Callable[..., LocalMachine]


@pytest.fixture
async def opened(sandboxed: None, scene: Scene) -> AsyncIterator[Opening]:
    """Machines on the scene's workspace, closed at the end."""
    machines: list[LocalMachine] = []

    def open_one(limits: MachineLimits = SMALL, expose: tuple[str, ...] = (), at: str = WORKSPACE) -> LocalMachine:
        machines.append(LocalMachine(scene.workspace, limits, expose, at))
        return machines[-1]

    yield open_one
    for machine in machines:
        await machine.close()


@pytest.fixture
def machine(opened: Opening) -> LocalMachine:
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
