"""What an agent may ask of its model's endpoint: answers, counts of tokens and names of models, and nothing else.

The user's key also opens files, batches, accounts and other people's stored answers; none of that is let through.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

import msgspec

from adjudge.agents.endpoints import Wire

MOST_PARAMETERS = 50

_NAME = r"[A-Za-z0-9][A-Za-z0-9._@+~-]*"
_MODELS = rf"/models(?:/{_NAME}(?:[:/]{_NAME}){{0,4}})?"
_GEMINI = rf"/v1(?:beta|alpha)?/models/{_NAME}:"

_ALLOWED: Mapping[Wire, tuple[tuple[str, str, bool], ...]] = {
    "chat": (("POST", "/v1/chat/completions", True), ("GET", f"/v1{_MODELS}", False)),
    "responses": (("POST", "/v1/responses", True), ("GET", f"/v1{_MODELS}", False)),
    "anthropic": (
        ("POST", "/v1/messages", True),
        ("POST", "/v1/messages/count_tokens", False),
        ("GET", f"/v1{_MODELS}", False),
    ),
    "gemini": (
        ("POST", f"{_GEMINI}(?:generateContent|streamGenerateContent)", True),
        ("POST", f"{_GEMINI}countTokens", False),
        ("GET", rf"/v1(?:beta|alpha)?/models(?:/{_NAME})?", False),
    ),
}

_CREDENTIALS = {"key", "api_key", "apikey", "api-key", "access_token", "oauth_token", "token", "auth", "authorization"}


class Asked(msgspec.Struct, frozen=True):
    """A request that is let through: what follows the upstream's base URL, and whether it asks the model for an answer."""

    rest: str
    answer: bool


def asked(wire: Wire, method: str, target: str) -> Asked | None:
    """What a request line asks for; `None` if that is not let through.

    Escapes, dots and whole addresses never match, so that no two readings of a path exist. Credentials in the query are
    left out.
    """
    path, _, query = target.partition("?")
    path = re.sub(r"/{2,}", "/", path)
    for allowed, pattern, answer in _ALLOWED[wire]:
        if method == allowed and re.fullmatch(pattern, path):
            parameters = _parameters(query)
            below = path.removeprefix("/v1") if wire in ("chat", "responses") else path
            return None if parameters is None else Asked(f"{below}{parameters}", answer)
    return None


def _parameters(query: str) -> str | None:
    """The query spelled anew, with its question mark; `None` if it has too many parts."""
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=MOST_PARAMETERS)
    except ValueError:
        return None
    kept = urlencode([(name, value) for name, value in pairs if name.strip().lower() not in _CREDENTIALS])
    return f"?{kept}" if kept else ""
