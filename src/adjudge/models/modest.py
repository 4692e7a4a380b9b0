"""Schemas for a model so small that it does not end by itself what it may go on with."""

from __future__ import annotations

from typing import Any

LONGEST = 240
"""Characters of a string."""

MOST = 2
"""Items of a list."""


def modest(schema: dict[str, Any]) -> dict[str, Any]:
    """The same JSON Schema with strings and lists that end. What llama.cpp samples obeys it, to the character."""
    match schema.get("type"):
        case "string" if "enum" not in schema:
            return {**schema, "maxLength": min(schema.get("maxLength", LONGEST), LONGEST)}
        case "array":
            return {**schema, "maxItems": min(schema.get("maxItems", MOST), MOST), "items": modest(schema.get("items", {}))}
        case "object":
            return {**schema, "properties": {name: modest(each) for name, each in schema["properties"].items()}}
    return schema
