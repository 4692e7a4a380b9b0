"""Reading a rubric from a file: YAML, TOML or JSON, one schema, and errors that name the place.

YAML here is its plain part: no tags, no aliases, no repeated keys. Its traps stay traps of a whole line and not of a
verdict: `id: no`, `id: 1.10` or a criterion that happens to be a date are refused with the advice to put them in quotes.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

from adjudge.errors import InputError
from adjudge.rubric.dimensions import read_dimensions
from adjudge.rubric.schema import read_criteria
from adjudge.rubric.values import Rubric, hash_of_dimensions, rubric_hash

LARGEST = 1_000_000
"""Bytes of a rubric's file."""

DEEPEST = 8
"""Levels of lists and mappings in each other; a rubric of either kind needs four."""

_QUOTES = 'a text that starts with a mark such as ` * & ! % @ or has ": " in it must stand in quotes'


def read_rubric(path: Path) -> Rubric:
    """The rubric in a file: a list of criteria, `{name, criteria}`, or `{name, version, dimensions}`.

    Raises:
        InputError: the file cannot be read, or is not such a rubric; the message names the file and the place.
    """
    text = _text(path)
    try:
        data = _parsed(path, text)
    except RecursionError as error:
        raise InputError(f"{path}: is nested too deeply; a rubric is a list of criteria or of dimensions") from error
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


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > LARGEST:
        raise InputError(f"{path}: is larger than {LARGEST} bytes; a rubric is a short list of criteria or of dimensions")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}: line {line}: is not UTF-8 (byte 0x{data[error.start]:02x}); save it as UTF-8") from error


_TOML = re.compile(r"(?:\s|#[^\n]*\n)*(?:\[\[?\s*\w+\s*\]|\w+\s*=)")


def _parsed(path: Path, text: str) -> Any:
    suffix = path.suffix.lower()
    if suffix == ".toml" or (suffix not in (".yaml", ".yml", ".json") and _TOML.match(text)):
        return _toml(path, text)
    return _json(path, text) if suffix == ".json" else _yaml(path, text)


def _json(path: Path, text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: line {error.lineno}: is not JSON: {error.msg}") from error
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key, value in pairs:
        if key in mapping:
            raise ValueError(f'"{key[:80]}" is given twice in one mapping; give it once')
        mapping[key] = value
    return mapping


def _toml(path: Path, text: str) -> Any:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: is not TOML: {error}") from error
    except ValueError as error:
        raise InputError(f"{path}: has a value that cannot be read: {error}") from error


_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]  # the C loader is there in every wheel, and absent in some builds
    """PyYAML's safe loader that refuses repeated keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """The mapping of a node, each key once."""
        seen: set[str] = set()
        for key in (str(key.value) for key, _ in node.value):
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    problem=f'"{key[:80]}" is given twice', problem_mark=node.start_mark
                )
            seen.add(key)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return mapping


def _yaml(path: Path, text: str) -> Any:
    try:
        _plain_yaml_only(path, text)
        return yaml.load(text, Loader=_Loader)  # noqa: S506  it is a safe loader
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InputError(f"{path}: line {line}: is not YAML: {error.problem}; {_QUOTES}") from error
    except yaml.YAMLError as error:
        raise InputError(f"{path}: is not YAML: {error}") from error
    except ValueError as error:
        raise InputError(f"{path}: has a value that YAML cannot read ({error}); put it in quotes") from error


def _plain_yaml_only(path: Path, text: str) -> None:
    """Refuse aliases, tags and depth before anything is built from them."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.AliasEvent):
            raise InputError(f"{path}: line {line}: aliases (*{event.anchor}) are not read here; write the text out")
        if tag := getattr(event, "tag", None):
            raise InputError(f"{path}: line {line}: tags ({tag}) are not read here; leave it out")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise InputError(f"{path}: line {line}: is nested too deeply; a rubric is a list of criteria or of dimensions")
