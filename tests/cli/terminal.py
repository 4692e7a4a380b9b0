"""A pseudo-terminal with a command on it: keys go in, and what is on the screen is waited for."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from types import TracebackType
from typing import Self

PATIENCE = 60.0
"""Seconds for which something on the screen is waited for: far longer than it takes, on a busy computer too."""


_OWN_TERMINAL = (
    "import fcntl, os, sys, termios\n"
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)
"""So that Ctrl-C interrupts."""


class Terminal:
    """`adjudge` with these words on a terminal of its own, in a folder."""

    def __init__(self, folder: Path, *words: str, lines: int = 40, columns: int = 110, **environment: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        given = {**os.environ, "TERM": "xterm-256color", "NO_COLOR": "1", **environment}
        for name in ("LINES", "COLUMNS"):  # the terminal's own size counts
            given.pop(name, None)
        command = [sys.executable, "-c", _OWN_TERMINAL, "-m", "adjudge", *words]
        self._process = subprocess.Popen(
            command, cwd=folder, env=given, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        self.raw = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._ours)

    def see(self, words: str) -> str:
        """Wait until these words are on the screen as it was drawn last, and give all of it."""
        ends = time.monotonic() + PATIENCE
        while words not in self.screen:
            assert self._read(ends - time.monotonic()), f"{words!r} did not come; there is\n{self.screen}"
        return self.screen

    @property
    def screen(self) -> str:
        """What was written since the screen was cleared last, without codes."""
        drawn = re.split(r"\x1b\[2J|\x1b\[\?1049l", self.raw)[-1]
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn).replace("\r", "")

    def type(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def end(self) -> int:
        """Wait for the end, and give the exit status."""
        ends = time.monotonic() + PATIENCE
        while self._read(ends - time.monotonic()):
            pass
        return self._process.wait(max(0.1, ends - time.monotonic()))

    def _read(self, seconds: float) -> bool:
        """Read what comes next; false if nothing does."""
        if not select.select([self._ours], [], [], max(0.0, seconds))[0]:
            return False
        try:
            data = os.read(self._ours, 65536)
        except OSError:  # the other side is closed
            return False
        self.raw += data.decode("utf-8", "replace")
        return bool(data)
