"""Tables as Parquet files, written group by group of rows, so that memory does not grow with the file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from adjudge.errors import InputError, OutsideError
from adjudge.exports.table import Row

ROWS = 10_000
"""Rows of one group."""


def write_parquet(path: Path, rows: Iterable[Row], named: Path | None = None) -> int:
    """Write rows into a file and give how many there were. Texts are as they are stored.

    `named` is what an error calls the file if it is to take the place of another.

    Raises:
        InputError: pyarrow is not installed.
        OutsideError: the file cannot be written.
    """
    arrow = _arrow()
    schema = _schema(arrow)
    written = 0
    try:
        with arrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
            for group in _groups(rows):
                writer.write_batch(_batch(arrow, schema, group))
                written += len(group)
    except OSError as error:
        words = os.strerror(error.errno) if error.errno else str(error)  # pyarrow's own repeat the path
        raise OutsideError(f"{named or path}: cannot be written: {words}") from error
    return written


def _groups(rows: Iterable[Row]) -> Iterator[list[Row]]:
    source = iter(rows)
    while group := list(islice(source, ROWS)):
        yield group


def _batch(arrow: ModuleType, schema: Any, rows: Sequence[Row]) -> Any:
    names = Row.__struct_fields__
    columns = [
        arrow.array([getattr(row, name) for row in rows], type=kind) for name, kind in zip(names, schema.types, strict=True)
    ]
    return arrow.record_batch(columns, schema=schema)


def _schema(arrow: ModuleType) -> Any:
    """A column for each field of a row, in their order; every column may be null."""
    plain = {str: arrow.string(), int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_()}
    types = plain | {kind | None: column for kind, column in plain.items()}
    types[tuple[str, ...]] = arrow.list_(arrow.string())
    return arrow.schema([(field.encode_name, types[field.type]) for field in msgspec.structs.fields(Row)])


def _arrow() -> ModuleType:
    """Pyarrow, which is large and an extra."""
    try:
        import pyarrow as arrow  # type: ignore[import-untyped]  # noqa: PLC0415  an extra; it may be missing
        import pyarrow.parquet  # type: ignore[import-untyped]  # noqa: PLC0415  as above
    except ImportError as error:
        raise InputError(
            "pyarrow, which writes Parquet, is not installed; install adjudge with its extra `parquet`: adjudge[parquet]"
        ) from error
    found: ModuleType = arrow
    return found
