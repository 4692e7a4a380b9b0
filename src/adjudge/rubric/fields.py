"""Single fields of a rubric's file: what each must be, and the words that are said when it is not."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from adjudge.errors import InputError

LONGEST = 4000
"""Characters of a text, a command or a guidance."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_text(at: str, key: str, value: Any, strip: bool = True, most: int = LONGEST) -> str:
    """A text of at most so many characters; one that is stripped must say something.

    Raises:
        InputError: it is not; the message starts with `at` and the key. So with all functions here.
    """
    if not isinstance(value, str):
        raise InputError(f'{at}: "{key}" must be text, got {told(value)}{in_quotes(value)}')
    if _SURROGATE.search(value):
        raise InputError(f'{at}: "{key}" holds half of a surrogate pair, which is no character; write the character itself')
    found: str = value.strip() if strip else value
    if len(found) > most:
        raise InputError(f'{at}: "{key}" has {len(found)} characters; at most {most} are read')
    if strip and not any(map(str.isalnum, found)):
        raise InputError(f'{at}: "{key}" is empty; it must be text')
    return found


def read_id(at: str, value: Any) -> str:
    """An id: a text that can stand in a file name, a link and a JSON key."""
    found = read_text(at, "id", value)
    if not _ID.fullmatch(found):
        raise InputError(f'{at}: "id" must be letters, digits, "-", "_" and ".", at most 64, got {told(value)}')
    return found


def refuse_unknown(at: str, item: dict[Any, Any], names: Collection[str]) -> None:
    """Refuse keys other than these."""
    for key in item:
        if key not in names:
            raise InputError(f'{at}: "{str(key)[:80]}" is not known here; known are {", ".join(names)}')


def refuse_repeated(source: str, key: str, ids: Sequence[str], hint: str = "") -> None:
    """Refuse a list two of whose items have the same id."""
    for at, each in enumerate(ids):
        if (first := ids.index(each)) != at:
            raise InputError(
                f'{source}: {key}[{at}]: "id" {each!r} is already that of {key}[{first}]; each needs its own{hint}'
            )


def told(value: Any) -> str:
    """A value as the message shows it: as it was written, shortened."""
    if value is None:
        return "nothing"
    if isinstance(value, (list, dict)):
        return ("a list" if isinstance(value, list) else "a mapping") + ("" if value else " with nothing in it")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) >= 10**80:  # Python does not even write it out
        return "a number of more than 80 digits"
    return f'"{value[:80]}"' if isinstance(value, str) else str(value)[:80]


def in_quotes(value: Any) -> str:
    """The advice for what YAML and TOML take for something else than text."""
    return "" if value is None or isinstance(value, (str, list, dict)) else "; put it in quotes"
