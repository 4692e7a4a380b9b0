"""Serving the judge: orders in, answers out, and the watch over time, memory and processes."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from types import SimpleNamespace

from adjudge.machines.boot.command import Command
from adjudge.machines.boot.kernel import LONGEST, SET_DUMPABLE, libc, make_unremarkable, ready, write
from adjudge.machines.boot.outer import OuterNamespace
from adjudge.machines.boot.sandbox import Sandbox
from adjudge.machines.boot.view import furnish, room_left

PAUSE = 50  # milliseconds between two looks at the clock and the memory
MOST_DESCRIPTORS = 3  # two outputs and the program
BACKLOG = 128
MOST_LEFT = 50  # command lines that are told


class Cgroup:
    """A control group for all that runs inside, made here so that it is removed even when the judge is killed."""

    def __init__(self, plan: SimpleNamespace) -> None:
        self.directory = plan.directory
        self._home = os.open(f"{os.path.dirname(plan.directory)}/cgroup.procs", os.O_WRONLY)
        os.mkdir(plan.directory)
        try:
            for name, value in vars(plan.settings).items():
                if os.path.exists(f"{plan.directory}/{name}"):
                    write(f"{plan.directory}/{name}", value)
            self._memory, self._anonymous = os.open(f"{plan.directory}/memory.stat", os.O_RDONLY), plan.anonymous
            self._events = os.open(f"{plan.directory}/{plan.events}", os.O_RDONLY)
            write(f"{plan.directory}/cgroup.procs", "0")
        except OSError:
            os.rmdir(plan.directory)
            raise

    def memory(self) -> int:
        """Bytes of anonymous memory. Files of the sandbox are bounded by the size of their file system."""
        return _field(self._memory, self._anonymous)

    def kills(self) -> int:
        """How many processes the kernel has killed for want of memory."""
        return _field(self._events, "oom_kill")

    def remove(self) -> None:
        """Leave the group and remove it; everything else in it must have ended."""
        os.write(self._home, b"0")
        for _ in range(1000):
            try:
                os.rmdir(self.directory)
            except OSError:  # the last of the dead are still on their way out
                time.sleep(0.001)
            else:
                return


def _field(fd: int, name: str) -> int:
    words = os.pread(fd, 65536, 0).decode().split()
    return int(words[words.index(name) + 1])


class Server:
    """One judge's sandbox. `lost` counts background processes that were killed and not yet reported."""

    def __init__(self, control: socket.socket, judge: int, order: SimpleNamespace) -> None:
        self.control, self.judge, self.order = control, judge, order
        self.cgroup: Cgroup | None = None
        self.outer: OuterNamespace | None = None
        self.running: Command | None = None
        self.used = False
        self.lost = self.kills = 0

    def start(self) -> Sandbox:
        """Build everything, and say so."""
        self.join_cgroup()
        furnish(self.order)
        self.outer = OuterNamespace()
        sandbox = Sandbox(self.order, self.outer, self.judge)
        libc.prctl(SET_DUMPABLE, 0, 0, 0, 0)  # nobody inside may look into a child of ours before it has executed bash
        self.answer(ready=True, cgroup=self.cgroup is not None)
        return sandbox

    def join_cgroup(self) -> None:
        """Limit memory by a control group if there can be one; what all processes hold is added up anyway."""
        if self.order.cgroup:
            try:
                self.cgroup = Cgroup(self.order.cgroup)
            except OSError:  # the files are there, but the hierarchy does not allow it
                self.cgroup = None
        self.limit_allocations()

    def limit_allocations(self) -> None:
        """Without a control group, limit what each process may allocate."""
        if self.cgroup is None:
            self.order.rlimits.DATA = 2 * self.order.memory

    def end(self) -> None:
        """Leave nothing behind."""
        if self.outer:
            self.outer.end()
        if self.cgroup:
            self.cgroup.remove()

    def answer(self, **words: object) -> None:
        """Tell the judge."""
        self.control.send(json.dumps(words).encode())

    def serve(self, sandbox: Sandbox) -> None:
        """Hear orders and watch over what runs, until the control socket closes or the judge ends."""
        control = self.control.fileno()
        while True:
            watched = [control, self.judge, *([self.running.pidfd] if self.running else [])]
            events = ready(watched, PAUSE if self.running else 10 * PAUSE)
            if self.judge in events:
                return
            self.watch(sandbox, events)
            if control in events:
                message, fds, _, _ = socket.recv_fds(self.control, LONGEST, MOST_DESCRIPTORS)
                for fd in fds:
                    os.set_inheritable(fd, False)  # recv_fds takes a flag for this, and does not pass it on
                if not message:
                    return
                sandbox = self.hear(sandbox, SimpleNamespace(**json.loads(message)), fds)

    def watch(self, sandbox: Sandbox, events: set[int]) -> None:
        """See whether the running command has ended, or must."""
        if self.running and self.running.pidfd in events:
            self.finish(sandbox, self.running)
        elif self.running and time.monotonic() > self.running.deadline:
            self.stop(sandbox, self.running, "time")
        if (self.cgroup or sandbox).memory() > self.order.memory:
            self.clear_out(sandbox, "memory")
        if sandbox.full():
            self.clear_out(sandbox, "processes")

    def hear(self, sandbox: Sandbox, asked: SimpleNamespace, fds: list[int]) -> Sandbox:
        """Do what the judge asks. Returns the sandbox to go on with."""
        if asked.ask == "run":
            return self.run(sandbox, asked, fds)
        if asked.ask == "stop":
            if self.running and self.running.number == asked.number:
                self.running.hurried = asked.now
                self.stop(sandbox, self.running, "output")
        elif asked.ask == "listen":
            self.listen(sandbox, asked)
        elif asked.ask == "hand over":
            self.hand_over(sandbox, asked)
        return sandbox

    def run(self, sandbox: Sandbox, asked: SimpleNamespace, fds: list[int]) -> Sandbox:
        """Start a command."""
        if self.used and self.order.fresh and self.outer:
            self.lost += len(sandbox.processes())
            sandbox.end()
            sandbox = Sandbox(self.order, self.outer, self.judge)
        elif sandbox.full():  # a bomb that went off since; our own fork would fail
            self.clear_out(sandbox, "processes")
            sandbox.await_empty()
        self.used = True
        *outputs, words = fds
        self.running = Command(sandbox, asked, outputs, words)
        return sandbox

    def listen(self, sandbox: Sandbox, asked: SimpleNamespace) -> None:
        """Give the judge a socket that listens on the sandbox's own loopback."""
        try:
            fd = sandbox.bring(lambda: socket.create_server(("127.0.0.1", asked.port), backlog=BACKLOG).detach())
        except OSError as error:
            self.answer(number=asked.number, refused=str(error))
            return
        socket.send_fds(self.control, [json.dumps({"number": asked.number}).encode()], [fd])
        os.close(fd)

    def hand_over(self, sandbox: Sandbox, asked: SimpleNamespace) -> None:
        """From now on commands are the evaluator's: with a home of its own, and what they may use comes on top."""
        sandbox.give_own_home(asked.home, asked.size)
        self.order.memory += asked.memory
        self.order.processes += asked.processes
        self.order.rlimits.NPROC = self.order.processes
        self.limit_allocations()
        self.answer(number=asked.number, processes=len(sandbox.command_lines()))

    def stop(self, sandbox: Sandbox, command: Command, reason: str) -> None:
        """End a command, in as gentle a way as it may hope for."""
        if command.patient and not command.ended and not command.hurried:
            command.terminate(reason)
        elif command.killed:
            return
        elif command.asked.spares and sandbox.clear_below(command.number_inside()):
            command.ended, command.killed = command.ended or reason, "its own"
        else:
            self.clear_out(sandbox, reason)

    def clear_out(self, sandbox: Sandbox, reason: str) -> None:
        """Kill all that runs inside: after such a breach nothing of it can be relied on."""
        inside = sandbox.processes()
        if not inside or (self.running and self.running.killed == "all"):
            return
        if self.running:
            self.running.ended, self.running.killed = self.running.ended or reason, "all"
            self.running.forfeited += len(self.running.before & inside)
        else:
            self.lost += len(inside)
        sandbox.clear_out()

    def finish(self, sandbox: Sandbox, command: Command) -> None:
        """Take the exit status of a command that has ended, and see whether it left the machine usable."""
        seconds = time.monotonic() - command.started
        status, self.running = command.wait(), None
        breach = self.breach(sandbox, command, status)
        if breach and not command.ended:
            command.ended, command.killed, command.forfeited = breach, "all", len(sandbox.processes())
            sandbox.clear_out()
        if command.killed == "all":
            sandbox.await_empty()
        forfeited, self.lost = command.forfeited + self.lost, 0
        told = {"status": status, "ended": command.ended, "refused": command.refused, "seconds": seconds}
        self.answer(number=command.number, forfeited=forfeited, **told, **self.left(sandbox, command))

    def breach(self, sandbox: Sandbox, command: Command, status: int) -> str | None:
        """The limit that a command reached although it ended by itself."""
        before, self.kills = self.kills, self.cgroup.kills() if self.cgroup else 0
        killed = not command.patient or status == -signal.SIGKILL  # an agent may well go on when a test of its was killed
        if self.kills > before and killed:
            return "memory"
        return "processes" if sandbox.full() else None

    def left(self, sandbox: Sandbox, command: Command) -> dict[str, object]:
        """What a command that was worth patience left behind."""
        if not command.patient:
            return {}
        lines = sandbox.command_lines()
        return {"left": lines[:MOST_LEFT], "processes": len(lines), "full": not room_left()}


def main() -> None:
    """Serve one judge from its order to its end."""
    control = socket.socket(fileno=0)
    order = json.loads(control.recv(LONGEST), object_hook=lambda pairs: SimpleNamespace(**pairs))
    judge = os.pidfd_open(os.getppid())
    if os.getppid() != order.judge:  # it has ended already, and the pidfd is somebody else's
        return
    make_unremarkable()
    server = Server(control, judge, order)
    try:
        server.serve(server.start())
    except OSError as error:
        server.answer(error=": ".join(filter(None, (error.filename, error.strerror))) or str(error))
    finally:
        server.end()
