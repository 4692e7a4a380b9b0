"""Serving the web interface: on which address it may stand open, with what, and until it is told to stop."""

from __future__ import annotations

import ipaddress
import os
import socket
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import uvicorn

from adjudge.errors import InputError, OutsideError
from adjudge.settings import Settings
from adjudge.store.store import Store
from adjudge.web.app import create_app
from adjudge.web.guard import Access, Doors
from adjudge.web.guard.access import SHORTEST_TOKEN, draw_token
from adjudge.web.guard.hosts import host_of
from adjudge.web.rendering import compile_templates
from adjudge.web.site import Site

TOKEN = "ADJUDGE_TOKEN"  # noqa: S105  the name of a variable
"""A token of one's own, for programs that use the API."""

HEADERS = 64 << 10
"""Bytes of a request's line and headers."""
AT_ONCE = 200
"""Connections that are answered at a time; more are told to come again."""


class Serving(msgspec.Struct, frozen=True):
    """Where and how to serve. `names` are further host names under which the server is reached.

    `plain` says that an address that others can reach may be served without TLS.
    """

    host: str = "127.0.0.1"
    port: int = 8710
    token: bool = True
    names: tuple[str, ...] = ()
    certificate: Path | None = None
    key: Path | None = None
    plain: bool = False

    @property
    def secure(self) -> bool:
        """Whether it is served over TLS."""
        return self.certificate is not None


def serve(store: Store, settings: Settings, serving: Serving, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM. `announce` is told the address to open, and a fresh one each time one was used.

    Raises:
        InputError: it must not be served like this; the message says what is missing.
        OutsideError: the address cannot be had.
    """
    require_safe(serving)
    token = chosen_token(serving)
    listening = _listen(serving)
    try:
        port = listening.getsockname()[1]
        access = Access(names_of(serving), token, serving.secure, port)
        base = f"{'https' if serving.secure else 'http'}://{_in_address(serving)}:{port}"
        doors = Doors(lambda code: announce(f"{base}/enter?code={code}"))
        announce(f"{base}/enter?code={doors.code}" if token else f"{base}/runs")
        app = create_app(store, settings, access, doors)
        threading.Thread(target=compile_templates, daemon=True).start()
        Server(config_of(app, serving), app.app.state.site).run(sockets=[listening])
    finally:
        listening.close()


class Server(uvicorn.Server):
    """A server whose streams of events end when it does: it would wait for them, and then break them off as failures."""

    def __init__(self, config: uvicorn.Config, site: Site) -> None:
        super().__init__(config)
        self._site = site

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop."""
        await self._site.part()
        await super().shutdown(sockets)


def require_safe(serving: Serving) -> None:
    """Do nothing if the address may stand open like this.

    Raises:
        InputError: others can reach the address, and it has no token, or neither TLS nor leave to go without.
    """
    if (serving.certificate is None) != (serving.key is None):
        raise InputError("--certificate and --key belong together: give both, or neither")
    for name in serving.names:
        if host_of(name) is None:
            raise InputError(f"--name {name}: is no host name, such as judge.example.org")
    if is_loopback(serving.host):
        return
    where = f"--host {serving.host}: others can reach this address"
    if not serving.token:
        raise InputError(f"{where}, so it is not served with --no-token")
    if not serving.secure and not serving.plain:
        raise InputError(
            f"{where}, so it needs --certificate and --key, or --plain-http if something before it does TLS; "
            "everybody on the way could read the token otherwise"
        )
    if _is_any(serving.host) and not serving.names:
        raise InputError(
            f"--host {serving.host}: stands for every address; say with --name under which names it is reached"
        )


def chosen_token(serving: Serving, environment: Mapping[str, str] | None = None) -> str | None:
    """The token: that of the environment, else one drawn by lot; `None` if none is wanted.

    Raises:
        InputError: the environment's is too short to be safe.
    """
    if not serving.token:
        return None
    given = (os.environ if environment is None else environment).get(TOKEN)
    if not given:
        return draw_token()
    if len(given) < SHORTEST_TOKEN or not (given.isascii() and given.isprintable()) or any(c in given for c in ' ";,\\'):
        raise InputError(f"{TOKEN}: must have at least {SHORTEST_TOKEN} letters, digits, - or _, drawn by lot")
    return given


def is_loopback(host: str) -> bool:
    """Whether only this computer can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def names_of(serving: Serving) -> frozenset[str]:
    """The names that a Host header may have."""
    own = {"localhost", "127.0.0.1", "::1"} if is_loopback(serving.host) else set[str]()
    named = {found.name for name in serving.names if (found := host_of(name))}
    return frozenset(own | named | (set() if _is_any(serving.host) else {serving.host.lower()}))


def _is_any(host: str) -> bool:
    return host in ("", "0.0.0.0", "::", "*")  # noqa: S104  asked, not bound


def _in_address(serving: Serving) -> str:
    name = serving.names[0] if _is_any(serving.host) else serving.host
    return f"[{name}]" if ":" in name else name


def _listen(serving: Serving) -> socket.socket:
    family = socket.AF_INET6 if ":" in serving.host else socket.AF_INET
    try:
        return socket.create_server((serving.host, serving.port), family=family, backlog=128)
    except (OSError, OverflowError) as error:
        raise OutsideError(f"--host {serving.host} --port {serving.port}: cannot be listened on ({error})") from error


def config_of(app: object, serving: Serving) -> uvicorn.Config:
    """How the server is run: with no log of what was asked for, no proxy that is believed, and bounds on what it takes."""
    return uvicorn.Config(
        app,  # type: ignore[arg-type]  # an ASGI application, typed by another library
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        ws="none",
        lifespan="on",
        proxy_headers=False,
        limit_concurrency=AT_ONCE,
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=HEADERS,
        ssl_certfile=str(serving.certificate) if serving.certificate else None,
        ssl_keyfile=str(serving.key) if serving.key else None,
    )
