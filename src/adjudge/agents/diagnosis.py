"""Which agents are installed here."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

import msgspec

from adjudge.agents.connections import Connection, connections
from adjudge.agents.installed import find_installation, is_there
from adjudge.errors import InputError
from adjudge.machines.selftest import Check


class AgentFound(msgspec.Struct, frozen=True):
    """A shipped agent and the program that was found for it, or why it cannot be started (`missing`)."""

    connection: Connection
    program: str | None = None
    version: str | None = None
    missing: str | None = None


async def diagnose_agents(environment: Mapping[str, str] | None = None) -> tuple[Check, ...]:
    """One check for each shipped agent. All are optional: a person need not have any agent."""
    return tuple(_told(found) for found in await find_agents(environment))


async def find_agents(environment: Mapping[str, str] | None = None) -> tuple[AgentFound, ...]:
    """Each shipped agent as it is found here; those that are there are started once, to tell their version."""
    env = os.environ if environment is None else environment
    found = await asyncio.gather(*(asyncio.to_thread(_found, connection, env) for connection in connections()))
    return tuple(found)


def _found(connection: Connection, environment: Mapping[str, str]) -> AgentFound:
    if not is_there(connection, environment):
        return AgentFound(connection, missing=f"not installed; {connection.about}")
    try:
        installation = find_installation(connection, environment)
    except InputError as error:
        return AgentFound(connection, missing=f"cannot be started: {error}")
    return AgentFound(connection, installation.program, installation.version)


def _told(found: AgentFound) -> Check:
    told = found.missing or f"{found.program}, version {found.version or 'unknown'}"
    return Check(f"agent {found.connection.name}", found.missing is None, told, optional=True)
