"""The tolerant reader of JSON Lines."""

from __future__ import annotations

import gzip
import io
import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import InputError
from adjudge.importers import jsonl
from adjudge.importers.jsonl import head_rows, opened, rows, rows_of
from adjudge.record import Unparsed


def read(path: Path, data: bytes) -> tuple[list[dict[str, Any]], list[Unparsed]]:
    path.write_bytes(data)
    reported: list[Unparsed] = []
    return [row for _, row in rows(path, reported.append)], reported


def parsed(data: bytes) -> tuple[list[tuple[str, dict[str, Any]]], list[Unparsed]]:
    reported: list[Unparsed] = []
    return list(rows_of(io.BytesIO(data), "f", reported.append)), reported


def test_each_row_comes_with_its_line() -> None:
    found, reported = parsed(b'{"a":1}\n\n{"a":2}\n')
    assert found == [("f:1", {"a": 1}), ("f:3", {"a": 2})]
    assert not reported


@pytest.mark.parametrize(
    "data",
    [
        b'\xef\xbb\xbf{"a":1}\n{"a":2}\n',
        b'{"a":1}\r\n{"a":2}\r\n',
        b'{"a":1}{"a":2}',
        b'{"a":1} {"a":2}\n',
        b'{"a":1}\n{"a":2}',
        b'[{"a":1},{"a":2}]',
        b'[\n{"a":1},\n{"a":2}\n]\n',
        b'[{"a":1},\n{"a":2}]\n',
        b'[\n  {\n    "a": 1\n  },\n  {\n    "a": 2\n  }\n]\n',
        b'{\n"a":\n1}\n{"a":2}',
    ],
    ids=["mark", "crlf", "one line", "spaced", "no end", "array", "array of lines", "array, tight", "pretty", "spread"],
)
def test_two_objects_are_read_however_they_are_laid_out(data: bytes) -> None:
    found, reported = parsed(data)
    assert [row for _, row in found] == [{"a": 1}, {"a": 2}]
    assert not reported


def test_brackets_in_strings_do_not_close_an_object_over_lines() -> None:
    found, _ = parsed(b'{\n"a": "}]\\"}",\n"b": ["{"]\n}\n')
    assert found == [("f:1", {"a": '}]"}', "b": ["{"]})]


def test_a_half_written_last_line_is_counted_with_its_place_and_size() -> None:
    found, reported = parsed(b'{"a":1}\n{"a":')
    assert [row for _, row in found] == [{"a": 1}]
    assert [(piece.place, piece.size) for piece in reported] == [("f:2", 5)]


def test_an_object_that_never_closes_does_not_swallow_the_rows_after_it() -> None:
    found, reported = parsed(b'{\n{"a":1}\n{"a":2}\n')
    assert [row for _, row in found] == [{"a": 1}, {"a": 2}]
    assert [piece.place for piece in reported] == ["f:1"]


def test_an_open_object_is_given_up_when_it_grows_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "SPREAD", 20)
    found, reported = parsed(b"{\n" + b'{"a":1}\n' * 9)
    assert len(found) == 9
    assert len(reported) == 1


def test_a_line_that_is_too_long_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "LONGEST", 50)
    found, reported = parsed(b'{"a":"' + b"x" * 200 + b'"}\n{"a":2}\n')
    assert [row for _, row in found] == [{"a": 2}]
    assert [(piece.place, piece.size) for piece in reported] == [("f:1", 209)]


def test_a_decompressed_file_is_read_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "WHOLE", 20)
    found, reported = parsed(b'{"a":1}\n' * 5)
    assert len(found) == 2
    assert "the rest was not read" in reported[0].reason


@pytest.mark.parametrize(
    "line", [b"null", b"12", b'"text"', b"[1, 2]", b"plain words", b"\xff\xfe", b"nul", b"{]", b"[" * 9000]
)
def test_what_is_no_object_is_reported_once(line: bytes) -> None:
    found, reported = parsed(b'{"a":1}\n' + line + b'\n{"a":2}\n')
    assert len(found) == 2
    assert [piece.place for piece in reported] == ["f:2"]


def test_lone_surrogates_and_bad_bytes_are_replaced() -> None:
    found, _ = parsed(b'{"a":"\\ud83d"}\n{"a":"\\ud83d\\ude00"}\n{"a":"\xff"}\n')
    assert [row["a"] for _, row in found] == ["\ufffd", "\U0001f600", "\ufffd"]


def test_control_characters_and_nan_are_accepted() -> None:
    found, _ = parsed(b'{"a":"x\ty"}\n{"a":NaN}\n')
    assert found[0][1] == {"a": "x\ty"}
    assert found[1][1]["a"] != found[1][1]["a"]


