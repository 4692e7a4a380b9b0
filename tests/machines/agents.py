"""Agents for tests: shell scripts on a live machine, what they are expected to leave, and who serves their network."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from socket import socket

import msgspec

from adjudge.ports import Ended, Launch, LiveMachine

SERVER = (
    "(setsid python3 -u -m http.server 8077 >/dev/null 2>&1 &); for i in $(seq 100); do (exec 3<>/dev/tcp/localhost/8077) "
)
SERVER += "2>/dev/null && break; sleep 0.05; done"
"""Leaves a server running, and ends when it answers."""

ASKS = (
    "python3 -c \"import urllib.request as u; print(u.urlopen('http://localhost:8077/keep.txt').read().decode(), end='')\""
)
"""Asks that server for a file of the scene."""


class Worked(msgspec.Struct, frozen=True):
    """How a script ended, and what it printed."""

    ended: Ended
    out: str
    errors: str


async def work(
    machine: LiveMachine, folder: Path, script: str, environment: dict[str, str] | None = None, **files: bytes
) -> Worked:
    """Let a script do an agent's work; `folder` is made."""
    made(folder)
    ended = await machine.work(Launch(("/bin/bash", "-c", script), environment or {}, files), folder)
    return Worked(ended, (folder / "stdout").read_text(), (folder / "stderr").read_text())


async def handed_over(machine: LiveMachine, folder: Path) -> Path:
    """The folder that the workspace is copied into."""
    await machine.hand_over(made(folder))
    return folder


def made(folder: Path) -> Path:
    """A new folder."""
    folder.mkdir()
    return folder


@contextlib.asynccontextmanager
async def greeting(listening: socket) -> AsyncIterator[list[str]]:
    """A server that says hello and waits for the other side's end; how each connection went on."""
    told: list[str] = []

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        told.append("begun")
        writer.write(b"hello\n")
        with contextlib.suppress(OSError):
            await writer.drain()
            await reader.read()
        told.append("ended")
        writer.close()

    server = await asyncio.start_server(greet, sock=listening)
    yield told
    server.close()
    await server.wait_closed()
