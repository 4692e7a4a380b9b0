"""The record of an agent of which only its output is known: what its process printed, in pieces that can be cited.

What is printed may be the agent's words, its model's, or what its tools returned; nothing tells them apart. Standard output
counts as the agent's words, which prove nothing of what it did. Standard error is the program's own and is kept apart.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from adjudge.errors import InputError
from adjudge.importers.build import RecordBuilder
from adjudge.record import Record

FORMAT = "output"

PIECE = 8 * 1024
"""Bytes of an entry at most; it ends at a line's end unless the line is longer."""


def record_of_output(task: str | None, stdout: Path, stderr: Path) -> Record:
    """The task as the user's message, then what was printed: standard output as messages, standard error as events.

    Each piece is a turn of its own. Where the model's responses began and ended is not known, and a judge who must point
    at turns can then point at eight kilobytes rather than at everything. One piece is in memory at a time.

    Raises:
        InputError: a file cannot be read.
    """
    builder = RecordBuilder(FORMAT)
    if task:
        builder.message("user", task)
    for text in _pieces(stdout):
        builder.respond()
        builder.message("agent", text)
        builder.use()
    for text in _pieces(stderr):
        builder.respond()
        builder.event(text, "stderr")
        builder.use()
    return builder.finish()


def _pieces(path: Path) -> Iterator[str]:
    """The file's text in pieces, those of white space only left out; a character is never split."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    try:
        with path.open("rb") as file:
            for data in _joined(file):
                if (text := decoder.decode(data).strip("\n")).strip():
                    yield text
            if rest := decoder.decode(b"", final=True):
                yield rest
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error


def _joined(file: IO[bytes]) -> Iterator[bytes]:
    """Whole lines together, as many as fit into a piece; a longer line in parts."""
    piece = bytearray()
    while line := file.readline(PIECE):
        if len(piece) + len(line) > PIECE:
            yield bytes(piece)
            piece.clear()
        piece += line
    if piece:
        yield bytes(piece)
