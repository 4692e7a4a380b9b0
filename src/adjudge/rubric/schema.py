"""The one schema of a criteria rubric, whatever syntax it was written in."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, get_args

import regex

from adjudge.errors import InputError
from adjudge.rubric.values import About, CommandProbe, Criterion, FileProbe, Probe

MOST = 100
"""Criteria of one rubric."""

LONGEST = 4000
"""Characters of a criterion's text, a command or an expected output."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_ABOUT: tuple[About, ...] = get_args(About)


def read_criteria(data: Any, source: str, name: str) -> tuple[str, tuple[Criterion, ...]]:
    """The name and the criteria that a parsed file holds; `name` is used where it gives none.

    Raises:
        InputError: it is not a rubric; the message starts with `source` and the place.
    """
    if isinstance(data, dict):
        _only(source, data, ("name", "criteria"))
        if "criteria" not in data:
            raise InputError(f'{source}: "criteria" is missing; it must be a list of criteria')
        name = _text(source, "name", data["name"]) if "name" in data else name
        data = data["criteria"]
    if not isinstance(data, list) or not data:
        raise InputError(f'{source}: "criteria" must be a list with at least one criterion, got {_told(data)}')
    if len(data) > MOST:
        raise InputError(f"{source}: has {len(data)} criteria; at most {MOST} can be judged, and a dozen is plenty")
    criteria = tuple(_criterion(f"{source}: criteria[{at}]", item, f"c{at + 1}") for at, item in enumerate(data))
    _distinct(source, [criterion.id for criterion in criteria])
    return name, criteria


def _distinct(source: str, ids: list[str]) -> None:
    for at, identifier in enumerate(ids):
        if (first := ids.index(identifier)) != at:
            raise InputError(
                f'{source}: criteria[{at}]: "id" {identifier!r} is already that of criteria[{first}]; '
                "each needs its own (a criterion without one is called c1, c2, … by its position)"
            )


def _criterion(at: str, item: Any, identifier: str) -> Criterion:
    if isinstance(item, str):
        return Criterion(identifier, _text(at, "text", item))
    if not isinstance(item, dict):
        raise InputError(f"{at}: must be a text or a mapping with a text, got {_told(item)}{_in_quotes(item)}")
    if len(item) == 1 and " " in str(next(iter(item))):
        raise InputError(f'{at}: is read as a mapping because of ": " in it; put the whole text in quotes')
    _only(at, item, ("id", "text", "probe", "about"))
    if "text" not in item:
        raise InputError(f'{at}: "text" is missing; it must say what is true or false')
    return Criterion(
        _identifier(at, item["id"]) if "id" in item else identifier,
        _text(at, "text", item["text"]),
        _probe(f"{at}.probe", item["probe"]) if "probe" in item else None,
        _about(at, item["about"]) if "about" in item else None,
    )


def _identifier(at: str, value: Any) -> str:
    text = _text(at, "id", value)
    if not _ID.fullmatch(text):
        raise InputError(f'{at}: "id" must be letters, digits, "-", "_" and ".", at most 64, got {_told(value)}')
    return text


def _about(at: str, value: Any) -> About:
    for about in _ABOUT:
        if value == about:
            return about
    raise InputError(f'{at}: "about" must be one of {", ".join(_ABOUT)}, got {_told(value)}')


def _probe(at: str, item: Any) -> Probe:
    if not isinstance(item, dict):
        raise InputError(f'{at}: must be a mapping with "run" or "file", got {_told(item)}')
    if ("run" in item) == ("file" in item):
        raise InputError(f'{at}: must have either "run" (a command) or "file" (a path)')
    return _command_probe(at, item) if "run" in item else _file_probe(at, item)


def _command_probe(at: str, item: dict[Any, Any]) -> CommandProbe:
    _only(at, item, ("run", "exit", "stdout", "stdout_matches"))
    status = item.get("exit", 0)
    if type(status) is not int or not 0 <= status <= 255:
        raise InputError(f'{at}: "exit" must be a whole number from 0 to 255, got {_told(status)}')
    _one_of(at, item, ("stdout", "stdout_matches"))
    return CommandProbe(
        _text(at, "run", item["run"]),
        status,
        _expected(at, "stdout", item) if "stdout" in item else None,
        _pattern(at, "stdout_matches", item) if "stdout_matches" in item else None,
    )


def _file_probe(at: str, item: dict[Any, Any]) -> FileProbe:
    _only(at, item, ("file", "equals", "matches", "exists"))
    path = _text(at, "file", item["file"])
    if path.startswith("/") or ".." in path.split("/"):
        raise InputError(f'{at}: "file" must be a path inside of the workspace and relative to it, got {_told(path)}')
    if not _one_of(at, item, ("equals", "matches", "exists")):
        raise InputError(f'{at}: must say what holds of the file: "equals", "matches" or "exists"')
    exists = item.get("exists")
    if "exists" in item and type(exists) is not bool:
        raise InputError(f'{at}: "exists" must be true or false, got {_told(exists)}')
    return FileProbe(
        path,
        _expected(at, "equals", item) if "equals" in item else None,
        _pattern(at, "matches", item) if "matches" in item else None,
        exists,
    )


def _one_of(at: str, item: dict[Any, Any], names: tuple[str, ...]) -> str | None:
    """The name that is given, or `None`; two exclude each other."""
    given = [name for name in names if name in item]
    if len(given) > 1:
        raise InputError(f"{at}: {' and '.join(map(repr, given))} exclude each other; keep one, or write two criteria")
    return given[0] if given else None


def _pattern(at: str, key: str, item: dict[Any, Any]) -> str:
    pattern = _text(at, key, item[key], strip=False)
    try:
        regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError) as error:
        raise InputError(f'{at}: "{key}" is not a regular expression: {error}') from error
    return pattern


def _expected(at: str, key: str, item: dict[Any, Any]) -> str:
    """Expected output, which may be empty and is compared with every space in it."""
    return _text(at, key, item[key], strip=False, most=100_000)


def _text(at: str, key: str, value: Any, strip: bool = True, most: int = LONGEST) -> str:
    if not isinstance(value, str):
        raise InputError(f'{at}: "{key}" must be text, got {_told(value)}{_in_quotes(value)}')
    text: str = value.strip() if strip else value
    if len(text) > most:
        raise InputError(f'{at}: "{key}" has {len(text)} characters; at most {most} are read')
    if strip and not any(map(str.isalnum, text)):
        raise InputError(f'{at}: "{key}" is empty; it must be text')
    return text


def _only(at: str, item: dict[Any, Any], names: Collection[str]) -> None:
    for key in item:
        if key not in names:
            raise InputError(f'{at}: "{str(key)[:80]}" is not known here; known are {", ".join(names)}')


def _told(value: Any) -> str:
    """A value as the message shows it: as it was written, shortened."""
    if value is None:
        return "nothing"
    if isinstance(value, (list, dict)):
        return ("a list" if isinstance(value, list) else "a mapping") + ("" if value else " with nothing in it")
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value[:80]}"' if isinstance(value, str) else str(value)[:80]


def _in_quotes(value: Any) -> str:
    """The advice for what YAML and TOML take for something else than text."""
    return "" if value is None or isinstance(value, (str, list, dict)) else "; put it in quotes"
