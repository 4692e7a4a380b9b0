"""Reading a connection from a file: every key checked, every placeholder known, every path inside of the agent's home."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import msgspec

from adjudge.agents.endpoints import Wire
from adjudge.errors import InputError
from adjudge.rubric.fields import in_quotes, read_id, read_text, refuse_unknown, told
from adjudge.rubric.syntax import read_data

MOST = 1000
"""Arguments, variables, files or records of one connection."""

LONGEST_FILE = 100_000
"""Characters of a file of settings."""

NAMED = re.compile(r"\$\{([^{}]*)\}")

_OF_THE_MODEL = ("model", "url", "key")
_OF_THE_MACHINE = ("home", "workspace")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RIGHT = "a connection is a mapping that says how one agent is started"


class Connection(msgspec.Struct, frozen=True, omit_defaults=True):
    """How an agent's program is started, which variables and files it needs, and where its record appears.

    `program` is a name to be found in PATH, or a path. `speaks` is the format of its requests to its model, `None` for an
    agent that is given no model. The texts of `arguments`, `environment` and `files` may hold `${model}`, `${url}` and
    `${key}` of its model, `${home}` and `${workspace}`; arguments also `${task}`. `files` and `records` are relative to
    the agent's home; the first record is the one that is read, the others are kept beside it. `version` are the
    arguments with which the program tells its version (none: it does not), `about` how it is installed.
    """

    name: str
    program: str
    speaks: Wire | None = None
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    files: dict[str, str] = {}
    records: tuple[str, ...] = ()
    version: tuple[str, ...] = ("--version",)
    about: str = ""


def read_connection(path: Path) -> Connection:
    """The connection in a file, called by the file's name if it gives none.

    Raises:
        InputError: it is no such connection; the message names the file, the place, what is wrong and what would be right.
    """
    data, at = read_data(path, _RIGHT), str(path)
    if not isinstance(data, dict):
        raise InputError(f"{at}: must be a mapping with program, speaks and arguments, got {told(data)}")
    refuse_unknown(at, data, Connection.__struct_fields__)
    for key, wanted in _MISSING.items():
        if key not in data:
            raise InputError(f'{at}: "{key}" is missing; {wanted}')
    return _checked(at, _connection(at, data, path.stem))


_MISSING = {
    "program": "the name of a program in PATH, or an absolute path",
    "speaks": f"the format of its requests to its model: {', '.join(get_args(Wire))}, or none",
    "arguments": 'what follows the program, "${task}" among it',
}


def _connection(at: str, data: dict[Any, Any], name: str) -> Connection:
    return Connection(
        name=read_id(at, data.get("name", name)),
        program=_program(at, data["program"]),
        speaks=_speaks(at, data["speaks"]),
        arguments=_texts(at, "arguments", data["arguments"]),
        environment=_environment(at, data.get("environment", {})),
        files=_files(at, data.get("files", {})),
        records=tuple(_inside(at, "records", each) for each in _texts(at, "records", data.get("records", []))),
        version=_texts(at, "version", data["version"]) if "version" in data else ("--version",),
        about=read_text(at, "about", data["about"]) if "about" in data else "",
    )


def _program(at: str, value: Any) -> str:
    program = read_text(at, "program", value)
    if "\0" in program or program.startswith("-") or ("/" in program and not program.startswith("/")):
        raise InputError(f'{at}: "program" must be {_MISSING["program"]}, got {told(program)}')
    return program


def _speaks(at: str, value: Any) -> Wire | None:
    if value == "none":
        return None
    for wire in get_args(Wire):
        if value == wire:
            return wire  # type: ignore[no-any-return]  # one of the literal's words
    raise InputError(f'{at}: "speaks" must be one of {", ".join(get_args(Wire))}, or none, got {told(value)}')


def _texts(at: str, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InputError(f'{at}: "{key}" must be a list of texts, got {told(value)}')
    _refuse_many(at, key, len(value))
    return tuple(_text(at, f"{key}[{number}]", each) for number, each in enumerate(value))


def _environment(at: str, value: Any) -> dict[str, str]:
    found = _mapping(at, "environment", value)
    for name in found:
        if not _VARIABLE.fullmatch(name):
            raise InputError(f"{at}: environment: {told(name)} must be the name of a variable, as in OPENAI_BASE_URL")
    return found


def _files(at: str, value: Any) -> dict[str, str]:
    return {_inside(at, "files", path): text for path, text in _mapping(at, "files", value, LONGEST_FILE).items()}


def _mapping(at: str, key: str, value: Any, most: int = 4000) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise InputError(f'{at}: "{key}" must be a mapping of names to texts, got {told(value)}{in_quotes(value)}')
    _refuse_many(at, key, len(value))
    return {name: _text(at, f"{key}.{name}", text, most) for name, text in value.items()}


def _refuse_many(at: str, key: str, number: int) -> None:
    if number > MOST:
        raise InputError(f'{at}: "{key}" has {number} items; at most {MOST} are read')


def _text(at: str, key: str, value: Any, most: int = 4000) -> str:
    text = read_text(at, key, value, strip=False, most=most)
    if "\0" in text:
        raise InputError(f'{at}: "{key}" holds a NUL, which no program can be given')
    return text


def _inside(at: str, key: str, path: str) -> str:
    """A path relative to the agent's home, which does not lead out of it."""
    if path.startswith("/") or not path or any(part in ("", ".", "..") for part in path.split("/")):
        raise InputError(f'{at}: "{key}" must be paths inside of the agent\'s home and relative to it, got {told(path)}')
    return path


# --- placeholders


def _checked(at: str, connection: Connection) -> Connection:
    """The connection, if each placeholder is known where it stands, and those without which it cannot work are there."""
    known = (*_OF_THE_MACHINE, *(_OF_THE_MODEL if connection.speaks else ()))
    _refuse_unknown_names(at, "arguments", connection.arguments, (*known, "task"))
    _refuse_unknown_names(at, "environment", connection.environment.values(), known)
    _refuse_unknown_names(at, "files", connection.files.values(), known)
    if not any("${task}" in argument for argument in connection.arguments):
        raise InputError(f'{at}: "arguments" must hold "${{task}}", or the agent would not know what to do')
    told_where = (*connection.arguments, *connection.environment.values(), *connection.files.values())
    if connection.speaks and not any("${url}" in text for text in told_where):
        raise InputError(f'{at}: nothing holds "${{url}}", where the agent finds its model; if it needs none: speaks: none')
    return connection


def _refuse_unknown_names(at: str, key: str, texts: Any, known: tuple[str, ...]) -> None:
    for text in texts:
        for name in NAMED.findall(text):
            if name not in known:
                wanted = ", ".join(f"${{{each}}}" for each in known)
                raise InputError(f'{at}: "{key}": ${{{name[:80]}}} is not known here; known are {wanted}')
