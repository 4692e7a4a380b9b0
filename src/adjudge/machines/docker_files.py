"""Files into a container and out of it, as tar streams."""

from __future__ import annotations

import asyncio
import io
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

import msgspec

from adjudge.errors import MachineError
from adjudge.machines.docker_engine import Engine, engine_faults
from adjudge.machines.unpack import unpack
from adjudge.ports import Fetched

_BUFFER = 1 << 20


class Item(msgspec.Struct, frozen=True):
    """A file to put somewhere, or a folder if there is no `data`. `path` is absolute; `owner` is a uid and a gid."""

    path: str
    data: bytes | None = None
    mode: int = 0o644
    owner: int = 0


def tar_of(items: Sequence[Item]) -> bytes:
    """The items as a tar archive whose names are relative to `/`."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as tar:
        for item in items:
            info = tarfile.TarInfo(item.path.lstrip("/"))
            info.mode, info.uid, info.gid = item.mode, item.owner, item.owner
            info.type = tarfile.DIRTYPE if item.data is None else tarfile.REGTYPE
            info.size = len(item.data or b"")
            tar.addfile(info, io.BytesIO(item.data or b""))
    return written.getvalue()


def tar_of_folder(folder: Path, at: str, owner: int) -> IO[bytes]:
    """A folder's files, folders and links as a tar archive below `at`, in a temporary file; the caller closes it."""

    def owned(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
        info.uid = info.gid = owner
        info.uname = info.gname = ""
        return info if info.isreg() or info.isdir() or info.issym() or info.islnk() else None

    written = tempfile.TemporaryFile(prefix="adjudge-")  # noqa: SIM115  the caller closes it
    with tarfile.open(fileobj=written, mode="w") as tar:
        tar.add(folder, at.lstrip("/"), filter=owned)
    written.seek(0)
    return written


async def put(engine: Engine, container: str, archive: bytes | IO[bytes]) -> None:
    """Unpack a tar archive at a container's root."""
    with engine_faults("no files could be put into the container"):
        there: Any = engine.client.containers.container(container)
        await there.put_archive("/", archive)


async def put_folder(engine: Engine, container: str, folder: Path, at: str, owner: int) -> int:
    """Copy a folder or a file of the host to a path in a container; returns how many bytes its archive has."""
    archive = await asyncio.to_thread(tar_of_folder, folder, at, owner)
    with archive:
        size = archive.seek(0, io.SEEK_END)
        archive.seek(0)
        await put(engine, container, archive)
    return size


async def export(engine: Engine, container: str, path: str, folder: Path, size: int, files: int) -> Fetched | None:
    """Copy a path out of a container into an empty folder; `None` if there is no such path.

    A path that ends with `/.` means what is in the folder. Raises MachineError.
    """
    with engine_faults(f"{path} could not be copied out of the container"):
        async with engine.archive(container, path) as content:
            if content is None:
                return None
            stream = io.BufferedReader(_Incoming(content.read, asyncio.get_running_loop()), _BUFFER)
            unpacking = asyncio.ensure_future(asyncio.to_thread(unpack, stream, folder, size, files))
            try:
                return await asyncio.shield(unpacking)
            except asyncio.CancelledError:
                content.set_exception(MachineError("no longer wanted"))
                await asyncio.wait((unpacking,))
                raise


class _Incoming(io.RawIOBase):
    """What comes in on an event loop, for a thread that reads and waits."""

    def __init__(self, read: Callable[[int], object], loop: asyncio.AbstractEventLoop) -> None:
        self._read, self._loop = read, loop

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # a buffer is what BufferedReader gives
        data = asyncio.run_coroutine_threadsafe(self._read(len(buffer)), self._loop).result()  # type: ignore[arg-type,var-annotated]
        buffer[: len(data)] = data
        return len(data)
