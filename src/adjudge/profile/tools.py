"""What a call of a tool asks for: the facets that its name and its arguments have."""

from __future__ import annotations

from typing import Any

import msgspec

from adjudge.profile.code import code_facet, literal_commands, patched_paths, tools_used, unescaped_script
from adjudge.profile.commands import command_facets
from adjudge.profile.tool_table import OF_A_SERVER, Tool, find_tool
from adjudge.profile.work import END, Facet, Span, Work

_FOLDERS = ("workdir", "cwd", "dir_path", "directory")
_SHELL_NAMES = frozenset({"bash", "sh", "zsh", "dash"})
_VERBS: dict[str, Work] = {"view": "read", "create": "write", "str_replace": "edit", "insert": "edit", "undo_edit": "edit"}


def _opaque(name: str, tool: Tool | None) -> Facet:
    """The facet of a tool that only its name tells of."""
    return Facet("other", opaque=True) if tool else Facet("unknown", words=(name,), opaque=True)


class Asked(msgspec.Struct, frozen=True, gc=False):
    """What a call asks for: its facets, and the command and the folder if it gives them to a shell."""

    facets: tuple[Facet, ...]
    command: str | None = None
    folder: str = ""


class Requests:
    """Tells what calls ask for. Each distinct command is taken apart once, each tool looked up once."""

    def __init__(self) -> None:
        self._commands: dict[str, tuple[Facet, ...]] = {}
        self._tools: dict[str, Tool | None] = {}

    def asked(self, name: str, arguments: str | None) -> Asked:
        """What a call of a tool asks for, with its arguments as JSON or as the text that they are."""
        if name not in self._tools:
            self._tools[name] = find_tool(name)
        tool = self._tools[name]
        if tool is None or tool is OF_A_SERVER:
            return Asked((_opaque(name, tool),))
        given = _decoded(arguments)
        if tool.does == "shell":
            return self._shell(tool, given)
        if tool.does == "code":
            facet = code_facet(_first_text(tool.commands, given))
            return Asked((msgspec.structs.replace(facet, kind="code"),))
        if tool.does == "stdin":
            return Asked((Facet("run" if _first_text(tool.commands, given).strip("\r\n") else "poll"),))
        return Asked(_file_facets(tool, given))

    def _shell(self, tool: Tool, given: Any) -> Asked:
        command = _command(_first(tool.commands, given))
        if not command:
            return Asked((Facet("unknown"),))
        if not isinstance(given, dict):
            return self._script(command) if "tools." in command else Asked(self._facets(command), command)
        return Asked(self._facets(command), command, _first_text(_FOLDERS, given) if len(given) > 1 else "")

    def _facets(self, command: str) -> tuple[Facet, ...]:
        facets = self._commands.get(command)
        if facets is None:
            facets = self._commands[command] = command_facets(command)
        return facets

    def _script(self, text: str) -> Asked:
        """What a script of Codex's code mode asks for: the commands in it, and other tools that it calls."""
        commands = literal_commands(text)
        facets = [facet for command in commands for facet in self._facets(command)]
        for name in tools_used(text):
            tool = find_tool(name)
            if name == "apply_patch":
                facets.append(Facet("edit", patched_paths(unescaped_script(text))))
            elif tool is None or tool is OF_A_SERVER:
                facets.append(_opaque(name, tool))
            elif tool.does == "shell" and not commands:
                facets.append(Facet("unknown", words=(name,)))
            elif tool.does == "stdin":
                facets.append(Facet("poll"))
            elif tool.does in ("read", "edit", "write", "search", "list", "web", "plan", "delegate", "poll", "other"):
                facets.append(Facet(tool.does))  # type: ignore[arg-type]  # it is one of the kinds
        return Asked(tuple(facets) or (Facet("code"),), "\n".join(commands) or None)


def _decoded(arguments: str | None) -> Any:
    """The arguments as a JSON value, or the text that they are if they are none."""
    if not arguments or arguments[0] not in '{["':
        return arguments or ""
    try:
        return msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError):
        return arguments


def _first(names: tuple[str, ...], given: Any) -> Any:
    if not isinstance(given, dict):
        return given
    for name in names:
        if value := given.get(name):
            return value
    return ""


def _first_text(names: tuple[str, ...], given: Any) -> str:
    value = _first(names, given)
    return value if isinstance(value, str) else ""


# --- shells


def _command(value: Any) -> str:
    """The command as one text: lists of words (`["bash", "-lc", SCRIPT]`) and of commands are told apart."""
    if isinstance(value, str):
        return value
    words = [word for word in value if isinstance(word, str)] if isinstance(value, list) else []
    if len(words) > 2 and words[0].rpartition("/")[2] in _SHELL_NAMES and words[1].startswith("-"):
        return words[2]
    if words[:1] in (["apply_patch"], ["applypatch"]) and len(words) > 1:
        return words[1]
    separate = any(" " in word for word in words[:1])
    return "\n".join(words) if separate else " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    return word if word and not set(word) - _BARE else "'" + word.replace("'", "'\\''") + "'"


_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,+@%^-")


# --- files


def _file_facets(tool: Tool, given: Any) -> tuple[Facet, ...]:
    values = given if isinstance(given, dict) else {}
    kind = tool.does
    if kind == "by command":
        kind = _VERBS.get(values.get("command", ""), "edit") if isinstance(values.get("command"), str) else "edit"
    if kind == "edit" and tool.patches and (patch := _first_text(tool.patches, given)):
        return (Facet("edit", patched_paths(patch) or _paths(tool.paths, values)),)
    if kind not in ("read", "read_part"):
        return (Facet(kind, _paths(tool.paths, values)),)  # type: ignore[arg-type]  # the table's other words are done
    return tuple(_reads(kind, tool, values))


def _reads(kind: str, tool: Tool, values: dict[str, Any]) -> list[Facet]:
    listed = values.get("files")
    several = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    if several:
        return [facet for each in several for facet in _reads(kind, tool, each)]
    span = lines_asked(values)
    part = kind == "read_part" or span is not None
    return [Facet("read_part" if part else "read", _paths(tool.paths, values), span)]


def _paths(names: tuple[str, ...], values: dict[str, Any]) -> tuple[str, ...]:
    value = _first(names, values)
    if isinstance(value, str):
        return (value,) if value else ()
    items = value if isinstance(value, list) else []
    named = (item.get("path") if isinstance(item, dict) else item for item in items)
    return tuple(path for path in named if isinstance(path, str))


_RANGES = frozenset(
    ("start_line", "offset", "line_number", "startLine", "line_start", "end_line", "endLine", "line_end", "limit")
)


def lines_asked(values: dict[str, Any]) -> Span | None:
    """The lines that a reading tool's arguments ask for; `None` for the whole file."""
    view = values.get("view_range")
    if isinstance(view, list) and len(view) == 2 and all(number.__class__ is int for number in view):
        return max(view[0], 1), view[1] if view[1] > 0 else END
    if _RANGES.isdisjoint(values):
        return None
    first = _count(values, "start_line", "offset", "line_number", "startLine", "line_start")
    last = _count(values, "end_line", "endLine", "line_end")
    limit = _count(values, "limit")
    start = max(first or 1, 1)
    return start, last if last is not None else END if limit is None else start + limit - 1


def _count(values: dict[str, Any], *names: str) -> int | None:
    for name in names:
        value = values.get(name)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
            return int(value)
        if value.__class__ is int:
            return min(max(value, 0), END)
    return None
