"""The record of an agent of which only the output is known."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import InputError
from adjudge.importers.output import PIECE, record_of_output
from adjudge.record import Record


def record(folder: Path, stdout: bytes, stderr: bytes = b"", task: str | None = None) -> Record:
    (folder / "stdout").write_bytes(stdout)
    (folder / "stderr").write_bytes(stderr)
    return record_of_output(task, folder / "stdout", folder / "stderr")


def test_the_task_is_the_users_the_output_the_agents_and_errors_are_the_programs(tmp_path: Path) -> None:
    told = record(tmp_path, b"I fixed it.\n", b"warning: no colour\n", "Fix it.")
    assert [(entry.kind, entry.writer, entry.origin, entry.text) for entry in told.entries] == [
        ("message", "user", None, "Fix it."),
        ("message", "agent", None, "I fixed it."),
        ("event", "harness", "stderr", "warning: no colour"),
    ]
    assert (told.format, told.final, told.tells) == ("output", "e2", frozenset())


def test_long_output_is_in_pieces_of_whole_lines_each_a_turn(tmp_path: Path) -> None:
    lines = [f"line {number:07d}, which says a little" for number in range(2000)]
    told = record(tmp_path, "\n".join(lines).encode())
    assert [line for entry in told.entries for line in entry.text.split("\n")] == lines
    assert all(PIECE - 100 < len(entry.text) <= PIECE for entry in list(told.entries)[:-1])
    assert [entry.turn for entry in told.entries] == [turn.number for turn in told.turns] == list(range(1, 10))
    assert [turn.first for turn in told.turns] == [entry.id for entry in told.entries]


@given(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), min_size=1).map(lambda x: f"<{x}>"))
def test_one_endless_line_is_cut_between_characters(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    line = text * (3 * PIECE // len(text.encode()) + 1)
    told = record(tmp_path_factory.mktemp("x"), line.encode())
    assert "".join(entry.text for entry in told.entries) == line
    assert len(told.entries) > 2


def test_bytes_that_are_no_text_are_replaced_and_blank_output_is_no_entry(tmp_path: Path) -> None:
    assert [entry.text for entry in record(tmp_path, b"a\xff\x00b").entries] == ["a�\x00b"]
    assert len(record(tmp_path, b"\n \n\n").entries) == 0
    assert len(record(tmp_path, b"").turns) == 0


def test_an_output_without_end_takes_little_memory(tmp_path: Path) -> None:
    with (tmp_path / "stdout").open("wb") as file:
        for _ in range(32):
            file.write(b"y" * (1 << 20))
    (tmp_path / "stderr").write_bytes(b"")
    tracemalloc.start()
    told = record_of_output("Go.", tmp_path / "stdout", tmp_path / "stderr")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(told.turns) == 32 * (1 << 20) // PIECE
    assert most < 8 << 20


def test_a_file_that_is_not_there_is_the_users_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="stdout: cannot be read"):
        record_of_output(None, tmp_path / "stdout", tmp_path / "stderr")
