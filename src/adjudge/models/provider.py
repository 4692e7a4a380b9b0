"""A language model behind an HTTP endpoint, spoken to through pydantic-ai's model layer.

This module imports pydantic-ai, which takes seconds: import it only where a model is about to be asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx2
import msgspec
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model as Layer

from adjudge.errors import ModelError
from adjudge.judgment import Call
from adjudge.models import conversation, prices
from adjudge.models.consumed import with_estimates
from adjudge.models.faults import Fault, fault_in
from adjudge.models.names import PLACES, Endpoint
from adjudge.models.parameters import Parameters
from adjudge.models.patience import Patience
from adjudge.models.transport import GuardedTransport, arrived
from adjudge.models.wire import Arrived, stop_of
from adjudge.ports import Message, Reply, Request
from adjudge.record import Usage


class ProviderModel:
    """Implements `ports.Model` for everything that is reached by HTTP."""

    def __init__(self, endpoint: Endpoint, patience: Patience, window: int | None = None) -> None:
        assert endpoint.place is not None
        self.name = endpoint.name
        self.window = window or prices.window(endpoint)
        self._endpoint, self._patience = endpoint, patience
        self._client = httpx2.AsyncClient(
            transport=GuardedTransport(endpoint.place, endpoint.format),
            timeout=httpx2.Timeout(None, connect=20.0),  # patience holds the deadline of the whole call
        )
        self._layer = _LAYERS[endpoint.provider](endpoint, self._client)
        self._parameters = Parameters(self._layer)
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
        await self._client.aclose()

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
        token = arrived.set(came)
        try:
            response = await self._layer.request(
                conversation.messages_of(request, plain),
                conversation.settings_of(request),
                self._parameters.of(request, plain),
            )
        except Exception as error:
            if fault := fault_in(error):
                raise fault from None  # it lies beneath the error already
            raise _unread(error, bool(came)) from error
        finally:
            arrived.reset(token)
            billed += came
        return _reply(response, came[-1], plain)

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


def _reply(response: ModelResponse, said: Arrived, plain: bool) -> Reply:
    calls = conversation.with_own_ids(response)
    text = conversation.text_of(response)
    refusal = (response.provider_details or {}).get("refusal")
    stop = "filtered" if refusal else stop_of(said.finish, len(calls))
    text = text or (refusal if isinstance(refusal, str) else "")
    message = Message("assistant", text, calls, opaque=conversation.opaque_of(response))
    call = Call(said.model or "", Usage(), 0.0, plain=plain)  # the whole line is drawn up when all attempts are known
    return Reply(text, calls, stop, message, call, conversation.reasoning_of(response))


def _characters(reply: Reply) -> int:
    return len(reply.text) + len(reply.reasoning or "") + sum(len(call.name) + len(call.arguments) for call in reply.calls)


def _unread(error: Exception, came: bool) -> Exception:
    """What the layer raised on its own: a fault of the reply if one came, else of the request, else a mistake of ours."""
    if isinstance(error, UserError):
        return Fault(f"the request does not suit this model: {str(error)[:300]}", "refused", plain=True)
    if came:
        # The reply had passed our checks and still tripped what reads it. It is billed, so asking again is another call.
        return Fault(f"the reply cannot be read: {type(error).__name__}: {str(error)[:200]}", "broken")
    return error


def _openrouter(endpoint: Endpoint, client: httpx2.AsyncClient) -> Layer[Any]:
    from pydantic_ai.models.openrouter import OpenRouterModel  # noqa: PLC0415 - each SDK takes a second
    from pydantic_ai.providers.openrouter import OpenRouterProvider  # noqa: PLC0415 - as above

    return OpenRouterModel(endpoint.model, provider=OpenRouterProvider(openai_client=_openai_client(endpoint, client)))


def _openai(endpoint: Endpoint, client: httpx2.AsyncClient) -> Layer[Any]:
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - as above
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415 - as above

    if endpoint.place != PLACES["openai"]:
        return _compatible(endpoint, client)
    return OpenAIChatModel(endpoint.model, provider=OpenAIProvider(openai_client=_openai_client(endpoint, client)))


def _compatible(endpoint: Endpoint, client: httpx2.AsyncClient) -> Layer[Any]:
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - as above
    from pydantic_ai.profiles.openai import OpenAIModelProfile  # noqa: PLC0415 - as above
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider  # noqa: PLC0415 - as above

    profile = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)  # few servers know the newer name
    sdk = _openai_client(endpoint, client)
    provider = OpenAICompatibleProvider(endpoint.provider, openai_client=sdk, profile=profile)
    return OpenAIChatModel(endpoint.model, provider=provider)


def _openai_client(endpoint: Endpoint, client: httpx2.AsyncClient) -> Any:
    from openai import AsyncOpenAI  # noqa: PLC0415 - as above

    return AsyncOpenAI(api_key=endpoint.key or "none", base_url=endpoint.place, http_client=client, max_retries=0)


def _anthropic(endpoint: Endpoint, client: httpx2.AsyncClient) -> Layer[Any]:
    from anthropic import AsyncAnthropic  # noqa: PLC0415 - as above
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415 - as above
    from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415 - as above

    sdk = AsyncAnthropic(api_key=endpoint.key or "none", base_url=endpoint.place, http_client=client, max_retries=0)
    return AnthropicModel(endpoint.model, provider=AnthropicProvider(anthropic_client=sdk))


def _google(endpoint: Endpoint, client: httpx2.AsyncClient) -> Layer[Any]:
    from pydantic_ai.models.google import GoogleModel  # noqa: PLC0415 - as above
    from pydantic_ai.providers.google import GoogleProvider  # noqa: PLC0415 - as above

    provider = GoogleProvider(api_key=endpoint.key or "none", http_client=client, base_url=endpoint.place)
    return GoogleModel(endpoint.model, provider=provider)


_LAYERS: dict[str, Callable[[Endpoint, httpx2.AsyncClient], Layer[Any]]] = {
    "openrouter": _openrouter,
    "openai": _openai,
    "endpoint": _compatible,
    "ollama": _compatible,
    "local": _compatible,
    "anthropic": _anthropic,
    "google": _google,
}
