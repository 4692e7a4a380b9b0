"""One command: a forked process that becomes one of the sandbox's, gives up everything, and executes a program."""

from __future__ import annotations

import base64
import ctypes
import json
import os
import resource
import signal
import struct
import time
from types import SimpleNamespace

from adjudge.machines.boot.kernel import (
    AMBIENT,
    DAC_READ_SEARCH,
    DROP_BOUNDING,
    LANDLOCK_ADD_RULE,
    LANDLOCK_CREATE,
    LANDLOCK_RESTRICT,
    SCOPES_SIGNALS,
    SET_SECCOMP,
    SET_SUBREAPER,
    check,
    libc,
)
from adjudge.machines.boot.sandbox import Sandbox

REFUSED = b"!"  # before the words of a fault that is the program's own
RAISE, CLEAR = 2, 4  # what `AMBIENT` can do


class Command:
    """A command that runs. `asked` is `order.Program` without what only the process itself needs.

    `before` are the processes that were inside when it started. `patient` says that it may end by itself when it is
    stopped, unless the judge is `hurried`. `ended` is the limit at which it was stopped, `killed` whether "its own" or
    "all" processes were killed then, `refused` why its program could not be executed.
    """

    def __init__(self, sandbox: Sandbox, asked: SimpleNamespace, outputs: list[int], words: int) -> None:
        self.asked, self.number = asked, asked.number
        self.before = sandbox.processes()
        self.ended: str | None = None
        self.killed: str | None = None
        self.hurried = False
        self.patient = asked.grace is not None
        self.forfeited = 0
        fault, fault_to = os.pipe()
        self.started = time.monotonic()
        self.deadline = self.started + asked.seconds
        self.pid = os.fork()
        if self.pid == 0:
            _be_command(sandbox, asked, outputs, words, fault_to)
        for fd in {*outputs, words, fault_to}:
            os.close(fd)
        self.pidfd = os.pidfd_open(self.pid)
        with open(fault, "rb") as file:
            reason = file.read(1000)  # exec closes the other end
        if reason and not reason.startswith(REFUSED):
            raise OSError(f"a command could not be started inside: {reason.decode()}")
        self.refused = reason[1:].decode("utf-8", "replace") or None

    def terminate(self, reason: str) -> None:
        """Ask it and its process group to end, and set the time at which patience is over."""
        self.ended, self.deadline = reason, time.monotonic() + self.asked.grace
        os.killpg(self.pid, signal.SIGTERM)  # it has not been waited for, so the number is still its own

    def number_inside(self) -> int:
        """Its process id in the sandbox."""
        with open(f"/proc/{self.pid}/status") as file:
            return int(next(line for line in file if line.startswith("NSpid:")).split()[-1])

    def wait(self) -> int:
        """The exit status, negative for a signal, once `pidfd` says that there is one."""
        _, status = os.waitpid(self.pid, 0)
        os.close(self.pidfd)
        return os.waitstatus_to_exitcode(status)


def _be_command(sandbox: Sandbox, asked: SimpleNamespace, outputs: list[int], words: int, fault: int) -> None:
    blame = b""
    try:
        os.dup2(outputs[0], 1)
        os.dup2(outputs[-1], 2)
        with open(words, "rb") as file:
            program = json.load(file)
        sandbox.enter()
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.setsid()
        os.umask(0o022)
        os.chdir(sandbox.order.directory)
        if asked.spares:  # until it ends, none of its descendants can become another's child
            check(libc.prctl(SET_SUBREAPER, 1, 0, 0, 0), "subreaper")
        _confine(sandbox.order, {DAC_READ_SEARCH} if asked.reads_all else set())
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)  # Python ignores them, and exec would keep that
        blame = REFUSED
        for path, content in program["files"].items():
            _put(path, base64.b64decode(content))
        arguments = [word.encode() for word in program["arguments"]]
        environment = {name.encode(): value.encode() for name, value in program["environment"].items()}
        os.execve(program["program"], arguments, environment)  # noqa: S606
    except BaseException as error:  # noqa: BLE001  a forked child must never return into its parent's code
        os.write(fault, blame + str(error).encode("utf-8", "replace"))
    os._exit(125)


def _put(path: str, content: bytes) -> None:
    """Write a file that only its owner may read, with what folders it needs."""
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with open(fd, "wb") as file:
        file.write(content)


def _confine(order: SimpleNamespace, kept: set[int]) -> None:
    """Take from this process all that it does not need, but for the capabilities to keep.

    Landlock comes first: until the capabilities go, none inside may trace us, and after that its domain keeps them off.
    """
    if order.landlock:
        _enter_own_domain(order.landlock)
    for capability in set(range(64)) - kept:
        libc.prctl(DROP_BOUNDING, capability, 0, 0, 0)
    libc.prctl(AMBIENT, CLEAR, 0, 0, 0)
    low = sum(1 << capability for capability in kept)
    check(libc.capset(struct.pack("II", 0x20080522, 0), struct.pack("6I", low, low, low, 0, 0, 0)), "capset")
    for capability in kept:
        check(libc.prctl(AMBIENT, RAISE, capability, 0, 0), "ambient")
    for name, value in vars(order.rlimits).items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
    filters = bytes.fromhex(order.seccomp)
    program = struct.pack("HxxxxxxQ", len(filters) // 8, ctypes.addressof(held := ctypes.create_string_buffer(filters)))
    check(libc.prctl(SET_SECCOMP, 2, program, 0, 0), "seccomp")
    del held


def _enter_own_domain(abi: int) -> None:
    """A Landlock domain for each command: what an earlier one left behind can neither trace it nor write to its output.

    Since ABI 6 it cannot signal it either. Before, a domain must forbid something: here that is making block devices,
    which nobody inside can make anyway. Moving files between folders would be forbidden with it, so that it is allowed.
    """
    make_block, refer = 1 << 11, 1 << 13
    rules = struct.pack("QQQ", 0, 0, 2) if abi >= SCOPES_SIGNALS else struct.pack("Q", make_block | refer)
    fd = check(libc.syscall(LANDLOCK_CREATE, rules, len(rules), 0), "landlock")
    if abi < SCOPES_SIGNALS:
        root = os.open("/", os.O_PATH)
        check(libc.syscall(LANDLOCK_ADD_RULE, fd, 1, struct.pack("=Qi", refer, root), 0), "landlock")
        os.close(root)
    check(libc.syscall(LANDLOCK_RESTRICT, fd, 0), "landlock")
    os.close(fd)
