"""The control group of a container's processes, where the engine is on this computer and it can be read."""

from __future__ import annotations

from pathlib import Path

from adjudge.machines.cgroups import ROOT


def find_group(pid: int, container: str) -> Path | None:
    """The folder of the group with the `pids` controller, to which a container's first process belongs."""
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        _, controllers, path = line.split(":", 2)
        folder = ROOT / controllers / path.lstrip("/")
        if controllers in ("", "pids") and container in path and (folder / "pids.current").is_file():
            return folder
    return None


def processes_in(group: Path) -> int:
    """How many processes and threads there are in a group; 0 if it is gone."""
    return _number(group / "pids.current", "")


def refusals_in(group: Path) -> int:
    """How many times a process or a thread more was refused in a group; 0 if it is gone."""
    return _number(group / "pids.events", "max")


def _number(file: Path, name: str) -> int:
    try:
        lines = [line.split() for line in file.read_text().splitlines()]
    except OSError:
        return 0
    return next((int(words[-1]) for words in lines if words[:-1] == ([name] if name else [])), 0)
