"""A rubric as the text of a file: what `reading` makes the same rubric of again, with the same hash."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import yaml

from adjudge.rubric.values import RATIO, SEVERITY, Criterion, Dimension, Rubric, Scale

_BREAKS = re.compile("[\r\x0b\x0c\x85\u2028\u2029]")
"""What YAML or an editor takes for the end of a line, and would put in order."""


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as such, and no aliases, which are not read."""

    def ignore_aliases(self, _: Any) -> bool:
        """Write everything out."""
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if _BREAKS.search(text) else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def rubric_text(rubric: Rubric) -> str:
    """The rubric in YAML, in the order of its fields; what has its default is left out."""
    return yaml_text(_named(rubric) | (_of_dimensions(rubric) if rubric.dimensions else _of_criteria(rubric)))


def yaml_text(value: Any) -> str:
    """Plain values as YAML without tags and aliases, lines as long as they are."""
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1 << 30))


def _named(rubric: Rubric) -> dict[str, Any]:
    """The name, unless it could not be read again: a file's own name may be of signs alone."""
    readable = rubric.name.isprintable() and any(map(str.isalnum, rubric.name))
    return {"name": rubric.name} if readable else {}


def _of_criteria(rubric: Rubric) -> dict[str, Any]:
    return {"criteria": [_criterion(each) for each in rubric.criteria]}


def _criterion(criterion: Criterion) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(criterion)
    if criterion.probe is not None:
        plain["probe"].pop("kind")
    return plain


def _of_dimensions(rubric: Rubric) -> dict[str, Any]:
    return {"version": rubric.version, "dimensions": [_dimension(each) for each in rubric.dimensions]}


def _dimension(dimension: Dimension) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(dimension)
    return plain | {"scale": _scale(dimension.scale), "baseline": _number(dimension.baseline)}


def _scale(scale: Scale) -> str | dict[str, Any]:
    named = {SEVERITY: "severity", RATIO: "ratio"}
    if scale in named:
        return named[scale]
    return {"least": _number(scale.least), "most": _number(scale.most)} | ({} if scale.whole else {"whole": False})


def _number(number: float) -> float:
    return int(number) if number.is_integer() else number
