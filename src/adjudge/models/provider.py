"""A language model behind an HTTP endpoint: bounded patience, a schema in words if it knows none, and the bill."""

from __future__ import annotations

import time
from typing import Protocol

import msgspec

from adjudge.errors import ModelError
from adjudge.judgment import Call
from adjudge.models import prices
from adjudge.models.chat import Chat
from adjudge.models.consumed import with_estimates
from adjudge.models.faults import Fault
from adjudge.models.names import PLACES, Endpoint
from adjudge.models.patience import Patience
from adjudge.models.wire import Arrived
from adjudge.ports import Reply, Request
from adjudge.record import Usage


class Speaker(Protocol):
    """Puts a request into an endpoint's words, sends it once, and reads the reply."""

    async def ask(self, request: Request, plain: bool, came: list[Arrived]) -> Reply:
        """Ask once; with `plain` the schema of the answer is told in words. What arrived is added to `came`.

        The reply's `call` says no more than the model's name and `plain`.

        Raises:
            Fault: no usable reply came.
        """

    async def close(self) -> None:
        """Let go of all connections."""


class ProviderModel:
    """Implements `ports.Model` for everything that is reached by HTTP."""

    def __init__(self, endpoint: Endpoint, patience: Patience, window: int | None = None) -> None:
        self.name = endpoint.name
        self.window = window or prices.window(endpoint)
        self._endpoint, self._patience = endpoint, patience
        self._speaker = _speaker(endpoint)
        self._plain = False

    async def answer(self, request: Request) -> Reply:
        """Ask once, with bounded patience.

        Raises:
            ModelError: no usable reply came.
        """
        started = time.monotonic()
        billed: list[Arrived] = []
        busy = 0

        async def attempt() -> Reply:
            nonlocal busy
            try:
                return await self._attempt(request, billed)
            except Fault as fault:
                busy += fault.kind == "busy"
                raise

        try:
            reply, attempts = await self._patience.first_success(self.name, attempt, request.retries)
        except ModelError as error:
            raise self._with_bill(error, request, billed, time.monotonic() - started) from error.__cause__
        call = self._call(request, billed, _characters(reply), reply.call.model, time.monotonic() - started)
        call = msgspec.structs.replace(call, attempts=max(attempts, len(billed)), plain=reply.call.plain, busy=busy)
        return msgspec.structs.replace(reply, call=call)

    def price(self, usage: Usage) -> float | None:
        """What this usage costs in US dollars, `None` if no price is known."""
        return prices.price(self._endpoint, usage)

    async def close(self) -> None:
        """Let go of all connections."""
        await self._speaker.close()

    async def _attempt(self, request: Request, billed: list[Arrived]) -> Reply:
        plain = self._plain and request.schema is not None
        try:
            return await self._ask(request, plain, billed)
        except Fault as fault:
            if request.schema is None or plain or not fault.plain:
                raise
        self._plain = True  # this endpoint knows no schemas; do not ask it again
        try:
            return await self._ask(request, True, billed)
        except Fault as fault:
            self._plain = fault.kind != "refused"  # without a schema too: it was not the schema that it refused
            raise

    async def _ask(self, request: Request, plain: bool, billed: list[Arrived]) -> Reply:
        came: list[Arrived] = []
        try:
            return await self._speaker.ask(request, plain, came)
        finally:
            billed += came

    def _call(self, request: Request, billed: list[Arrived], received: int, model: str, seconds: float) -> Call:
        """The ledger's line for all that was billed in one call."""
        usages = [with_estimates(each.usage, request, received) for each in billed]
        usage = sum((self._with_cost(usage) for usage, _ in usages), Usage())
        return Call(model or self.name, usage, seconds, len(billed), estimated=any(guessed for _, guessed in usages))

    def _with_cost(self, usage: Usage) -> Usage:
        return usage if usage.cost else msgspec.structs.replace(usage, cost=self.price(usage))

    def _with_bill(self, error: ModelError, request: Request, billed: list[Arrived], seconds: float) -> ModelError:
        """The same error, with a line for the ledger if a provider answered something that it will bill."""
        if billed:
            call = self._call(request, billed, 0, billed[-1].model or "", seconds)
            error.calls = (msgspec.structs.replace(call, error=str(error)),)
        return error


def _characters(reply: Reply) -> int:
    return len(reply.text) + len(reply.reasoning or "") + sum(len(call.name) + len(call.arguments) for call in reply.calls)


def _speaker(endpoint: Endpoint) -> Speaker:
    """What speaks to an endpoint: our own words where there is one format for many, else the maker's SDK.

    OpenAI itself keeps no prefix of a prompt but those marked in a way of its own, which its SDK's layer knows.
    """
    if endpoint.format == "chat" and endpoint.place != PLACES["openai"]:
        return Chat(endpoint)
    from adjudge.models.layered import Layered  # noqa: PLC0415 - takes seconds

    return Layered(endpoint)
