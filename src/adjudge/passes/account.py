"""What a pass has spent and may still spend: reserved before each call, settled when its judgment lands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from adjudge.errors import ModelError
from adjudge.judgment import Failure, Judgment
from adjudge.record import dollars

Reserve = Callable[[int, float], Awaitable[None]]
"""Writes down, for the run at a position, what all its calls that have not landed may cost together, in US dollars."""

UNANSWERED: frozenset[Failure] = frozenset({"timeout", "broken"})
"""Failures after which a provider may bill a call all the same: it may have worked on what nobody received."""


class Account:
    """The money of a pass, in US dollars. `spent` is what it has cost before, by what is known and what is feared."""

    def __init__(self, spent: float, limit: float | None, write: Reserve) -> None:
        self.spent = spent
        self._limit, self._write = limit, write
        self._reserved: dict[int, list[float]] = {}
        self.exhausted: str | None = None

    async def reserve(self, position: int, most: float | None) -> None:
        """Make sure that a call which may cost `most` can be paid, and write it down; the call may be made afterwards.

        Raises:
            ModelError: it might pass the limit (kind `budget`); no call may be made.
            OutsideError: it could not be written down.
        """
        if not most:  # no price is known, with which no limit is taken; or there is none
            return
        if self._limit is not None and self.spent >= self._limit:
            self.exhausted = f"of the {dollars(self._limit)} for this pass {dollars(self.spent)} are spent"
            raise ModelError(self.exhausted, "budget")
        committed = self.spent + sum(map(sum, self._reserved.values()))
        if self._limit is not None and committed + most > self._limit:
            self.exhausted = (
                f"the next call may cost {dollars(most)}, and of the {dollars(self._limit)} for this pass "
                f"{dollars(committed)} are spent or reserved"
            )
            raise ModelError(self.exhausted, "budget")
        calls = self._reserved.setdefault(position, [])
        calls.append(most)
        await self._write(position, sum(calls))

    def unseen(self, position: int, judgment: Judgment) -> float:
        """What a judgment's calls may have cost beyond what is known, since nobody saw their end."""
        reserved = self._reserved.get(position, [])
        if any(call.usage.cost is None for call in judgment.calls):
            return max(0.0, sum(reserved) - (judgment.usage().cost or 0.0))
        return sum(reserved[-1:]) if judgment.failure in UNANSWERED and not _is_billed(judgment) else 0.0

    def settle(self, position: int, cost: float | None, unseen: float) -> None:
        """A judgment has landed, with what it has cost as far as that is known, and what it may have cost beyond that."""
        self._reserved.pop(position, None)
        self.spent += (cost or 0.0) + unseen


def _is_billed(judgment: Judgment) -> bool:
    """Whether the failed call that ended a judgment has a line in its ledger that says what it cost."""
    last = judgment.calls[-1] if judgment.calls else None
    return last is not None and last.error is not None and bool(last.usage.cost)
