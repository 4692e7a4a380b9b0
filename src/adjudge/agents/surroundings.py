"""What a program needs around it: its package, the interpreter that runs it, and nothing else of the host.

Known are npm's packages (in a project, of a global prefix, below a version manager's), Python's virtual environments (uv's
and pipx's tools among them) with the Python on which they stand, and programs that are one file. A folder that may hold
credentials is never among it, nor the user's home.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

Finding = Callable[[str], Path | None]
"""Finds a program by its name, as PATH does."""

_SHARED = (".local", ".local/share", ".local/state", ".config", ".cache")
_SECRET = (".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".config/gcloud")
_TELLING = frozenset(
    {".ssh", ".gnupg", ".aws", ".env", ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".credentials.json", "auth.json"}
)
"""Names that say of a folder that it holds credentials."""

_TOPS = frozenset({"/home", "/opt", "/srv", "/var", "/mnt", "/media", "/tmp"})  # noqa: S108  never shown
_LIBRARIES = ("lib/node_modules/npm", "include/node", "lib/python3*/os.py")
_VENV_PARTS = ("bin", "lib", "lib64", "pyvenv.cfg")
_SHEBANG = re.compile(r"#! *(\S+)(?: +(.*))?")
_MOST_READ = 64 << 10


class Surroundings(msgspec.Struct, frozen=True):
    """Files and folders to be readable, folders for PATH, and, if nothing narrow enough would work, why."""

    expose: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    refused: str | None = None


def surroundings(program: Path, home: Path, find: Finding) -> Surroundings:
    """What a program needs; `program` and `home` are free of links."""
    interpreter, by_name = _interpreter(program, find)
    own = _venv(program.parent.parent) or _package(program) or (program,)
    runner = _of_interpreter(interpreter, home) if interpreter else ()
    needed = _outermost((*runner, *own))
    for path in needed:
        if why := why_not(path, home):
            return Surroundings(refused=f"it needs {path}, and {why}")
    ahead = (str(interpreter.parent),) if interpreter and by_name and not is_system(interpreter) else ()
    return Surroundings(tuple(map(str, needed)), ahead)


def is_system(path: Path) -> bool:
    """Whether a path can be read on every machine, as all of /usr can."""
    return all(each.startswith("/usr/") for each in (os.path.realpath(path), _without_links(path)))


def _without_links(path: Path) -> str:
    """The path with the links in its folders followed, its own name kept."""
    return os.path.join(os.path.realpath(path.parent), path.name)


# --- the interpreter


def _interpreter(program: Path, find: Finding) -> tuple[Path | None, bool]:
    """What runs a script, `None` for other programs; and whether it is found by its name, as `env` does."""
    with program.open("rb") as file:
        line = file.readline(1024).decode("utf-8", "replace").rstrip()
    if not (shebang := _SHEBANG.fullmatch(line)):
        return None, False
    if Path(shebang[1]).name != "env":
        return Path(shebang[1]), False
    words = [word for word in (shebang[2] or "").split() if not word.startswith("-") and "=" not in word]
    found = find(words[0]) if words else None
    return (_plainest(found), True) if found else (None, False)


def _plainest(found: Path) -> Path:
    """The program itself rather than a link to it, if its name is the same, so that no link must be there inside."""
    real = Path(os.path.realpath(found))
    return real if real.name == found.name else found


def _of_interpreter(interpreter: Path, home: Path) -> tuple[Path, ...]:
    if venv := _venv(interpreter.parent.parent):
        return venv
    places = dict.fromkeys((interpreter, Path(os.path.realpath(interpreter))))
    return tuple(_prefix(place, home) for place in places if not is_system(place))


def _prefix(interpreter: Path, home: Path) -> Path:
    """The folder that an interpreter and its library were installed into, or it alone if others share that folder."""
    prefix = interpreter.parent.parent
    with_library = any(next(prefix.glob(pattern), None) for pattern in _LIBRARIES)
    return prefix if with_library and not why_not(prefix, home) else interpreter


# --- packages


def _venv(folder: Path) -> tuple[Path, ...]:
    """The parts of a virtual environment and the Python on which it stands; nothing for other folders.

    Only its parts, as the folder may be a whole project's.
    """
    try:
        with (folder / "pyvenv.cfg").open(encoding="utf-8", errors="replace") as file:
            settings = dict(line.split("=", 1) for line in file.read(_MOST_READ).splitlines() if "=" in line)
    except OSError:
        return ()
    bases = [Path(value.strip()) for name, value in settings.items() if name.strip() == "home"]
    places = [each for base in bases for each in (base, Path(os.path.realpath(base))) if each.is_absolute()]
    base = tuple(dict.fromkeys(place.parent for place in places if not is_system(place)))
    return (*base, *(folder / part for part in _VENV_PARTS if (folder / part).exists()))


def _package(program: Path) -> tuple[Path, ...]:
    """The npm package that a program is part of, with its dependencies.

    In a project they lie beside it, so that all of `node_modules` is needed; below a global prefix they lie within it.
    """
    parts = program.parts
    if "node_modules" not in parts[:-2]:
        return ()
    at = parts.index("node_modules") + 1
    if parts[at - 2] == "lib":
        at += 2 if parts[at].startswith("@") else 1
    return (Path(*parts[:at]),)


def _outermost(paths: Iterable[Path]) -> list[Path]:
    """The paths without those that can be read anyway, lie within another, or are not there."""
    kept = list(dict.fromkeys(path for path in paths if path.exists() and not is_system(path)))
    return [path for path in kept if not any(path != other and path.is_relative_to(other) for other in kept)]


# --- what is never shown


def why_not(path: Path, home: Path) -> str | None:
    """Why a path must not be readable for an agent, `None` if it may."""
    real = Path(os.path.realpath(path))
    if home.is_relative_to(real):
        return "the home folder lies within it"
    if any(real.is_relative_to(home / name) for name in _SECRET):
        return "credentials lie there"
    if not real.is_dir():
        return None
    if real in [home / name for name in _SHARED] or str(real) in _TOPS:
        return "other programs keep their files there"
    if telling := _TELLING.intersection(os.listdir(real)):
        return f"it holds {min(telling)}"
    return None
