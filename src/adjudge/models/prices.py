"""What tokens cost, from the list that `genai-prices` ships; nothing is fetched."""

from __future__ import annotations

from typing import Any

from adjudge.models.names import Endpoint
from adjudge.record import Usage


def price(endpoint: Endpoint, usage: Usage) -> float | None:
    """US dollars for this usage, 0 on this machine, `None` where no price is known."""
    if endpoint.near:
        return 0.0
    from genai_prices import Usage as Tokens  # noqa: PLC0415 - half a second, only where a price is asked for

    found = _calculated(
        endpoint,
        Tokens(
            input_tokens=usage.prompt or 0,
            cache_read_tokens=min(usage.cached or 0, usage.prompt or 0),
            cache_write_tokens=min(usage.written or 0, (usage.prompt or 0) - min(usage.cached or 0, usage.prompt or 0)),
            output_tokens=usage.output or 0,
        ),
    )
    return None if found is None else float(found.total_price)


def window(endpoint: Endpoint) -> int | None:
    """The model's context in tokens, `None` if unknown."""
    from genai_prices import Usage as Tokens  # noqa: PLC0415 - as above

    found = None if endpoint.near else _calculated(endpoint, Tokens(input_tokens=1))
    return None if found is None else found.model.context_window


def _calculated(endpoint: Endpoint, tokens: Any) -> Any:
    from genai_prices import calc_price  # noqa: PLC0415 - as above

    if endpoint.provider == "endpoint":
        return None  # the name of a model elsewhere says nothing about the price there
    try:
        return calc_price(tokens, endpoint.model, provider_id=endpoint.provider)
    except LookupError:
        return None
