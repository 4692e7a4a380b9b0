"""What a container does not promise, in words, and what an engine tells of itself as a machine's facts."""

from __future__ import annotations

import re
from typing import Any

from adjudge.machines.docker_engine import Engine

NOT_APART = (
    "commands share one container: a process that an earlier one left can write into a later one's output, or end it"
)
NO_QUOTA = "what commands write to the disk is not limited in all, nor in number (the size of one file is)"
OWN_FILTER = "which system calls are refused is the engine's choice"

Facts = dict[str, str | int | bool | None]


async def facts_of_engine(engine: Engine) -> Facts:
    """Which engine and runtime these are, and what they do not promise. Raises MachineError."""
    versions = parts_of(await engine.version())
    name, runtime = next(iter(versions), "engine"), runtime_of(versions)
    return {
        "engine": f"{name} {versions.get(name, 'of unknown version')}",
        "runtime": " ".join(runtime) if runtime else "unknown",
        "isolation": f"not promised: {NOT_APART}; {NO_QUOTA}; {OWN_FILTER}",
        "commands apart": False,
        "disk limit": False,
    }


def parts_of(version: dict[str, Any]) -> dict[str, str]:
    """The engine and its parts with their versions, the engine first (Docker, containerd, runc)."""
    parts = {str(part["Name"]): str(part["Version"]) for part in version.get("Components") or () if "Version" in part}
    engine = parts.pop("Engine", None) or str(version.get("Version", "of unknown version"))
    name = "Podman" if "Podman Engine" in parts else "Docker"
    return {name: parts.pop("Podman Engine", engine)} | parts


def runtime_of(parts: dict[str, str]) -> tuple[str, str] | None:
    """The name and version of what starts the containers' processes: runc or crun."""
    for name, version in parts.items():
        if found := re.search(r"\b(runc|crun|runsc)\b", name):
            number = re.search(r"\d+(\.\d+)+(-rc\.?\d+)?", version)
            return found[1], number[0] if number else version
    return None
