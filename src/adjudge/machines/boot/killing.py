"""Killing inside of the sandbox: everything, or one command with all that it started.

A wrong step here would be a catastrophe outside, so each proves first where it is.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time

PATIENCE = 2.0  # seconds
PARENT, THREADS = 1, 17  # among the words of /proc/PID/stat after the name, the first of which is the state


def kill_all(pid_namespace: int) -> None:
    """Kill every process but the first and this one."""
    _prove_inside(pid_namespace)
    os.kill(-1, signal.SIGKILL)


def kill_below(root: int, pid_namespace: int) -> None:
    """Kill a process that inherits its orphaned descendants, and all of them.

    It is stopped and dies last, so that meanwhile what it started cannot become another's. Whoever is quicker at forking
    than we at killing makes this fail.
    """
    _prove_inside(pid_namespace)
    os.kill(root, signal.SIGSTOP)
    limit = time.monotonic() + PATIENCE
    while below := _below(root):
        for pid in below:
            _kill(pid)
        if time.monotonic() > limit:
            raise OSError("they are too many")
        time.sleep(0.001)
    _kill(root)


def _prove_inside(pid_namespace: int) -> None:
    """In the sandbox's pid namespace, with a parent outside of it."""
    if os.stat("/proc/self/ns/pid").st_ino != pid_namespace or os.getppid() != 0 or os.getpid() == 1:
        raise OSError("not in the sandbox")


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _below(root: int) -> set[int]:
    """The living descendants of a process."""
    parents = {pid: parent for pid, parent in map(_parent, _pids()) if parent is not None}
    below: set[int] = set()
    while more := {pid for pid, parent in parents.items() if parent in below or parent == root} - below:
        below |= more
    return below


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _parent(pid: int) -> tuple[int, int | None]:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            words = file.read().rpartition(b")")[2].split()
    except OSError:
        return pid, None  # it has just ended
    return pid, None if is_dead(words) else int(words[PARENT])


def is_dead(words: list[bytes]) -> bool:
    """Whether a process has ended, from the words of its `stat` after the name; else only its first thread has."""
    return words[0] in (b"Z", b"X") and int(words[THREADS]) <= 1
