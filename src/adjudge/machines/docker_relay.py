"""The agent's only way out of its container: a second one in the same network, from which a socket of ours is reached.

Nothing of it is in the agent's container. The second runs this computer's own Python, whatever the image has, and it ends
when its connection to us does.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from adjudge.errors import MachineError
from adjudge.machines import relay_inside
from adjudge.machines.docker_container import Bounds, Container, Mount, hardened, read_only
from adjudge.machines.docker_engine import Engine
from adjudge.machines.docker_folders import SOCKETS, own_folder
from adjudge.machines.places import SYSTEM

_BOUNDS = Bounds(memory=128 << 20, processes=32, file=1 << 20)
_NOBODY = "65534:65534"
_STARTING = 30.0
_PLACE = "/relay"
_LOADER = "/etc/ld.so.cache"


class Relay:
    """A port in a container's network, whose connections arrive at a listening socket here."""

    def __init__(self, engine: Engine, image: str, beside: str, port: int) -> None:
        """Prepare a relay beside a container."""
        if not engine.local:
            raise MachineError(f"an agent's network needs an engine of this computer; {engine.url} may be elsewhere")
        self._folder = own_folder(SOCKETS)
        self._socket = secrets.token_hex(8)  # the folder cannot be listed by others, but what is in it can be opened
        self._lifeline: socket.socket | None = None
        self._container = Container(engine, _settings(image, beside, port, self._folder, self._socket))

    async def listen(self) -> socket.socket:
        """Start it and wait until it listens; whoever gets the socket serves and closes it.

        Raises:
            MachineError: it cannot be started.
        """
        listening = socket.socket(socket.AF_UNIX)
        try:
            listening.bind(str(self._folder / self._socket))
            self._folder.chmod(0o711)
            (self._folder / self._socket).chmod(0o666)
            listening.listen(128)
            listening.setblocking(False)
            await self._container.create()
            await self._container.start()
            await self._hear(listening)
        except BaseException:
            listening.close()
            await self.end()
            raise
        return listening

    async def _hear(self, listening: socket.socket) -> None:
        """Take the first connection, which is the relay's own and says that it is ready."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_STARTING):
                self._lifeline, _ = await loop.sock_accept(listening)
                said = await loop.sock_recv(self._lifeline, 64)
        except TimeoutError:
            said = b""
        if said != b"listening\n":
            raise MachineError("an agent's network could not be had: the relay beside its container does not start")

    async def end(self) -> None:
        """Remove it: nothing in the container can connect any more, and what stands breaks off."""
        if self._lifeline is not None:
            self._lifeline.close()
        with suppress(MachineError):
            await self._container.remove()
        await asyncio.to_thread(shutil.rmtree, self._folder, True)


def _settings(image: str, beside: str, port: int, folder: Path, name: str) -> dict[str, Any]:
    prefix, program = _python()
    settings = hardened(image, _BOUNDS, _mounts(prefix, folder))
    del settings["Hostname"]  # it is the other container's
    settings["HostConfig"] |= {"NetworkMode": f"container:{beside}", "AutoRemove": True, "Init": False}
    command = [program, "-I", "-S", f"{_PLACE}/program.py", str(port), f"{_PLACE}/socket/{name}"]
    nothing = ["LD_PRELOAD=", "LD_LIBRARY_PATH="]
    return settings | {"Entrypoint": command, "User": _NOBODY, "OpenStdin": False, "Env": nothing}


def _python() -> tuple[str, str]:
    """Where this Python's files are, and its path in the relay's container."""
    prefix, program = os.path.realpath(sys.base_prefix), os.path.realpath(sys.executable)
    if prefix in SYSTEM:
        return prefix, program
    return prefix, f"{_PLACE}/python/{os.path.relpath(program, prefix)}"


def _mounts(prefix: str, folder: Path) -> list[Mount]:
    mounts = [read_only(os.path.realpath(path), path) for path in SYSTEM if os.path.isdir(path)]
    if prefix not in SYSTEM:
        mounts.append(read_only(prefix, f"{_PLACE}/python"))
    if os.path.exists(_LOADER):
        mounts.append(read_only(_LOADER))
    program = os.path.realpath(relay_inside.__file__)
    return [*mounts, read_only(program, f"{_PLACE}/program.py"), read_only(str(folder), f"{_PLACE}/socket")]
