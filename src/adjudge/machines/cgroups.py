"""Control groups for the memory of a sandbox: where one can be made, and with which files (`man 7 cgroups`)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

PREFIX = "adjudge-"
ROOT = Path("/sys/fs/cgroup")


class CgroupPlan(msgspec.Struct, frozen=True):
    """A group that `boot` shall make: its directory, what to write into it, and where to read.

    `anonymous` is the field of `memory.stat` that counts anonymous memory in bytes; `events` is the file whose field
    `oom_kill` counts kills.
    """

    directory: str
    settings: dict[str, str]
    anonymous: str
    events: str


def plan_cgroup(memory: int) -> CgroupPlan | None:
    """A group with a hard limit of `memory` bytes below the judge's own group, `None` where none can be made.

    Groups of judges that were killed together with their sandbox's helper are removed on the way; only an empty group
    can be.
    """
    parent = _parent()
    if parent is None:
        return None
    _remove_stale(parent[0])
    name = f"{PREFIX}{os.getpid()}-{start_of(os.getpid())}-{os.urandom(4).hex()}"
    return _plan(parent[0] / name, parent[1], memory)


def _plan(directory: Path, version: int, memory: int) -> CgroupPlan:
    if version == 1:
        limits = ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")
        settings = {"memory.swappiness": "0"} | dict.fromkeys(limits, str(memory))
        return CgroupPlan(str(directory), settings, "rss", "memory.oom_control")
    return CgroupPlan(str(directory), {"memory.max": str(memory), "memory.swap.max": "0"}, "anon", "memory.events")


def _parent() -> tuple[Path, int] | None:
    """The nearest group around this process in which one with a memory limit can be made, and the hierarchy's version."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            found = _first(_upwards(ROOT / "memory", path))
            return (found, 1) if found else None
    for line in lines:
        if line.startswith("0::"):
            found = _first(place for place in _upwards(ROOT, line[3:]) if _hands_down_memory(place))
            return (found, 2) if found else None
    return None


def _upwards(root: Path, path: str) -> Iterator[Path]:
    place = root / path.lstrip("/")
    while place.is_relative_to(root) and ".." not in place.parts:
        yield place
        place = place.parent


def _first(places: Iterator[Path]) -> Path | None:
    """The first place where we may both make a group and move ourselves into it and back."""
    return next((place for place in places if _writable(place)), None)


def _writable(place: Path) -> bool:
    return os.access(place, os.W_OK) and os.access(place / "cgroup.procs", os.W_OK)


def _hands_down_memory(place: Path) -> bool:
    with contextlib.suppress(OSError):
        return "memory" in (place / "cgroup.subtree_control").read_text().split()
    return False


def _remove_stale(parent: Path) -> None:
    for directory in parent.glob(f"{PREFIX}*"):
        pid, start, _ = directory.name.removeprefix(PREFIX).split("-")
        if start_of(int(pid)) != start:
            with contextlib.suppress(OSError):
                directory.rmdir()


def start_of(pid: int) -> str | None:
    """When a process started, in clock ticks since the boot: with its pid it names one process for ever."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return None
