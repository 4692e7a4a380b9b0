"""Files that people write, in YAML, TOML or JSON: read strictly into plain values, with errors that name the line.

YAML here is its plain part: no tags, no aliases, no repeated keys. Its traps stay traps of a whole line and not of a
value: what a schema wants as text and YAML takes for something else (`no`, `1.10`, a date) is refused there, with the
advice to put it in quotes.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

from adjudge.errors import InputError

LARGEST = 1_000_000
"""Bytes of such a file."""

DEEPEST = 8
"""Levels of lists and mappings in each other; a rubric of either kind needs four."""

_QUOTES = 'a text that starts with a mark such as ` * & ! % @ or has ": " in it must stand in quotes'


def read_data(path: Path, right: str) -> Any:
    """The value that a file holds; its syntax is told by the name's ending, else by how it begins.

    `right` ends the message about a file that is far too large or too deep, as in "a rubric is a short list".

    Raises:
        InputError: the file cannot be read, or is not of its syntax; the message names the file and the line.
    """
    return parse_data(path, _text(path, right), right)


def parse_data(path: Path, text: str, right: str) -> Any:
    """As `read_data`, of a text that a file of this name would hold. Raises InputError if it is not of its syntax."""
    try:
        return _parsed(path, text, right)
    except RecursionError as error:
        raise InputError(f"{path}: is nested too deeply; {right}") from error


def _text(path: Path, right: str) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > LARGEST:
        raise InputError(f"{path}: is larger than {LARGEST} bytes; {right}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}: line {line}: is not UTF-8 (byte 0x{data[error.start]:02x}); save it as UTF-8") from error


_TOML = re.compile(r"(?:\s|#[^\n]*\n)*(?:\[\[?\s*\w+\s*\]|\w+\s*=)")


def _parsed(path: Path, text: str, right: str) -> Any:
    suffix = path.suffix.lower()
    if suffix == ".toml" or (suffix not in (".yaml", ".yml", ".json") and _TOML.match(text)):
        return _toml(path, text)
    return _json(path, text) if suffix == ".json" else _yaml(path, text, right)


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


LONGEST_NUMBER = 400
"""Characters of a number; a float has no more."""
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]  # the C loader is there in every wheel, and absent in some builds
    """PyYAML's safe loader that refuses repeated keys, and numbers longer than any number is."""

    def construct_scalar(self, node: yaml.ScalarNode) -> Any:
        """The text of a scalar. Numbers to the base of sixty would take a time that grows with the square of it."""
        if node.tag in _NUMBERS and len(node.value) > LONGEST_NUMBER:
            raise ValueError(f"a number of {len(node.value)} characters in line {node.start_mark.line + 1}")
        return super().construct_scalar(node)

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


def _yaml(path: Path, text: str, right: str) -> Any:
    try:
        _plain_yaml_only(path, text, right)
        return yaml.load(text, Loader=_Loader)  # noqa: S506  it is a safe loader
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InputError(f"{path}: line {line}: is not YAML: {error.problem}; {_QUOTES}") from error
    except yaml.YAMLError as error:
        raise InputError(f"{path}: is not YAML: {error}") from error
    except ValueError as error:
        raise InputError(f"{path}: has a value that YAML cannot read ({error}); put it in quotes") from error


def _plain_yaml_only(path: Path, text: str, right: str) -> None:
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
            raise InputError(f"{path}: line {line}: is nested too deeply; {right}")
