"""Where an agent's requests to its model go: from a model's name and a wire format to the upstream's address and key."""

from __future__ import annotations

import re
from typing import Literal, get_args

import msgspec

from adjudge.errors import InputError
from adjudge.models.names import Endpoint, Provider, read_name
from adjudge.settings import Settings

Wire = Literal["chat", "responses", "anthropic", "gemini"]
KeyHeader = Literal["authorization", "x-api-key", "x-goog-api-key"]

PORT = 47113
"""Where the agent's model is found inside of any machine, on 127.0.0.1."""

PLACEHOLDER = "sk-local"
"""What the agent is given for a key; the real one is put in on the way out."""

_SPEAKS: dict[Provider, tuple[Wire, ...]] = {
    "openai": ("chat", "responses"),
    "openrouter": ("chat", "responses", "anthropic"),
    "anthropic": ("anthropic",),
    "google": ("gemini", "chat"),
    "ollama": ("chat", "responses", "anthropic"),
    "endpoint": ("chat", "responses", "anthropic", "gemini"),
}
"""Which provider offers which format; an `endpoint` is taken to offer what is asked of it.

Sources: openrouter.ai/docs (chat completions, Responses, and Anthropic's Messages for Claude Code), docs.ollama.com/api
(OpenAI and Anthropic compatibility), ai.google.dev/gemini-api/docs/openai.
"""

_WORDS: dict[Wire, str] = {
    "chat": "OpenAI's chat completions",
    "responses": "OpenAI's Responses",
    "anthropic": "Anthropic's Messages",
    "gemini": "Gemini's generateContent",
}


class AgentEndpoint(msgspec.Struct, frozen=True):
    """A model's endpoint as an agent reaches it through the proxy.

    `name` is the model's full name, for rows; `model` is what the agent must call it. `place` is the base URL upstream that
    takes the place of `inside_url`. `key` goes into the header `key_header`, as a bearer token if that is `authorization`.
    `near` says that it is on this machine.
    """

    name: str
    model: str
    wire: Wire
    place: str
    key: str | None = None
    near: bool = False
    key_header: KeyHeader = "authorization"

    def __repr__(self) -> str:
        return f"AgentEndpoint({self.name!r}, {self.wire!r})"  # tracebacks show this: never the key


def endpoint_of(name: str, wire: Wire, settings: Settings) -> AgentEndpoint:
    """The endpoint at which an agent that speaks this format finds the model of this name.

    Raises:
        InputError: the name stands for nothing, its provider does not offer the format, or address or key cannot be used.
        ModelError: the provider's key is missing (kind `refused`).
    """
    found = read_name(name, settings)
    if wire not in _SPEAKS.get(found.provider, ()) or found.place is None:
        raise InputError(_why_not(name, found.provider, wire))
    _require_key_for_headers(name, found)
    return AgentEndpoint(
        found.name, found.model, wire, _place(found, wire), found.key, found.near, _key_header(found.provider, wire)
    )


def providers_of(wire: Wire) -> tuple[Provider, ...]:
    """The providers that offer a format."""
    return tuple(provider for provider, offered in _SPEAKS.items() if wire in offered)


def _require_key_for_headers(name: str, found: Endpoint) -> None:
    if found.key is not None and not re.fullmatch(r"[!-~]+", found.key):
        raise InputError(f"model {name!r}: the key for {found.provider} has blanks or other characters that no key has")


def inside_url(wire: Wire) -> str:
    """The base URL that an agent of this format is given."""
    return f"http://127.0.0.1:{PORT}/v1" if wire in ("chat", "responses") else f"http://127.0.0.1:{PORT}"


def _place(found: Endpoint, wire: Wire) -> str:
    place = found.place or ""
    if found.provider == "google":
        root = re.sub(r"/v1(beta)?\Z", "", place)
        return f"{root}/v1beta/openai" if wire == "chat" else root
    return place.removesuffix("/v1") if wire in ("anthropic", "gemini") else place


def _key_header(provider: Provider, wire: Wire) -> KeyHeader:
    if provider == "anthropic":
        return "x-api-key"
    return "x-goog-api-key" if wire == "gemini" else "authorization"


def _why_not(name: str, provider: Provider, wire: Wire) -> str:
    others = ", ".join(f"{each}/…" for each in get_args(Provider) if each in providers_of(wire) and each != "endpoint")
    if provider in ("recorded", "local"):
        why = f"an agent asks its model over the network, which {provider}/… does not offer"
    else:
        why = f"the agent speaks {_WORDS[wire]} ({wire}), which {provider} does not offer"
    return f"model {name!r}: {why}; {others} or http://HOST:PORT/v1#MODEL would do"
