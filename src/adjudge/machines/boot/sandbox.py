"""The sandbox: bubblewrap, the process that holds its namespaces open, and everything that runs inside."""

from __future__ import annotations

import os
import resource
import signal
import socket
import struct
import time
from collections.abc import Callable
from types import SimpleNamespace

from adjudge.machines.boot.kernel import (
    BASE,
    EVERY_NAMESPACE,
    INSIDE,
    NEWNS,
    NEWPID,
    check,
    libc,
    ready,
)
from adjudge.machines.boot.killing import is_dead, kill_all, kill_below
from adjudge.machines.boot.outer import OuterNamespace
from adjudge.machines.boot.view import own_home

# What the holder does: bash reaps the orphans that become its children, and ends when the socket closes, that is, with us.
HOLD = "trap '' HUP INT QUIT TERM; exec 2>/dev/null; echo ready >&0; read -r"
SPARE = 4  # with fewer free process slots than this, nothing useful can start
STARTING = 20_000  # milliseconds
LONGEST_LINE = 1000  # bytes of a command line, or of what the kernel says of a process


class Sandbox:
    """A sandbox that stands. Bubblewrap waits outside of it; the holder is process 1 inside."""

    def __init__(self, order: SimpleNamespace, outer: OuterNamespace, judge: int) -> None:
        """Start it, and wait until it stands."""
        self.order = order
        self.mounts: int | None = None
        outer.enter()
        self.line, theirs = socket.socketpair()
        self.line.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.bubblewrap = os.fork()
        if self.bubblewrap == 0:
            _be_bubblewrap(order, theirs.fileno())
        theirs.close()
        self._join(self._holder(judge))

    def _holder(self, judge: int) -> int:
        """The holder's pid as we see it: the kernel itself attaches it to the holder's word."""
        first = ready([self.line.fileno(), judge], STARTING)
        if judge in first:
            raise SystemExit
        if not first:
            raise OSError("bubblewrap did not start within 20 seconds")
        word, notes, _, _ = self.line.recvmsg(16, 128)
        if not word.startswith(b"ready") or not notes:
            raise OSError("bubblewrap did not start")
        return int(struct.unpack("3i", notes[0][2][:12])[0])

    def _join(self, holder: int) -> None:
        """From now on our children are born in the sandbox's pid namespace, and in nothing else of it."""
        self.pidfd = os.pidfd_open(holder)
        self.proc = os.open(f"/proc/{holder}/root/proc", os.O_RDONLY | os.O_DIRECTORY)
        self.pid_namespace = os.stat(f"/proc/{holder}/ns/pid").st_ino
        if self.pid_namespace == os.stat("/proc/self/ns/pid").st_ino:
            raise OSError("bubblewrap made no pid namespace")
        check(libc.setns(self.pidfd, NEWPID), "setns")

    def enter(self) -> None:
        """Join the other namespaces and become the user inside. The process that calls this is not yet confined."""
        if self.order.privileged:
            os.setgroups([])  # the user namespace would refuse it
        check(libc.setns(self.pidfd, EVERY_NAMESPACE), "the sandbox is gone")
        if self.mounts is not None:
            check(libc.setns(self.mounts, NEWNS), "the mounts are gone")
        os.setresgid(INSIDE, INSIDE, INSIDE)
        os.setresuid(INSIDE, INSIDE, INSIDE)

    # --- short visits: a child of ours goes in, does one thing and ends

    def visit(self, deed: Callable[[], object]) -> bool:
        """Do something inside, with all capabilities there; whether it went well."""
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                self.enter()
                deed()
                status = 0
            finally:
                os._exit(status)
        return os.waitpid(pid, 0)[1] == 0

    def bring(self, make: Callable[[], int]) -> int:
        """A descriptor that is made inside."""
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                self.visit(lambda: _send(theirs, make))
            word, fds, _, _ = socket.recv_fds(ours, 1000, 1)
        if not fds:
            raise OSError(word.decode() or "the sandbox is gone")
        os.set_inheritable(fds[0], False)
        return fds[0]

    def clear_out(self) -> None:
        """Kill every process inside but the holder, in one step that a fork bomb cannot outrun."""
        self.visit(lambda: kill_all(self.pid_namespace))

    def clear_below(self, root: int) -> bool:
        """Kill a process and its descendants, if it is one that they cannot leave; whether none is left."""
        return self.visit(lambda: kill_below(root, self.pid_namespace))

    def give_own_home(self, place: str, size: int) -> None:
        """From now on whoever enters finds a home at this place that nobody else sees, whatever has run before."""
        self.mounts = self.bring(lambda: own_home(place, size))

    # --- looking

    def processes(self) -> set[int]:
        """The processes inside, without the holder, by the ids that they have there."""
        return {int(name) for name in os.listdir(self.proc) if name.isdigit()} - {1}

    def command_lines(self) -> list[str]:
        """The beginnings of the command lines of all living processes, as they themselves tell them."""
        return [line for pid in sorted(self.processes()) if (line := self._command_line(pid))]

    def _command_line(self, pid: int) -> str | None:
        """One that tells none is named in brackets by what it was started as."""
        try:
            line = self._read(pid, "cmdline").replace(b"\0", b" ").strip()
            name, _, words = self._read(pid, "stat").rpartition(b")")
        except OSError:
            return None  # it has just ended
        shown = line or b"[" + name.partition(b"(")[2] + b"]"
        return None if is_dead(words.split()) else shown.decode("utf-8", "replace")

    def _read(self, pid: int, name: str) -> bytes:
        fd = os.open(f"{pid}/{name}", os.O_RDONLY, dir_fd=self.proc)
        try:
            return os.read(fd, LONGEST_LINE)
        finally:
            os.close(fd)

    def full(self) -> bool:
        """Whether so many threads run inside that hardly another can start."""
        threads = self._sum(lambda pid: os.stat(f"{pid}/task", dir_fd=self.proc).st_nlink - 2)
        return threads + SPARE > int(self.order.processes)

    def memory(self) -> int:
        """Bytes of memory that the processes inside hold and do not share with files."""
        return self._sum(self._resident)

    def _resident(self, pid: int) -> int:
        pages = self._read(pid, "statm").split()
        return (int(pages[1]) - int(pages[2])) * resource.getpagesize()

    def _sum(self, measure: Callable[[int], int]) -> int:
        total = 0
        for pid in self.processes():
            try:
                total += measure(pid)
            except OSError:
                continue  # it has just ended
        return total

    def await_empty(self) -> None:
        """Wait until what was killed is gone."""
        limit = time.monotonic() + 5
        while self.processes() and time.monotonic() < limit:
            time.sleep(0.001)

    def end(self) -> None:
        """Kill the holder, and with it everything inside; bubblewrap follows."""
        signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        os.waitpid(self.bubblewrap, 0)
        for fd in (self.pidfd, self.proc, self.mounts):
            if fd is not None:
                os.close(fd)
        self.line.close()


def _send(line: socket.socket, make: Callable[[], int]) -> None:
    try:
        socket.send_fds(line, [b"made"], [make()])
    except OSError as error:
        line.send(str(error).encode()[:1000])


def _be_bubblewrap(order: SimpleNamespace, line: int) -> None:
    try:
        if order.privileged:
            os.setgroups([])
            os.setresgid(BASE, BASE, BASE)
            os.setresuid(BASE, BASE, BASE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        seccomp = _memory_file(bytes.fromhex(order.seccomp))
        arguments = _memory_file("\0".join(["--seccomp", str(seccomp), *order.arguments, ""]).encode())
        os.dup2(line, 0)
        # An empty environment, and arguments in a file: the holder inherits the one, /proc would show both.
        command = ["bwrap", "--args", str(arguments), "--", "/bin/bash", "-c", HOLD]
        os.execve(order.bubblewrap, command, {})  # noqa: S606
    except BaseException as error:  # noqa: BLE001  a forked child must never return into its parent's code
        os.write(2, f"{error}\n".encode())
    os._exit(125)


def _memory_file(data: bytes) -> int:
    fd = os.memfd_create("arguments")
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    os.set_inheritable(fd, True)
    return fd
