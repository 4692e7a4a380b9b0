"""The values of a rubric, and the hash over their content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Literal

import msgspec

About = Literal["result", "process", "answer", "account"]


class CommandProbe(msgspec.Struct, frozen=True, omit_defaults=True, tag="command", tag_field="kind"):
    """A command and what it must do: decided on the machine, without a model."""

    run: str
    exit: int = 0
    stdout: str | None = None
    stdout_matches: str | None = None


class FileProbe(msgspec.Struct, frozen=True, omit_defaults=True, tag="file", tag_field="kind"):
    """A file of the workspace, read from the host side, and what must hold of it."""

    file: str
    equals: str | None = None
    matches: str | None = None
    exists: bool | None = None


Probe = CommandProbe | FileProbe


class Criterion(msgspec.Struct, frozen=True, omit_defaults=True):
    """A statement that is true or false of a run.

    `about` says what can prove it; left out, it is concluded from the text (see `evidence.about`).
    """

    id: str
    text: str
    probe: Probe | None = None
    about: About | None = None


class Rubric(msgspec.Struct, frozen=True):
    """Criteria in a file. `hash` is a SHA-256 over the criteria alone, whatever the file's syntax and layout."""

    name: str
    criteria: tuple[Criterion, ...]
    hash: str
    source: str


def rubric_hash(criteria: Iterable[Criterion]) -> str:
    """SHA-256 over the criteria as canonical JSON: sorted keys, no white space, only what is set."""
    content = json.dumps([_plain(criterion) for criterion in criteria], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()


def _plain(criterion: Criterion) -> dict[str, object]:
    return {name: value for name, value in msgspec.to_builtins(criterion).items() if value is not None}
