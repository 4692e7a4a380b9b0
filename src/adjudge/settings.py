"""Everything that can be set, as one frozen value that is read once."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Literal, get_args

import msgspec

from adjudge.errors import InputError

PruneMode = Literal["full", "pruned", "automatic"]

KEYS_OF: Mapping[str, tuple[str, ...]] = {
    "openrouter": ("OPENROUTER_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
}
"""The variables in which a provider's key is looked for, the first one first."""

KEYS = tuple(name for names in KEYS_OF.values() for name in names)
BASE_URLS = ("OPENROUTER_BASE_URL", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GEMINI_BASE_URL", "GOOGLE_BASE_URL")


class MachineLimits(msgspec.Struct, frozen=True):
    """What commands on a machine may use: seconds of wall clock for one command, bytes, and numbers of things."""

    seconds: float = 60.0
    memory: int = 1 << 30
    processes: int = 256
    output: int = 256 << 10
    disk: int = 1 << 30
    files: int = 100_000


class AgentLimits(msgspec.Struct, frozen=True):
    """What one attempt of an agent may use, from its start to the end of its process.

    `seconds` is wall clock, `grace` how long the process may take to end after SIGTERM. `memory`, `disk` and `output` are
    bytes: of all processes together, of the workspace's changes, and of what the process prints. `requests` bounds the
    requests to its model.
    """

    seconds: float = 1800.0
    grace: float = 10.0
    memory: int = 4 << 30
    processes: int = 1024
    output: int = 256 << 20
    disk: int = 2 << 30
    files: int = 1_000_000
    requests: int = 1000


class Settings(msgspec.Struct, frozen=True):
    """Settings with their defaults; each can be set by an environment variable `ADJUDGE_<NAME>`.

    `store` is a folder, or the URL of a PostgreSQL database. `blobs` is a folder or an fsspec URL; a store that is a folder
    keeps them there, if it is `None`. `budget` is in US dollars for one judgment. `deadline` bounds one call
    to a model in seconds, retries included. `expose` are absolute paths of the host's toolchain that commands may read.
    `prune` is how much of a long trajectory a reader is shown. `reviewer` is the name under which reviews are kept. `keys`
    and `base_urls` come from the providers' usual variables.
    """

    store: str = ".adjudge"
    blobs: str | None = None
    model: str | None = None
    looks: int = 40
    budget: float | None = None
    deadline: float = 600.0
    mask: bool = True
    prune: PruneMode = "pruned"
    reviewer: str | None = None
    expose: tuple[str, ...] = ()
    machine: MachineLimits = MachineLimits()
    keys: Mapping[str, str] = {}
    base_urls: Mapping[str, str] = {}


def is_url(place: object) -> bool:
    """Whether this names something by a URL, and no folder."""
    return "://" in str(place)


def without_password(place: object) -> str:
    """A folder, or a URL as messages may show it: with `***` for what may be its password, rather more than less."""
    hidden = re.sub(r"^([^:/]+://[^:/@]*):.*@", r"\1:***@", str(place), flags=re.S)
    return re.sub(r"(?<=password=)[^&]*", "***", hidden)


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings that the environment holds.

    Raises:
        InputError: a variable has a value of the wrong kind; the message names both.
    """
    env = os.environ if environment is None else environment
    given: dict[str, Any] = {}
    kinds: tuple[tuple[str, Any], ...] = (
        ("store", str),
        ("blobs", str),
        ("model", str),
        ("looks", int),
        ("budget", float),
        ("deadline", float),
        ("mask", bool),
        ("prune", PruneMode),
        ("reviewer", str),
    )
    for name, kind in kinds:
        if (value := env.get(f"ADJUDGE_{name.upper()}")) not in (None, ""):
            given[name] = _converted(f"ADJUDGE_{name.upper()}", str(value), kind)
    if paths := env.get("ADJUDGE_EXPOSE"):
        given["expose"] = tuple(path for path in paths.split(os.pathsep) if path)
    given["machine"] = MachineLimits(**_limits(env))
    given["keys"] = {name: env[name] for name in KEYS if env.get(name)}
    given["base_urls"] = {name: env[name] for name in BASE_URLS if env.get(name)}
    return Settings(**given)


def _limits(env: Mapping[str, str]) -> dict[str, Any]:
    kinds = {"seconds": float, "memory": int, "processes": int, "output": int, "disk": int, "files": int}
    names = {name: f"ADJUDGE_MACHINE_{name.upper()}" for name in kinds}
    return {name: _converted(names[name], env[names[name]], kinds[name]) for name in kinds if env.get(names[name])}


_WORDS: Mapping[Any, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    PruneMode: " or ".join(get_args(PruneMode)),
}


def _converted(name: str, value: str, kind: Any) -> Any:
    try:
        converted: Any = msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError as error:
        raise InputError(f"{name}: must be {_WORDS[kind]}, got {value!r}") from error
    if kind in (int, float) and converted <= 0:
        raise InputError(f"{name}: must be above 0, got {value!r}")
    return converted
