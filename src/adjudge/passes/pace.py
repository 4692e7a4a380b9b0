"""How many judgments may be under way: fewer when the provider is busy, slowly more again when it is not."""

from __future__ import annotations

LEAST = 1.0


class Pace:
    """Additive increase, multiplicative decrease (Chiu and Jain, 1989), between one and `most` at a time.

    It starts at the most. A busy provider halves it, once for all calls that were under way at the time, and each round of
    calls without a refusal makes it one more.
    """

    def __init__(self, most: int) -> None:
        self._most = float(most)
        self._limit = float(most)
        self._settling = 0

    @property
    def limit(self) -> int:
        """How many may be under way now."""
        return int(self._limit)

    def finished(self, busy: bool, under_way: int) -> None:
        """Note the end of one judgment, whether its provider refused a call of it as busy, and how many others go on."""
        settled = self._settling == 0
        self._settling = max(0, self._settling - 1)
        if not busy:
            self._limit = min(self._most, self._limit + 1 / self._limit)
        elif settled:
            self._limit = max(LEAST, self._limit / 2)
            self._settling = under_way
