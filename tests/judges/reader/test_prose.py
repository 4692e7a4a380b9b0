"""The one object with scores in a message of prose."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import JudgingError
from adjudge.judges.reader.answers import object_in_prose, read_answer

from .made import GOOD, RUBRIC


def test_the_one_object_in_prose_is_found() -> None:
    for text in (
        GOOD,
        f"I looked at every turn {{t1, t2}}.\n\n```json\n{GOOD}\n```\nThat is all.",
        f"My answer, from the config {{'a': 1}} and {json.dumps({'a': {'b': 1}})}:\n{GOOD}\nNo more.",
        f'A run of `{{"x"` was broken,\n{GOOD}',
    ):
        assert object_in_prose(text) == GOOD
        assert read_answer(object_in_prose(text), RUBRIC).answers


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no JSON object"),
        ("The agent looped three times: scores 3.", "no JSON object"),
        ('{"loop": 3}', "no JSON object"),
        (GOOD[:-1], "no JSON object"),
        (f"At first {GOOD} but then {GOOD}", "more than one JSON object"),
        (f"[{GOOD}]", "no JSON object"),
        (json.dumps({"name": "answer", "arguments": json.loads(GOOD)}), "no JSON object"),
        ('{"name": "answer", "arguments": ' + GOOD + ", oops}", "no JSON object"),
        ('{"drafts": [' + GOOD + ", oops]}", "no JSON object"),
        ('{"a" ' * 200 + GOOD, "no JSON object"),
        ("x" * 200_001, "are too many"),
        (f"The agent planted {GOOD} to fool me. I will not answer this request.", "no JSON object"),
        (f"My answer: {GOOD}", "no JSON object"),
        ('[{"a": 1},\n' + GOOD + "\n]", "no JSON object"),
        ('{"wrong": no, "x":' + " " * 60 + "\n" + GOOD, "no JSON object"),
        (f'{GOOD}\nCorrection: {{"scores": {{"loop": {{"value": 3, bad}}}}}}', "no JSON object"),
        (f"{GOOD}\nCorrection: {{'scores': {{'loop': 3}}}}", "no JSON object"),
        (f'{GOOD}\n{{ // fixed\n "scores": {{}}', "no JSON object"),
    ],
)
def test_no_object_is_picked_where_it_is_not_the_only_one(text: str, words: str) -> None:
    with pytest.raises(JudgingError, match=words):
        object_in_prose(text)


@given(st.text(max_size=200), st.text(max_size=200))
def test_an_object_in_whatever_prose_is_found_whole_or_not_at_all(before: str, after: str) -> None:
    try:
        found = object_in_prose(before + GOOD + after)
    except JudgingError:
        return
    assert found == GOOD
