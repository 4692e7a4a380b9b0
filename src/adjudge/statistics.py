"""Shares and their intervals, for whoever counts."""

from __future__ import annotations

import math

import msgspec

Z = 1.959963984540054
"""The standard normal quantile of 95 % intervals."""

MEANINGFUL = 20
"""Counted things below which a figure is not yet meaningful."""


class Interval(msgspec.Struct, frozen=True):
    """A share with the bounds of its 95 % interval."""

    share: float
    low: float
    high: float


def wilson(successes: int, trials: int) -> Interval | None:
    """Wilson's score interval for a share, at 95 %: right even for few trials and for shares of 0 and 1.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
    """
    if not trials:
        return None
    share = successes / trials
    middle = share + Z * Z / (2 * trials)
    spread = Z * math.sqrt(share * (1 - share) / trials + Z * Z / (4 * trials * trials))
    scale = 1 + Z * Z / trials
    return Interval(share, max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale))
