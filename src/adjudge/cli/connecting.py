"""`adjudge connect` and `disconnect`: keys of a project, which no command ever prints."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from adjudge.cli.options import Json, StorePath, own_settings
from adjudge.cli.printing import print_json, print_table, say
from adjudge.connected import LONGEST, connect, disconnect, variable_of
from adjudge.errors import InputError
from adjudge.settings import KEYS_OF, without_password
from adjudge.wiring.keys import KeyFound, keys_found

Provider = Annotated[str, typer.Argument(metavar="PROVIDER", help=f"Whose key: {', '.join(KEYS_OF)}.")]


def connect_key(
    provider: Annotated[
        str | None,
        typer.Argument(metavar="[PROVIDER]", help=f"Whose key to connect: {', '.join(KEYS_OF)} [default: list]."),
    ] = None,
    from_opencode: Annotated[
        bool, typer.Option("--from-opencode", help="Take the key that OpenCode keeps for this provider.")
    ] = False,
    store: StorePath = None,
    as_json: Json = False,
) -> int:
    """Connect a provider's key to the store, for judges and agents of this project, or list the keys that are there.

    The key is asked for without echo, or read from standard input if that is no terminal.
    """
    settings = own_settings(store=store)
    if provider is not None:
        variable_of(provider)  # before anything is asked
        connect(settings.store, provider, _from_opencode(provider) if from_opencode else _asked(provider))
        say(f"{provider}: the key is kept in {settings.store}, for judges and agents of this project.")
        if before := next((name for name in KEYS_OF[provider] if settings.keys.get(name)), None):
            say(f"{before} is set in the environment and goes before it.")
    elif from_opencode:
        raise InputError("--from-opencode: name the provider whose key to take, as in `adjudge connect openrouter`")
    if as_json:
        print_json(keys_found(settings))
    elif provider is None:
        _print(keys_found(settings))
    return 0


def disconnect_key(provider: Provider, store: StorePath = None) -> int:
    """Forget the key that was connected for a provider."""
    settings = own_settings(store=store)
    if disconnect(settings.store, provider):
        say(f"{provider}: the key is forgotten here; it still opens the account until you revoke it there.")
    else:
        say(f"{provider}: no key was connected in {without_password(settings.store)}.")
    return 0


def _asked(provider: str) -> str:
    """The key that is typed or piped in.

    Raises:
        InputError: what is piped in is empty.
    """
    if not sys.stdin.isatty():
        if key := sys.stdin.readline(LONGEST + 2).strip():
            return key
        raise InputError(
            f"{provider}: no key came on standard input; pipe it in, or run `adjudge connect {provider}` on a terminal, "
            "where it is asked for"
        )
    from getpass import getpass

    return getpass(f"Key for {provider} (it is not shown): ", sys.stderr).strip()


def _from_opencode(provider: str) -> str:
    """The key in OpenCode's own file.

    Raises:
        InputError: there is no such file, or no key of this provider in it.
    """
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    path = Path(data) / "opencode" / "auth.json"
    try:
        kept: Any = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: OpenCode's keys cannot be read: {error.strerror}") from error
    except ValueError:
        raise InputError(f"{path}: is not JSON, as OpenCode writes it") from None  # the cause would show the text
    entry = kept.get(provider) if isinstance(kept, dict) else None
    if not isinstance(entry, dict):
        raise InputError(f"{path}: holds nothing for {provider}; connect it in OpenCode, or here without --from-opencode")
    if entry.get("type") != "api" or not isinstance(entry.get("key"), str):
        raise InputError(f"{path}: holds a login for {provider}, not a key; only a key can be connected")
    return str(entry["key"])


def _print(found: Sequence[KeyFound]) -> None:
    if not found:
        say(f"There is no key yet: `adjudge connect PROVIDER` connects one ({', '.join(KEYS_OF)}).")
        return
    rows = [
        (row.provider, row.source, f"…{row.ends}" if row.ends else "…", row.since or "", "yes" if row.used else "no")
        for row in found
    ]
    print_table(("provider", "from", "key", "since", "used"), rows)
