"""The page of agents and connections: keys, agents, and what works on this machine."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime

import msgspec

from adjudge.agents.connections import Connection
from adjudge.agents.diagnosis import AgentFound
from adjudge.agents.endpoints import providers_of
from adjudge.machines.selftest import Check
from adjudge.settings import KEYS_OF, is_url, without_password
from adjudge.web.text import when
from adjudge.wiring.keys import KeyFound

WIRES = {
    "chat": "OpenAI's chat completions",
    "responses": "OpenAI's Responses",
    "anthropic": "Anthropic's Messages",
    "gemini": "Gemini's generateContent",
}
OPEN_TO_ALL = (
    "This server runs with --no-token: whoever reaches it could change keys, so nothing can be connected here. "
    "adjudge connect PROVIDER does it on the command line."
)
IN_A_DATABASE = "This store is a database, and keys are connected to a store that is a folder; set them in the environment."
KEYLESS = ("ollama", "endpoint")
"""Providers that need no key."""


class KeyLine(msgspec.Struct, frozen=True):
    """A key that is there: nothing of it but its last characters."""

    words: str
    ends: str
    since: str
    used: bool


class ProviderCard(msgspec.Struct, frozen=True):
    """A provider, its keys, and what can be done about them."""

    name: str
    variables: str
    sign: str
    stands: str
    keys: tuple[KeyLine, ...]
    connected: bool


class AgentLine(msgspec.Struct, frozen=True):
    """An agent. `sign` and `stands` say whether it is there; `ready` are providers with a key."""

    name: str
    sign: str
    stands: str
    why: str
    command: str
    speaks: str
    ready: tuple[str, ...]
    other: tuple[str, ...]
    variables: tuple[str, ...]
    records: tuple[str, ...]
    install: str


class CheckLine(msgspec.Struct, frozen=True):
    """One thing that was tried here."""

    name: str
    sign: str
    stands: str
    why: str
    help: str


class AgentsPage(msgspec.Struct, frozen=True):
    """The page before anything was looked for; `closed` is why no key can be connected here, if none can."""

    providers: tuple[ProviderCard, ...]
    agents: tuple[AgentLine, ...]
    store: str
    closed: str


def agents_page(
    found: Sequence[KeyFound], known: Sequence[Connection], keys: Collection[str], store: str, locked: bool
) -> AgentsPage:
    """The page; `keys` are the providers that have one, `locked` says that the server has no token."""
    lines = tuple(_agent(AgentFound(connection), keys, looked=False) for connection in known)
    closed = OPEN_TO_ALL if locked else IN_A_DATABASE if is_url(store) else ""
    return AgentsPage(tuple(_providers(found)), lines, without_password(store), closed)


def agent_lines(found: Sequence[AgentFound], keys: Collection[str]) -> tuple[AgentLine, ...]:
    """The agents as they were found."""
    return tuple(_agent(each, keys, looked=True) for each in found)


def check_lines(checks: Sequence[Check]) -> tuple[CheckLine, ...]:
    """What was tried, what failed first; what works and says no more is one line at the end."""
    told = sorted((check for check in checks if check.why or not check.works), key=lambda check: check.works)
    quiet = [check.name for check in checks if check.works and not check.why]
    more = (CheckLine("and", "pass", f"{len(quiet)} more hold", ", ".join(quiet), ""),) if quiet else ()
    return (*map(_check, told), *more)


def _check(check: Check) -> CheckLine:
    if check.works:
        return CheckLine(check.name, "pass", "works", check.why, "")
    return CheckLine(check.name, "fail", "does not work", check.why, check.help)


def _providers(found: Sequence[KeyFound]) -> Iterator[ProviderCard]:
    for provider, variables in KEYS_OF.items():
        rows = [row for row in found if row.provider == provider]
        used = next((row for row in rows if row.used), None)
        stands = "no key" if used is None else "from the environment" if used.source == "environment" else "connected here"
        yield ProviderCard(
            provider,
            " or ".join(variables),
            "none" if used is None else "pass",
            stands,
            tuple(_key(row) for row in rows),
            any(row.source == "connected" for row in rows),
        )


def _key(row: KeyFound) -> KeyLine:
    words = f"{row.variable}, {row.source}" if row.source == "environment" else f"connected, as {row.variable}"
    since = f"since {when(row.since, str(datetime.now(UTC).year))} UTC" if row.since else ""
    return KeyLine(words, f"…{row.ends}" if row.ends else "…", since, row.used)


def _agent(found: AgentFound, keys: Collection[str], looked: bool) -> AgentLine:
    connection = found.connection
    serving = providers_of(connection.speaks) if connection.speaks else ()
    ready = tuple(each for each in serving if each in keys or each in KEYLESS)
    sign, stands, why = _stands(found) if looked else ("live", "looking", "")
    return AgentLine(
        name=connection.name,
        sign=sign,
        stands=stands,
        why=why,
        command=" ".join((connection.program, *connection.arguments)),
        speaks=WIRES[connection.speaks] if connection.speaks else "no model from here",
        ready=ready,
        other=tuple(each for each in serving if each not in ready),
        variables=tuple(connection.environment),
        records=connection.records,
        install=connection.about,
    )


def _stands(found: AgentFound) -> tuple[str, str, str]:
    if found.program is None:
        return (
            ("none", "not installed", "")
            if "not installed" in (found.missing or "")
            else (
                "warn",
                "cannot be started",
                found.missing or "",
            )
        )
    return "pass", f"version {found.version or 'unknown'}", found.program
