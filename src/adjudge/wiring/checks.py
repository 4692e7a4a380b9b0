"""Checking what is stored, and what works here."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from adjudge.connected import read_keys
from adjudge.errors import AdjudgeError, OutsideError
from adjudge.settings import KEYS, without_password
from adjudge.wiring.stores import open_store

if TYPE_CHECKING:
    from adjudge.machines.selftest import Check
    from adjudge.settings import Settings
    from adjudge.store.store import Store
    from adjudge.verifying import Verification


def verify(store: Store, judgment: str) -> Verification:
    """Check a stored judgment again; see `store.checking.verify_stored`. Scores are held against the transcript too."""
    from adjudge.judges.reader.again import against_transcript
    from adjudge.store.checking import verify_stored

    checked = verify_stored(store, judgment)
    try:
        stored = store.judgment(judgment)
        rubric = store.rubric(stored.rubric_hash) if stored.rubric_hash else None
        found = against_transcript(stored, store.run(stored.run).record, rubric) if rubric else ()
    except OutsideError:  # it is damaged where it lies, which has been found
        return checked
    known = {finding.place for finding in checked.findings}
    new = tuple(finding for finding in found if finding.place not in known)
    return msgspec.structs.replace(checked, findings=(*checked.findings, *new))


async def diagnose(settings: Settings) -> tuple[Check, ...]:
    """What works here: the sandbox, containers, the store, agents that can be started, and access to models."""
    from adjudge.agents.diagnosis import diagnose_agents
    from adjudge.machines.diagnosis import diagnose as diagnose_machine
    from adjudge.wiring.docker import diagnose_containers

    here, containers, agents = await asyncio.gather(diagnose_machine(), diagnose_containers(), diagnose_agents())
    return (*here, *containers, *agents, *_checks_of_store(settings), _check_of_keys(settings))


def _checks_of_store(settings: Settings) -> Iterator[Check]:
    from adjudge.machines.selftest import Check

    try:
        with open_store(settings) as store:
            store.require_room()
            about = store.require_writing()
            yield Check("store", True, f"{without_password(settings.store)} can be written ({about})")
            if settings.blobs is not None:
                yield _check_of_blobs(store, settings.blobs)
    except AdjudgeError as error:
        blobs = "" if settings.blobs is None else ", or another folder or URL for its blobs in ADJUDGE_BLOBS"
        yield Check("store", False, str(error), f"name another folder or database in ADJUDGE_STORE{blobs}")


def _check_of_blobs(store: Store, place: str) -> Check:
    from adjudge.machines.selftest import Check

    try:
        store.require_blobs()
    except AdjudgeError as error:
        return Check("blobs", False, str(error), "name another folder or URL in ADJUDGE_BLOBS")
    return Check("blobs", True, f"{without_password(place)} can be written and read")


def _check_of_keys(settings: Settings) -> Check:
    from adjudge.machines.selftest import Check

    named = f"ADJUDGE_MODEL is {settings.model}" if settings.model else "no ADJUDGE_MODEL is set"
    if settings.keys:
        connected = read_keys(settings.store)
        told = (f"{name} ({_source(name, key, connected)})" for name, key in sorted(settings.keys.items()))
        return Check("models", True, f"{named}; keys: {', '.join(told)}")
    help = (
        f"set one of {', '.join(KEYS)}, or connect a key with `adjudge connect PROVIDER`, or judge with a server of your "
        "own: --model http://HOST:PORT/v1#MODEL"
    )
    return Check("models", settings.model is not None, f"{named}; no key is set", help)


def _source(name: str, key: str, connected: Mapping[str, str]) -> str:
    return "connected" if connected.get(name) == key and not os.environ.get(name) else "environment"
