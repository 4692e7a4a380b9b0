"""Temporary folders of a judge, and those that judges which were killed have left."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from pathlib import Path

from adjudge.machines.cgroups import start_of

SOCKETS = "/tmp"  # noqa: S108  the place, not a file; the path of a socket has 107 bytes at most

_NAME = re.compile(r"adjudge-docker-(\d+)-(\d+)-(\d+)-\w+")


def own_folder(parent: str | None = None) -> Path:
    """A new folder that only we can enter; its name tells our pid namespace, our pid and when we started."""
    me = os.getpid()
    return Path(tempfile.mkdtemp(prefix=f"adjudge-docker-{_pids()}-{me}-{start_of(me) or 0}-", dir=parent))


def remove_stale_folders() -> None:
    """Remove the folders of judges that ran here, were killed, and so have not removed them."""
    for place in {tempfile.gettempdir(), SOCKETS}:
        for folder in Path(place).glob("adjudge-docker-*"):
            if _is_stale(folder.name) and _is_our_users(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_stale(name: str) -> bool:
    found = _NAME.fullmatch(name)
    if not found or not _pids() or int(found[1]) != _pids():
        return False
    return start_of(int(found[2])) != found[3]


def _is_our_users(path: Path) -> bool:
    try:
        facts = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid()


def _pids() -> int:
    """The pid namespace, in which alone our pids mean anything; 0 where there is no such thing."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0
