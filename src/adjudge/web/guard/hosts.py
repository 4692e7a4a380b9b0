"""Host and Origin, taken apart: which name a browser believes that it speaks to, and from which page it does."""

from __future__ import annotations

import re

import msgspec

DEFAULT_PORTS = {"http": 80, "https": 443}

_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]{2,45}\]|[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)\.?(?::(?P<port>\d{1,5}))?")
_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<host>[^/?#@\s]{1,300})")


class Host(msgspec.Struct, frozen=True):
    """A host's name in lower case, without brackets and final dot, and its port if one is given."""

    name: str
    port: int | None = None


def host_of(header: str) -> Host | None:
    """What a Host header names, or `None` if it is none."""
    match = _HOST.fullmatch(header.lower())
    if match is None:
        return None
    port = int(match["port"]) if match["port"] else None
    return None if port is not None and port > 65535 else Host(match["name"].strip("[]"), port)


def same_origin(origin: str, host: Host, secure: bool) -> bool:
    """Whether an Origin header names the very place that the Host header does."""
    match = _ORIGIN.fullmatch(origin.lower())
    scheme = "https" if secure else "http"
    if match is None or match["scheme"] != scheme:
        return False
    other, usual = host_of(match["host"]), DEFAULT_PORTS[scheme]
    return other is not None and (other.name, other.port or usual) == (host.name, host.port or usual)
