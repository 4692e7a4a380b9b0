"""The tools of the evaluator: what each takes, and how a model is told so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from adjudge.judges.evaluator import prompt
from adjudge.ports import Tool
from adjudge.record import Kind

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
