"""What one file of a workspace can do to later commands, told from its name and, for settings, from what it says."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from adjudge.judgment import HookKind
from adjudge.machines.candidates import Candidate, Rule
from adjudge.machines.files import Workspace
from adjudge.machines.git_rules import git_hooks
from adjudge.ports import Hook


def hooks_of(workspace: Workspace, path: str) -> Iterator[Hook]:
    """The hooks that a file is; often none, seldom two. Modules are told as if no folder were a package."""
    file = Candidate(workspace, path)
    found = [hook for rule in (*_rules(file), git_hooks) for hook in rule(file)]
    if found and file.is_work():
        yield from found


def _rules(file: Candidate) -> tuple[Rule, ...]:
    first, _, ending = file.name.partition(".")
    if rules := _BY_NAME.get(file.name) or (_BY_NAME.get(f"{first}.*") if ending else None):
        return rules
    if TOOL.fullmatch(file.name):
        return (_program,)
    return (_module,) if file.name.endswith(_IMPORTED) else (_start,) if ending == "pth" else ()


def _always(kind: HookKind, *acts_on: str) -> Rule:
    def rule(file: Candidate) -> Iterator[Hook]:
        yield file.hook(kind, *acts_on)

    return rule


def _saying(heading: str, pattern: str, kind: HookKind, *acts_on: str) -> Rule:
    """Of files in which a line below a heading begins as the pattern says."""
    says = re.compile(pattern, re.IGNORECASE)

    def rule(file: Candidate) -> Iterator[Hook]:
        if any(says.match(line) for line in file.lines_below(heading)):
            yield file.hook(kind, *acts_on)

    return rule


def _naming(words: tuple[str, ...], kind: HookKind, *acts_on: str) -> Rule:
    """Of files that name one of the words."""

    def rule(file: Candidate) -> Iterator[Hook]:
        if any(word in file.text for word in words):
            yield file.hook(kind, *acts_on)

    return rule


# --- programs

TOOL = re.compile(
    r"(?:python|pypy|pip)[\d.]*|py\.test|(?:"
    + "|".join(
        (  # noqa: SIM905  a list of words
            "awk bash bun cargo cat cmake cmp cp coverage ctest curl deno diff echo env file find gcc git go grep head "
            "java javac jest just ls make mocha mv node nox npm npx perl pnpm pytest rm rg ruby sed sh sha256sum sort stat "
            "tail tee test timeout tox tsc uv vitest wc which xargs yarn"
        ).split()
    )
    + ")"
)


def _program(file: Candidate) -> Iterator[Hook]:
    if file.is_executable():
        yield file.hook("program", file.name)


# --- Python


def _listed(names: str) -> frozenset[str]:
    return frozenset(names.split())


_LOADED = _listed("abc codecs io os posixpath ntpath genericpath stat site encodings zipimport importlib")
"""Modules that are loaded, or frozen, before a folder of the workspace comes first in Python's path."""
_COMMON = _listed("test this antigravity idlelib lib2to3 turtledemo venv ensurepip")
"""Names that folders of projects have for reasons of their own, and that no test run imports."""
_OF_PYTEST = _listed("pytest _pytest pluggy iniconfig packaging py xdist nose coverage hypothesis")
_OWN = sys.stdlib_module_names - set(sys.builtin_module_names) - _LOADED - _COMMON
_SHADOWED = _OF_PYTEST | {name for name in _OWN if not name.startswith("_")}
_IMPORTED = (".py", ".pyc", ".so")
_INSTALLED = re.compile(r"(?:^|/)(?:(?:site|dist)-packages|lib(?:64)?/python[\d.]+|node_modules)(?:/|$)")
_start = _always("start", "python")


def _module(file: Candidate) -> Iterator[Hook]:
    """A module, or the beginning of a package, by whose name Python or pytest knows one of its own."""
    stem = file.name.partition(".")[0]
    name = file.folder.rpartition("/")[2] if stem == "__init__" else stem
    if name in ("sitecustomize", "usercustomize"):
        yield from _start(file)
    elif name in _SHADOWED and not _INSTALLED.search(file.folder):
        yield file.hook("module", "python")


def _plugins(file: Candidate) -> Iterator[Hook]:
    """What seems to be installed, in any folder of Python's path, can name plugins that pytest loads."""
    if file.folder.endswith((".dist-info", ".egg-info")):
        names = [line.partition("=")[0].strip() for line in file.lines_below("[pytest11]") if "=" in line]
        if names:
            yield file.hook("conftest", *(f"pytest -p {name}" for name in names[:20]))


# --- runners

_KEYS = r"\"?(?:addopts|pythonpath|python_(?:files|classes|functions)|testpaths|norecursedirs|usefixtures)\"?\s*="
_NPM = ("npm", "pnpm", "yarn", "bun", "npx")


def _each(*names: str, rules: tuple[Rule, ...]) -> dict[str, tuple[Rule, ...]]:
    return dict.fromkeys(names, rules)


_BY_NAME: dict[str, tuple[Rule, ...]] = {
    "conftest.py": (_always("conftest", "pytest"),),
    "entry_points.txt": (_plugins,),
    **_each("sitecustomize.py", "sitecustomize.pyc", "usercustomize.py", "usercustomize.pyc", rules=(_start,)),
    **_each(
        *("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"), rules=(_saying("", _KEYS, "settings", "pytest"),)
    ),
    "pyproject.toml": (
        _saying("[tool.pytest", _KEYS, "settings", "pytest"),
        _naming(("[tool.poe", "[tool.pdm.scripts", "[tool.hatch.envs", "[tool.taskipy", "[tool.tox"), "script",
                "poe", "pdm", "hatch", "task", "tox"),
    ),
    "setup.cfg": (_saying("[tool:pytest]", _KEYS, "settings", "pytest"),),
    "tox.ini": (
        _saying("[pytest]", _KEYS, "settings", "pytest"),
        _saying("[testenv", r"commands\w*\s*=", "script", "tox"),
    ),
    "noxfile.py": (_always("script", "nox"),),
    **_each("Makefile", "makefile", "GNUmakefile", rules=(_always("script", "make", "gmake"),)),
    **_each("justfile", "Justfile", ".justfile", rules=(_always("script", "just"),)),
    **_each("Taskfile.yml", "Taskfile.yaml", rules=(_always("script", "task"),)),
    "package.json": (
        _naming(('"scripts"',), "script", *_NPM),
        _naming(('"jest":', '"mocha":', '"vitest":'), "settings", "jest", "mocha", "vitest"),
    ),
    ".npmrc": (_saying("", r"(?:script-shell|shell|node-options)\s*=", "settings", *_NPM),),
    **_each("jest.*", "setupTests.*", "setup-jest.*", rules=(_always("settings", "jest"),)),
    **_each("vitest.*", "vite.*", rules=(_always("settings", "vitest"),)),
    **_each(*(f".mocharc{end}" for end in ("", ".js", ".cjs", ".json", ".yml", ".yaml")),
            rules=(_always("settings", "mocha"),)),
}  # fmt: skip
"""Rules by a file's name, or by what stands before its first dot (`jest.*`)."""
