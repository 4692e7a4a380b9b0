"""Looks at the machine: its files as the agent left them, and commands."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from adjudge.errors import InputError, MachineError
from adjudge.evidence import Look, Place
from adjudge.judges.evaluator.patterns import as_stated, literal, stated
from adjudge.judges.evaluator.tools import Arguments, ListDirectory, ReadFile, RunCommand, SearchFiles
from adjudge.judges.evaluator.views import PAGE, count_lines
from adjudge.ports import DirectoryItem, FilePart, Found, Machine, Output

LINE = 4_096
"""Bytes before a page of a file that are read to find the beginning of its first line."""

LARGEST_COUNTED = 4 << 20
"""Bytes of a file whose lines are counted."""

LONGEST_REASON = 400
FAILED = "failed, for the reason given"
"""The reason itself may hold names that the agent chose, so it is no fact of adjudge's."""


async def look_at_machine(identifier: str, machine: Machine, asked: Arguments) -> Look:
    """Use a tool on the machine. What the machine refuses is a failed look."""
    try:
        match asked:
            case ListDirectory():
                return await list_directory(identifier, machine, asked)
            case ReadFile():
                return await read_file(identifier, machine, asked)
            case SearchFiles():
                return await search_files(identifier, machine, asked)
            case RunCommand():
                return await run_command(identifier, machine, asked)
            case _:
                raise AssertionError(f"{type(asked).__name__} is no look at a machine")
    except (InputError, MachineError) as error:
        place: Place = "command" if isinstance(asked, RunCommand) else "files"
        reason = str(error)[:LONGEST_REASON]
        return Look(identifier, _TOOL[type(asked)], place, _arguments(asked), reason, (FAILED,), failed=True)


_TOOL = {ListDirectory: "list_directory", ReadFile: "read_file", SearchFiles: "search_files", RunCommand: "run_command"}


async def list_directory(identifier: str, machine: Machine, asked: ListDirectory) -> Look:
    """The names in a directory."""
    items, total = await machine.list(asked.path)
    facts = [f"names: {total}"]
    if len(items) < total:
        facts.append(f"cut: only the first {len(items)} are listed")
    return Look(identifier, "list_directory", "files", _arguments(asked), listing(items), tuple(facts))


def listing(items: Sequence[DirectoryItem]) -> str:
    """A directory's names, one a line, with what each is."""
    return "\n".join(f"{_name(item)} | {_what(item)}" for item in items)


def _name(item: DirectoryItem) -> str:
    return repr(item.name) if " | " in item.name else _on_a_line(item.name)


def _on_a_line(name: str) -> str:
    """A name that an agent chose, so that it can be taken for no line of adjudge's own."""
    return name if name.isprintable() else repr(name)


def _what(item: DirectoryItem) -> str:
    size = "" if item.size is None else f", {item.size} bytes"
    target = "" if item.target is None else f" to {item.target!r}"
    return f"{item.kind}{target}{size}{', executable' if item.executable else ''}"


async def read_file(identifier: str, machine: Machine, asked: ReadFile) -> Look:
    """A page of a file; of one that is not text only what it is."""
    before = min(asked.offset, LINE)
    part = await machine.read(asked.path, asked.offset - before, before + PAGE)
    if b"\0" in part.data:
        facts = [f"size: {part.size} bytes", "not text: it holds zero bytes; a command can show what it is"]
        return Look(identifier, "read_file", "files", _arguments(asked), "", tuple(facts))
    start, data = _page(part, before)
    facts = [f"size: {part.size} bytes"]
    if part.size <= LARGEST_COUNTED:
        whole = part if len(part.data) == part.size else await machine.read(asked.path, 0, LARGEST_COUNTED)
        facts.append(f"lines: {count_lines(whole.data.decode('utf-8', 'replace'))}")
    if len(data) < part.size:
        end = start + len(data)
        facts.append(f"shown: bytes {start} to {end}" + (f"; to go on: offset {end}" if end < part.size else ""))
    return Look(identifier, "read_file", "files", _arguments(asked), data.decode("utf-8", "replace"), tuple(facts))


