"""Through which proxy an endpoint is reached: the one that the environment names, if it names one for that address."""

from __future__ import annotations

import urllib.request
from contextlib import suppress
from urllib.parse import urlsplit

from adjudge.errors import InputError


def proxy_to(place: str) -> str | None:
    """The address of the proxy to an `http` or `https` address, `None` if it is reached without one.

    Raises:
        InputError: the environment's proxy cannot be used. The message does not repeat it: it may hold a password.
    """
    parts = urlsplit(place)
    host = parts.hostname
    if not host or urllib.request.proxy_bypass(host) or urllib.request.proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return None if not proxy else _usable(proxy if "://" in proxy else f"http://{proxy}", host)


def _usable(proxy: str, host: str) -> str:
    """The address of a proxy, if it is one."""
    kind, _, rest = proxy.partition("://")
    if kind.lower() not in ("http", "https"):
        raise InputError(f"the environment names a {kind} proxy for {host}; models are asked through HTTP proxies")
    with suppress(ValueError):
        parts = urlsplit(f"{kind.lower()}://{rest}")
        if parts.hostname and not parts.path.strip("/") and parts.port != 0:
            return parts.geturl()
    raise InputError(
        f"the proxy that the environment names for {host} is no address: it must be http://HOST:PORT, with what is special "
        "in a password spelled out as %2F, %40 and so on"
    )
