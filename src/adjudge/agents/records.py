"""Which recording stands for an attempt: the agent's own, what it streamed to its output, or that output as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from adjudge.errors import InputError
from adjudge.importers.output import record_of_output
from adjudge.importers.sniff import runs_with_entries
from adjudge.run import Run

FROM_OUTPUT = "its own record is missing, what it streamed to its output stands in for it"
FROM_TEXT = "it left no record that can be read; what it printed is the record"
OTHERS = "it left further sessions, which are not in the record: {others}"

_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ")
"""How packed files begin (gzip, Zstandard, bzip2, xz): no agent writes its record so, and they unpack to any size."""


class FoundRecord(msgspec.Struct, frozen=True):
    """The run that a recording tells of, and what is to be said about where it came from."""

    run: Run
    notes: tuple[str, ...] = ()


def find_record(home: Path, records: Sequence[str], printed: Path, task: str | None) -> FoundRecord:
    """The record of an attempt.

    `home` holds what was copied from the agent's home, `records` are paths in it, of which the first that is a recording
    counts (the others may be its parts); `printed` is the folder with `stdout` and `stderr`. Of several sessions the one
    that began first is the attempt's: an agent may start others of its kind.
    """
    own = sorted(_first(home, records), key=_beginning)
    if own:
        return FoundRecord(own[0], (OTHERS.format(others=len(own) - 1),) if len(own) > 1 else ())
    missing = bool(records)
    streamed = next(_runs([printed / "stdout"]), None)
    if streamed is not None:
        return FoundRecord(streamed, (FROM_OUTPUT,) if missing else ())
    record = record_of_output(task, printed / "stdout", printed / "stderr")
    return FoundRecord(Run("", record, str(printed)), (FROM_TEXT,) if missing else ())


def _first(home: Path, records: Sequence[str]) -> Sequence[Run]:
    return next((runs for path in records if (runs := tuple(_runs([home / path])))), ())


def _runs(paths: Sequence[Path]) -> Iterator[Run]:
    for path in paths:
        if path.is_symlink() or not path.exists():  # a link of the agent's would lead to files of the host
            continue
        if path.is_file() and is_packed(path):
            continue
        try:
            yield from runs_with_entries(path, described=False)  # a `run.yaml` would name files of the host
        except InputError:
            continue


def is_packed(path: Path) -> bool:
    """Whether a file begins as packed ones do."""
    with path.open("rb") as file:
        return file.read(6).startswith(_PACKED)


def _beginning(run: Run) -> str:
    first = next((entry.time for entry in run.record.entries if entry.time), None)
    return first or "~"  # after all that have a time
