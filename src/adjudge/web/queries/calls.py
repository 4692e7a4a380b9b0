"""What a call asks for, in few words: without its tool's name, which stands beside it, the file that it is about first."""

from __future__ import annotations

import msgspec

from adjudge.record import Entry

WIDEST = 60
"""Characters of a path, of which the end says the most."""
MOST = 400_000
"""Characters of a call's arguments in which a path is looked for."""


class _Paths(msgspec.Struct, frozen=True):
    """How tools name the file that they are about."""

    file_path: str = ""
    filePath: str = ""  # noqa: N815  OpenCode's name
    path: str = ""
    notebook_path: str = ""


_decode = msgspec.json.Decoder(_Paths).decode


def without_tool(entry: Entry) -> str:
    """What an entry says; of a call without its tool's name."""
    first, _, rest = entry.text.partition("\n")
    return rest if entry.kind == "call" and first == entry.name and rest else entry.text


def said(entry: Entry) -> str:
    """What an entry says; of a call what it asks for."""
    rest = without_tool(entry)
    name, path = _path(entry) if rest is not entry.text else ("", "")
    if not path:
        return rest
    others = f"\n{rest}".replace(f"\n{name}: {path}", "", 1).removeprefix("\n")
    end = path if len(path) <= WIDEST else f"…{path[1 - WIDEST :]}"
    return f"{end}\n{others}" if others else end


def _path(entry: Entry) -> tuple[str, str]:
    """The name of the argument that is a path, and the path."""
    if not entry.arguments or len(entry.arguments) > MOST:
        return "", ""
    try:
        found = msgspec.structs.asdict(_decode(entry.arguments))
    except (msgspec.DecodeError, RecursionError):
        return "", ""
    return next(((name, path) for name, path in found.items() if path), ("", ""))
