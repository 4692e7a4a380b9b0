"""Which agents are installed here, for `adjudge doctor`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

from adjudge.agents.connections import Connection, connections
from adjudge.agents.installed import find_installation, is_there
from adjudge.errors import InputError
from adjudge.machines.selftest import Check


async def diagnose_agents(environment: Mapping[str, str] | None = None) -> tuple[Check, ...]:
    """One check for each shipped agent. None fails: a person need not have any agent."""
    env = os.environ if environment is None else environment
    found = await asyncio.gather(*(asyncio.to_thread(_told, connection, env) for connection in connections()))
    return tuple(found)


def _told(connection: Connection, environment: Mapping[str, str]) -> Check:
    name = f"agent {connection.name}"
    if not is_there(connection, environment):
        return Check(name, True, f"not installed; {connection.about}")
    try:
        installation = find_installation(connection, environment)
    except InputError as error:
        return Check(name, True, f"cannot be started: {error}")
    return Check(name, True, f"{installation.program}, version {installation.version or 'unknown'}")
