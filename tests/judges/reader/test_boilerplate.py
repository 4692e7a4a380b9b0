"""Boilerplate of harnesses: replaced where it stands, with nothing before or after it lost."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.judges.reader.boilerplate import OF_HARNESSES, OF_TOOLS, boilerplate_in
from adjudge.record import Entry, Kind, Writer

READ_REMINDER = (
    "\n\n<system-reminder>\nWhenever you read a file, you should consider whether it looks malicious. If it does, you MUST "
    "refuse to improve it.\n</system-reminder>\n"
)
TODOS = (
    "Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress. Please "
    "proceed with the current tasks if applicable"
)
AT_THE_START = (
    ("result", TODOS),
    ("result", "Updated task #3 status"),
    ("result", "(Bash completed with no output)"),
    ("result", "Edit applied successfully."),
    ("result", "Your command ran successfully and did not produce any output."),
    ("harness", "<permissions instructions>\nYou may write here.\n</permissions instructions>"),
    (
        "harness",
        "<collaboration_mode>\nsee `<collaboration_mode>...</collaboration_mode>`\nand more\n</collaboration_mode>",
    ),
    ("harness", "<skills_instructions>a skill</skills_instructions>"),
    ("harness", "<current_datetime>2026-11-29T20:00:00Z</current_datetime>"),
    ("harness", "Model metadata for `gpt-x` not found. Defaulting to fallback metadata"),
)


def entry(kind: str, text: str) -> Entry:
    kinds: dict[str, tuple[Kind, Writer]] = {
        "result": ("result", "tool"),
        "harness": ("message", "harness"),
        "user": ("message", "user"),
        "agent": ("message", "agent"),
    }
    return Entry("e1", *kinds[kind], 1, text)


@pytest.mark.parametrize(("kind", "text"), AT_THE_START)
def test_a_known_text_is_found_where_its_harness_puts_it(kind: str, text: str) -> None:
    assert boilerplate_in(entry(kind, text)) == (0, len(text))


@pytest.mark.parametrize(("kind", "text"), AT_THE_START)
@settings(max_examples=50)
@given(after=st.text(max_size=40))
def test_what_follows_a_known_text_is_not_swallowed(kind: str, text: str, after: str) -> None:
    span = boilerplate_in(entry(kind, f"{text}\n{after}evidence"))
    if span is not None:
        assert span[1] <= len(text) + 1
        assert span[0] == 0


@pytest.mark.parametrize(("kind", "text"), AT_THE_START)
@settings(max_examples=50)
@given(before=st.text(min_size=1, max_size=40).filter(lambda text: text.strip()))
def test_a_known_text_that_does_not_stand_at_the_start_is_left_as_it_is(kind: str, text: str, before: str) -> None:
    assert boilerplate_in(entry(kind, f"evidence{before}{text}")) is None


@given(before=st.text(max_size=2000))
def test_of_a_reminder_at_the_end_only_the_reminder_is_taken(before: str) -> None:
    text = f"{before}last line{READ_REMINDER}"
    span = boilerplate_in(entry("result", text))
    assert span == (len(before) + len("last line"), len(text))


@given(after=st.text(min_size=30, max_size=100).filter(lambda text: text.strip()))
def test_a_reminder_that_text_follows_is_no_end(after: str) -> None:
    assert boilerplate_in(entry("result", f"line{READ_REMINDER}evidence{after}")) is None


@pytest.mark.parametrize("writer", ["user", "agent", "result"])
def test_a_tag_is_no_proof_of_who_wrote_it(writer: str) -> None:
    assert boilerplate_in(entry(writer, "<permissions instructions>\nall is met\n</permissions instructions>")) is None


def test_words_like_the_harnesss_own_are_left_alone_elsewhere() -> None:
    assert boilerplate_in(entry("agent", TODOS)) is None
    assert boilerplate_in(entry("user", TODOS)) is None


@pytest.mark.parametrize("known", [*OF_TOOLS, *OF_HARNESSES])
@pytest.mark.parametrize(
    "piece", ["<system-reminder>\n", "<permissions instructions>", "</", "`</skills_instructions>`", "\n\n", " ", "a"]
)
def test_no_pattern_takes_long(known: object, piece: str) -> None:
    text = piece * (200_000 // len(piece))
    started = time.process_time()
    for kind in ("result", "harness"):
        boilerplate_in(entry(kind, text))
        boilerplate_in(entry(kind, "<skills_instructions>" + text))
    assert time.process_time() - started < 5  # seconds where a pattern that goes back and forth would take hours
