"""Which keys of providers are there, from the environment or connected: never more of one than its last characters."""

from __future__ import annotations

import msgspec

from adjudge.connected import read_connections
from adjudge.settings import KEYS_OF, Settings

SHOWN_FROM = 16
"""Characters that a key must have before the last four of them are shown."""


class KeyFound(msgspec.Struct, frozen=True):
    """A key as it is listed: nothing more of it than its last four characters."""

    provider: str
    variable: str
    source: str
    ends: str
    since: str | None
    used: bool


def keys_found(own: Settings) -> tuple[KeyFound, ...]:
    """The keys of the environment, which `own` settings hold, and those connected to their store, by provider.

    Raises:
        InputError: as `connected.read_keys`.
    """
    connected = read_connections(own.store)
    rows: list[KeyFound] = []
    for provider, names in KEYS_OF.items():
        for name in names:
            if key := own.keys.get(name):
                rows.append(_row(provider, name, "environment", key, None, rows))
        for name in names:
            if kept := connected.get(name):
                rows.append(_row(provider, name, "connected", kept.key, kept.since, rows))
    return tuple(rows)


def _row(provider: str, variable: str, source: str, key: str, since: str | None, before: list[KeyFound]) -> KeyFound:
    ends = key[-4:] if len(key) >= SHOWN_FROM else ""
    return KeyFound(provider, variable, source, ends, since, not any(row.provider == provider for row in before))
