"""Agents and connections: the page, what is looked for after it, keys; and the same as JSON."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import Response, delete, get, post
from litestar.params import JSONBody

from adjudge.agents.connections import connections
from adjudge.agents.diagnosis import AgentFound
from adjudge.connected import LONGEST
from adjudge.machines.selftest import Check
from adjudge.web.queries.agents import agents_here, checks_here, connect_key, disconnect_key, keys_here
from adjudge.web.rendering import page
from adjudge.web.routes.asked import Name
from adjudge.web.site import Here, Site
from adjudge.web.views.agents import agent_lines, agents_page, check_lines
from adjudge.wiring.keys import KeyFound


class KeyGiven(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A provider's key, on its one way in."""

    provider: Annotated[str, msgspec.Meta(max_length=100)]
    key: Annotated[str, msgspec.Meta(max_length=LONGEST + 100)]

    def __repr__(self) -> str:
        return f"KeyGiven({self.provider!r})"


class Forgotten(msgspec.Struct, frozen=True):
    """Whether there was a key to forget."""

    forgotten: bool


@get("/agents", include_in_schema=False, sync_to_thread=True)
def show_agents(site: Here) -> Response[bytes]:
    """Keys, agents, and what works here."""
    found = keys_here(site)
    view = agents_page(found, connections(), _with_key(site), site.own.store, site.access.token is None)
    return page("agents.html", here="Agents", page=view)


@get("/agents/installed", include_in_schema=False, sync_to_thread=True)
def show_installed(site: Here) -> Response[bytes]:
    """Which agents are there, in which version."""
    return page("agents_found.html", lines=agent_lines(agents_here(), _with_key(site)))


@get("/agents/checks", include_in_schema=False, sync_to_thread=True)
def show_checks(site: Here) -> Response[bytes]:
    """What works here."""
    return page("agents_checks.html", lines=check_lines(checks_here(site)))


def _with_key(site: Site) -> frozenset[str]:
    return frozenset(row.provider for row in keys_here(site))


@get("/agents", sync_to_thread=True)
def api_agents() -> tuple[AgentFound, ...]:
    """The agents that adjudge knows, and what of them is installed here."""
    return agents_here()


@get("/checks", sync_to_thread=True)
def api_checks(site: Here) -> tuple[Check, ...]:
    """What works here: the sandbox, containers, the store, access to models."""
    return checks_here(site)


@get("/keys", sync_to_thread=True)
def api_keys(site: Here) -> tuple[KeyFound, ...]:
    """Which keys are there, with nothing of them but their last characters."""
    return keys_here(site)


@post("/keys", status_code=200, sync_to_thread=True)
def api_connect(site: Here, data: JSONBody[KeyGiven]) -> tuple[KeyFound, ...]:
    """Connect a provider's key: kept in a file for its owner alone, and never told again."""
    connect_key(site, data.provider, data.key)
    return keys_here(site)


@delete("/keys/{provider:str}", status_code=200, sync_to_thread=True)
def api_disconnect(site: Here, provider: Name) -> Forgotten:
    """Forget a connected key."""
    return Forgotten(disconnect_key(site, provider))


PAGES = (show_agents, show_installed, show_checks)
API = (api_agents, api_checks, api_keys, api_connect, api_disconnect)
