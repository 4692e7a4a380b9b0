"""The host's git, run for a repository that may be anyone's: it asks nobody, starts nothing, and ends in time."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from adjudge.errors import InputError, OutsideError

LONGEST = 1800.0
"""Seconds that one command may take."""

MOST = 64 << 20
"""Bytes that one command may say."""

_OPTIONS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.askPass": "",
    "core.logAllRefUpdates": "false",
    "gc.auto": "0",
    "submodule.recurse": "false",
}
_OURS = {
    "GIT_ALLOW_PROTOCOL": "https:ssh:file",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
    "GIT_LFS_SKIP_SMUDGE": "1",  # a repository says itself which server is asked
    "LC_ALL": "C",
}
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
_KEPT = (
    *("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"),
    *(*_PROXIES, *(name.upper() for name in _PROXIES)),
)
"""What git and its helpers need of the user's environment; keys to models are not among it."""


async def git(folder: Path, where: str, *arguments: str, given: str = "") -> str:
    """What a git command prints, run in a folder; `where` begins the message if it fails, `given` is its input.

    Raises:
        InputError: it failed.
        OutsideError: it failed to reach a server, took too long, said too much, or git is not installed.
    """
    options = [each for name, value in _OPTIONS.items() for each in ("-c", f"{name}={value}")]
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | _OURS
    async with _started(["git", *options, *arguments], folder, environment) as process:
        try:
            async with asyncio.timeout(LONGEST):
                said, faults = await _conversed(process, given.encode())
                status = await process.wait()
        except TimeoutError as error:
            raise OutsideError(f"{where}: git {arguments[0]} was not done after {LONGEST:g} s") from error
    if len(said) > MOST or len(faults) > MOST:
        raise OutsideError(f"{where}: git {arguments[0]} said more than {MOST} bytes")
    if status:
        raise _fault(where, arguments, faults.decode("utf-8", "replace"))
    return said.decode("utf-8", "surrogateescape")


@asynccontextmanager
async def _started(
    command: list[str], folder: Path, environment: dict[str, str]
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process with its helpers, none of which is left afterwards."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command, cwd=folder, env=environment, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True
        )
    except FileNotFoundError as error:
        raise OutsideError("git is not installed; install the package `git` of your system") from error
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def _conversed(process: asyncio.subprocess.Process, given: bytes) -> tuple[bytes, bytes]:
    """What a process says in return, one byte more than the most of it."""
    assert process.stdin
    assert process.stdout
    assert process.stderr
    with suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(given)
        await process.stdin.drain()
    process.stdin.close()
    said, faults = await asyncio.gather(_read(process.stdout), _read(process.stderr))
    return said, faults


async def _read(stream: asyncio.StreamReader) -> bytes:
    data = bytearray()
    while len(data) <= MOST and (part := await stream.read(1 << 16)):
        data += part
    return bytes(data[: MOST + 1])


def _fault(where: str, arguments: tuple[str, ...], words: str) -> InputError | OutsideError:
    """The error with git's own word for it: the first line that it calls a fault, as advice follows."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    named = [line for line in lines if line.startswith(("fatal:", "error:"))]
    line = (named or lines[-1:] or ["it did not say why"])[0][:500]
    distant = arguments[0] == "clone" and not where.startswith("/")
    return (OutsideError if distant else InputError)(f"{where}: git {arguments[0]}: {line}")
