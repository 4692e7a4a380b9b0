"""From a path to runs: which format a file is of is seen from its content, never from its name."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import zstandard

from adjudge.errors import InputError
from adjudge.importers import atif, claude, codex, gemini
from adjudge.importers.atif import Atif
from adjudge.importers.chat import Chat
from adjudge.importers.claude import ClaudeSessions
from adjudge.importers.claude_stream import ClaudeStreams
from adjudge.importers.codex import CodexSessions
from adjudge.importers.codex_events import CodexEvents
from adjudge.importers.folder import RunFolders
from adjudge.importers.gemini import GeminiSessions
from adjudge.importers.gemini_stream import GeminiStreams
from adjudge.importers.harbor import HarborTrials
from adjudge.importers.jsonl import opened
from adjudge.importers.mini import Mini
from adjudge.importers.opencode import OpenCode
from adjudge.importers.qwen import QwenSessions
from adjudge.importers.qwen_stream import QwenStreams
from adjudge.importers.skipping import Skip, ignore
from adjudge.ports import Importer
from adjudge.record import Record
from adjudge.run import Run

PARTS: tuple[Callable[[Path], bool], ...] = (
    claude.is_subagent_file,
    codex.is_subagent_file,
    gemini.is_subagent_file,
    atif.is_part,
)
"""Tell whether a file belongs to a run that another file stands for; in a folder it is no run of its own."""

HEAD = 64 * 1024
"""Bytes of a file that importers see before they say whether it is theirs."""

FIRST_LINE = 1 << 20
"""Bytes of the first line that they see if it is longer than that."""

UNRECORDED = frozenset({"none", "harbor"})
"""Formats of folders that stand for a run although no recording of it is there: its files or its outcome are."""

MOST = 100_000
"""Files of a folder that are looked at."""


def read_runs(path: Path, described: bool = True, skip: Skip = ignore) -> Iterator[Run]:
    """The runs that a file holds, or all files below a folder, one after another.

    Unless `described`, a folder is never taken for one run as a whole: what a description in it says of the run, and which
    files it names anywhere on this computer, is not for someone to write who is not trusted. `skip` is told of each file
    below a folder that is no recording.

    Raises:
        InputError: nothing there can be read as a run; the message says what was seen and which formats are known.
    """
    if not path.is_dir():
        yield from _importer_of_file(path).runs(path)
        return
    found = False
    for importer, place in _recognised(path, described, skip):
        found = True
        yield from importer.runs(place)
    if not found:
        raise InputError(f"{path}: no file below this folder is a recording of a run; known formats: {_names()}")


def runs_with_entries(path: Path, described: bool = True, skip: Skip = ignore) -> Iterator[Run]:
    """The runs of `read_runs`, without those whose recording holds nothing that a judge could cite.

    A session that was killed before its first message has only rows about itself. Among others it is passed over,
    and `skip` is told of it too.

    Raises:
        InputError: as `read_runs` does, or no run is left; the message says what the recording holds instead.
    """
    empty: Run | None = None
    found = False
    for run in read_runs(path, described, skip):
        if run.record.format in UNRECORDED or next(run.record.walk(), None):
            found = True
            yield run
        else:
            empty = empty or run
            skip(Path(run.source), _described(run.record))
    if empty and not found:
        raise InputError(f"{empty.source}: {_described(empty.record)}; nothing is kept of it")


def _described(record: Record) -> str:
    kinds = sorted(record.skipped.items(), key=lambda pair: -pair[1])[:5]
    passed = "".join(f", {count} of {kind[:60]!r}" for kind, count in kinds)
    lost = f"; {len(record.unparsed)} pieces could not be read" if record.unparsed else ""
    return (
        f"was taken for {record.format}, but holds no message, call or result: "
        f"{record.used} rows that tell of the session{passed}{lost}"
    )


def _importer_of_file(path: Path) -> Importer:
    head = first_bytes(path)
    importer = _importer(path, head)
    if importer is None:
        raise InputError(f"{path}: not a recording of a known format: {_seen(head)}; known formats: {_names()}")
    return importer


def _seen(head: bytes) -> str:
    line = head.split(b"\n", 1)[0].strip()[:120].decode("utf-8", "replace")
    return f"its first line is {line!r}" if head.strip() else "it is empty"


def _importer(path: Path, head: bytes) -> Importer | None:
    return next((importer for importer in IMPORTERS if importer.recognises(path, head)), None)


def _names() -> str:
    return ", ".join(importer.name for importer in IMPORTERS)


def first_bytes(path: Path) -> bytes:
    """The first 64 KiB of a file, decompressed, or the whole first line if that is longer (but at most 1 MiB).

    Raises:
        InputError: the file cannot be read.
    """
    try:
        with opened(path) as file:
            head = file.read(HEAD)
            return head if b"\n" in head else head + file.readline(FIRST_LINE - HEAD)
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


def _recognised(folder: Path, described: bool, skip: Skip) -> Iterator[tuple[Importer, Path]]:
    """Folders that are one recording as a whole, if `described`; else recordings among the files, in the order of names."""
    left = MOST
    for name, folders, files in os.walk(folder):
        here = Path(name)
        if described and (importer := _importer(here, b"")):
            folders.clear()
            yield importer, here
            continue
        folders.sort()
        for at, file in enumerate(sorted(files)):
            if at >= left:
                skip(here / file, f"not looked at, as {MOST:,} files before it were")
            elif (importer := _importer_in_folder(here / file, skip)) is not None:
                yield importer, here / file
        left -= min(left, len(files))


def _importer_in_folder(path: Path, skip: Skip = ignore) -> Importer | None:
    """The importer of a file that stands for a run; what cannot be read is no run."""
    try:
        if not path.is_file():
            skip(path, "neither a file nor a folder")
            return None
        importer = _importer(path, head := first_bytes(path))
    except InputError as error:
        skip(path, str(error).removeprefix(f"{path}: "))
        return None
    if importer is None:
        skip(path, _seen(head))
        return None
    return None if any(is_part(path) for is_part in PARTS) else importer


IMPORTERS: tuple[Importer, ...] = (
    RunFolders(read_runs, _importer_in_folder),
    HarborTrials(_importer_in_folder),
    QwenSessions(),
    QwenStreams(),
    ClaudeSessions(),
    ClaudeStreams(),
    CodexSessions(),
    CodexEvents(),
    GeminiSessions(),
    GeminiStreams(),
    OpenCode(),
    Atif(),
    Mini(),
    Chat(),
)
"""Every importer, the narrower before the wider: the first that recognises a path reads it."""
