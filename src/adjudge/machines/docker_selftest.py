"""The engine proves itself: before a process's first command a throw-away container is tried, and every attempt must fail.

The checks run with the shell of the image at hand, so they show that the engine does what it is told, not that the image
is harmless: nothing is left to its goodwill anyway.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

from adjudge.errors import MachineError
from adjudge.machines.docker_commands import Commands
from adjudge.machines.docker_container import Bounds, Container, hardened
from adjudge.machines.docker_engine import Engine
from adjudge.machines.selftest import Check
from adjudge.ports import Output

_BOUNDS = Bounds(memory=64 << 20, processes=40, file=16 << 20)
_OUTPUT = 4096
_HELP = "`adjudge doctor` shows the engine's settings; commands are only run where a container holds"
_READ = 'while read -r line; do echo "$line"; done < '
_WRITABLE = "/proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sysrq-trigger /sys/kernel/uevent_helper"
_GROW = "x=0123456789abcdef; while [ ${#x} -lt 134217728 ]; do x=$x$x; done"  # twice what it may have
_SPIN = "trap '' TERM INT HUP; echo spinning; while :; do :; done"
_CROWD = "i=0; while [ $i -lt 60 ]; do i=$((i + 1)); sh -c 'kill -STOP $$' & done; wait"


async def container_checks(engine: Engine, settings: Mapping[str, Any]) -> tuple[Check, ...]:
    """What two containers with these settings were tried for, made anew.

    Raises:
        MachineError: no container can be had.
    """
    trials = (_tried(engine, settings, trying) for trying in (_contains, _limits))
    found = await asyncio.gather(*trials, return_exceptions=True)
    checks: list[Check] = []
    for each in found:  # both are over, so that nothing goes on behind a fault
        if isinstance(each, BaseException):
            raise each
        checks += each
    return tuple(checks)


Trying = Callable[[Commands], Awaitable[list[Check]]]


async def _tried(engine: Engine, settings: Mapping[str, Any], trying: Trying) -> list[Check]:
    container = Container(engine, settings)
    try:
        await container.create()
        await container.start()
        return await trying(Commands(container, "0:0", "/", {}, _OUTPUT))
    finally:
        with suppress(MachineError):
            await container.remove()


async def _contains(commands: Commands) -> list[Check]:
    status = _fields((await commands.run(f"{_READ}/proc/self/status", 10)).text)
    network = await commands.run(f"{_READ}/proc/net/dev", 10)
    kernel = await commands.run(f"for f in {_WRITABLE}; do (exec 3>>$f) 2>/dev/null && echo $f; done; exit 7", 10)
    capable = [name for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb") if status.get(name, "?").strip("0")]
    interfaces = [line.split(":")[0].strip() for line in network.text.splitlines() if ":" in line]
    return [
        _check("exit status", kernel.exit_status == 7, _saw(kernel)),
        _check("no network", interfaces == ["lo"], f"it has the interfaces {', '.join(interfaces)}"),
        _check("no capabilities", not capable, f"a process of root has {', '.join(capable)}"),
        _check("no new privileges", status.get("NoNewPrivs") == "1", "a set-uid program could gain privileges"),
        _check("kernel settings", kernel.text == "", f"a command could open {kernel.text!r}"),
    ]


async def _limits(commands: Commands) -> list[Check]:
    memory = await commands.run(_GROW, 10)
    processes = await commands.run(_CROWD, 5)
    spinning = await commands.run(_SPIN, 0.5)
    after = await commands.run("echo alive", 10)
    return [
        _check("memory limit", _was_refused(memory, "memory"), _saw(memory)),
        _check("process limit", _was_refused(processes, "processes"), _saw(processes)),
        _check("killed from outside", spinning.ended == "time" and spinning.seconds < 5, _saw(spinning)),
        _check("goes on afterwards", after.text == "alive\n", _saw(after)),
    ]


def _was_refused(output: Output, limit: str) -> bool:
    """Whether a command met the limit: it was stopped there, or it gave up by itself (dash does when it cannot fork)."""
    return output.ended == limit or (output.ended is None and output.exit_status != 0)


def _fields(status: str) -> dict[str, str]:
    return {name: value.strip() for name, _, value in (line.partition(":") for line in status.splitlines())}


def _check(name: str, works: bool, otherwise: str) -> Check:
    return Check(name, True) if works else Check(name, False, otherwise, _HELP)


def _saw(output: Output) -> str:
    end = output.ended or output.exit_status
    return f"ended by {end} after {output.seconds:.1f} s, {output.size} bytes: {output.text[:80]!r}"


_known: dict[tuple[int, str], tuple[Check, ...]] = {}
_locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


async def prove_engine(engine: Engine, image: str) -> None:
    """See to it that this process has proven this engine, once.

    Raises:
        MachineError: it does not hold; the message says why.
    """
    me = (os.getpid(), engine.url)  # a forked process proves it for itself
    async with _locks.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
        if me not in _known:
            _known[me] = await container_checks(engine, hardened(image, _BOUNDS))
    if failed := next((check for check in _known[me] if not check.works), None):
        raise MachineError(f"commands cannot be run in this engine: {failed.name}: {failed.why}; {failed.help}")
