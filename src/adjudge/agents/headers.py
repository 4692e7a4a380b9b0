"""Which headers pass the proxy, in each direction; the key goes out here and never comes back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from adjudge.agents.endpoints import AgentEndpoint
from adjudge.agents.masking import Marks, masked

Headers = list[tuple[str, str]]

_HOP_BY_HOP = {
    *(
        "connection",
        "keep-alive",
        "proxy-connection",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-authentication-info",
    ),
    *("te", "trailer", "transfer-encoding", "upgrade", "http2-settings", "expect", "host", "content-length"),
}
_CREDENTIALS = {"authorization", "x-api-key", "x-goog-api-key", "api-key", "x-auth-token", "cookie", "cookie2"}
_ACCOUNT = {"openai-organization", "openai-project", "x-goog-user-project", "anthropic-organization-id"}
"""Whose account it is: nothing that an agent should choose, or learn."""

_ELSEWHERE = {"x-http-method-override", "x-http-method", "x-method-override", "x-original-url", "x-rewrite-url"}
"""What makes some servers read another request than the one that was checked."""

_NOT_OUT = _HOP_BY_HOP | _CREDENTIALS | _ACCOUNT | _ELSEWHERE | {"accept-encoding", "forwarded", "via", "x-real-ip"}
_NOT_IN = _HOP_BY_HOP | _ACCOUNT | {"set-cookie", "set-cookie2", "location", "alt-svc", "content-encoding"}

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PRINTABLE = re.compile(r"[\t -~]*")


def headers_out(given: Mapping[str, str], endpoint: AgentEndpoint) -> Headers:
    """The headers of an agent's request as they go to the endpoint: with the real key, and asking for no compression."""
    headers = list(_passing(given, _NOT_OUT))
    headers.append(("Accept-Encoding", "identity"))  # streams arrive as they are made, and can be masked
    if endpoint.key is not None:
        bearer = endpoint.key_header == "authorization"
        headers.append((endpoint.key_header, f"Bearer {endpoint.key}" if bearer else endpoint.key))
    return headers


def headers_in(given: Mapping[str, str], marks: Marks) -> Headers:
    """The headers of a reply as they go to the agent, masked."""
    return [(name, masked(value.encode(), marks).decode()) for name, value in _passing(given, _NOT_IN)]


def _passing(given: Mapping[str, str], without: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Those that are neither left out, nor named by `Connection`, nor odd in their letters."""
    named = {name.strip().lower() for name in ",".join(_all(given, "connection")).split(",")}
    for name, value in given.items():
        small = name.lower()
        if small in without or small in named or small.startswith(("x-forwarded-", "proxy-")):
            continue
        if _TOKEN.fullmatch(name) and _PRINTABLE.fullmatch(value):
            yield name, value


def _all(given: Mapping[str, str], name: str) -> list[str]:
    return [value for each, value in given.items() if each.lower() == name]
