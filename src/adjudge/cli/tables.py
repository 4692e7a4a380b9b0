"""Tables of passes, written row by row: a file is there whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.errors import OutsideError

if TYPE_CHECKING:
    from adjudge.exports.table import Row
    from adjudge.store.store import Store


def rows_of_passes(store: Store, passes: Sequence[str]) -> Iterator[Row]:
    """The rows of passes, one pass after the other."""
    from adjudge.exports.table import rows_of
    from adjudge.store.judged import of_pass

    for identifier in passes:
        yield from rows_of(identifier, of_pass(store, identifier))


def print_rows(rows: Iterable[Row]) -> None:
    """Print rows as JSON Lines on standard output."""
    from adjudge.exports.lines import row_lines

    for line in row_lines(rows):
        sys.stdout.write(f"{line}\n")


def write_rows(path: Path, rows: Iterable[Row], as_parquet: bool) -> int:
    """Write rows into a file, as Parquet or JSON Lines, and give how many there were.

    Raises:
        InputError: pyarrow is not installed.
        OutsideError: the file cannot be written; what was there before stays.
    """
    from adjudge.exports.parquet import write_parquet

    with replacing(path) as part:
        return write_parquet(part, rows, path) if as_parquet else _write_lines(part, rows)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write in place of another, which it replaces in the end; a device or a pipe is written itself."""
    if path.exists() and not path.is_file():
        yield path
        return
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    except OSError as error:
        raise OutsideError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _write_lines(path: Path, rows: Iterable[Row]) -> int:
    from adjudge.exports.lines import row_lines

    written = 0
    with path.open("w", encoding="utf-8") as file:
        for line in row_lines(rows):
            file.write(f"{line}\n")
            written += 1
    return written
