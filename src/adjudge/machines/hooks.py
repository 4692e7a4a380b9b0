"""Files of a workspace that can make later commands lie: they run by themselves, pose as a tool, or say what is run.

A command runs in the agent's environment: a `conftest.py` can make every test pass, a git hook can print anything. They
are not removed, since they may be the work that is judged; that they are there is told to whoever reads a verdict.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from adjudge.machines.files import Workspace, printable
from adjudge.machines.hook_rules import hooks_of
from adjudge.machines.places import WORKSPACE
from adjudge.machines.walk import Walk
from adjudge.ports import Hook

_NAMES, _SECONDS, _SHOWN = 100_000, 3.0, 20

_LINKS, _CHAIN = 10_000, 8
"""Links that are looked at, and links that are followed one after another."""

MOST = 300
"""Hooks that are told of one workspace, the nearest to its root first."""

_RUN_THEMSELVES = frozenset({"conftest", "start", "module", "program", "git"})


class FoundHooks(msgspec.Struct, frozen=True):
    """The hooks of a workspace in the order of their paths, how many more there are, and whether some may be missing."""

    hooks: tuple[Hook, ...]
    left_out: int = 0
    cut: bool = False

    @property
    def complete(self) -> bool:
        """Whether no other hook can be there."""
        return not (self.left_out or self.cut)


def find_hooks(workspace: Workspace) -> FoundHooks:
    """The hooks of a workspace. No file of `node_modules` counts but programs in its `.bin`."""
    walk = Walk(workspace, _NAMES, _SECONDS, links=True)
    found: list[Hook] = []
    packages: set[str] = set()
    for path in walk.below("."):
        if path.endswith("/__init__.py"):
            packages.add(path.removesuffix("/__init__.py"))
        found += hooks_of(workspace, path)
    acting = [hook for hook in found if not _is_harmless(hook, packages)]
    kept = sorted(acting, key=lambda hook: hook.path.count("/"))[:MOST]  # many deep ones cannot push out one at the root
    linked = list(islice(_linked(workspace, walk.links_met[:_LINKS], kept), MOST))
    cut = walk.cut or len(walk.links_met) > _LINKS or len(linked) == MOST
    return FoundHooks(tuple(sorted([*kept, *linked], key=lambda hook: hook.path)), len(acting) - len(kept), cut)


def hooks_in(folder: Path) -> FoundHooks:
    """The hooks of any folder, such as one that was copied out of a container.

    Raises:
        InputError: it cannot be read.
    """
    workspace = Workspace(folder)
    try:
        return find_hooks(workspace)
    finally:
        workspace.close()


def _linked(workspace: Workspace, links: Sequence[str], hooks: Sequence[Hook]) -> Iterator[Hook]:
    """The hooks again that lie in folders to which links lead, by the paths through the links: commands may go that way."""
    places = {link: _place(workspace, link) for link in links}
    for link, first in places.items():
        place = first
        for _ in range(_CHAIN):
            place = places.get(place, place)
        below = "" if place == "." else f"{place}/"
        for hook in hooks:
            if hook.path.startswith(below):
                yield msgspec.structs.replace(hook, path=f"{printable(link)}/{hook.path.removeprefix(below)}")


def _place(workspace: Workspace, link: str) -> str:
    """Where a link leads, from the workspace's root, as commands see it."""
    target = posixpath.join(f"{WORKSPACE}/{link}", "..", workspace.target(link) or "")
    return posixpath.normpath(target).removeprefix(WORKSPACE).strip("/") or "."


def _is_harmless(hook: Hook, packages: set[str]) -> bool:
    """Whether it is a module inside of a package, which has another name, or belongs to an installed JavaScript package."""
    folder, _, name = hook.path.rpartition("/")
    if hook.kind == "module":
        holder = folder.rpartition("/")[0] if name.startswith("__init__.") else folder
        return holder in packages
    return "node_modules" in folder.split("/") and hook.kind in ("script", "settings")


def named(found: FoundHooks) -> str:
    """The hooks that run by themselves or have a tool's name, as text: at most twenty, then how many more there are."""
    names = list(dict.fromkeys(hook.path for hook in found.hooks if hook.kind in _RUN_THEMSELVES))
    rest = max(len(names) - _SHOWN, 0) + found.left_out
    more = [f"and {rest} more"] if rest > 0 else []
    return ", ".join([*names[:_SHOWN], *more, *(["not all files were looked at"] if found.cut else [])])
