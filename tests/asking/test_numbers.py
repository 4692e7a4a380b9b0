"""What is a number in a sentence, and where it may stand in what is cited."""

from __future__ import annotations

import pytest

from adjudge.asking.numbers import missing, numbers


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("3 of 12,400 runs", ["3", "12,400"]),
        ("it cost $0.0125 and took 63.5 s", ["0.0125", "63.5"]),
        ("75 % or 75%", ["75 %", "75%"]),
        ("between -0.44 and +0.1", ["0.44", "0.1"]),
        ("on 2026-03-01", ["2026", "03", "01"]),
        ("3/12 passed.", ["3", "12"]),
        ("Two of them, twelve in all", ["Two", "twelve"]),
        ("one of the runs", []),
        ("gpt-5.5, claude-sonnet-5-5, utf-8, python3.11, qwen3:8b and 4c94ab", []),
        ("r-0011aa22, j-00ff00ff/c1, p-1234abcd, e12, s1.e3, L3 and t7", []),
        ("it ends with 5.", ["5"]),
    ],
)
def test_numbers_are_told_from_names(text: str, written: list[str]) -> None:
    assert [number.written for number in numbers(text)] == written


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("0.5 of them", "share 0.50"),
        ("50 % of them", "share 0.50"),
        ("50 % of them", "(50.0 %)"),
        ("0.44 lower", "is -0.44"),
        ("12400 files", "12,400 files"),
        ("three failed", "3 failed"),
        ("3 failed", "three failed"),
    ],
)
def test_a_number_stands_in_a_quote_in_another_form(text: str, cited: str) -> None:
    assert missing(text, [cited], ()) == []


@pytest.mark.parametrize(("text", "cited"), [("3 failed", "13 failed"), ("0.7", "0.72"), ("5 %", "share 0.5"), ("4", "e4")])
def test_another_number_does_not(text: str, cited: str) -> None:
    assert len(missing(text, [cited], ())) == 1
