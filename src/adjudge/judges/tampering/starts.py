"""A program that a command starts, and the places that its words name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from posixpath import normpath

import msgspec

from adjudge.profile.programs import CHECKERS, KINDS, SEARCHERS, listed
from adjudge.profile.reading import PRINTERS
from adjudge.profile.work import Work

Place = str | None
"""A path relative to the workspace, an absolute one that is not in it, or `None`: not known."""

WORKSPACE = "/workspace"
"""Where commands see the workspace on every machine."""

_NOT_THE_WORKSPACE = tuple(f"/{name}/" for name in listed("usr bin sbin lib lib64 etc opt proc dev sys run"))
_HERE = ("${PWD}", "$PWD", "$(pwd)", "`pwd`")
_OPEN = frozenset("$`*?[{~")
_HEEDED = frozenset({"PYTEST_ADDOPTS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTHONSAFEPATH", "GIT_DIR"})
_LONGEST_PATH = 4096


class Surroundings(msgspec.Struct, frozen=True):
    """Where a program is started, and with which variables.

    `path` and `python_path` are the folders in PATH and PYTHONPATH that may be the workspace's; of other `variables` those
    are kept that matter.
    """

    folder: Place = "."
    path: tuple[Place, ...] = ()
    python_path: tuple[Place, ...] = ()
    variables: dict[str, str] = {}

    def setting(self, variables: Mapping[str, str], at: str) -> Surroundings:
        """These surroundings with more variables."""
        path, python_path = self.path, self.python_path
        if "PATH" in variables:
            path = folders_of(variables["PATH"], path, self.folder, at)
        if "PYTHONPATH" in variables:
            python_path = folders_of(variables["PYTHONPATH"], python_path, self.folder, at)
        heeded = {name: variables[name] for name in _HEEDED & variables.keys()}
        return Surroundings(self.folder, path, python_path, {**self.variables, **heeded} if heeded else self.variables)


class Start(msgspec.Struct, frozen=True):
    """A program, its words with the program as it was called first, and where it is started.

    If it is not `readable`, nobody knows what else it starts. `flags` are the letters that Python was given, if it is
    Python or was started by it.
    """

    program: str
    words: tuple[str, ...]
    around: Surroundings
    readable: bool = True
    flags: str = ""


@lru_cache(maxsize=1024)  # the same few words are asked about for each hook
def place_of(path: str, folder: Place, at: str) -> Place:
    """Where a path leads from a folder; `at` is where commands see the workspace."""
    for here in _HERE:
        path = path.replace(here, ".", 1) if path.startswith(here) else path
    if not _OPEN.isdisjoint(path) or len(path) + len(folder or "") > _LONGEST_PATH:
        return None
    if path.startswith("/"):
        return _absolute(normpath(path), at)
    if folder is None:
        return None
    joined = normpath(f"{folder}/{path}")
    if joined.startswith("/"):
        return _absolute(joined, at)
    return None if joined == ".." or joined.startswith("../") else joined


def _absolute(path: str, at: str) -> Place:
    """A place outside that is none of the system's may hold a copy of the workspace, so it is not known."""
    for root in (at, WORKSPACE):
        if path == root or path.startswith(f"{root}/"):
            return path[len(root) :].lstrip("/") or "."
    return path if f"{path}/".startswith(_NOT_THE_WORKSPACE) else None


def folders_of(value: str, before: tuple[Place, ...], folder: Place, at: str) -> tuple[Place, ...]:
    """The folders of the workspace, or unknown ones, in the value of a variable such as PATH."""
    return tuple(dict.fromkeys(_folders(value, before, folder, at)))


def _folders(value: str, before: tuple[Place, ...], folder: Place, at: str) -> Iterator[Place]:
    for entry in value.split(":"):
        name = entry.strip("${}").partition(":")[0]
        if entry.startswith("$") and name in ("PATH", "PYTHONPATH"):
            yield from before
        elif not entry.startswith(("~", "$HOME", "${HOME}")):
            place = place_of(entry or ".", folder, at)
            if place is None or not place.startswith("/"):
                yield place


def related(one: Place, other: Place) -> bool:
    """Whether one of two folders lies in the other, or they are the same, as far as that is known."""
    if one is None or other is None:
        return True
    return within(one, other) or within(other, one)


def within(path: str, folder: str) -> bool:
    """Whether a place is a folder or lies in it."""
    if folder == ".":
        return not path.startswith("/")
    return path == folder or path.startswith(f"{folder}/")


_PLAIN_KINDS: frozenset[Work] = frozenset(
    {"list", "compare", "filter", "archive", "print", "poll", "environment", "files", "network", "read", "write", "glue"}
)
_STARTS_OTHERS = frozenset(
    listed("eval source . trap alias xargs strace gdb lldb tmux screen open xdg-open osascript ssh watch pre-commit")
)
PLAIN = (
    frozenset(program for program, kind in KINDS.items() if kind in _PLAIN_KINDS)
    | CHECKERS
    | SEARCHERS
    | PRINTERS
    | frozenset(listed("head tail sed gsed patch tee gcc g++ cc clang clang++ rustc javac ld ar as nasm go cargo mktemp"))
) - _STARTS_OTHERS
"""Programs that start nothing of a workspace."""


def is_or_unknown(place: Place, folder: str) -> bool:
    """Whether a place is a folder, or may be."""
    return place in (folder, None)


def folder_of(path: str) -> str:
    """The folder that holds a file."""
    return path.rpartition("/")[0] or "."


def name_of(path: str) -> str:
    """A file's name in its folder."""
    return path.rpartition("/")[2]
