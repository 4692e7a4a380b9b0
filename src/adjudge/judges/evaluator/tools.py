"""The tools of the evaluator: what each takes, and how what a model sent is read, strictly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Never, TypeVar

import msgspec
from msgspec import Meta

from adjudge.errors import JudgingError
from adjudge.judges.evaluator import prompt
from adjudge.ports import Tool
from adjudge.record import Kind

MOST_SENT = 200_000
"""Characters of a decision or of a tool's arguments that are read; nothing longer is meant seriously."""

T = TypeVar("T")

_Position = Annotated[int, Meta(ge=0, le=10**12)]
_Turn = Annotated[int, Meta(ge=0, le=10**12)]
_Id = Annotated[str, Meta(max_length=60)]


class Outline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `outline`."""

    offset: Annotated[_Position, Meta(description="entries to skip, as an earlier page told you")] = 0


class SearchRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `search_record`."""

    pattern: Annotated[str, Meta(min_length=1, max_length=1000, description="what to find; upper and lower case are alike")]
    regex: Annotated[bool, Meta(description="whether the pattern is a regular expression")] = False
    kind: Annotated[Kind | None, Meta(description="only entries of this kind")] = None
    first_entry: Annotated[_Id | None, Meta(description="only from this entry on, in the outline's order")] = None
    last_entry: Annotated[_Id | None, Meta(description="only up to this entry")] = None
    first_turn: Annotated[_Turn | None, Meta(description="only from this turn on")] = None
    last_turn: Annotated[_Turn | None, Meta(description="only up to this turn")] = None
    offset: Annotated[_Position, Meta(description="matching entries to skip, as an earlier page told you")] = 0


class OpenEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `open_entry`."""

    entry: Annotated[_Id, Meta(description="the entry's id, such as e12 or s1.e3")]
    offset: Annotated[_Position, Meta(description="characters to skip, as an earlier page told you")] = 0


class ListDirectory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `list_directory`."""

    path: Annotated[str, Meta(max_length=4096, description="relative to the workspace")] = "."


class ReadFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `read_file`."""

    path: Annotated[str, Meta(max_length=4096, description="relative to the workspace")]
    offset: Annotated[_Position, Meta(description="bytes to skip, as an earlier page told you")] = 0


class SearchFiles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `search_files`."""

    pattern: Annotated[
        str, Meta(min_length=1, max_length=1000, description="what to find in a line; upper and lower case differ")
    ]
    path: Annotated[str, Meta(max_length=4096, description="a file or directory, relative to the workspace")] = "."
    regex: Annotated[bool, Meta(description="whether the pattern is a regular expression")] = False


class RunCommand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `run_command`."""

    command: Annotated[str, Meta(min_length=1, max_length=20_000, description="given to bash -c, in the workspace")]


class ReadPatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `read_patch`."""

    offset: Annotated[_Position, Meta(description="characters to skip, as an earlier page told you")] = 0


Arguments = Outline | SearchRecord | OpenEntry | ListDirectory | ReadFile | SearchFiles | RunCommand | ReadPatch

ON_RECORD: Mapping[str, type[Arguments]] = {"outline": Outline, "search_record": SearchRecord, "open_entry": OpenEntry}
ON_MACHINE: Mapping[str, type[Arguments]] = {
    "list_directory": ListDirectory,
    "read_file": ReadFile,
    "search_files": SearchFiles,
    "run_command": RunCommand,
}
ON_PATCH: Mapping[str, type[Arguments]] = {"read_patch": ReadPatch}


def look_tools(names: Mapping[str, type[Arguments]]) -> tuple[Tool, ...]:
    """The tools of these names, as a model is told of them."""
    return tuple(Tool(name, prompt.TOOLS[name], schema_of(arguments)) for name, arguments in names.items())


def schema_of(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON Schema of a Struct in the plain form that all providers take.

    There are no references and no alternatives in it; a value that may be null is one that may be left out.
    """
    _, components = msgspec.json.schema_components([struct])
    schema: dict[str, Any] = _plain(components[struct.__name__], components)
    return schema


def _plain(schema: Any, components: Mapping[str, Any]) -> Any:
    """The schema with its references followed; Structs are not recursive, so this ends."""
    if isinstance(schema, list):
        return [_plain(item, components) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if reference := schema.get("$ref"):
        return _plain(components[reference.rpartition("/")[2]], components)
    if "properties" in schema:  # a Struct's name and docstring are not for the model
        schema = {key: value for key, value in schema.items() if key not in ("title", "description")}
    if alternatives := schema.get("anyOf"):
        one = next(alternative for alternative in alternatives if alternative != {"type": "null"})
        schema = {**one, **{key: value for key, value in schema.items() if key not in ("anyOf", "default")}}
    if "enum" in schema:
        schema = {"type": "string", **schema}
    return {key: _plain(value, components) for key, value in schema.items()}


def read_strictly(text: str, kind: type[T]) -> T:
    """One JSON value of this kind, and nothing else: no second value, no doubled key, no NaN, nothing converted.

    Raises:
        JudgingError: it is not; the message tells a model what is wrong.
    """
    if len(text) > MOST_SENT:
        raise JudgingError(f"{len(text)} characters are too many; at most {MOST_SENT} are read")
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
        msgspec.json.encode(value)
        return msgspec.convert(value, kind, strict=True)
    except RecursionError as error:
        raise JudgingError("the JSON is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise JudgingError(f"not one JSON value: {error}") from error
    except UnicodeEncodeError as error:
        raise JudgingError("half of a surrogate pair stands in it, which is no text") from error
    except ValueError as error:
        raise JudgingError(str(error)) from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        doubled = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {doubled[:60]!r} stands twice in one object")
    return value


def _no_number(name: str) -> Never:
    raise ValueError(f"{name} is not JSON")
