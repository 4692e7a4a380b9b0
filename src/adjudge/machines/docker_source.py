"""What `docker:NAME` and `image:NAME` stand for: an image to make containers of, and where in it the agent worked."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

import msgspec

from adjudge.errors import InputError
from adjudge.machines.docker_changes import changed_programs
from adjudge.machines.docker_container import Mount
from adjudge.machines.docker_engine import LABEL_USER, Engine

_ROOT = "0:0"


class Source(msgspec.Struct, frozen=True):
    """An image, who runs commands in containers of it, and the workspace, an absolute path.

    `temporary` says that the image is a snapshot of ours, which is removed in the end. `mounts` are what else may be read
    in those containers, `path` is their PATH if it is not the image's. `changed` are programs outside of the workspace that
    differ from the image of the container that a snapshot was taken of.
    """

    image: str
    user: str
    workspace: str
    temporary: bool = False
    mounts: tuple[Mount, ...] = ()
    path: str | None = None
    changed: tuple[str, ...] = ()


async def find_source(engine: Engine, name: str, workspace: str | None) -> Source:
    """The source that a name stands for. Of a container a snapshot is taken: its files as they are now, without mounts.

    Raises:
        InputError: the name is of another form or unknown, or the workspace cannot be there.
        MachineError: no snapshot could be taken.
    """
    kind, _, rest = name.partition(":")
    if kind == "image" and rest:
        known = await engine.image(rest)
        return Source(known["Id"], *_place(name, known.get("Config") or {}, workspace))
    if kind == "docker" and rest:
        known = await engine.container(rest)
        user, place = _place(name, known["Config"], workspace)
        _check_mounts(name, place, known.get("Mounts") or ())
        changed = await changed_programs(engine, known["Id"], place)
        return Source(await engine.commit(known["Id"]), user, place, temporary=True, changed=changed)
    raise InputError(f"{name}: must be docker:NAME for a container or image:NAME for an image")


def _place(name: str, settings: Mapping[str, Any], workspace: str | None) -> tuple[str, str]:
    """The user and the workspace of a container's or an image's settings."""
    place = workspace or settings.get("WorkingDir") or "/"
    if not place.startswith("/") or posixpath.normpath(place) != place or "\0" in place:
        raise InputError(f"{name}: the workspace {place!r} must be an absolute path without '.', '..' or trailing slash")
    if place == "/":
        raise InputError(f"{name}: tells no folder in which the agent worked; name it with --workspace PATH")
    labels = settings.get("Labels") or {}
    return labels.get(LABEL_USER) or settings.get("User") or _ROOT, place


def _check_mounts(name: str, place: str, mounts: Any) -> None:
    for mount in mounts:
        there = str(mount.get("Destination", ""))
        if _within(place, there) or _within(there, place):
            raise InputError(
                f"{name}: {there} is a mount, which a snapshot of the container does not hold; "
                f"copy it out (`docker cp {name.partition(':')[2]}:{place} FOLDER`) and judge the folder"
            )


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
