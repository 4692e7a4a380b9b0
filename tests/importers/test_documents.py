"""Whole-document JSON in bounded memory."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import InputError
from adjudge.importers import documents
from adjudge.importers.documents import beginning, read_document, read_item
from adjudge.record import Unparsed


class Held(msgspec.Struct):
    """A document with a list of items."""

    items: list[msgspec.Raw]
    name: Any = None


def items(path: Path, data: bytes) -> tuple[list[dict[str, Any] | None], list[Unparsed]]:
    path.write_bytes(data)
    reported: list[Unparsed] = []
    held = read_document(path, Held)
    return [read_item(raw, f"items[{number}]", reported.append) for number, raw in enumerate(held.items)], reported


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "document.json"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"items": [{"a": 1}]}', {"a": 1}),
        (b'\xef\xbb\xbf{"items": [{"a": 1}]}\n', {"a": 1}),
        (b'{"items": [{"a": "x\xffy"}]}', {"a": "x\N{REPLACEMENT CHARACTER}y"}),
        (b'{"items": [{"a": NaN, "b": -Infinity, "c": "NaN"}]}', {"a": None, "b": None, "c": "NaN"}),
        (b'{"items": [{"a": "x\ny"}]}', {"a": "x\ny"}),
        (b'{"items": [{"a": "\\ud800 cut"}]}', {"a": "\N{REPLACEMENT CHARACTER} cut"}),
        (b'{"items": [{"a": "\\ud83d\\ude00"}], "name": NaN}', {"a": "\N{GRINNING FACE}"}),
        (b'{"items": [{"a": "C:\\\\dir \\x \\u12 \\""}]}', {"a": 'C:\\dir \\x \\u12 "'}),
        (b'{"items": [{"a": 1' + b"0" * 30 + b"}]}", {"a": 10**30}),
    ],
    ids=["plain", "mark", "bad utf-8", "nan", "raw control", "lone surrogate", "pair", "bad escapes", "large number"],
)
def test_what_writers_really_put_into_json_is_read(path: Path, data: bytes, expected: dict[str, Any]) -> None:
    found, reported = items(path, data)
    assert found == [expected]
    assert reported == []


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.ZstdCompressor().compress], ids=["gz", "zst"])
def test_a_compressed_document_is_unpacked(path: Path, compress: Any) -> None:
    assert items(path, compress(b'{"items": [{"a": 1}]}')) == ([{"a": 1}], [])


def test_a_large_document_is_mapped_and_read_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "IN_MEMORY", 10)
    assert items(path, b'\xef\xbb\xbf{"items": [{"a": 1}, {"a": NaN}]}') == ([{"a": 1}, {"a": None}], [])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"items": []} x', r"trailing characters \(byte 1[45]\), of 15 bytes"),
        (b'{"items": [{"a": 1}', r"truncated, of 19 bytes"),
        (b'{"items": "\\"' + b'\\"' * 1000, r"truncated"),
        (b"", "is empty"),
        (b'{"items": null}', r"Expected `array`, got `null` - at `\$.items`"),
        (b'{"items": [' + b"[" * 100_000, "nested too deeply"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        (gzip.compress(b'{"items": []}' * 100)[:-20], "cannot be unpacked"),
    ],
    ids=["garbage", "cut off", "open string", "empty", "shape", "deep", "lfs", "half a gz"],
)
def test_a_document_that_cannot_be_read_says_where_and_why(path: Path, data: bytes, words: str) -> None:
    path.write_bytes(data)
    with pytest.raises(InputError, match=words) as raised:
        read_document(path, Held)
    assert str(path) in str(raised.value)


def test_a_missing_file_is_named(path: Path) -> None:
    with pytest.raises(InputError, match=r"document\.json: cannot be read"):
        read_document(path, Held)


def test_an_item_that_is_no_object_is_reported_with_its_place(path: Path) -> None:
    found, reported = items(path, b'{"items": [1, {"a": 2}]}')
    assert found == [None, {"a": 2}]
    assert reported == [Unparsed("items[0]", "a JSON int, not an object", 1)]


def test_an_item_nested_too_deeply_is_reported(path: Path) -> None:
    deep = b'{"items": [' + b"[" * 900 + b"]" * 900 + b"]}"
    found, reported = items(path, deep)
    assert found == [None]
    assert reported[0].place == "items[0]"


@given(
    st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
)
def test_the_beginning_of_a_whole_document_is_the_document(value: Any) -> None:
    head = json.dumps(value).encode()
    assert beginning(head) == (value if isinstance(value, dict | list) else None)


@given(st.lists(st.dictionaries(st.text(), st.text(), min_size=1), min_size=1), st.integers(1, 100))
def test_the_beginning_of_a_cut_document_is_what_came_before_the_cut(value: list[dict[str, str]], cut: int) -> None:
    head = json.dumps(value).encode()
    found = beginning(head[: max(1, len(head) * cut // 100)])
    assert isinstance(found, list)
    for part, whole in zip(found, value, strict=False):
        assert all(text in (whole[key], "") for key, text in part.items())


@given(st.binary(max_size=200))
def test_recognising_never_raises(head: bytes) -> None:
    beginning(b"{" + head)
