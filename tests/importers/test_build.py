"""Building a record entry by entry."""

from __future__ import annotations

from typing import Any

import pytest

from adjudge.importers import build
from adjudge.importers.build import RecordBuilder, call_text, count_of, main_model, media, run_id, text_of
from adjudge.record import Entry, Record, Turn, Unparsed, Usage


def record(text: str = "a", **more: Any) -> Record:
    return Record("test", (Entry("e1", "message", "user", 0, text),), **more)


def test_a_runs_id_is_of_its_content_alone() -> None:
    assert run_id(record(), "codex", "m") == run_id(record(label="elsewhere"), "codex", "m")
    different = {
        run_id(record()),
        run_id(record("b")),
        run_id(record(), "codex"),
        run_id(record(), None, "codex"),
        run_id(record(children=(record(),))),
    }
    assert len(different) == 5


def test_the_main_model_is_the_one_of_most_turns() -> None:
    turns = [Turn(1, "e1", "small"), Turn(2, "e2", "big"), Turn(3, "e3", "big"), Turn(4, "e4")]
    assert main_model(turns) == "big"
    assert main_model([]) is None


def test_only_a_number_of_things_is_a_count() -> None:
    values: list[Any] = [3, 0, True, 1.5, "3", None, 2**60]
    assert [count_of(value) for value in values] == [3, 0, None, None, None, None, None]


def test_a_value_of_any_shape_has_a_text() -> None:
    values: list[Any] = ["x", None, 3, {"a": [1]}]
    assert [text_of(value) for value in values] == ["x", "", "3", '{"a":[1]}']


def test_pieces_beyond_a_thousand_are_counted_without_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "LISTED", 2)
    builder = RecordBuilder("test")
    for number in range(5):
        builder.unparsed(Unparsed(f"f:{number}", "not JSON"))
    built = builder.finish()
    assert (len(built.unparsed), built.skipped) == (2, {"unparsed, not listed": 3})


def test_tokens_stated_apart_are_added_to_the_latest_turn() -> None:
    builder = RecordBuilder("test")
    builder.use_tokens(Usage(prompt=1))  # before any turn: nobody's
    builder.respond()
    builder.use_tokens(Usage(prompt=2, output=1))
    builder.use_tokens(Usage(prompt=3))
    assert builder.finish().turns[0].usage == Usage(prompt=5, output=1)


def test_a_call_reads_as_lines() -> None:
    assert call_text("Edit", {"path": "a.py", "lines": [1, 2]}) == "Edit\npath: a.py\nlines: [1,2]"
    assert call_text("exec", "let x = 1") == "exec\nlet x = 1"
    assert call_text("shell", '{"cmd": "ls\\n-l"}') == "shell\ncmd: ls\n-l"


def test_media_are_named_by_kind_size_and_hash() -> None:
    assert media("image/png", "AAECAw==").startswith("[image/png, 4 bytes, sha256 ")
