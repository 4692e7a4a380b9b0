"""Keys and lines from the terminal, for screens that are drawn anew at each key."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty

ESCAPE = "\x1b"
LONGEST = 16
"""Bytes of the longest sequence that a key sends."""
PATIENCE = 0.05
"""Seconds within which what belongs to an escape comes after it."""


def on_a_terminal() -> bool:
    """Whether keys can be read here, and something drawn."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def read_key() -> str:
    """The next key, as the character or the sequence that it sends; empty where the terminal is gone."""
    place = sys.stdin.fileno()
    before = termios.tcgetattr(place)
    try:
        tty.setcbreak(place, termios.TCSADRAIN)  # what was typed ahead stays, and Ctrl-C interrupts
        data = os.read(place, 1)
        if data == ESCAPE.encode() and select.select([place], [], [], PATIENCE)[0]:
            data += os.read(place, LONGEST)
    finally:
        termios.tcsetattr(place, termios.TCSADRAIN, before)
    return data.decode("utf-8", "replace")


def read_line(prompt: str) -> str:
    """A line as it is typed, edited by the terminal; empty if nothing was."""
    sys.stdout.write(prompt)
    sys.stdout.flush()
    return sys.stdin.buffer.readline().decode("utf-8", "replace").strip()
