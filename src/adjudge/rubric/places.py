"""Where in a rubric's text its criteria or dimensions begin, so that what is said of one can name its line."""

from __future__ import annotations

import re
from typing import Any

import yaml

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_ITEM = re.compile(r"[^:]{1,300}: (?:criteria|dimensions)\[(\d{1,4})\]")
_LINE = re.compile(r"[^:]{1,300}: (?:line (\d{1,7}):|.{1,300}\(at line (\d{1,7}),)")


def lines_of(text: str) -> tuple[int, ...]:
    """The line, from 1 on, of each criterion or dimension of a rubric's text, if that is YAML.

    The text must be one that `reading` took, at least until its items: nothing bounds how deep it is nested otherwise.
    """
    try:
        root = yaml.compose(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError):  # TOML
        return ()
    if isinstance(root, yaml.MappingNode):
        listed = [value for key, value in root.value if key.value in ("criteria", "dimensions")]
        root = listed[0] if listed else None
    items = root.value if isinstance(root, yaml.SequenceNode) else []
    return tuple(item.start_mark.line + 1 for item in items)


def line_of(message: str, text: str) -> int | None:
    """The line that a message of `reading` about this text means, by a line or an item that it names."""
    if found := _LINE.match(message):
        return int(found[1] or found[2])
    if item := _ITEM.match(message):
        lines, number = lines_of(text), int(item[1])
        return lines[number] if number < len(lines) else None
    return None
