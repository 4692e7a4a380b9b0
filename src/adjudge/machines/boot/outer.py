"""The outer pid namespace: all of the sandbox lives in it and dies with its first process, which dies with us."""

from __future__ import annotations

import os
import signal

from adjudge.machines.boot.kernel import NEWPID, SET_PDEATHSIG, check, libc, ready


class OuterNamespace:
    """A pid namespace whose first process is killed by the kernel when this program ends.

    Bubblewrap's own --die-with-parent comes too late when it is killed in its first milliseconds, and would fire when a
    mere thread of its parent ends.
    """

    def __init__(self) -> None:
        check(libc.unshare(NEWPID), "no pid namespace can be made")
        alive, kept_open = os.pipe()
        self.init = os.fork()
        if self.init == 0:
            os.close(kept_open)
            _be_init(alive)
        self._fd = os.open("/proc/self/ns/pid_for_children", os.O_RDONLY)
        os.close(alive)  # the other end stays open for as long as we live

    def enter(self) -> None:
        """From now on our children are born here."""
        check(libc.setns(self._fd, NEWPID), "the outer pid namespace is gone")

    def end(self) -> None:
        """Kill the first process, and with it the kernel kills everything else."""
        os.kill(self.init, signal.SIGKILL)
        while True:  # it is let go only after all of its descendants, those that are our children too
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                return


def _be_init(alive: int) -> None:
    """Wait to be killed. Whoever inherits us as a parent is reaped by the kernel, since we ignore SIGCHLD."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        libc.prctl(SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if not ready([alive], 0):  # else our parent ended before the kernel knew that we should die with it
            while True:
                signal.pause()
    finally:
        os._exit(0)
