"""What was put or changed in a container, outside of its workspace, that makes a later command lie."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

import msgspec

from adjudge.errors import MachineError
from adjudge.machines.docker_engine import Engine, engine_faults
from adjudge.machines.hook_rules import TOOL

MOST = 64 << 20
"""Bytes of the engine's list of changes that are read."""
NAMED = 20
_GONE = 2

_BIN = frozenset(f"{root}/{folder}" for root in ("", "/usr", "/usr/local") for folder in ("bin", "sbin"))
_STARTS = frozenset({"sitecustomize.py", "usercustomize.py", "ld.so.preload"})


async def changed_programs(engine: Engine, container: str, workspace: str) -> tuple[str, ...]:
    """Paths of common programs, and of what every Python or every program loads, that differ from the container's image.

    At most twenty, and then one item that counts the rest. The engine's own list is the source, so that nothing in the
    container is asked.

    Raises:
        MachineError: the engine does not tell.
    """
    data = bytearray()
    with engine_faults("the container's changes"):
        async with engine.changes(container) as stream:
            while len(data) < MOST and (more := await stream.read(MOST - len(data))):
                data += more
    try:
        changes = msgspec.json.decode(data, type=list[_Change] | None) or []
    except msgspec.DecodeError as error:
        raise MachineError(f"the container's changes: the engine's list cannot be read: {error}") from error
    found = sorted(_acting((change.Path for change in changes if change.Kind != _GONE), workspace))
    rest = [f"and {len(found) - NAMED} more"] if len(found) > NAMED else []
    return (*found[:NAMED], *rest)


class _Change(msgspec.Struct, frozen=True):
    """A row of the engine's list; `Kind` is 0 for changed, 1 for added, 2 for removed."""

    Path: str
    Kind: int


def _acting(paths: Iterable[str], workspace: str) -> Iterable[str]:
    for path in paths:
        folder, name = posixpath.split(path)
        if path.startswith(f"{workspace}/"):
            continue
        if (folder in _BIN and TOOL.fullmatch(name)) or name in _STARTS or name.endswith(".pth"):
            yield path
