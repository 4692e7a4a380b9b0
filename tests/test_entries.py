"""Entries on disk."""

from __future__ import annotations

import gc
import os
import tempfile
from pathlib import Path

import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from adjudge import entries as module
from adjudge.entries import EntryFile, EntryWriter, hash_of
from adjudge.errors import OutsideError
from adjudge.record import Entry

TEXTS = st.text(st.characters(codec="utf-8"))
ENTRIES = st.builds(
    Entry,
    id=TEXTS,
    kind=st.sampled_from(["message", "reasoning", "call", "result", "event"]),
    writer=st.sampled_from(["user", "agent", "tool", "harness"]),
    turn=st.integers(0, 9),
    text=TEXTS,
    name=st.none() | TEXTS,
    arguments=st.none() | TEXTS,
    answers=st.none() | TEXTS,
    exit_status=st.none() | st.integers(-255, 255),
    is_error=st.none() | st.booleans(),
    time=st.none() | TEXTS,
    origin=st.none() | TEXTS,
)


def written(items: list[Entry]) -> EntryFile:
    writer = EntryWriter()
    for item in items:
        writer.add(item)
    return writer.finish()


def many(count: int, size: int = 50) -> list[Entry]:
    return [Entry(f"e{number}", "result", "tool", number, f"{number} " + "x" * size) for number in range(1, count + 1)]


@pytest.fixture
def small_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FRAME", 200)
    monkeypatch.setattr(module, "IN_MEMORY", 300)


@given(st.lists(ENTRIES))
def test_entries_come_back_as_they_were(items: list[Entry]) -> None:
    found = written(items)
    assert list(found) == items
    assert len(found) == len(items)
    assert [found[position] for position in range(len(items))] == items


@given(st.lists(ENTRIES, max_size=12), st.slices(12))
def test_a_slice_is_the_slice_of_the_list(items: list[Entry], part: slice) -> None:
    found = written(items)
    assert list(found[part]) == items[part]


@pytest.mark.usefixtures("small_frames")
def test_any_order_of_reading_gives_the_same_over_many_frames() -> None:
    items = many(100)
    found = written(items)
    assert len(found.places[1]) > 10
    assert [found[position] for position in range(99, -1, -1)] == items[::-1]
    assert [found[position * 37 % 100] for position in range(100)] == [
        items[position * 37 % 100] for position in range(100)
    ]
    assert list(found[95:5:-7]) == items[95:5:-7]
    assert found[-1] == items[-1]
    assert list(found) == items


@pytest.mark.usefixtures("small_frames")
def test_an_index_outside_of_the_sequence_is_an_index_error() -> None:
    found = written(many(10))
    for index in (10, -11):
        with pytest.raises(IndexError):
            found[index]


def test_no_entries_are_an_empty_sequence() -> None:
    found = written([])
    assert list(found) == []
    assert list(found[:]) == []
    assert b"".join(found.frames()) == b""


@pytest.mark.usefixtures("small_frames")
def test_the_frames_together_are_one_stream_of_json_lines() -> None:
    items = many(40)
    blob = b"".join(written(items).frames())
    with zstandard.ZstdDecompressor().stream_reader(blob, read_across_frames=True) as stream:
        lines = stream.read().splitlines()
    assert [msgspec.json.decode(line, type=Entry) for line in lines] == items


@given(st.lists(ENTRIES, max_size=5))
def test_the_hash_does_not_depend_on_where_the_entries_lie(items: list[Entry]) -> None:
    assert hash_of(written(items)) == hash_of(items) == hash_of(tuple(items))


def test_another_text_has_another_hash() -> None:
    assert hash_of(many(3)) != hash_of(many(2))


def test_a_long_sequence_lies_on_disk_and_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = len(os.listdir("/proc/self/fd"))
    writer = EntryWriter()
    for number in range(600):
        writer.add(Entry(f"e{number}", "result", "tool", 0, os.urandom(20_000).hex()))
    found = writer.finish()
    del writer
    assert len(os.listdir("/proc/self/fd")) == before + 1
    assert found[599].id == "e599"
    assert not list(tmp_path.iterdir())
    del found
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_no_place_for_temporary_files_is_reported_as_something_outside(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "IN_MEMORY", 10)
    monkeypatch.setattr(module, "FRAME", 10)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(OutsideError, match="No such file"):
        written(many(3))


def test_a_full_disk_is_reported_as_something_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "IN_MEMORY", 10)
    monkeypatch.setattr(module, "FRAME", 10)
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OutsideError, match="No space left"):
        written(many(3))
