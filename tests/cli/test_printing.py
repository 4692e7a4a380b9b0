"""Tables and lines as they fit a terminal."""

from __future__ import annotations

from typing import Any

import pytest

from adjudge.cli import printing
from adjudge.cli.printing import WIDTH, counted, print_table

RUN = "r-0123456789abcdef"
ROW = (RUN, "mini-swe-agent", "github-copilot/gemini-3.1-pro-preview", "112", "Please solve this issue: the mean is wrong.")
HEADINGS = ("run", "agent", "model", "turns", "task")


def printed(capsys: pytest.CaptureFixture[str], *words: Any, **more: Any) -> list[str]:
    print_table(*words, **more)
    return capsys.readouterr().out.splitlines()


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of eighty characters."""
    monkeypatch.setattr(printing, "WIDTH", 80)


def test_what_fits_is_printed_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, ("run", "task"), [(RUN, "Fix it.")]) == ["run                 task", f"{RUN}  Fix it."]


def test_no_line_ends_in_white_space(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, ("judgment", "model", "passed"), [("j-1", "a model", ""), ("j-2", "", "1 of 2")])
    assert lines == ["judgment  model    passed", "j-1       a model", "j-2                1 of 2"]


def test_numbers_stand_to_the_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, ("run", "turns"), [("a", "7"), ("b", "112")], right=(1,))[1:] == ["a        7", "b      112"]


def test_a_narrow_terminal_keeps_ids_and_numbers_whole_and_every_column(
    capsys: pytest.CaptureFixture[str], narrow: None
) -> None:
    head, line = printed(capsys, HEADINGS, [ROW], right=(3,))
    assert head.split() == list(HEADINGS)
    assert line.startswith(f"{RUN}  mini-swe-")
    assert "  112  Please solve" in line
    assert len(line) == 80


def test_where_the_output_is_no_terminal_lines_have_their_fixed_width(capsys: pytest.CaptureFixture[str]) -> None:
    _, line = printed(capsys, HEADINGS, [(*ROW[:4], "word " * 40)], right=(3,))
    assert (len(line), line[-1]) == (WIDTH, "…")


def test_of_a_path_the_end_is_shown(capsys: pytest.CaptureFixture[str], narrow: None) -> None:
    _, line = printed(capsys, ("run", "source"), [(RUN, f"{'folder/' * 300}session.jsonl")], ends=(1,))
    assert line.startswith(f"{RUN}  …")
    assert line.endswith("folder/session.jsonl")
    assert len(line) == 80


def test_wide_letters_count_as_two_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, ("task", "turns"), [("修正", "1"), ("four", "2")])[1:] == ["修正  1", "four  2"]


def test_cells_cannot_break_the_line_or_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, ("run", "task"), [("r-1", "one\ntwo\x1b[2J")])[1:] == ["r-1  one ⏎ two<U+001B>[2J"]


@pytest.mark.parametrize(("number", "words"), [(0, "0 verdicts"), (1, "1 verdict"), (2, "2 verdicts")])
def test_things_are_counted_in_words(number: int, words: str) -> None:
    assert counted(number, "verdict") == words
