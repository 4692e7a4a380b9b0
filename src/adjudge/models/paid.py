"""A model that asks somebody before each call whether it may be paid for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from adjudge.models.consumed import tokens_of
from adjudge.ports import Model, Reply, Request
from adjudge.record import Usage


class PaidModel:
    """Asks another model once `paying` has returned, which is told the most that a call may cost.

    That is in US dollars, and `None` where no price is known. What `paying` raises is raised, and no call is made.
    """

    def __init__(self, model: Model, paying: Callable[[float | None], Awaitable[None]]) -> None:
        self.name, self.window = model.name, model.window
        self._model, self._paying = model, paying
        self._largest = 0

    async def answer(self, request: Request) -> Reply:
        """Ask, if it is paid for. Raises ModelError as any model does."""
        prompt = max(tokens_of(request), self._largest)
        await self._paying(self.price(Usage(prompt=prompt, output=request.most)))
        reply = await self._model.answer(request)
        self._largest = max(self._largest, (reply.call.usage.prompt or 0) // max(1, reply.call.attempts))
        return reply

    def price(self, usage: Usage) -> float | None:
        """What this usage costs in US dollars."""
        return self._model.price(usage)

    async def close(self) -> None:
        """Leave the model open: others use it too."""