def test_compressed_files_are_read_whatever_they_are_called(tmp_path: Path) -> None:
    data = b'{"a":1}\n' * 1000
    assert len(read(tmp_path / "a.jsonl", gzip.compress(data))[0]) == 1000
    assert len(read(tmp_path / "b.jsonl", zstandard.compress(data))[0]) == 1000
    assert len(read(tmp_path / "c.jsonl", zstandard.compress(data) + zstandard.compress(data))[0]) == 2000


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_a_damaged_compressed_file_gives_what_can_be_read(tmp_path: Path, compress: Any) -> None:
    data = compress(b"".join(b'{"a":%d}\n' % number for number in range(100_000)))
    _, reported = read(tmp_path / "a", data[: len(data) // 2])
    assert reported
    _, reported = read(tmp_path / "b", data[:500] + b"damaged" + data[507:])
    assert reported


def test_a_file_that_is_not_there_or_was_never_fetched_is_the_users_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        opened(tmp_path / "none.jsonl")
    (tmp_path / "pointer").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    with pytest.raises(InputError, match="git lfs pull"):
        opened(tmp_path / "pointer")


def test_a_pipe_is_the_users_error_and_nothing_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(InputError, match="is not a regular file"):
        opened(tmp_path / "pipe.json")
    reading, writing = os.pipe()
    os.write(writing, b'{"a":1}')
    os.close(writing)
    with pytest.raises(InputError, match="is not a regular file"):
        opened(Path(f"/dev/fd/{reading}"))
    os.close(reading)


def test_the_head_of_a_file_is_enough_to_see_its_rows() -> None:
    data = b'{"a":1}\n{"a":2}\n{"a":3}\n{"a":'
    assert head_rows(data) == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert head_rows(data, 2) == [{"a": 1}, {"a": 2}]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=4)


@given(st.lists(OBJECTS), st.sampled_from(["\n", "\r\n", "", " "]), st.booleans())
def test_objects_come_back_as_they_were(objects: list[dict[str, Any]], end: str, escaped: bool) -> None:
    data = "".join(json.dumps(item, ensure_ascii=escaped) + end for item in objects).encode()
    found, reported = parsed(data)
    assert [row for _, row in found] == objects
    assert not reported


@given(st.lists(OBJECTS, min_size=1), st.integers(0, 4))
def test_a_pretty_printed_array_is_its_objects(objects: list[dict[str, Any]], indent: int) -> None:
    found, _ = parsed(json.dumps(objects, indent=indent).encode())
    assert [row for _, row in found] == objects


@given(st.binary())
def test_no_bytes_make_the_reader_raise(data: bytes) -> None:
    parsed(data)
    head_rows(data)


BROKEN = st.sampled_from([b"{", b"}", b"[", b"]", b"plain", b'{"a":', b'{"a":1}}', b'"', b"\\", b",", b"[{", b"\xf0\x9f"])
GOOD = st.sampled_from([b'{"a":1}', b'{"b":"\\u00e9"}', b'{"c":[{}]}'])


@given(st.lists(st.tuples(BROKEN | GOOD, st.booleans())))
def test_every_good_line_is_a_row_whatever_stands_around_it(lines: list[tuple[bytes, bool]]) -> None:
    data = b"\n".join(line for line, _ in lines)
    found, reported = parsed(data)
    whole = [line for line, _ in lines if line in (b'{"a":1}', b'{"b":"\\u00e9"}', b'{"c":[{}]}', b'{"a":1}}')]
    places = {place for place, _ in found} | {piece.place for piece in reported}
    assert len(found) >= len(whole) or _swallowed(lines)
    for number, (line, _) in enumerate(lines, 1):
        if line in (b"plain", b'{"a":', b'"', b"\\", b"[{", b"\xf0\x9f") and not _swallowed(lines):
            assert f"f:{number}" in places


def _swallowed(lines: list[tuple[bytes, bool]]) -> bool:
    """Whether an object may lawfully begin on a line of its own and end on a later one."""
    return any(line == b"{" for line, _ in lines)


@given(st.binary(max_size=300), st.binary(max_size=20))
def test_no_damage_to_a_compressed_file_makes_the_reader_raise(data: bytes, damage: bytes) -> None:
    packed = bytearray(zstandard.compress(data))
    packed[len(packed) // 2 : len(packed) // 2] = damage
    reader = io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(bytes(packed), read_across_frames=True))
    reported: list[Unparsed] = []
    list(rows_of(reader, "f", reported.append))


def test_what_was_not_read_is_shown_from_its_beginning() -> None:
    deep = b'{"command":"git push","x":' + b"[" * 5000 + b"]" * 5000 + b"}"
    _, reported = parsed(deep + b"\nplain words\n" + b'{"half": "of a')
    assert [piece.place for piece in reported] == ["f:1", "f:2", "f:3"]
    assert "nested too deeply" in reported[0].reason
    for piece, words in zip(reported, ("git push", "plain words", '"half": "of a'), strict=True):
        assert words in piece.reason
        assert len(piece.reason) < 500


@pytest.mark.parametrize("start", [b"{\n", b""], ids=["in an object", "alone"])
def test_many_lines_that_are_nothing_take_no_more_memory_than_their_text(start: bytes) -> None:
    data = io.BytesIO(start + b'"a":1,\n' * 200_000)
    count = 0

    def report(_: Unparsed) -> None:
        nonlocal count
        count += 1

    tracemalloc.start()
    assert not list(rows_of(data, "f", report))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 200_000 + bool(start)
    assert most < 4 * 200_000 * len(b'"a":1,\n')
