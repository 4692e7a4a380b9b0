"""The values of a rubric, and the hash over their content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Literal

import msgspec

About = Literal["result", "process", "answer", "account"]


class CommandProbe(msgspec.Struct, frozen=True, omit_defaults=True, tag="command", tag_field="kind"):
    """A command and what it must do: decided on the machine, without a model.

    With `live` it runs among the processes that the agent left running, else on a copy of the files of its own.
    """

    run: str
    exit: int = 0
    stdout: str | None = None
    stdout_matches: str | None = None
    live: bool = False


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


class Scale(msgspec.Struct, frozen=True):
    """The values that a dimension can take: from `least` to `most`, both included, whole numbers only if `whole`."""

    least: float
    most: float
    whole: bool = True

    def holds(self, value: float) -> bool:
        """Whether a value is on the scale."""
        return self.least <= value <= self.most and (not self.whole or value == int(value))


SEVERITY = Scale(0, 3)
RATIO = Scale(0, 1, whole=False)


class Dimension(msgspec.Struct, frozen=True, omit_defaults=True):
    """One fixed scale of the reader.

    `baseline` is the blameless value, `worse` the direction in which values accuse. `description` says what is scored,
    `guidance` how values are told apart, `not_findings` what must not be taken for one. A dimension with `causes` is
    answered with causes of this list, each with its share, a recommendation and the turns that show it.
    """

    id: str
    scale: Scale
    baseline: float
    worse: Literal["higher", "lower"]
    description: str
    guidance: str = ""
    not_findings: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()

    def accuses(self, value: float) -> bool:
        """Whether a value is worse than the blameless one."""
        return value > self.baseline if self.worse == "higher" else value < self.baseline


class Rubric(msgspec.Struct, frozen=True, omit_defaults=True):
    """Criteria for the evaluator, or dimensions for the reader, in a file.

    `hash` is a SHA-256 over the criteria, or over the dimensions and `version`, whatever the file's syntax and layout.
    """

    name: str
    criteria: tuple[Criterion, ...]
    hash: str
    source: str
    dimensions: tuple[Dimension, ...] = ()
    version: str | None = None


def rubric_hash(criteria: Iterable[Criterion]) -> str:
    """SHA-256 over the criteria as canonical JSON: sorted keys, no white space, only what is set."""
    return _hash([_plain(criterion) for criterion in criteria])


def hash_of_dimensions(dimensions: Iterable[Dimension], version: str) -> str:
    """SHA-256 over the dimensions and the rubric's version as canonical JSON."""
    return _hash([version, *(_plain(dimension) for dimension in dimensions)])


def content_hash(rubric: Rubric) -> str:
    """The hash that a rubric of this content has."""
    if rubric.dimensions:
        return hash_of_dimensions(rubric.dimensions, rubric.version or "")
    return rubric_hash(rubric.criteria)


def _hash(content: list[object]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _plain(value: Criterion | Dimension) -> dict[str, object]:
    return {name: _canonical(item) for name, item in msgspec.to_builtins(value).items() if item is not None}


def _canonical(item: object) -> object:
    """Whole numbers without a decimal point, since `0` and `0.0` are one value in some syntaxes and two in others."""
    if isinstance(item, dict):  # a scale, or a probe
        return {name: _canonical(part) for name, part in item.items()}
    return int(item) if isinstance(item, float) and item.is_integer() else item
