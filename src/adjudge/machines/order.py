"""What a sandbox shall be: the order that `boot` carries out, made from limits, a workspace and the host's layout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from adjudge.errors import MachineError
from adjudge.machines.boot import kernel
from adjudge.machines.cgroups import CgroupPlan, plan_cgroup
from adjudge.machines.landlock import landlock_abi, moves_files, scopes_signals
from adjudge.machines.places import AGENT_HOME, HOME, OWN_HOME, SHARED_MEMORY, SYSTEM, TEMPORARY, WORKSPACE
from adjudge.machines.seccomp import filter_program
from adjudge.settings import AgentLimits, MachineLimits

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
_ETC = ("passwd", "group", "hosts", "nsswitch.conf")

HOME_SIZE = 512 << 20
"""Bytes that an agent may keep in its home."""


class Order(msgspec.Struct, frozen=True):
    """All that `boot` needs to know, as it is sent to it.

    `exposed` are paths of the host in the order in which `arguments` bind them; `arguments` are bubblewrap's. Without a
    `workspace` it is an empty one. `memory` bounds the bytes that all processes hold together; a control group bounds them
    with `disk`, since files lie in memory too. RLIMIT_NPROC counts within the sandbox's user namespace (since Linux 5.14),
    so that it bounds all processes. `landlock` is the version to be used, 0 for none. `fresh` asks for a new sandbox before
    every command but the first. A `home_size` in bytes gives the home a file system of its own.
    """

    judge: int
    privileged: bool
    uid: int
    gid: int
    workspace: str | None
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
    landlock: int
    fresh: bool
    cgroup: CgroupPlan | None
    rlimits: dict[str, int]
    environment: dict[str, str]
    directory: str
    home_size: int = 0


def make_order(
    workspace: Path,
    limits: MachineLimits,
    exposed: Sequence[str],
    at: str,
    view: View,
    home: str = HOME,
    placed: Mapping[str, Path] | None = None,
) -> Order:
    """The order for one sandbox of this process, in which the evaluator alone runs commands.

    `placed` are paths of the host by the other paths at which they appear inside.

    Raises:
        MachineError: bubblewrap is missing, or the processor is one without a system call filter.
    """
    environment = environment_inside(exposed, home)
    binds = {path: path for path in exposed} | {inside: str(path) for inside, path in (placed or {}).items()}
    order = _order(workspace, limits, binds, at, view, home, environment)
    apart = scopes_signals(landlock_abi())
    cgroup = plan_cgroup(limits.memory + limits.disk)
    return msgspec.structs.replace(order, landlock=landlock_abi() if apart else 0, fresh=not apart, cgroup=cgroup)


def make_live_order(
    workspace: Path | None, limits: AgentLimits, commands: MachineLimits, exposed: Sequence[str], view: View
) -> Order:
    """The order for a sandbox in which an agent works first, and in which what it leaves running stays.

    Raises:
        MachineError: as `make_order`.
    """
    binds = {path: path for path in exposed}
    order = _order(workspace, limits, binds, WORKSPACE, view, AGENT_HOME, agents_environment(exposed))
    abi = landlock_abi()
    files = limits.disk + HOME_SIZE + commands.disk
    return msgspec.structs.replace(
        order,
        arguments=("--dir", OWN_HOME, *order.arguments),
        landlock=abi if moves_files(abi) else 0,
        cgroup=plan_cgroup(limits.memory + commands.memory + files),
        rlimits={**order.rlimits, "FSIZE": limits.disk + HOME_SIZE},
        home_size=HOME_SIZE,
    )


def _order(
    workspace: Path | None,
    limits: MachineLimits | AgentLimits,
    binds: Mapping[str, str],
    at: str,
    view: View,
    home: str,
    environment: dict[str, str],
) -> Order:
    bubblewrap = find_bubblewrap()
    return Order(
        judge=os.getpid(),
        privileged=is_host_root(),
        uid=os.getuid(),
        gid=os.getgid(),
        workspace=None if workspace is None else str(workspace),
        view=view,
        exposed=tuple(binds.values()),
        disk=limits.disk,
        files=limits.files,
        memory=limits.memory,
        processes=limits.processes,
        etc=_etc(home),
        bubblewrap=bubblewrap,
        arguments=tuple(_arguments(bubblewrap, environment, tuple(binds), at, home)),
        seccomp=filter_program().hex(),
        landlock=0,
        fresh=False,
        cgroup=None,
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


def environment_inside(exposed: Sequence[str], home: str = HOME, user: str | None = None) -> dict[str, str]:
    """The whole environment of one of the evaluator's commands.

    PATH holds read-only folders of the host, never the workspace: a planted `ls` or `pytest` is not found by its name.
    Python writes no bytecode, so that the evaluator's own test runs add nothing to what `git status` shows of the agent's
    work, and loads no modules of the user's own: what judged code plants in the home (usercustomize.py, .pth files) would
    run in every later Python program. Git is told by configuration in the environment that the workspace's owner is fine,
    and not to start a file-watching program of the repository's choice.
    """
    git = {"safe.directory": "*", "core.fsmonitor": "false"}
    pairs = [(f"GIT_CONFIG_KEY_{n}", key) for n, key in enumerate(git)]
    pairs += [(f"GIT_CONFIG_VALUE_{n}", value) for n, value in enumerate(git.values())]
    return {
        **_plain_environment(exposed, home, user or _user(home)),
        "PAGER": "cat",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "GIT_CONFIG_COUNT": str(len(git)),
        **dict(pairs),
    }


def agents_environment(exposed: Sequence[str]) -> dict[str, str]:
    """What an agent finds in its environment besides what it is started with: what any user of a machine would."""
    return _plain_environment(exposed, AGENT_HOME, _user(AGENT_HOME))


def _plain_environment(exposed: Sequence[str], home: str, user: str) -> dict[str, str]:
    folders = [f"{path}/bin" for path in exposed if os.path.isdir(f"{path}/bin")]
    path = ":".join([*folders, "/usr/local/bin", "/usr/bin", "/bin"])
    return {"PATH": path, "HOME": home, "USER": user, "LANG": "C.UTF-8", "TERM": "dumb"}


def _user(home: str) -> str:
    return os.path.basename(home)


def _etc(home: str) -> dict[str, str]:
    user = _user(home)
    texts = (
        f"root:x:0:0:root:/root:/bin/sh\n{user}:x:{kernel.INSIDE}:{kernel.INSIDE}::{home}:/bin/bash\n",
        f"root:x:0:\n{user}:x:{kernel.INSIDE}:\n",
        "127.0.0.1 localhost\n::1 localhost\n",
        "passwd: files\ngroup: files\nhosts: files\n",
    )
    return dict(zip(_ETC, texts, strict=True))


def _arguments(bubblewrap: str, environment: dict[str, str], binds: Sequence[str], at: str, home: str) -> Iterator[str]:
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
    yield from ("--bind", f"{kernel.ROOM}/temporary", TEMPORARY, "--bind", f"{kernel.ROOM}/home", home)
    for number, path in enumerate(binds):
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
