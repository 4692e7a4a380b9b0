"""One command: a forked process that becomes one of the sandbox's, gives up everything, and executes bash."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct
import time
from types import SimpleNamespace

from adjudge.machines.boot.kernel import (
    AMBIENT,
    DROP_BOUNDING,
    LANDLOCK_CREATE,
    LANDLOCK_RESTRICT,
    SET_SECCOMP,
    check,
    libc,
)
from adjudge.machines.boot.sandbox import Sandbox


class Command:
    """A command that runs. `before` are the processes that earlier commands had left in the background."""

    def __init__(self, sandbox: Sandbox, asked: SimpleNamespace, words: bytes, output: int) -> None:
        self.number = asked.run
        self.before = sandbox.processes()
        self.ended: str | None = None
        self.forfeited = 0
        fault, fault_to = os.pipe()
        self.started = time.monotonic()
        self.deadline = self.started + asked.seconds
        self.pid = os.fork()
        if self.pid == 0:
            _be_command(sandbox, words, output, fault_to)
        os.close(output)
        os.close(fault_to)
        self.pidfd = os.pidfd_open(self.pid)
        with open(fault, "rb") as file:
            if reason := file.read(1000):  # exec closes the other end
                raise OSError(f"a command could not be started inside: {reason.decode()}")

    def wait(self) -> int:
        """The exit status, negative for a signal, once `pidfd` says that there is one."""
        _, status = os.waitpid(self.pid, 0)
        os.close(self.pidfd)
        return os.waitstatus_to_exitcode(status)


def _be_command(sandbox: Sandbox, words: bytes, output: int, fault: int) -> None:
    try:
        os.dup2(output, 1)
        os.dup2(output, 2)
        sandbox.enter()
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.setsid()
        os.umask(0o022)
        os.chdir(sandbox.order.directory)
        _confine(sandbox.order)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)  # Python ignores them, and exec would keep that
        os.execve("/bin/bash", [b"bash", b"-c", words], vars(sandbox.order.environment))  # noqa: S606
    except BaseException as error:  # noqa: BLE001  a forked child must never return into its parent's code
        os.write(fault, str(error).encode())
    os._exit(125)


def _confine(order: SimpleNamespace) -> None:
    """Take from this process all that it does not need.

    Landlock comes first: until the capabilities go, none inside may trace us, and after that its domain keeps them off.
    """
    if order.landlock:
        # A domain for each command: what an earlier one left behind can neither signal this one nor write to its output.
        scope_signals = struct.pack("QQQ", 0, 0, 2)
        rules = check(libc.syscall(LANDLOCK_CREATE, scope_signals, len(scope_signals), 0), "landlock")
        check(libc.syscall(LANDLOCK_RESTRICT, rules, 0), "landlock")
        os.close(rules)
    for capability in range(64):
        libc.prctl(DROP_BOUNDING, capability, 0, 0, 0)
    libc.prctl(AMBIENT, 4, 0, 0, 0)
    check(libc.capset(struct.pack("II", 0x20080522, 0), bytes(24)), "capset")
    for name, value in vars(order.rlimits).items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
    filters = bytes.fromhex(order.seccomp)
    program = struct.pack("HxxxxxxQ", len(filters) // 8, ctypes.addressof(kept := ctypes.create_string_buffer(filters)))
    check(libc.prctl(SET_SECCOMP, 2, program, 0, 0), "seccomp")
    del kept
