"""Telling what a harness put into a user's message from what the user wrote."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.importers.build import RecordBuilder
from adjudge.importers.injected import ELEMENTS, add_message, origin_of, pieces

INJECTED = {
    "<system-reminder>\nUse the tools.\n</system-reminder>": "system-reminder",
    "<command-message>init</command-message>\n<command-name>/init</command-name>": "slash-command",
    "<local-command-stdout>3 files</local-command-stdout>": "local-command",
    "<local-command-caveat>Caveat: local.</local-command-caveat>": "local-command",
    "<bash-input>ls</bash-input><bash-stdout>a</bash-stdout>": "user-shell",
    "<task-notification>\n<task-id>a1</task-id>\n</task-notification>": "task-notification",
    "<user-prompt-submit-hook>be brief</user-prompt-submit-hook>": "hook",
    "# AGENTS.md instructions for /repo\n\n<INSTRUCTIONS>\nRun make.\n</INSTRUCTIONS>": "memory",
    "<user_instructions>Run make.</user_instructions>": "memory",
    "<environment_context>\n  <cwd>/repo</cwd>\n</environment_context>": "environment",
    "<permissions instructions>\nAll is allowed.\n</permissions instructions>": "instructions",
    "<skill>\n<name>x</name>\n</skill>": "skill",
    "<subagent_notification>\n{}\n</subagent_notification>": "task-notification",
    "<turn_aborted>\nThe user stopped it.\n</turn_aborted>": "interrupted",
}


@pytest.mark.parametrize(("text", "origin"), INJECTED.items())
def test_a_known_element_is_the_harness(text: str, origin: str) -> None:
    assert [(piece.text, piece.origin) for piece in pieces(text)] == [(text, origin)]
    assert origin_of(text) == origin


@pytest.mark.parametrize(("text", "origin"), INJECTED.items())
def test_the_users_words_after_an_element_stay_the_users(text: str, origin: str) -> None:
    assert [(piece.text, piece.origin) for piece in pieces(f"{text}\nFix the bug.")] == [
        (f"{text}\n", origin),
        ("Fix the bug.", None),
    ]


def test_a_reminder_at_the_end_is_told_from_the_words_before_it() -> None:
    text = "Fix it.\n\n<system-reminder>a</system-reminder>\n<system-reminder>b</system-reminder>\n"
    found = [(piece.text.strip(), piece.origin) for piece in pieces(text)]
    assert found[0] == ("Fix it.", None)
    assert {origin for _, origin in found[1:]} == {"system-reminder"}


def test_a_tag_in_the_middle_of_the_users_words_is_the_users() -> None:
    text = "Why does <system-reminder>x</system-reminder> show up here?"
    assert [piece.origin for piece in pieces(text)] == [None]


def test_an_element_that_does_not_close_is_the_users() -> None:
    assert [piece.origin for piece in pieces("<system-reminder> is a tag")] == [None]
    assert [piece.origin for piece in pieces("a </system-reminder>")] == [None]


def test_an_element_may_quote_its_own_closing_tag() -> None:
    text = "<collaboration_mode>Set by `<collaboration_mode>...</collaboration_mode>`.</collaboration_mode>"
    assert [(piece.text, piece.origin) for piece in pieces(text + "Go.")] == [(text, "instructions"), ("Go.", None)]


def test_a_summary_of_an_earlier_session_is_the_harness_as_a_whole() -> None:
    text = "This session is being continued from a previous conversation that ran out of context. It did this and that."
    assert [piece.origin for piece in pieces(text)] == ["summary"]


WORDS = st.text(st.sampled_from("ab <>/`\n"), max_size=12)
PARTS = st.lists(st.sampled_from(list(INJECTED)) | WORDS | st.sampled_from([f"<{name}>" for name in ELEMENTS]), max_size=6)


@given(PARTS)
def test_no_character_is_lost_or_moved(parts: list[str]) -> None:
    text = "".join(parts)
    assert "".join(piece.text for piece in pieces(text)) == text


@given(st.text(st.characters(exclude_characters="<#", codec="utf-8"), max_size=40), st.sampled_from(list(INJECTED)))
def test_words_before_an_element_survive(words: str, element: str) -> None:
    users = "".join(piece.text for piece in pieces(f"x{words} {element}") if piece.origin is None)
    assert users.startswith(f"x{words}")


def test_each_part_is_an_entry_of_its_own() -> None:
    builder = RecordBuilder("test")
    words = add_message(
        builder, "<environment_context>x</environment_context>\nDo it.\n<system-reminder>y</system-reminder>"
    )
    entries = builder.finish().entries
    assert words == "Do it."
    assert [(entry.writer, entry.origin) for entry in entries] == [
        ("harness", "environment"),
        ("user", None),
        ("harness", "system-reminder"),
    ]


@pytest.mark.parametrize("part", ["<system-reminder>", "</system-reminder>", " ", "<skill>x</skill>", "<skill>`</skill>`"])
def test_a_hostile_message_takes_no_long_time(part: str) -> None:
    text = part * (2_000_000 // len(part))
    start = time.process_time()
    pieces(text)
    assert time.process_time() - start < 5
