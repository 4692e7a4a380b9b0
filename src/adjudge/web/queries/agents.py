"""Agents and keys of this server's machine: what is installed, what is missing, which keys are there."""

from __future__ import annotations

import asyncio

from adjudge.agents.diagnosis import AgentFound, find_agents
from adjudge.connected import connect, disconnect
from adjudge.errors import InputError
from adjudge.machines.selftest import Check
from adjudge.web.site import Site
from adjudge.wiring.checks import diagnose
from adjudge.wiring.keys import KeyFound, keys_found


def agents_here() -> tuple[AgentFound, ...]:
    """The shipped agents as they are found here. It starts each of them, so it takes a moment; in no event loop."""
    return asyncio.run(find_agents())


def checks_here(site: Site) -> tuple[Check, ...]:
    """What `adjudge doctor` finds, but for agents. It takes seconds; in no event loop."""
    return tuple(check for check in asyncio.run(diagnose(site.settings)) if not check.name.startswith("agent "))


def keys_here(site: Site) -> tuple[KeyFound, ...]:
    """The keys of the environment and those connected to the store. Raises InputError as `wiring.keys.keys_found`."""
    return keys_found(site.own)


def connect_key(site: Site, provider: str, key: str) -> None:
    """Keep a key for judges and agents alike. Raises InputError and OutsideError as `connected.connect`."""
    require_token(site, "connect a key")
    connect(site.own.store, provider, key.strip())


def disconnect_key(site: Site, provider: str) -> bool:
    """Forget a connected key, and say whether there was one. Raises InputError and OutsideError as `disconnect`."""
    require_token(site, "disconnect a key")
    return disconnect(site.own.store, provider)


def require_token(site: Site, what: str) -> None:
    """Do nothing if only the holder of the token can ask for something that reaches beyond the store.

    Raises:
        InputError: the server answers whoever can reach it.
    """
    if site.access.token is None:
        raise InputError(
            f"this server runs with --no-token, so that every user of its machine could {what}; "
            "run `adjudge serve` with a token for that"
        )
