"""What an agent's proxy adds to its model's answers: time for a small one, and bytes a second for a long stream."""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

EVENT = b'data: {"id":"gen-1","choices":[{"index":0,"delta":{"content":"some words of the answer"}}]}\n\n'
STREAM = 10_000_000
QUESTION = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%s"
SMALL = b"x" * 20_000
ROUNDS, AT_ONCE = 400, 50

Ask = Callable[[int, bytes], Awaitable[int]]


# --- the two servers, each in a process of its own


async def endpoint(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers a body that begins with `s` by a stream of events, any other by one line."""
    while not reader.at_eof():
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            break
        lines = head.lower().split(b"\r\n")
        size = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
        if (await reader.readexactly(size)).startswith(b"s"):
            writer.write(b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
            for _ in range(STREAM // len(EVENT)):
                writer.write(b"%x\r\n%s\r\n" % (len(EVENT), EVENT))
                await writer.drain()
            writer.write(b"0\r\n\r\n")
        else:
            writer.write(b'HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 14\r\n\r\n{"choices": 1}')
    writer.close()


async def serve_endpoint() -> None:
    server = await asyncio.start_server(endpoint, "127.0.0.1", 0, limit=1 << 20)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def serve_proxy(port: int) -> None:
    import socket

    from adjudge.agents.endpoints import AgentEndpoint
    from adjudge.agents.proxy import ModelProxy

    key = "sk-or-v1-" + "0123456789abcdef" * 4
    proxy = ModelProxy(AgentEndpoint("openai/m", "m", "chat", f"http://127.0.0.1:{port}/v1", key, True), 1_000_000)
    listening = socket.create_server(("127.0.0.1", 0))
    await proxy.serve(listening)
    print(listening.getsockname()[1], flush=True)
    await asyncio.Event().wait()


@contextmanager
def started(*role: str) -> Iterator[tuple[int, int]]:
    process = subprocess.Popen([sys.executable, "-m", "bench.proxy", *role], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        yield int(process.stdout.readline()), process.pid
    finally:
        process.kill()
        process.communicate()


# --- the agent


async def answer(reader: asyncio.StreamReader) -> int:
    """Read one answer to its end; the bytes of its body, chunk sizes and all."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    assert head.startswith(b"http/1.1 200"), head
    if b"content-length: " in head:
        return len(await reader.readexactly(int(head.partition(b"content-length: ")[2].split()[0])))
    size, end = 0, b""
    while not end.endswith(b"0\r\n\r\n"):
        data = await reader.read(1 << 18)
        size, end = size + len(data), (end + data)[-16:]
    return size


async def milliseconds(port: int, rounds: int) -> float:
    """The median time of a small answer on an open connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        writer.write(QUESTION % (len(SMALL), SMALL))
        await answer(reader)
        times.append((time.perf_counter() - began) * 1000)
    writer.close()
    return statistics.median(times)


async def seconds_of_stream(port: int) -> float:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began = time.perf_counter()
    writer.write(QUESTION % (1, b"s"))
    assert await answer(reader) >= STREAM * 0.99
    writer.close()
    return time.perf_counter() - began


def cpu(process: int) -> float:
    """Seconds of processor time that a process has used; other than the clock's, they do not depend on what else runs."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def measure(direct: int, through: int, process: int) -> None:
    plain, before = await milliseconds(direct, ROUNDS), cpu(process)
    proxied, used = await milliseconds(through, ROUNDS), (cpu(process) - before) / ROUNDS * 1000
    print(f"a small answer (20 kB asked, median of {ROUNDS}): {plain:.2f} ms direct, {proxied:.2f} ms through the proxy")
    print(f"    of which the proxy computes {used:.2f} ms")
    before = cpu(process)
    rates = [STREAM / 1e6 / min([await seconds_of_stream(port) for _ in range(3)]) for port in (direct, through)]
    used = (cpu(process) - before) / 3
    print(f"a stream of 10 MB in events of {len(EVENT)} bytes: {rates[0]:.0f} MB/s direct, {rates[1]:.0f} MB/s through it")
    print(f"    for which the proxy computes {used:.2f} s, {used / (STREAM / len(EVENT)) * 1e6:.1f} us an event")
    for port, words in ((direct, "direct"), (through, "through it")):
        began = time.perf_counter()
        await asyncio.gather(*(milliseconds(port, 10) for _ in range(AT_ONCE)))
        rate = AT_ONCE * 10 / (time.perf_counter() - began)
        print(f"{AT_ONCE} agents at once, ten answers each, {words}: {rate:.0f} a second")


def main() -> None:
    with started("endpoint") as (direct, _), started("through", str(direct)) as (through, process):
        asyncio.run(measure(direct, through, process))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["endpoint"]:
            asyncio.run(serve_endpoint())
        case ["through", port]:
            asyncio.run(serve_proxy(int(port)))
        case _:
            main()
