"""Copying files out of a sandbox in which processes of the agent's may still run.

The host's `tar` runs inside, confined as any command is, and writes to a pipe; here the stream is unpacked. So whatever
those processes do to names and links meanwhile, no file of the host can be read in place of one of the agent's.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path

import msgspec

from adjudge.errors import MachineError
from adjudge.machines.capture import Pipe
from adjudge.machines.places import SYSTEM
from adjudge.machines.program import Program
from adjudge.machines.session import Session
from adjudge.machines.unpack import unpack
from adjudge.ports import Fetched

_SECONDS = 900.0
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C"}
_NO_LOSS = (
    b"No such file or directory",
    b"file changed as we read it",
    b"Exiting with failure status due to previous errors",
)


class Copier:
    """Copies at most so many bytes and things out of one sandbox."""

    def __init__(self, session: Session, size: int, files: int) -> None:
        self._session, self._size, self._files = session, size, files

    async def copy(self, place: str, names: Sequence[str], folder: Path) -> Fetched:
        """Copy what stands at these names below a place inside into an empty folder; what is not there is passed over.

        Raises:
            MachineError: the machine was lost, there is no `tar`, or the folder cannot hold the files.
        """
        tar = _find_tar()
        arguments = (tar, "-c", "-f", "-", "-C", place, "--", *(f"./{name}" for name in names))
        program = Program(tar, arguments, _ENVIRONMENT, _SECONDS, spares=True, reads_all=True)
        complaints = _Complaints()
        self._session.keep(complaints)
        reading, writing = os.pipe()
        unpacking = asyncio.ensure_future(asyncio.to_thread(self._unpack, reading, folder))
        try:
            answer = await self._session.execute(program, writing, complaints.write_end)
        finally:
            fetched = await asyncio.shield(unpacking)  # it ends with tar, which is killed if we are cancelled
        if refused := answer["refused"]:
            raise MachineError(f"{tar}: cannot be started inside: {refused}")
        await complaints.settle()
        left_out = fetched.left_out + complaints.count
        return msgspec.structs.replace(fetched, left_out=left_out, cut=fetched.cut or answer["ended"] is not None)

    def _unpack(self, reading: int, folder: Path) -> Fetched:
        with open(reading, "rb") as stream:
            return unpack(stream, folder, self._size, self._files)


class _Complaints(Pipe):
    """Counts the lines in which tar says that it left something out."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self._begun = b""

    def keep(self, data: bytes) -> None:
        *lines, self._begun = (self._begun + data).split(b"\n")
        self.count += sum(not line.endswith(_NO_LOSS) for line in lines)


def _find_tar() -> str:
    for folder in ("/usr/bin", "/bin"):
        if path := shutil.which("tar", path=folder):
            return path
    raise MachineError(f"files cannot be copied out of the machine: there is no `tar` in {' or '.join(SYSTEM[:2])}")


def size_of(folder: str | None) -> tuple[int, int]:
    """How many bytes the regular files below a folder have, and how many things there are."""
    size = count = 0
    for directory, folders, files in os.walk(folder) if folder else ():
        count += len(folders) + len(files)
        for name in files:
            facts = os.lstat(f"{directory}/{name}")
            size += facts.st_size if stat.S_ISREG(facts.st_mode) else 0
    return size, count
