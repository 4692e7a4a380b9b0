"""When a provider counts as down: after eight failed calls in a row."""

from __future__ import annotations

from adjudge.judgment import Failure, Judgment

IN_A_ROW = 8

DOWN: frozenset[Failure] = frozenset({"refused", "busy", "broken", "timeout"})
"""Failures that a provider that is down brings. A full context, a filter or a spent budget say nothing of that."""


class Breaker:
    """Counts the calls that failed one after another."""

    def __init__(self, in_a_row: int = IN_A_ROW) -> None:
        self._in_a_row = in_a_row
        self._failed = 0
        self.reason: str | None = None

    @property
    def tripped(self) -> bool:
        """Whether the provider counts as down; `reason` says what failed last."""
        return self.reason is not None

    def heed(self, judgment: Judgment) -> None:
        """Count the calls of a judgment that has ended: a judge gives up at its first call that fails for good."""
        if any(call.error is None for call in judgment.calls):
            self._failed = 0
        if judgment.failure in DOWN:
            self._failed += 1
        if self._failed >= self._in_a_row and self.reason is None:
            self.reason = f"{self._failed} calls in a row failed, the last one so: {judgment.reason}"
