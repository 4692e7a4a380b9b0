"""Reading a rubric from a file: YAML, TOML or JSON, one schema, and errors that name the place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adjudge.errors import InputError
from adjudge.rubric.dimensions import read_dimensions
from adjudge.rubric.schema import read_criteria
from adjudge.rubric.syntax import parse_data, read_data
from adjudge.rubric.values import Rubric, hash_of_dimensions, rubric_hash

_RIGHT = "a rubric is a short list of criteria or of dimensions"


def read_rubric(path: Path) -> Rubric:
    """The rubric in a file: a list of criteria, `{name, criteria}`, or `{name, version, dimensions}`.

    Raises:
        InputError: the file cannot be read, or is not such a rubric; the message names the file and the place.
    """
    return _rubric(path, read_data(path, _RIGHT))


def parse_rubric(path: Path, text: str) -> Rubric:
    """As `read_rubric`, of a text that a file of this name would hold. Raises InputError if it is no rubric."""
    return _rubric(path, parse_data(path, text, _RIGHT))


def _rubric(path: Path, data: Any) -> Rubric:
    return _of_dimensions(path, data) if _has_dimensions(path, data) else _of_criteria(path, data)


def _has_dimensions(path: Path, data: Any) -> bool:
    """Whether a file means to be a rubric of dimensions: it has some, or a version, which criteria do without."""
    if not isinstance(data, dict):
        return False
    if "dimensions" in data and "criteria" in data:
        raise InputError(f"{path}: has both criteria and dimensions, which different judges answer; write two files")
    return "dimensions" in data or ("version" in data and "criteria" not in data)


def _of_criteria(path: Path, data: Any) -> Rubric:
    name, criteria = read_criteria(data, str(path), path.stem)
    return Rubric(name, criteria, rubric_hash(criteria), str(path))


def _of_dimensions(path: Path, data: dict[Any, Any]) -> Rubric:
    name, version, dimensions = read_dimensions(data, str(path), path.stem)
    return Rubric(name, (), hash_of_dimensions(dimensions, version), str(path), dimensions, version)
