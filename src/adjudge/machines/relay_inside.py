"""Runs in a container beside the agent's, in the same network: carries what connects to a port to a Unix socket.

    python3 -I -S relay_inside.py PORT SOCKET

It stands alone (the standard library is all it needs), and it ends when its first connection to the socket does, which is
when whoever listens there has ended, in whatever way.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys

_PORTION = 65536


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, socket: str) -> None:
    """Carry one connection both ways, until both sides have said all."""
    try:
        answers, questions = await asyncio.open_unix_connection(socket)
    except OSError:
        writer.close()
        return
    try:
        await asyncio.gather(pump(reader, questions), pump(answers, writer))
    finally:
        questions.close()
        writer.close()


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Carry one direction; its end is passed on, so that the other can go on."""
    with contextlib.suppress(OSError):
        while data := await reader.read(_PORTION):
            writer.write(data)
            await writer.drain()
        writer.write_eof()


async def serve(port: int, socket: str) -> None:
    """Listen, say so, and go on as long as somebody is there to hear it."""
    server = await asyncio.start_server(lambda reader, writer: carry(reader, writer, socket), "127.0.0.1", port)
    lifeline, writer = await asyncio.open_unix_connection(socket)
    writer.write(b"listening\n")
    await lifeline.read()
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), sys.argv[2]))