def _page(part: FilePart, before: int) -> tuple[int, bytes]:
    """The page's place and bytes, from the beginning of a line to the end of one where lines are not too long."""
    line = part.data.rfind(b"\n", 0, before) + 1
    begin = line if line or part.offset == 0 else before
    end = len(part.data)
    if part.offset + end < part.size:
        end = part.data.rfind(b"\n", max(begin, end - PAGE // 4), end) + 1 or end
    return part.offset + begin, part.data[begin:end]


async def search_files(identifier: str, machine: Machine, asked: SearchFiles) -> Look:
    """The lines of files that match, white space folded in what is no regular expression."""
    found = await machine.search(*_pattern(asked))
    lines = "\n".join(f"{_on_a_line(match.path)}:{match.line}: {match.text}" for match in found.matches)
    look = Look(identifier, "search_files", "files", _arguments(asked), lines, tuple(_search_facts(found, asked)))
    return msgspec.structs.replace(look, found=found.total or (None if found.cut or found.skipped else 0))


def _pattern(asked: SearchFiles) -> tuple[str, str, bool]:
    """What a machine is asked to search for; it compares letter by letter, so folding takes an expression."""
    words = asked.pattern.split()
    if asked.regex or len(words) == 1:
        return asked.pattern if asked.regex else words[0], asked.path, asked.regex
    if not words:
        raise InputError("pattern: is nothing but white space")
    return literal(words), asked.path, True


def _search_facts(found: Found, asked: SearchFiles) -> list[str]:
    """As in `Search.facts`, what was looked for is stated only if nothing was found."""
    if not found.total and not found.cut:
        what, where = stated(asked.pattern, asked.regex), as_stated(asked.path)
        facts = [f"matches: 0 for {what}, case heeded, in {found.files} files in {where}"]
    else:
        facts = [f"matches: {found.total}", f"searched: {found.files} files"]
    if found.skipped:
        facts.append(f"not searched (not text, too large or unreadable): {found.skipped} files")
    if len(found.matches) < found.total:
        facts.append(f"cut: {len(found.matches)} matches are listed")
    if found.skipped and not found.total:
        facts[0] = f"nothing found in {found.files} files, but others were not searched: absence is not established"
    if found.cut and not found.total:
        facts[0] = "nothing found so far, but the search was stopped before its end: absence is not established"
    return facts


async def run_command(identifier: str, machine: Machine, asked: RunCommand) -> Look:
    """What a command printed and how it ended."""
    output = await machine.run(asked.command)
    return command_look(identifier, "run_command", asked.command, output)


def command_look(identifier: str, tool: str, command: str, output: Output) -> Look:
    """A look that shows what a command did."""
    return Look(
        identifier,
        tool,
        "command",
        {"command": command},
        output.text,
        tuple(output_facts(output)),
        exit_status=output.exit_status,
        seconds=output.seconds,
    )


_ENDED = {
    "time": "stopped: it ran longer than it may ({seconds:.3f} s)",
    "output": "stopped: it printed more than it may",
    "memory": "stopped: it took more memory than it may",
    "processes": "stopped: it started more processes than it may",
}


def output_facts(output: Output) -> list[str]:
    """What is known of a command from outside of it."""
    facts = [f"exit status: {output.exit_status}", f"output: {output.size} bytes" if output.size else "output: none"]
    if output.size and not output.cut:
        facts.append(f"lines: {count_lines(output.text)}")
    if output.ended:
        facts.append(_ENDED[output.ended].format(seconds=output.seconds))
    if output.cut:
        facts.append("cut: only the beginning and the end of the output were kept")
    if output.forfeited:
        facts.append(f"background processes that were ended with it: {output.forfeited}")
    return facts


def _arguments(asked: Arguments) -> dict[str, str | int | bool | None]:
    return msgspec.structs.asdict(asked)
