"""Formats spoken through pydantic-ai's model layer: Anthropic's, Google's, and what only OpenAI itself understands.

This module imports pydantic-ai, which takes seconds: import it only where a model is about to be asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model as Layer

from adjudge.errors import InputError
from adjudge.judgment import Call
from adjudge.models import conversation
from adjudge.models.exchange import Exchange
from adjudge.models.faults import Fault, fault_in
from adjudge.models.names import Endpoint
from adjudge.models.parameters import Parameters
from adjudge.models.transport import GuardedTransport, arrived
from adjudge.models.wire import Arrived, stop_of
from adjudge.ports import Message, Reply, Request
from adjudge.record import Usage


class Layered:
    """Speaks to one endpoint through its maker's SDK; implements `provider.Speaker`."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Make ready.

        Raises:
            InputError: the layer knows no such model, or the environment names a proxy that cannot be used.
        """
        assert endpoint.place is not None
        self._client = httpx2.AsyncClient(
            transport=GuardedTransport(Exchange(endpoint.place, endpoint.format)),
            timeout=httpx2.Timeout(None),  # patience holds the deadline of the whole call
        )
        try:
            self._layer = _LAYERS[endpoint.provider](endpoint, self._client)
        except UserError as error:
            raise InputError(f"model {endpoint.name!r}: {error}") from error
        self._parameters = Parameters(self._layer)

    async def ask(self, request: Request, plain: bool, came: list[Arrived]) -> Reply:
        """Ask once; with `plain` the schema of the answer is told in words. What arrived is added to `came`.

        Raises:
            Fault: no usable reply came.
        """
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
        return _reply(response, came[-1], plain)

    async def close(self) -> None:
        """Let go of all connections."""
        await self._client.aclose()


def _reply(response: ModelResponse, said: Arrived, plain: bool) -> Reply:
    calls = conversation.with_own_ids(response)
    text = conversation.text_of(response)
    refusal = (response.provider_details or {}).get("refusal")
    stop = "filtered" if refusal else stop_of(said.finish, len(calls))
    text = text or (refusal if isinstance(refusal, str) else "")
    message = Message("assistant", text, calls, opaque=conversation.opaque_of(response))
    line = Call(said.model or "", Usage(), 0.0, plain=plain)  # the whole line is drawn up when all attempts are known
    return Reply(text, calls, stop, message, line, conversation.reasoning_of(response))


def _unread(error: Exception, came: bool) -> Exception:
    """What the layer raised on its own: a fault of the reply if one came, else of the request, else a mistake of ours."""
    if isinstance(error, UserError):
        return Fault(f"the request does not suit this model: {str(error)[:300]}", "refused", plain=True)
    if came:
        # The reply had passed our checks and still tripped what reads it. It is billed, so asking again is another call.
        return Fault(f"the reply cannot be read: {type(error).__name__}: {str(error)[:200]}", "broken")
    return error


def _openai(endpoint: Endpoint, client: httpx2.AsyncClient) -> Layer[Any]:
    from openai import AsyncOpenAI  # noqa: PLC0415 - each SDK takes a second
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - as above
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415 - as above

    sdk = AsyncOpenAI(api_key=endpoint.key or "none", base_url=endpoint.place, http_client=client, max_retries=0)
    return OpenAIChatModel(endpoint.model, provider=OpenAIProvider(openai_client=sdk))


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
    "openai": _openai,
    "anthropic": _anthropic,
    "google": _google,
}
