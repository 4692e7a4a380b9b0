"""What this kernel's Landlock can do (https://docs.kernel.org/userspace-api/landlock.html)."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

_CREATE_RULESET, _VERSION = 444, 1


@cache
def landlock_abi() -> int:
    """The version of Landlock's interface, 0 if there is none."""
    if sys.platform != "linux":
        return 0
    return max(0, int(ctypes.CDLL(None).syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)))


def scopes_signals(abi: int) -> bool:
    """Whether a domain can keep its processes from signalling any outside of it."""
    return abi >= 6


def moves_files(abi: int) -> bool:
    """Whether files can be moved between folders within a domain that keeps others from tracing its processes."""
    return abi >= 2
