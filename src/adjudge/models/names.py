"""What a model's name means: its provider, its own name there, the key that opens it, and where it is asked."""

from __future__ import annotations

import ipaddress
import re
from typing import Literal, get_args
from urllib.parse import urldefrag, urlsplit

import msgspec

from adjudge.errors import InputError, ModelError
from adjudge.settings import KEYS_OF, Settings

Provider = Literal["openrouter", "openai", "anthropic", "google", "ollama", "endpoint", "recorded", "local"]
Format = Literal["chat", "anthropic", "gemini"]

_ALIASES: dict[str, Provider] = {"gemini": "google"}
_ALIASES.update({name: name for name in get_args(Provider) if name != "endpoint"})

PLACES: dict[Provider, str] = {
    "openrouter": "https://openrouter.ai/api/v1",
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
    "ollama": "http://127.0.0.1:11434/v1",
}

RIGHT = (
    "write PROVIDER/MODEL, as in openrouter/anthropic/claude-sonnet-5.5, openai/gpt-6-sol, anthropic/claude-sonnet-5-5, "
    "google/gemini-3.5-flash or ollama/qwen3:8b; or http://127.0.0.1:8080/v1#MODEL for any OpenAI-compatible endpoint; "
    "or local/FILE.gguf, local/smollm2 or recorded/FILE.json, which need no key"
)


class Endpoint(msgspec.Struct, frozen=True, omit_defaults=True):
    """A model and how it is reached.

    `name` is what goes into rows: provider and model, never a key. `place` is the base URL, `None` for `recorded` and
    `local`, whose `model` is a path or the name of a bundled model. `near` says that it is on this machine, so that it
    costs nothing and needs no key.
    """

    provider: Provider
    model: str
    place: str | None = None
    key: str | None = None
    near: bool = False

    @property
    def name(self) -> str:
        """The name in the form that `read_name` reads."""
        return f"{self.place}#{self.model}" if self.provider == "endpoint" else f"{self.provider}/{self.model}"

    @property
    def format(self) -> Format:
        """The wire format that is spoken there."""
        return {"anthropic": "anthropic", "google": "gemini"}.get(self.provider, "chat")  # type: ignore[return-value]  # the values are of Format

    def __repr__(self) -> str:
        return f"Endpoint({self.name!r})"  # tracebacks show this: never the key


def read_name(name: str, settings: Settings) -> Endpoint:
    """The endpoint that a model's name stands for, with its key and address from the settings.

    Raises:
        InputError: the name is none of the known forms; the message lists them.
        ModelError: the name is right, but its provider needs a key and there is none (kind `refused`).
    """
    if name.startswith(("http://", "https://")):
        return _by_address(name)
    match = re.match(r"([A-Za-z]+)[/:](.+)\Z", name)
    provider = _ALIASES.get(match[1].lower()) if match else None
    if match is None or provider is None:
        raise InputError(f"model {name!r}: no such provider; {RIGHT}")
    if provider in ("recorded", "local"):
        return Endpoint(provider, match[2], near=True)
    return _by_provider(name, provider, match[2], settings)


def _by_address(name: str) -> Endpoint:
    try:
        place, model = urldefrag(name)
        parts = urlsplit(place)
    except ValueError as error:
        raise InputError(f"model {name!r}: is no address: {error}") from error
    if not model or not parts.hostname:
        raise InputError(f"model {name!r}: an address must name its model after '#', as in http://127.0.0.1:8080/v1#MODEL")
    if parts.username or parts.password or parts.query:
        # A model's name is stored and shown with every judgment.
        raise InputError("a model's address must hold no password and no query; set OPENAI_BASE_URL and OPENAI_API_KEY")
    return Endpoint("endpoint", model, place.rstrip("/"), near=is_near(place))


def _by_provider(name: str, provider: Provider, model: str, settings: Settings) -> Endpoint:
    if provider == "openrouter" and "/" not in model:
        raise InputError(f"model {name!r}: OpenRouter's models have a maker, as in openrouter/anthropic/{model}")
    variables = KEYS_OF.get(provider, ())
    bases = [variable.replace("API_KEY", "BASE_URL") for variable in variables]
    base = next((base for base in bases if settings.base_urls.get(base)), None)
    place = _base_url(base, settings.base_urls[base]) if base else PLACES[provider]
    key = next((settings.keys[variable] for variable in variables if settings.keys.get(variable)), None)
    near = is_near(place)
    if variables and key is None and not near:
        raise ModelError(
            f"{name}: no key for {provider}; set {' or '.join(variables)}, or `adjudge connect {provider}`", "refused"
        )
    return Endpoint(provider, model, place.rstrip("/"), key, near)


def _base_url(variable: str, place: str) -> str:
    """The address that a variable names. Raises InputError, which does not repeat it: it may hold a password."""
    try:
        parts = urlsplit(place)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        if usable and not (parts.username or parts.password or parts.query or parts.fragment):
            return place
    except ValueError:
        pass
    raise InputError(
        f"{variable}: must be an address as in https://HOST/v1, with http or https, and without password, query or fragment"
    )


def is_near(place: str) -> bool:
    """Whether an address is on this machine."""
    try:
        host = urlsplit(place).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


_ROUTE = re.compile(r":(free|nitro|floor|online|exacto|extended|beta|thinking)\Z")
_DATE = re.compile(r"[-@](20\d{2}-?\d{2}-?\d{2}|latest)\Z")


def same_model(judge: str, judged: str) -> bool:
    """Whether two names stand for one model, whoever serves it: provider, date, route and case are left aside."""
    return _bare(judge) == _bare(judged) != ""


def _bare(name: str) -> str:
    model = name.strip().lower().rpartition("#")[2].rpartition("/")[2]
    provider, colon, rest = model.partition(":")
    if colon and provider in _ALIASES:
        model = rest
    return _DATE.sub("", _ROUTE.sub("", model)).replace(".", "-")
