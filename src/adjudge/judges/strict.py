"""How what a model sent is read: strictly, or with a sentence on what is wrong; and how long words of it are cut."""

from __future__ import annotations

import json
import re
from typing import Any, Never, TypeVar

import msgspec

from adjudge.errors import JudgingError

MOST_SENT = 200_000
"""Characters of a decision or of a tool's arguments that are read; nothing longer is meant seriously."""

T = TypeVar("T")


def read_strictly(text: str, kind: type[T]) -> T:
    """One JSON value of this kind, and nothing else: no second value, no doubled key, no NaN, nothing converted.

    Raises:
        JudgingError: it is not; the message tells a model what is wrong.
    """
    return converted(read_json(text), kind)


def read_json(text: str) -> Any:
    """One JSON value that can be written again, and nothing else. Raises JudgingError as `read_strictly` does."""
    if len(text) > MOST_SENT:
        raise JudgingError(f"{len(text)} characters are too many; at most {MOST_SENT} are read")
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
        msgspec.json.encode(value)
    except RecursionError as error:
        raise JudgingError("the JSON is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise JudgingError(f"not one JSON value: {error}") from error
    except UnicodeEncodeError as error:
        raise JudgingError("half of a surrogate pair stands in it, which is no text") from error
    except ValueError as error:
        raise JudgingError(str(error)) from error
    return value


def converted(value: Any, kind: type[T]) -> T:
    """A JSON value as this kind, nothing in it converted. Raises JudgingError as `read_strictly` does."""
    try:
        return msgspec.convert(value, kind, strict=True)
    except RecursionError as error:
        raise JudgingError("the JSON is nested too deeply") from error
    except ValueError as error:
        raise JudgingError(str(error)) from error


def unfenced(text: str) -> str:
    """A message without the fence, if there is one around the whole of it."""
    fenced = _FENCE.fullmatch(text.strip().removeprefix("\ufeff"))
    return fenced[1] if fenced else text.removeprefix("\ufeff")


_FENCE = re.compile(r"```(?:json\b)?[ \t]*\r?\n?(.*?)\s*```", re.S | re.I)


def bounded(text: str, most: int) -> str:
    """The text, visibly cut after so many characters."""
    return text if len(text) <= most else f"{text[:most]} [cut: {len(text)} characters in all]"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for name, item in pairs:
        if name in value:
            raise ValueError(f"the key {name[:60]!r} stands twice in one object")
        value[name] = item
    return value


def _no_number(name: str) -> Never:
    raise ValueError(f"{name} is not JSON")
