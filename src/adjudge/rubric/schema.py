"""The one schema of a criteria rubric, whatever syntax it was written in."""

from __future__ import annotations

from typing import Any, get_args

import regex

from adjudge.errors import InputError
from adjudge.rubric.fields import in_quotes, read_id, read_text, refuse_repeated, refuse_unknown, told
from adjudge.rubric.values import About, CommandProbe, Criterion, FileProbe, Probe

MOST = 100
"""Criteria of one rubric."""

BY_POSITION = " (a criterion without one is called c1, c2, … by its position)"

_ABOUT: tuple[About, ...] = get_args(About)


def read_criteria(data: Any, source: str, name: str) -> tuple[str, tuple[Criterion, ...]]:
    """The name and the criteria that a parsed file holds; `name` is used where it gives none.

    Raises:
        InputError: it is not a rubric; the message starts with `source` and the place.
    """
    if isinstance(data, dict):
        refuse_unknown(source, data, ("name", "criteria"))
        if "criteria" not in data:
            raise InputError(f'{source}: "criteria" is missing; it must be a list of criteria')
        name = read_text(source, "name", data["name"]) if "name" in data else name
        data = data["criteria"]
    if not isinstance(data, list) or not data:
        raise InputError(f'{source}: "criteria" must be a list with at least one criterion, got {told(data)}')
    if len(data) > MOST:
        raise InputError(f"{source}: has {len(data)} criteria; at most {MOST} can be judged, and a dozen is plenty")
    criteria = tuple(_criterion(f"{source}: criteria[{at}]", item, f"c{at + 1}") for at, item in enumerate(data))
    refuse_repeated(source, "criteria", [criterion.id for criterion in criteria], BY_POSITION)
    return name, criteria


def _criterion(at: str, item: Any, by_position: str) -> Criterion:
    if isinstance(item, str):
        return Criterion(by_position, read_text(at, "text", item))
    if not isinstance(item, dict):
        raise InputError(f"{at}: must be a text or a mapping with a text, got {told(item)}{in_quotes(item)}")
    if len(item) == 1 and " " in str(next(iter(item))):
        raise InputError(f'{at}: is read as a mapping because of ": " in it; put the whole text in quotes')
    refuse_unknown(at, item, ("id", "text", "probe", "about"))
    if "text" not in item:
        raise InputError(f'{at}: "text" is missing; it must say what is true or false')
    return Criterion(
        read_id(at, item["id"]) if "id" in item else by_position,
        read_text(at, "text", item["text"]),
        _probe(f"{at}.probe", item["probe"]) if "probe" in item else None,
        _about(at, item["about"]) if "about" in item else None,
    )


def _about(at: str, value: Any) -> About:
    for about in _ABOUT:
        if value == about:
            return about
    raise InputError(f'{at}: "about" must be one of {", ".join(_ABOUT)}, got {told(value)}')


def _probe(at: str, item: Any) -> Probe:
    if not isinstance(item, dict):
        raise InputError(f'{at}: must be a mapping with "run" or "file", got {told(item)}')
    if ("run" in item) == ("file" in item):
        raise InputError(f'{at}: must have either "run" (a command) or "file" (a path)')
    return _command_probe(at, item) if "run" in item else _file_probe(at, item)


def _command_probe(at: str, item: dict[Any, Any]) -> CommandProbe:
    refuse_unknown(at, item, ("run", "exit", "stdout", "stdout_matches", "live"))
    status = item.get("exit", 0)
    if type(status) is not int or not 0 <= status <= 255:
        raise InputError(f'{at}: "exit" must be a whole number from 0 to 255, got {told(status)}')
    _one_of(at, item, ("stdout", "stdout_matches"))
    live = item.get("live", False)
    if type(live) is not bool:
        raise InputError(f'{at}: "live" must be true or false, got {told(live)}')
    return CommandProbe(
        read_text(at, "run", item["run"]),
        status,
        _expected(at, "stdout", item) if "stdout" in item else None,
        _pattern(at, "stdout_matches", item) if "stdout_matches" in item else None,
        live,
    )


def _file_probe(at: str, item: dict[Any, Any]) -> FileProbe:
    refuse_unknown(at, item, ("file", "equals", "matches", "exists"))
    path = read_text(at, "file", item["file"])
    if path.startswith("/") or ".." in path.split("/"):
        raise InputError(f'{at}: "file" must be a path inside of the workspace and relative to it, got {told(path)}')
    if not _one_of(at, item, ("equals", "matches", "exists")):
        raise InputError(f'{at}: must say what holds of the file: "equals", "matches" or "exists"')
    exists = item.get("exists")
    if "exists" in item and type(exists) is not bool:
        raise InputError(f'{at}: "exists" must be true or false, got {told(exists)}')
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
    pattern = read_text(at, key, item[key], strip=False)
    try:
        regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError) as error:
        raise InputError(f'{at}: "{key}" is not a regular expression: {error}') from error
    return pattern


def _expected(at: str, key: str, item: dict[Any, Any]) -> str:
    """Expected output, which may be empty and is compared with every space in it."""
    return read_text(at, key, item[key], strip=False, most=100_000)
