"""What others' JSON holds where a number, a text or a time should be: the value if it is one, else `None`."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from adjudge.importers.build import media

LARGEST = 2**53
"""Numbers beyond it are no counts: a float cannot tell them from their neighbours."""


def number(value: Any) -> float | None:
    """A number of a size that can be counted with."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not -LARGEST < value < LARGEST:
        return None
    return float(value)


def count(value: Any) -> int | None:
    """A whole number that is not negative, also one written as a float."""
    found = number(value)
    return None if found is None or found < 0 else int(found)


def amount(value: Any) -> float | None:
    """A number above 0. Harnesses write 0 for a cost that they do not know."""
    found = number(value)
    return found if found is not None and found > 0 else None


def text(value: Any) -> str:
    """A text; anything else is the empty one."""
    return value if isinstance(value, str) else ""


def mapping(value: Any) -> dict[str, Any]:
    """An object; anything else is the empty one."""
    return value if isinstance(value, dict) else {}


def listing(value: Any) -> list[Any]:
    """An array; anything else is the empty one."""
    return value if isinstance(value, list) else []


def moment(value: Any, unit: float = 1.0) -> str | None:
    """A time in seconds (or units of so many seconds) since 1970 as ISO 8601 in UTC; a text stays as it was written."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return datetime.fromtimestamp(value * unit, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return None


_BASE64 = re.compile(r"""((?:;base64,|["'](?:data|base64)["']\s*:\s*["']))([A-Za-z0-9+/]{512,}={0,2})""")

_HINTS = ("base64", '"data"', "'data'")


def without_base64(content: str) -> str:
    """The text with embedded binary data (data URLs, `"data": "…"` members) replaced by its size and hash."""
    if len(content) < 512 or not any(hint in content for hint in _HINTS):
        return content
    return _BASE64.sub(lambda match: match[1] + media("base64", match[2]), content)


def attachment(kind: str, url: str) -> str:
    """What stands for an attached file: its kind and address, or its size and hash if the address holds the data."""
    if not url.startswith("data:"):
        return f"[{kind} {url}]"
    header, _, data = url.partition(",")
    return media(header[5:].partition(";")[0] or kind, data)
