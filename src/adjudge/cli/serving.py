"""`adjudge serve`: the web interface to a store."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli.options import StorePath, own_settings
from adjudge.cli.printing import say
from adjudge.errors import InputError


def serve(
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0 for any free one.")] = 8710,
    token: Annotated[bool, typer.Option("--token/--no-token", help="Open only to whoever has the printed address.")] = True,
    name: Annotated[list[str] | None, typer.Option("--name", help="A further host name under which it is reached.")] = None,
    certificate: Annotated[Path | None, typer.Option("--certificate", help="A TLS certificate, in PEM.")] = None,
    key: Annotated[Path | None, typer.Option("--key", help="Its private key, in PEM.")] = None,
    plain_http: Annotated[
        bool, typer.Option("--plain-http", help="Serve an address that others can reach without TLS.")
    ] = False,
    store: StorePath = None,
) -> None:
    """Serve the web interface until it is stopped with Ctrl-C."""
    from adjudge import wiring
    from adjudge.wiring.folders import remove_left

    try:
        from adjudge.web.serving import Serving, require_safe
        from adjudge.web.serving import serve as serve_store
    except ImportError as error:
        raise InputError(
            f"the web interface cannot be loaded ({error}); install adjudge with its extra `web`: in a clone by "
            "`make demo`, elsewhere by pip install '.[web]'"
        ) from error
    serving = Serving(host, port, token, tuple(name or ()), certificate, key, plain_http)
    require_safe(serving)
    settings = own_settings(store=store)
    with wiring.open_store(settings) as kept:
        remove_left(settings, kept)
        say("Open this address; it is good for one browser, once. Ctrl-C stops." if token else "Ctrl-C stops.")
        serve_store(kept, settings, serving, _announce)


def _announce(address: str) -> None:
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
