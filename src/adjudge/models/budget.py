"""A limit in US dollars, kept by not making the call that might pass it."""

from __future__ import annotations

from collections.abc import Iterable

from adjudge.errors import InputError, ModelError
from adjudge.judgment import Call
from adjudge.models.consumed import tokens_of
from adjudge.ports import Model, Reply, Request
from adjudge.record import Usage, dollars


class BudgetedModel:
    """Asks another model as long as the money lasts.

    Before each call the most that it may cost (the whole prompt at full price, the longest answer) is reserved. What
    was spent is the greater of what the provider reports and what the tokens cost by the price list, since a cost of
    zero in a reply does not mean that the call was free.
    """

    def __init__(self, model: Model, limit: float) -> None:
        """Limit a model to an amount in US dollars.

        Raises:
            InputError: no price is known for the model, so that no budget can be kept.
        """
        if model.price(Usage(prompt=1, output=1)) is None:
            raise InputError(
                f"{model.name}: no price is known, so a budget of {dollars(limit)} cannot be kept; "
                "leave the budget out, or choose a model whose price is known"
            )
        self.name, self.window = model.name, model.window
        self._model, self._limit = model, limit
        self._reserved = 0.0
        self._largest = 0
        self.spent = 0.0

    async def answer(self, request: Request) -> Reply:
        """Ask, if the budget allows it.

        Raises:
            ModelError: the call might pass the limit (kind `budget`), or failed as any other may.
        """
        estimate = self._most(request)
        if self.spent + self._reserved + estimate > self._limit:
            left = max(0.0, self._limit - self.spent - self._reserved)
            raise ModelError(
                f"{self.name}: the next call may cost {dollars(estimate)}, and of the budget of {dollars(self._limit)} "
                f"only {dollars(left)} are left",
                "budget",
            )
        self._reserved += estimate
        try:
            reply = await self._model.answer(request)
        except ModelError as error:
            self._spend(call for call in error.calls if isinstance(call, Call))
            raise
        finally:
            self._reserved -= estimate
        self._spend([reply.call])
        return reply

    def price(self, usage: Usage) -> float | None:
        """What this usage costs in US dollars."""
        return self._model.price(usage)

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()

    def _most(self, request: Request) -> float:
        # A conversation only grows: it is no smaller than the provider has already counted it to be.
        prompt = max(tokens_of(request), self._largest)
        return self.price(Usage(prompt=prompt, output=request.most)) or 0.0

    def _spend(self, calls: Iterable[Call]) -> None:
        for call in calls:
            self._largest = max(self._largest, (call.usage.prompt or 0) // max(1, call.attempts))
            self.spent += max(call.usage.cost or 0.0, self.price(call.usage) or 0.0)
