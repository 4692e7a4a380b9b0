"""Folders that a process owns as long as it lives, and the removal of those that killed processes have left.

An owner has its folder locked, and the kernel lets go of the lock when it dies, however it dies. Where folders cannot be
locked, nothing counts as left.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.settings import is_url
from adjudge.store.workspace import is_of_a_run
from adjudge.wiring.planning import workspaces

if TYPE_CHECKING:
    from adjudge.settings import Settings
    from adjudge.store.store import Store

PREFIX = "adjudge-run-"
"""How the names of temporary folders begin that are owned."""

_WORKSPACE = re.compile(r".*-[0-9a-f]{8}")


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A temporary folder that is removed at the end, or by whoever comes next if this process is killed."""

    def make() -> Path:
        return Path(made.enter_context(tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True)))

    with ExitStack() as made, owned(make) as folder:
        yield folder


@contextmanager
def owned(make: Callable[[], Path]) -> Iterator[Path]:
    """A new folder that `make` makes, owned until the end."""
    with ExitStack() as lock:
        yield _made(make, lock)


def _made(make: Callable[[], Path], lock: ExitStack) -> Path:
    """A folder whose lock is given back with `lock`. One that was taken for left before it was locked is made anew."""
    while True:
        folder = make()
        try:
            lock.callback(os.close, _locked(folder))
        except (FileNotFoundError, BlockingIOError):
            continue
        except OSError:  # no locks here, so that nobody else can take it for left
            pass
        return folder


def _locked(folder: Path) -> int:
    """A handle that has the folder locked until it is closed.

    Raises:
        BlockingIOError: somebody else has it locked.
        FileNotFoundError: it was removed.
        OSError: it cannot be locked.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder.lstat()  # whoever had it locked may have removed it since it was opened
    except BaseException:
        os.close(handle)
        raise
    return handle


# --- what was left


def remove_left(settings: Settings, store: Store) -> None:
    """Remove what killed processes have left: temporary folders, and in the store empty workspaces of no stored run."""
    _remove_temporary()
    if not is_url(settings.store):  # beside a database the workspaces may be those of another one
        _remove_workspaces(workspaces(settings), store)


def _remove_temporary() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with _is_left(folder) as left:
            if left:
                shutil.rmtree(folder, ignore_errors=True)


def _remove_workspaces(place: Path, store: Store) -> None:
    for folder in place.glob("*"):
        if not _WORKSPACE.fullmatch(folder.name) or not _is_empty(folder):
            continue
        with _is_left(folder) as left, store.reading() as connection:
            if left and not is_of_a_run(connection, folder):
                with suppress(OSError):  # it is read-only, or not empty
                    folder.rmdir()


def _is_empty(folder: Path) -> bool:
    try:
        return not any(folder.iterdir())
    except OSError:
        return False


@contextmanager
def _is_left(folder: Path) -> Iterator[bool]:
    """Whether it is our user's and nobody owns it, nor can until the end."""
    with ExitStack() as lock:
        left = False
        with suppress(OSError):
            handle = _locked(folder)
            lock.callback(os.close, handle)
            left = os.fstat(handle).st_uid == os.geteuid()
        yield left
