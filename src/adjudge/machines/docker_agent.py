"""What an agent finds in its container: a user, a home, a workspace, and the host's toolchain to read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adjudge.errors import InputError, MachineError
from adjudge.machines.docker_container import Container, Mount, read_only
from adjudge.machines.docker_engine import Engine
from adjudge.machines.docker_files import Item, export, put, put_folder, tar_of
from adjudge.machines.places import AGENT_HOME, SYSTEM, WORKSPACE

AGENT = 1000
USER = f"{AGENT}:{AGENT}"

_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_TAKEN = (*SYSTEM, "/", "/etc", "/proc", "/dev", "/sys", "/run", "/home", "/root", "/tmp", WORKSPACE, AGENT_HOME)  # noqa: S108
_LARGEST_ACCOUNTS = 1 << 20


def exposed_mounts(engine: Engine, expose: Sequence[str]) -> tuple[Mount, ...]:
    """Paths of this computer that may be read in a container, at the same places.

    Raises:
        InputError: one is not absolute, is missing, or would cover what a container needs.
        MachineError: the engine may be on another computer.
    """
    if expose and not engine.local:
        raise MachineError(f"expose: needs an engine of this computer; {engine.url} may be elsewhere")
    for path in expose:
        if not os.path.isabs(path) or os.path.normpath(path) != path or not os.path.exists(path):
            raise InputError(f"expose: {path!r} must be an existing absolute path without '.', '..' or trailing slash")
        if any(taken == path for taken in _TAKEN) or path.startswith((f"{WORKSPACE}/", f"{AGENT_HOME}/")):
            raise InputError(f"expose: {path!r} cannot appear inside, it would cover what the container needs")
    return tuple(read_only(os.path.realpath(path), path) for path in dict.fromkeys(expose))


def path_with(expose: Sequence[str], image: dict[str, Any]) -> str:
    """PATH inside: the exposed `bin` folders, then the image's own."""
    variables = dict(pair.partition("=")[::2] for pair in (image.get("Config") or {}).get("Env") or ())
    folders = [f"{path}/bin" for path in expose if os.path.isdir(f"{path}/bin")]
    return ":".join([*folders, variables.get("PATH") or _DEFAULT_PATH])


async def furnish(container: Container, folder: Path | None) -> int:
    """Give a container that is not started the agent's user, home and workspace; returns how many bytes that took."""
    places = [Item(path, mode=0o755, owner=AGENT) for path in (WORKSPACE, AGENT_HOME)]
    temporary = [] if await container.engine.has(container.name, "/tmp") else [Item("/tmp", mode=0o1777)]  # noqa: S108
    await put(container.engine, container.name, tar_of([*places, *temporary, *await _accounts(container)]))
    if folder is None:
        return 0
    return await put_folder(container.engine, container.name, folder, WORKSPACE, AGENT)


async def _accounts(container: Container) -> list[Item]:
    """The lists of users and groups with the agent's, unless its number is taken already."""
    lines = {"/etc/passwd": f"agent:x:{AGENT}:{AGENT}::{AGENT_HOME}:/bin/sh\n", "/etc/group": f"agent:x:{AGENT}:\n"}
    items = []
    for path, line in lines.items():
        text = await _text(container, path)
        if not any(each.split(":")[2:3] == [str(AGENT)] for each in text.splitlines()):
            whole = text if not text or text.endswith("\n") else f"{text}\n"
            items.append(Item(path, (whole + line).encode("utf-8", "surrogateescape")))
    return items


async def _text(container: Container, path: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        await export(container.engine, container.name, path, Path(folder), _LARGEST_ACCOUNTS, 1)
        return _read(Path(folder) / os.path.basename(path))


def _read(file: Path) -> str:
    """The text of a file, nothing if there is none or it is a link."""
    if file.is_symlink() or not file.is_file():
        return ""
    return file.read_text("utf-8", "surrogateescape")
