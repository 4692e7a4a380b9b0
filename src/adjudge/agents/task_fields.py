"""Single fields of a task's file: places, sizes and limits, and what is said of one that is wrong."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from adjudge.errors import InputError
from adjudge.rubric.fields import read_text, refuse_unknown, told
from adjudge.settings import AgentLimits

LONGEST_PATH = 4096
"""Characters of a path or an address."""

LARGEST = 1 << 60
"""Above this no limit is meant: no machine has as much."""

_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_UNITS |= {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?) ?([A-Za-z]{0,3})")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(?:([^/@]*)@)?([^/]*)(/.*)?", re.S)
_SSH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[^:]\S*")  # as in git@example.org:group/name.git
_REVISION = re.compile(r"[A-Za-z0-9_](?!.*\.\.)[A-Za-z0-9._/-]{0,254}")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}")


def read_path(at: str, key: str, value: Any, base: Path) -> Path:
    """A path that exists, made absolute; a relative one starts at `base`.

    Raises:
        InputError: there is no such thing; the message starts with `at` and the key. So with all functions here.
    """
    text = read_text(at, key, value, strip=False, most=LONGEST_PATH)
    path = Path(os.path.abspath(base / text))
    if not text or "\0" in text or not os.path.exists(path):
        raise InputError(
            f'{at}: "{key}" must be a path that exists, from the folder of the task\'s file; there is no {path}'
        )
    return path


def read_folder(at: str, key: str, value: Any, base: Path) -> Path:
    """A folder that exists."""
    path = read_path(at, key, value, base)
    if not path.is_dir():
        raise InputError(f'{at}: "{key}" must be a folder, and {path} is none')
    return path


def read_file(at: str, key: str, value: Any, base: Path) -> Path:
    """A file that exists."""
    path = read_path(at, key, value, base)
    if not path.is_file():
        raise InputError(f'{at}: "{key}" must be a file, and {path} is none')
    return path


def read_repository(at: str, value: Any, base: Path) -> str:
    """Where a git repository is: an address by https or ssh, or an absolute path."""
    text = read_text(at, "git", value, most=LONGEST_PATH)
    if _SSH.fullmatch(text):
        return text
    if not (url := _URL.fullmatch(text)):
        return str(read_folder(at, "git", text, base))
    scheme, user, host = url[1].lower(), url[2] or "", url[3]
    if scheme not in ("https", "ssh", "file"):
        raise InputError(f'{at}: "git" must be a path, or an address with https://, ssh:// or file://, got {told(text)}')
    if scheme != "ssh" and user:  # not shown: it may be a password
        raise InputError(f'{at}: "git" must hold no user and no password; git asks your credential helper for them')
    if (scheme != "file" and not host) or host.startswith("-") or user.startswith("-") or ":" in user:
        raise InputError(f'{at}: "git" must name its host, as in https://example.org/group/name.git')
    return text


def read_revision(at: str, value: Any) -> str:
    """The id of a commit, or a name that git takes for one."""
    text = read_text(at, "commit", value)
    if not _REVISION.fullmatch(text):
        raise InputError(f'{at}: "commit" must be the id of a commit, a tag or a branch, got {told(text)}')
    return text


def read_image(at: str, value: Any) -> str:
    """The name of a container image."""
    text = read_text(at, "image", value)
    if not _IMAGE.fullmatch(text):
        raise InputError(f'{at}: "image" must be the name of an image, as in python:3.12, got {told(text)}')
    return text


def read_limits(at: str, value: Any) -> AgentLimits:
    """What one attempt may use; what is not given keeps its default."""
    if not isinstance(value, dict):
        raise InputError(f'{at}: must be a mapping such as {{seconds: 600, memory: "2 GiB"}}, got {told(value)}')
    refuse_unknown(at, value, tuple(_LIMITS))
    return AgentLimits(**{key: _LIMITS[key](at, key, each) for key, each in value.items()})


def read_seconds(at: str, key: str, value: Any) -> float:
    """A number of seconds above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LARGEST:  # NaN neither
        raise InputError(f'{at}: "{key}" must be a number of seconds above 0, got {told(value)}')
    return float(value)


def _count(at: str, key: str, value: Any) -> int:
    if type(value) is not int or not 0 < value <= LARGEST:
        raise InputError(f'{at}: "{key}" must be a whole number above 0, got {told(value)}')
    return value


def _size(at: str, key: str, value: Any) -> int:
    """Bytes, given as such or as in "2 GiB" (1024³ each) or "2 GB" (1000³)."""
    written = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    size = value if type(value) is int else 0
    if written and written[2].lower() in _UNITS:
        size = math.floor(float(written[1]) * _UNITS[written[2].lower()])
    if not 0 < size <= LARGEST:
        raise InputError(f'{at}: "{key}" must be a size, in bytes or as in "2 GiB" or "500 MB", got {told(value)}')
    return size


_LIMITS: dict[str, Callable[[str, str, Any], Any]] = {
    "seconds": read_seconds,
    "grace": read_seconds,
    "memory": _size,
    "processes": _count,
    "output": _size,
    "disk": _size,
    "files": _count,
    "requests": _count,
}
