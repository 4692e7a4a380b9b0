"""How long a look at the machine takes, beside plain bubblewrap and bare bash in the same run.

    python bench/machine.py [COMMANDS]

The goal is 25 ms for the median command.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from adjudge.machines.local import LocalMachine
from adjudge.machines.selftest import proven_view

PLAIN = ("bwrap", "--unshare-all", "--ro-bind", "/", "/", "--", "bash", "-c", "true")


async def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "file").write_text("x\n" * 1000)
        print(f"{count} times each, milliseconds; {'root' if os.geteuid() == 0 else 'a plain user'}")
        print(f"{'':32}{'median':>8}{'p95':>8}")
        await show("self-test, once a process", proven_view, 1)
        await show("bash", lambda: plain(("bash", "-c", "true")), count)
        await show("plain bwrap", lambda: plain(PLAIN), count)
        await show("session start + first run + close", lambda: one_session(folder), max(10, count // 5))
        async with LocalMachine(folder) as machine:
            await machine.run("true")
            await show("run('true') in a session", lambda: machine.run("true"), count)
            await show("fresh run('true')", lambda: machine.run("true", fresh=True), count)
            await show("read", lambda: machine.read("file"), count)
            await show("list", machine.list, count)
            await show("search", lambda: machine.search("absent"), count)


async def plain(command: tuple[str, ...]) -> None:
    await asyncio.to_thread(subprocess.run, command, stdin=subprocess.DEVNULL, capture_output=True, check=True)


async def one_session(folder: Path) -> None:
    async with LocalMachine(folder) as machine:
        await machine.run("true")


async def show(name: str, work: Callable[[], Awaitable[object]], count: int) -> None:
    taken = []
    for _ in range(count):
        started = time.perf_counter()
        await work()
        taken.append((time.perf_counter() - started) * 1000)
    taken.sort()
    print(f"{name:32}{taken[len(taken) // 2]:8.1f}{taken[int(len(taken) * 0.95)]:8.1f}")


if __name__ == "__main__":
    asyncio.run(main())
