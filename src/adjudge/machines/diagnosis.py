"""What works on this computer and why not, for `adjudge doctor`."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from adjudge.errors import MachineError
from adjudge.machines.cgroups import plan_cgroup
from adjudge.machines.files import open_in_root, opener
from adjudge.machines.landlock import landlock_abi, scopes_signals
from adjudge.machines.order import bubblewrap_version, find_bubblewrap, is_host_root
from adjudge.machines.selftest import Check, self_test

__all__ = ["Check", "diagnose"]


async def diagnose() -> tuple[Check, ...]:
    """What this computer has, then the sandbox's self-test.

    A check of the first kind that fails may only mean that something is done in another way, as its `why` says; if one of
    the self-test fails, no command is run here.
    """
    if sys.platform != "linux":
        help = "run adjudge on Linux, or in a Linux virtual machine or container; files are read here all the same"
        return (Check("system", False, f"{platform.system()} has no sandbox that adjudge knows, only Linux has", help),)
    _, checks = await self_test()
    return (*_has(), *checks)


def _has() -> tuple[Check, ...]:
    return (_kernel(), _namespaces(), _bubblewrap(), _landlock(), _memory(), _reader())


def _kernel() -> Check:
    release, root = platform.release(), is_host_root()
    numbers = tuple(int(part) for part in release.split("-")[0].split(".")[:2] if part.isdigit())
    needed, reason = ((5, 19), "id-mapped overlays") if root else ((6, 6), "overlays of plain users")
    mode = "as root" if root else "as a plain user"
    if numbers >= needed:
        return Check("kernel", True, f"Linux {release}, {mode}")
    words = f"Linux {release} has no {reason} ({mode}); the workspace is copied for each judgment"
    return Check("kernel", False, words, f"Linux {needed[0]}.{needed[1]} or later")


def _namespaces() -> Check:
    limits = {
        "/proc/sys/user/max_user_namespaces": "0",
        "/proc/sys/kernel/unprivileged_userns_clone": "0",
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1",
    }
    for path, forbids in limits.items():
        try:
            value = Path(path).read_text().strip()
        except OSError:
            continue
        if value == forbids:
            name = path.removeprefix("/proc/sys/").replace("/", ".")
            return Check(
                "user namespaces", False, f"{name} is {value}", f"sysctl {name}={1 - int(forbids)}, or a larger number"
            )
    return Check("user namespaces", True, "no setting forbids them")


def _bubblewrap() -> Check:
    try:
        path = find_bubblewrap()
    except MachineError as error:
        return Check("bubblewrap", False, str(error), "install the package `bubblewrap`")
    version = ".".join(map(str, bubblewrap_version(path)))
    return Check("bubblewrap", bool(version), f"{path}, version {version or 'unknown'}")


def _landlock() -> Check:
    abi = landlock_abi()
    if scopes_signals(abi):
        return Check("Landlock", True, f"ABI {abi}")
    words = f"ABI {abi} cannot keep signals apart: every command gets a fresh sandbox, background processes do not last"
    return Check("Landlock", False, words, "Linux 6.12 or later with Landlock enabled")


def _memory() -> Check:
    if plan_cgroup(1 << 30):
        return Check("memory control group", True, "the memory limit is the kernel's")
    words = "no control group can be made: memory is added up twenty times a second, and limited for each process"
    return Check("memory control group", False, words, "run adjudge as root or in a delegated control group (cgroup 2)")


def _reader() -> Check:
    if opener() is open_in_root:
        return Check("safe reading", True, "openat2: links are followed within the workspace")
    return Check("safe reading", False, "no openat2 here: links are refused", "Linux 5.6 or later")
