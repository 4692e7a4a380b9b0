"""`adjudge run` as a user types it, in a process of its own, and what came of it."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from adjudge.agents.comparison import Result
from adjudge.run import Run
from adjudge.settings import BASE_URLS, KEYS
from adjudge.store.store import open_store

PYTHON = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin") or "python3"
"""A Python that is there on a machine as well."""

STORE = "store"
"""The folder below a test's own that `adjudge_run` uses as the store."""


class Ran(NamedTuple):
    """How a command ended: its exit status, how long it took, and what it printed on standard output and error."""

    status: int
    seconds: float
    out: str
    err: str

    def results(self) -> list[Result]:
        """The attempts that `--json` printed."""
        try:
            return msgspec.json.decode(self.out, type=list[Result])
        except msgspec.MsgspecError as error:
            raise AssertionError(f"exit status {self.status}, printed {self.out!r} and {self.err!r}") from error

    def result(self) -> Result:
        """The only attempt."""
        (result,) = self.results()
        return result


async def adjudge_run(
    *words: object, folder: Path, environment: Mapping[str, str] | None = None, seconds: float = 120.0
) -> Ran:
    """Run `adjudge run` with these words in a folder, with no key in its environment but those that are given."""
    env = {name: value for name, value in os.environ.items() if name not in (*KEYS, *BASE_URLS) and "ADJUDGE" not in name}
    started = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "adjudge", "run", "--store", STORE),
        *map(str, words),
        cwd=folder,
        env=env | dict(environment or {}),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(), seconds)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    return Ran(process.returncode or 0, time.monotonic() - started, out.decode(), err.decode())


def stored_run(folder: Path, result: Result) -> Run:
    """The run of a result, out of the store, its entries read."""
    assert result.run, result.error
    with open_store(folder / STORE) as store:
        run = store.run(result.run)
        return msgspec.structs.replace(run, record=msgspec.structs.replace(run.record, entries=tuple(run.record.entries)))


def write_task(
    folder: Path,
    instructions: str = "Do it.",
    name: str = "task",
    files: Mapping[str, str] | None = None,
    **more: object,
) -> Path:
    """A task's file; `files` are what its workspace holds."""
    workspace = folder / f"{name}-files"
    workspace.mkdir(parents=True)
    for inner, text in (files or {}).items():
        (workspace / inner).write_text(text)
    task = {"instructions": instructions, "machine": {"folder": workspace.name}} | more
    path = folder / f"{name}.yaml"
    path.write_bytes(msgspec.json.encode(task))  # which is YAML as well
    return path


def processes_with(words: str) -> list[int]:
    """The processes of this computer in whose command line these words stand, those inside of machines included."""
    return list(_with(words.encode()))


def _with(words: bytes) -> Iterator[int]:
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if words in (folder / "cmdline").read_bytes().replace(b"\0", b" "):
                yield int(folder.name)
