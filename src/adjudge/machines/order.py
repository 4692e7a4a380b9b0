"""What a sandbox shall be: the order that `boot` carries out, made from limits, a workspace and the host's layout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from adjudge.errors import MachineError
from adjudge.machines.boot import kernel
from adjudge.machines.cgroups import CgroupPlan, plan_cgroup
from adjudge.machines.landlock import landlock_abi, scopes_signals
from adjudge.machines.places import HOME, SHARED_MEMORY, SYSTEM, TEMPORARY, WORKSPACE
from adjudge.machines.seccomp import filter_program
from adjudge.settings import MachineLimits

View = Literal["overlay", "copy"]

_HOST_ETC = (
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "alternatives",
    "ssl/certs",
    "ssl/openssl.cnf",
    "pki",
    "mime.types",
)
_ETC = {
    "passwd": f"root:x:0:0:root:/root:/bin/sh\nevaluator:x:{kernel.INSIDE}:{kernel.INSIDE}::{HOME}:/bin/bash\n",
    "group": f"root:x:0:\nevaluator:x:{kernel.INSIDE}:\n",
    "hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


class Order(msgspec.Struct, frozen=True):
    """All that `boot` needs to know, as it is sent to it.

    `exposed` are paths of the host in the order in which `arguments` bind them; `arguments` are bubblewrap's. `memory`
    bounds the bytes that all processes hold together; a control group bounds them with `disk`, since files lie in memory
    too. RLIMIT_NPROC counts within the sandbox's user namespace (since Linux 5.14), so that it bounds all processes.
    `fresh` asks for a new sandbox before every command but the first.
    """

    judge: int
    privileged: bool
    uid: int
    gid: int
    workspace: str
    view: View
    exposed: tuple[str, ...]
    disk: int
    files: int
    memory: int
    processes: int
    etc: dict[str, str]
    bubblewrap: str
    arguments: tuple[str, ...]
    seccomp: str
    landlock: bool
    fresh: bool
    cgroup: CgroupPlan | None
    rlimits: dict[str, int]
    environment: dict[str, str]
    directory: str


def make_order(workspace: Path, limits: MachineLimits, exposed: Sequence[str], at: str, view: View) -> Order:
    """The order for one sandbox of this process.

    Raises:
        MachineError: bubblewrap is missing, or the processor is one without a system call filter.
    """
    bubblewrap = find_bubblewrap()
    environment = environment_inside(exposed)
    return Order(
        judge=os.getpid(),
        privileged=is_host_root(),
        uid=os.getuid(),
        gid=os.getgid(),
        workspace=str(workspace),
        view=view,
        exposed=tuple(exposed),
        disk=limits.disk,
        files=limits.files,
        memory=limits.memory,
        processes=limits.processes,
        etc=_ETC,
        bubblewrap=bubblewrap,
        arguments=tuple(_arguments(bubblewrap, environment, exposed, at)),
        seccomp=filter_program().hex(),
        landlock=scopes_signals(landlock_abi()),
        fresh=not scopes_signals(landlock_abi()),
        cgroup=plan_cgroup(limits.memory + limits.disk),
        rlimits={"CORE": 0, "FSIZE": limits.disk, "NOFILE": 4096, "NPROC": limits.processes},
        environment=environment,
        directory=at,
    )


def is_host_root() -> bool:
    """Whether this process is the host's root, and not only that of a user namespace around it (a rootless container)."""
    if os.geteuid() != 0:
        return False
    inside, outside, _ = Path("/proc/self/uid_map").read_text().split()[:3]
    return (inside, outside) == ("0", "0")


# --- the inside


def environment_inside(exposed: Sequence[str]) -> dict[str, str]:
    """The whole environment of a command.

    PATH holds read-only folders of the host, never the workspace: a planted `ls` or `pytest` is not found by its name.
    Python writes no bytecode, so that the evaluator's own test runs add nothing to what `git status` shows of the agent's
    work, and loads no modules of the user's own: what judged code plants in the home (usercustomize.py, .pth files) would
    run in every later Python program. Git is told by configuration in the environment that the workspace's owner is fine,
    and not to start a file-watching program of the repository's choice.
    """
    folders = [f"{path}/bin" for path in exposed if os.path.isdir(f"{path}/bin")]
    git = {"safe.directory": "*", "core.fsmonitor": "false"}
    pairs = [(f"GIT_CONFIG_KEY_{n}", key) for n, key in enumerate(git)]
    pairs += [(f"GIT_CONFIG_VALUE_{n}", value) for n, value in enumerate(git.values())]
    return {
        "PATH": ":".join([*folders, "/usr/local/bin", "/usr/bin", "/bin"]),
        "HOME": HOME,
        "USER": "evaluator",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "PAGER": "cat",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "GIT_CONFIG_COUNT": str(len(git)),
        **dict(pairs),
    }


def _arguments(bubblewrap: str, environment: dict[str, str], exposed: Sequence[str], at: str) -> Iterator[str]:
    yield from ("--unshare-all", "--unshare-user", "--as-pid-1", "--new-session", "--cap-drop", "ALL")
    yield from ("--uid", str(kernel.INSIDE), "--gid", str(kernel.INSIDE), "--hostname", "machine", "--clearenv")
    if bubblewrap_version(bubblewrap) >= (0, 8):
        yield "--disable-userns"
    for name, value in environment.items():
        yield from ("--setenv", name, value)
    for path in SYSTEM:
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        elif os.path.isdir(path):
            yield from ("--ro-bind", path, path)
    for name in _HOST_ETC:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    for name in _ETC:
        yield from ("--ro-bind", f"{kernel.ROOM}/etc/{name}", f"/etc/{name}")
    yield from ("--proc", "/proc", "--dev", "/dev", "--bind", f"{kernel.ROOM}/shm", SHARED_MEMORY, "--remount-ro", "/dev")
    yield from ("--bind", f"{kernel.ROOM}/temporary", TEMPORARY, "--bind", f"{kernel.ROOM}/home", HOME)
    for number, path in enumerate(exposed):
        yield from ("--ro-bind", f"{kernel.ROOM}/x{number}", path)
    for path in dict.fromkeys((WORKSPACE, at)):
        yield from ("--bind", f"{kernel.ROOM}/view", path)
    yield from ("--chdir", at, "--remount-ro", "/")


# --- bubblewrap


def find_bubblewrap() -> str:
    """The path of bubblewrap.

    Raises:
        MachineError: there is none.
    """
    if path := shutil.which("bwrap"):
        return os.path.realpath(path)
    raise MachineError(
        "commands cannot be run: bubblewrap (`bwrap`) is not installed; install the package `bubblewrap` of your system"
    )


@cache
def bubblewrap_version(path: str) -> tuple[int, ...]:
    """Its version, such as (0, 8, 0); empty if it does not tell."""
    try:
        done = subprocess.run([path, "--version"], env={}, capture_output=True, text=True, timeout=10, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tuple(int(part) for part in re.findall(r"\d+", done.stdout)[:3])
