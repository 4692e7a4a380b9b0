"""A rubric: the criteria that an evaluator answers, true or false, with a hash over their content."""

from __future__ import annotations

from typing import Literal

import msgspec

About = Literal["result", "process", "answer", "account"]


class CommandProbe(msgspec.Struct, frozen=True, omit_defaults=True, tag="command"):
    """A command and what it must do: decided on the machine, without a model."""

    run: str
    exit: int = 0
    stdout: str | None = None
    stdout_matches: str | None = None


class FileProbe(msgspec.Struct, frozen=True, omit_defaults=True, tag="file"):
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
