"""Texts, tools and schemas in a form that can be sent; the latter two drawn up once for all requests that have the same."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from adjudge.models.exchange import clean
from adjudge.ports import Tool

Json = dict[str, Any]

_encode = msgspec.json.Encoder().encode


class Offered:
    """What an endpoint of the chat format is offered: tools to call, and the schema of an answer.

    The last of each is remembered by its very value, so who asks must not change it.
    """

    def __init__(self) -> None:
        self._schema: tuple[Json, Json] = ({}, {})
        self._tools: tuple[tuple[Tool, ...], list[Json]] = ((), [])

    def schema(self, schema: Json) -> Json:
        """The schema, every string of which can be encoded."""
        if self._schema[0] is not schema:
            self._schema = (schema, sendable(schema))
        return self._schema[1]

    def tools(self, tools: tuple[Tool, ...]) -> list[Json]:
        """The tools as functions that can be called."""
        if self._tools[0] is not tools:
            self._tools = (tools, [_function(tool) for tool in tools])
        return self._tools[1]


def quoted(pieces: Iterable[str]) -> msgspec.Raw:
    """A text in pieces as one string of JSON, the same bytes as of the whole text. No piece may end within a character."""
    return msgspec.Raw(b'"%b"' % b"".join([_encode(clean(piece))[1:-1] for piece in pieces]))


def _function(tool: Tool) -> Json:
    function: Json = {"name": tool.name, "description": tool.description, "parameters": sendable(tool.parameters)}
    if _is_strict(tool.parameters):
        function["strict"] = True
    return {"type": "function", "function": function}


def _is_strict(schema: Any) -> bool:
    """Whether a schema leaves nothing open: every object names all its keys, requires them, and allows no other."""
    if isinstance(schema, list):
        return all(map(_is_strict, schema))
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object":
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(schema.get("properties", ())):
            return False
    return all(map(_is_strict, schema.values()))


def in_words(schema: Json) -> str:
    """The wish for an answer that satisfies a schema, for endpoints that cannot be told otherwise."""
    return (
        "Answer with one JSON object and nothing else, neither prose nor a fence. It must satisfy this JSON Schema:\n"
        f"{json.dumps(sendable(schema), ensure_ascii=False)}"
    )


def sendable(schema: Json) -> Json:
    """The same schema, every string of which can be encoded."""
    return {clean(name): _sendable(value) for name, value in schema.items()}


def _sendable(value: Any) -> Any:
    if isinstance(value, dict):
        return sendable(value)
    if isinstance(value, list):
        return [_sendable(item) for item in value]
    return clean(value) if isinstance(value, str) else value
