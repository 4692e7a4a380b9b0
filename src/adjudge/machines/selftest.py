"""The sandbox proves itself: before a process's first command a throw-away sandbox is attacked, and every attack must fail.

A filter that was configured is not a filter that works, so nothing is concluded from settings. One failed check, and no
command is run here.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import socket
import tempfile
from collections.abc import Sequence
from pathlib import Path
from weakref import WeakKeyDictionary

import msgspec

from adjudge.errors import MachineError
from adjudge.machines.order import View, make_order
from adjudge.machines.places import WORKSPACE
from adjudge.machines.session import Session, open_session
from adjudge.ports import Output
from adjudge.settings import MachineLimits


class Check(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that was tried: whether it works, what was seen, and what would help if it does not.

    Nothing fails without what is `optional`.
    """

    name: str
    works: bool
    why: str = ""
    help: str = ""
    optional: bool = False


_LIMITS = MachineLimits(seconds=5.0, memory=64 << 20, processes=40, output=4096, disk=16 << 20, files=1000)
_WRITABLE = (
    "/proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sysrq-trigger /sys/kernel/uevent_helper /usr/x /etc/x"
)
_HELP = "please report it; until then run adjudge where a sandbox holds, or judge without a machine"


class SelfTest:
    """The throw-away workspace, and what an attack could get hold of."""

    def __init__(self, folder: Path) -> None:
        self.workspace, self.outside = folder / "workspace", folder / "outside"
        self.secret = secrets.token_hex(8)
        self.workspace.mkdir()
        (self.workspace / "kept").write_text("as left\n")
        self.outside.write_text(self.secret)
        (self.workspace / "link").symlink_to(self.outside)

    async def checks(self, view: View) -> list[Check]:
        """All checks, in two sandboxes at the same time: one for what is contained, one for what is limited."""
        before = self._original()
        contained, limited = await asyncio.gather(self._session(view), self._session(view), return_exceptions=True)
        sessions = [session for session in (contained, limited) if isinstance(session, Session)]
        try:
            if not isinstance(contained, Session) or not isinstance(limited, Session):
                raise contained if isinstance(contained, BaseException) else limited  # type: ignore[misc]  # one is an exception
            found = await asyncio.gather(self._contains(contained), self._limits(limited))
        finally:
            await asyncio.gather(*(session.close() for session in sessions))
        ended = all(session.ended_well for session in sessions)
        return [
            Check("sandbox", True, f"starts, with {view}"),
            *found[0],
            *found[1],
            _check("leaves nothing behind", ended, "a process outlived its sandbox"),
            _check("original unchanged", self._original() == before, "a command changed the workspace itself"),
        ]

    def _original(self) -> object:
        files = sorted(self.workspace.iterdir())
        facts = [(file.name, file.lstat().st_mode, file.lstat().st_mtime_ns) for file in files]
        return facts, (self.workspace / "kept").read_bytes(), self.outside.read_bytes()

    async def _session(self, view: View) -> Session:
        order = await asyncio.to_thread(make_order, self.workspace, _LIMITS, (), WORKSPACE, view)
        return await open_session(order, _LIMITS.output)

    async def _contains(self, session: Session) -> list[Check]:
        run = session.run
        forged = await run("echo changed > kept; (setsid sleep 60 &) ; echo 'exit status: 0'; exit 7", 5)
        changed = await run("cat kept", 5)
        signalled = await run('for p in /proc/[0-9]*; do kill -0 "${p#/proc/}" 2>&1; done | grep -c permitted', 5)
        with socket.create_server(("127.0.0.1", 0)) as host:
            port = host.getsockname()[1]
            network = await run(
                f"(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null; echo $?; tail -n +3 /proc/net/dev | grep -vc lo:", 5
            )
        files = await run(f"cat link {self.outside} /etc/shadow 2>/dev/null; ls {self.outside.parent} 2>/dev/null", 5)
        secret = await run("cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'", 5)
        kernel = await run(
            f"for f in {_WRITABLE}; do (exec 3>>$f) 2>/dev/null && echo $f; done; id -u; grep NoNewPrivs /proc/self/status",
            5,
        )
        return [
            _check(
                "exit status",
                forged.exit_status == 7,
                f"a command that ended with 7 was seen to end with {forged.exit_status}",
            ),
            _check("keeps changes", changed.text == "changed\n", f"a changed file reads {changed.text!r}"),
            _check(
                "commands apart",
                session.fresh or int(signalled.text or 0) >= 2,
                "a command can signal an earlier one's processes",
            ),
            _check("no network", network.text == "1\n0\n", f"a command reached out: {network.text!r}"),
            _check("no file of the host", files.text == "", f"a command read {files.text[:80]!r}"),
            _check(
                "no secret", not _leaks(secret.text, self.workspace), "the judge's environment or paths are visible inside"
            ),
            _check("no privilege", kernel.text == "1000\nNoNewPrivs:\t1\n", f"a command could open {kernel.text!r}"),
        ]

    async def _limits(self, session: Session) -> list[Check]:
        flood = await session.run("yes", 5)
        memory = await session.run("tail /dev/zero", 5)
        time = await session.run("trap '' TERM INT HUP; while :; do :; done", 0.2)
        processes = await session.run("ulimit -u; for i in {1..60}; do sleep 9 & done; wait", 5)
        after = await session.run("echo alive", 5)
        return [
            _check("output limit", flood.ended == "output" and len(flood.text) < 2 * _LIMITS.output, _saw(flood)),
            _check("memory limit", memory.ended == "memory" or memory.exit_status != 0, _saw(memory)),
            _check("time limit", time.ended == "time" and time.seconds < 3, _saw(time)),
            _check("process limit", processes.ended == "processes" and processes.text.startswith("40\n"), _saw(processes)),
            _check("goes on afterwards", after.text == "alive\n", _saw(after)),
        ]


