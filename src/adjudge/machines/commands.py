"""Which commands a machine takes, and how long they may run."""

from __future__ import annotations

from adjudge.errors import InputError
from adjudge.settings import MachineLimits

LONGEST_COMMAND = 128 * 1024 - 1
"""Bytes; the kernel takes no longer argument."""

LONGEST_TIME = 10
"""How many times the usual limit a command may ask for."""


def time_for(command: str, seconds: float | None, limits: MachineLimits) -> float:
    """The seconds of wall clock that a command gets.

    Raises:
        InputError: the command is empty, too long, or holds a NUL; or the seconds are not above 0.
    """
    _check_command(command, seconds)
    return min(seconds or limits.seconds, LONGEST_TIME * limits.seconds)


def _check_command(command: str, seconds: float | None) -> None:
    try:
        size = len(command.encode())
    except UnicodeEncodeError:
        size = 0
    if not size or command.isspace() or "\0" in command:
        raise InputError(f"command: must be a text without NUL, got {command[:80]!a}")
    if size > LONGEST_COMMAND:
        raise InputError(f"command: must be at most {LONGEST_COMMAND} bytes; write a longer one to a file in parts")
    if seconds is not None and not seconds > 0:
        raise InputError(f"seconds: must be above 0, got {seconds!r}")
