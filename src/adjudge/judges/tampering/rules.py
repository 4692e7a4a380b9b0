"""Whether a hook acts on a program that is started, by its kind; for starts that can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

from adjudge.judges.tampering.starts import (
    PLAIN,
    Place,
    Start,
    folder_of,
    is_or_unknown,
    name_of,
    place_of,
    related,
    within,
)
from adjudge.judgment import HookKind
from adjudge.ports import Hook
from adjudge.profile.runtimes import PYTHON
from adjudge.profile.versioning import subcommand

PYTEST = frozenset({"pytest", "py.test"})

# --- tests


def _loaded_by_pytest(hook: Hook, start: Start, at: str) -> bool:
    """A conftest.py, or a plugin by its entry point."""
    if start.program not in PYTEST:
        return False
    words = [*start.words, *start.around.variables.get("PYTEST_ADDOPTS", "").split()]
    plugins = [name for entry in hook.acts_on if (name := entry.partition(" -p ")[2])]
    if not plugins:
        return "--noconftest" not in words and _in_tests(hook, start, at)
    wanted = any(f"-pno:{name}" not in words and ("-p", f"no:{name}") not in pairwise(words) for name in plugins)
    return wanted and "PYTEST_DISABLE_PLUGIN_AUTOLOAD" not in start.around.variables and _in_tests(hook, start, at)


def _in_tests(hook: Hook, start: Start, at: str) -> bool:
    """Whether its folder is among those that pytest collects, or above them, or in the environment that pytest is of."""
    if "site-packages" in hook.path:
        return _in_environment(hook, start, at)
    return any(related(folder_of(hook.path), target) for target in _targets(start, at))


_VALUED = frozenset({"-k", "-m", "-p", "-c", "-o", "-W", "-n", "--tb", "--rootdir", "--ignore", "--deselect", "--junitxml"})


def _targets(start: Start, at: str) -> Iterator[Place]:
    """What a runner is asked to collect; its folder too, unless one of the words can only be a path."""
    sure, before = False, ""
    for word in start.words[1:]:
        if not word.startswith("-") and before not in _VALUED:
            sure = sure or "/" in word or ".py" in word
            yield place_of(word.partition("::")[0], start.around.folder, at)
        before = word
    if not sure:
        yield start.around.folder


def _decides(hook: Hook, start: Start, at: str) -> bool:
    """Settings of a runner, and scripts."""
    if start.program not in {entry.partition(" ")[0] for entry in hook.acts_on}:
        return False
    given = _value_of(start.words, "-c") if start.program in PYTEST else None
    if given is not None:
        return is_or_unknown(place_of(given, start.around.folder, at), hook.path)
    return any(related(folder_of(hook.path), target) for target in (*_targets(start, at), start.around.folder))


def _value_of(words: Sequence[str], flag: str) -> str | None:
    return next((value for name, value in pairwise(words) if name == flag), None)


# --- Python


def _loaded_at_start(hook: Hook, start: Start, at: str) -> bool:
    """A sitecustomize in PYTHONPATH or in a virtual environment; .pth files only there."""
    if "S" in start.flags or start.program in PLAIN:
        return False
    named = not hook.path.endswith(".pth") and _in_python_path(hook, start)
    return named or _in_environment(hook, start, at)


def _in_python_path(hook: Hook, start: Start) -> bool:
    return any(is_or_unknown(place, _folder_of_module(hook)) for place in start.around.python_path)


def _folder_of_module(hook: Hook) -> str:
    """The folder that must be in Python's path for a module to be found."""
    folder = folder_of(hook.path)
    return folder_of(folder) if name_of(hook.path).startswith("__init__.") else folder


def _imported(hook: Hook, start: Start, at: str) -> bool:
    """A module that stands in for one of Python's: its folder must come first in Python's path."""
    if start.program in PLAIN:
        return False
    folder = _folder_of_module(hook)
    if _in_python_path(hook, start):
        return True
    if start.program in PYTEST:  # it puts the folders of tests first
        apart = not {"--import-mode=importlib", "--import-mode=append"}.isdisjoint(start.words)
        return not apart and any(related(folder, target) for target in _targets(start, at))
    safe = not {"I", "P"}.isdisjoint(start.flags) or "PYTHONSAFEPATH" in start.around.variables
    return PYTHON.fullmatch(start.program) is not None and not safe and is_or_unknown(start.around.folder, folder)


# --- programs


def _called(hook: Hook, start: Start, at: str) -> bool:
    """A program that is called by its path, or by its name where its folder was put into PATH."""
    folder, name = folder_of(hook.path), name_of(hook.path)
    if "/" in start.words[0]:
        place = place_of(start.words[0], start.around.folder, at)
        if place == hook.path or (place is None and start.program == name):
            return True
    elif start.program == name and any(is_or_unknown(place, folder) for place in start.around.path):
        return True
    return PYTHON.fullmatch(name) is not None and start.program not in PLAIN and _in_environment(hook, start, at)


def _in_environment(hook: Hook, start: Start, at: str) -> bool:
    """Whether a hook lies in the virtual environment that a program is started from."""
    folders = list(start.around.path)
    if "/" in start.words[0]:
        place = place_of(start.words[0], start.around.folder, at)
        folders.append(None if place is None else folder_of(place))
    return any(_holds(folder, hook.path) for folder in folders)


def _holds(folder: Place, path: str) -> bool:
    """Whether the environment of which a folder holds the programs holds a file."""
    return folder is None or (name_of(folder) in ("bin", "Scripts") and within(path, folder_of(folder)))


# --- git

_SKIPPED = frozenset({"pre-commit", "commit-msg", "pre-push", "pre-merge-commit"})
"""Hooks that `--no-verify` leaves out."""


def _bends_git(hook: Hook, start: Start, at: str) -> bool:
    if start.program != "git" or ("--no-verify" in start.words and name_of(hook.path) in _SKIPPED):
        return False
    folder = start.around.folder
    if (inside := _value_of(start.words, "-C")) is not None:
        folder = place_of(inside, folder, at)
    moved = _value_of(start.words, "--git-dir") is not None or "GIT_DIR" in start.around.variables
    if not moved and not related(_repository(hook.path), folder):
        return False
    settings = {value.partition("=")[0].lower() for flag, value in pairwise(start.words) if flag == "-c"}
    name = next(iter(subcommand(start.words)), "")
    return any(_acts_on(entry, name, settings) for entry in hook.acts_on)


def _acts_on(entry: str, name: str, settings: set[str]) -> bool:
    """Whether `git -c SETTING SUBCOMMAND`, or a part of that, is what was started and was not taken back."""
    words = entry.split()[1:]
    if words[:1] == ["-c"]:
        if words[1] in settings:
            return False
        words = words[2:]
    return not words or words[0] == name


def _repository(path: str) -> str:
    """The folder of the repository that a file belongs to; the root for a file that is not git's own."""
    parts = path.split("/")
    return "/".join(parts[: parts.index(".git")]) or "." if ".git" in parts else "."


Rule: TypeAlias = Callable[[Hook, Start, str], bool]

RULES: dict[HookKind, Rule] = {
    "conftest": _loaded_by_pytest,
    "settings": _decides,
    "start": _loaded_at_start,
    "module": _imported,
    "program": _called,
    "git": _bends_git,
    "script": _decides,
}
"""For each kind whether a hook acts on a start; the last argument is where commands see the workspace."""