SHORTEST_SECRET = 8
"""Characters below which a variable's value (`KEYTIMEOUT=1`) would be found in any output."""


def _leaks(text: str, workspace: Path) -> bool:
    named = [value for name, value in os.environ.items() if re.search("KEY|TOKEN|SECRET", name)]
    secret = [value for value in named if len(value) >= SHORTEST_SECRET]
    return any(value in text for value in (str(workspace), *secret))


def _check(name: str, works: bool, otherwise: str) -> Check:
    return Check(name, True) if works else Check(name, False, otherwise, _HELP)


def _saw(output: Output) -> str:
    end = output.ended or output.exit_status
    return f"ended by {end} after {output.seconds:.1f} s, {output.size} bytes: {output.text[:80]!r}"


# --- once for each process


async def self_test() -> tuple[View | None, tuple[Check, ...]]:
    """The view that works here (`None` if none does) and the checks, made anew."""
    first: tuple[Check, ...] = ()
    for view in _VIEWS:
        try:
            checks = await _in_new_folder(view)
        except MachineError as error:
            checks = (Check("sandbox", False, str(error), advice(str(error))),)
        if all(check.works for check in checks):
            return view, checks
        first = first or checks
    return None, first


_VIEWS: Sequence[View] = ("overlay", "copy")


async def _in_new_folder(view: View) -> tuple[Check, ...]:
    with tempfile.TemporaryDirectory(prefix="adjudge-") as folder:
        return tuple(await SelfTest(Path(folder)).checks(view))


_known: dict[int, tuple[View | None, tuple[Check, ...]]] = {}
_locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


async def proven_view() -> View:
    """The view of a workspace that this process has proven to hold.

    Raises:
        MachineError: no sandbox holds here; the message says why and what would help.
    """
    me = os.getpid()  # a forked process proves it for itself
    async with _locks.setdefault(asyncio.get_running_loop(), asyncio.Lock()):  # many machines may be opened at once
        if me not in _known:
            _known[me] = await self_test()
    view, checks = _known[me]
    if view is None:
        failed = next(check for check in checks if not check.works)
        raise MachineError(f"commands cannot be run here: {failed.name}: {failed.why}; {failed.help}")
    return view


def advice(fault: str) -> str:
    """What would help against a fault, in words for people."""
    if "not installed" in fault:
        return "`adjudge doctor` looks again"
    if "namespace" in fault or "Operation not permitted" in fault or "Permission denied" in fault:
        return (
            "user namespaces are needed: start a container with `--privileged`, or with `--security-opt "
            "seccomp=unconfined --security-opt apparmor=unconfined`; on Ubuntu set "
            "`sysctl kernel.apparmor_restrict_unprivileged_userns=0`"
        )
    return "`adjudge doctor` shows what works here"
