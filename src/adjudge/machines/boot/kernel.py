"""Numbers and calls of the Linux kernel that Python's standard library does not have."""

from __future__ import annotations

import ctypes
import os
import select

ROOM = "/tmp"  # noqa: S108  covered by a file system of our own; bubblewrap insists on the directory, so it is there
BASE = 100_000  # the host's user id of a root judge's sandbox, and the first of 65,536 for the workspace's owners
INSIDE = 1000  # the user id that commands see
LONGEST = 1 << 20  # bytes of a control message

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
EVERY_NAMESPACE = NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET

NOSUID, NODEV, BIND, REC, PRIVATE = 0x2, 0x4, 0x1000, 0x4000, 0x40000

SET_PDEATHSIG, SET_DUMPABLE, SET_NAME, SET_SECCOMP, DROP_BOUNDING = 1, 4, 15, 22, 24
SET_SUBREAPER, NO_NEW_PRIVS, AMBIENT = 36, 38, 47
DAC_READ_SEARCH = 2  # the capability to read and enter what refuses it

OPEN_TREE, MOVE_MOUNT, MOUNT_SETATTR = 428, 429, 442
LANDLOCK_CREATE, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT = 444, 445, 446
SCOPES_SIGNALS = 6  # the first version of Landlock that can

libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> int:
    """The result of a C function, or the error that it set."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """The system call of that name."""
    done = libc.mount(source.encode(), target.encode(), kind and kind.encode(), flags, data.encode() or None)
    check(done, f"mounting {kind or source} failed")


def write(path: str, text: str) -> None:
    """Write a file in one call, as the kernel's own files want it."""
    with open(path, "w") as file:
        file.write(text)


def ready(fds: list[int], milliseconds: int) -> set[int]:
    """Those of the descriptors that can be read or were closed at the other end, once there is one or the time is over."""
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    return {fd for fd, _ in poll.poll(milliseconds)}


def make_unremarkable() -> None:
    """Give up gaining privileges by exec, and blank the arguments: they would show the host's paths in /proc inside."""
    check(libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    libc.prctl(SET_NAME, b"machine", 0, 0, 0)  # a child of ours is seen inside until it has executed its program
    with open("/proc/self/cmdline", "rb") as file:
        arguments = file.read()
    start = ctypes.c_void_p.in_dll(libc, "program_invocation_name").value
    if start and ctypes.string_at(start, len(arguments)) == arguments:
        ctypes.memset(start, 0, len(arguments))
