"""Files of a workspace that run by themselves when somebody works in it, or pose as a common tool.

A command runs in the agent's environment: a `conftest.py` can make every test pass, a git hook can print anything. They
are not removed, since they may be the work that is judged; that they are there is a fact for whoever reads a verdict.
"""

from __future__ import annotations

import re

from adjudge.errors import InputError
from adjudge.machines.files import Workspace, printable
from adjudge.machines.walk import Walk

_NAMES, _SECONDS, _SHOWN = 100_000, 3.0, 20

_PYTHON = frozenset({"conftest.py", "sitecustomize.py", "usercustomize.py"})
_TOOLS = frozenset(
    (  # noqa: SIM905  a list of words
        "awk bash cargo cat cmp cp curl diff echo env file find gcc git go grep head ls make mv node npm npx perl pip pip3 "
        "pytest python python3 rm rg ruby sed sh sha256sum sort stat tail tee test timeout tox uv wc which xargs"
    ).split()
)
_GIT_SETTING = re.compile(r"^\s*(fsmonitor|hookspath)\s*=", re.IGNORECASE | re.MULTILINE)


def hook_files(workspace: Workspace) -> tuple[str, ...]:
    """Their paths, in order, at most twenty and then one item that counts the rest."""
    walk = Walk(workspace, _NAMES, _SECONDS)
    found = [printable(path) for path in walk.below(".") if _is_hook(workspace, path)]
    rest = len(found) - _SHOWN
    more = [f"and {rest} more"] if rest > 0 else []
    return (*found[:_SHOWN], *more, *(["not all files were looked at"] if walk.cut else []))


def _is_hook(workspace: Workspace, path: str) -> bool:
    folder, _, name = path.rpartition("/")
    if name in _PYTHON or name.endswith(".pth"):
        return True
    if folder.endswith(".git/hooks"):
        return not name.endswith(".sample") and _executable(workspace, path)
    if name == "config" and folder.endswith(".git"):
        return _sets_hooks(workspace, path)
    return name in _TOOLS and _executable(workspace, path)


def _executable(workspace: Workspace, path: str) -> bool:
    try:
        return bool(workspace.facts(path).st_mode & 0o111)
    except InputError:
        return False


def _sets_hooks(workspace: Workspace, path: str) -> bool:
    try:
        text = workspace.read(path, 0, 65536).data.decode("utf-8", "replace")
    except InputError:
        return False
    return _GIT_SETTING.search(text) is not None
