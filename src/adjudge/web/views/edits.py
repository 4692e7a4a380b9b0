"""What an editing call changes, as diffs: texts that are replaced, put in or written whole, and patches in scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from markupsafe import Markup

from adjudge.profile.code import literal_patches
from adjudge.profile.tool_table import find_tool
from adjudge.record import Entry
from adjudge.web.text import block_of, diff_block

MOST = 400_000
"""Characters of a call's arguments that are looked at."""
EDITS = 50
"""Edits of one call that are shown."""

_REPLACED = ("old_string", "old_str", "oldString", "old_text", "oldText")
_COMING = ("new_string", "new_str", "newString", "new_text", "newText")
_WHOLE = ("content", "file_text")
_PATHS = ("file_path", "filePath", "path")


class Change(msgspec.Struct, frozen=True):
    """A change of one file, or a patch that names its files itself: then `path` is empty. `how` says what is done to it."""

    path: str
    how: str
    html: Markup


def changes_of(entry: Entry) -> tuple[Change, ...]:
    """What a call says that it changes; nothing if it is no edit, or does not say it in one of the usual ways."""
    given = entry.arguments
    if entry.kind != "call" or not given or len(given) > MOST:
        return ()
    tool = find_tool(entry.name or "")
    if tool is None or tool.does not in ("edit", "write", "by command", "shell"):
        return ()
    try:
        arguments = msgspec.json.decode(given)
    except (msgspec.DecodeError, RecursionError):
        return tuple(Change("", "", block_of(patch).html) for patch in literal_patches(given))
    if not isinstance(arguments, dict) or tool.does == "shell":
        return ()
    path = _text(arguments, _PATHS) or ""
    whole = tool.does == "write" or arguments.get("command") == "create"
    return tuple(_written(path, arguments) if whole else _replaced(path, arguments))


def _replaced(path: str, arguments: Mapping[str, Any]) -> Iterator[Change]:
    """The edits that arguments say, one or a list of them."""
    listed = arguments.get("edits")
    edits = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else [arguments]
    for place, edit in enumerate(edits[:EDITS], 1):
        old, new, after = _text(edit, _REPLACED), _text(edit, _COMING), edit.get("insert_line")
        if new is None or (old is None and not isinstance(after, int)):
            continue
        of_several = f"edit {place} of {len(edits)}" if len(edits) > 1 else ""
        yield Change(path, f"put in after line {after}" if old is None else of_several, diff_block(old or "", new).html)


def _written(path: str, arguments: Mapping[str, Any]) -> Iterator[Change]:
    text = _text(arguments, _WHOLE)
    if text is not None:
        yield Change(path, "written whole", diff_block("", text).html)


def _text(values: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    found = (values.get(name) for name in names)
    return next((value for value in found if isinstance(value, str)), None)
