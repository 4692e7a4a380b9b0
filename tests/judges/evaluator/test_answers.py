"""Reading what a model sent: strictly, or not at all."""

import json

import pytest

from adjudge.errors import JudgingError
from adjudge.judges.evaluator.answers import Decision, decide_tool, merged, read_decision
from adjudge.judges.evaluator.tools import ON_MACHINE, ON_RECORD, OpenEntry, look_tools
from adjudge.judges.strict import read_strictly
from adjudge.testing import decision, verdict

GOOD = json.dumps(decision(verdict("c1", True, ("e1", "some words"))))


def test_a_decision_becomes_answers_for_the_gate() -> None:
    (answer,) = read_decision(GOOD).answers()
    assert (answer.criterion, answer.passed) == ("c1", True)
    assert [(cited.exhibit, cited.quote) for cited in answer.citations] == [("e1", "some words")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It passes.", "not one JSON value"),
        (GOOD + GOOD, "not one JSON value"),
        (f"Here it is:\n```json\n{GOOD}\n```", "not one JSON value"),
        (f"```json\n{GOOD}\n```\n```json\n{GOOD}\n```", "not one JSON value"),
        (GOOD[:-1], "not one JSON value"),
        ("[]", "Expected `object`"),
        ("null", "Expected `object`"),
        ('{"summary": ""}', "verdicts"),
        (GOOD.replace('"pass"', '"Pass"'), "verdicts[0].verdict"),
        (GOOD.replace('"pass"', "true"), "verdicts[0].verdict"),
        (GOOD.replace('"c1"', "1"), "verdicts[0].criterion"),
        (GOOD.replace('"summary"', '"verdicts": [], "summary"'), "'verdicts' stands twice"),
        (GOOD.replace('"summary"', '"score": 1, "summary"'), "score"),
        (GOOD.replace('"c1"', "NaN"), "NaN is not JSON"),
        (GOOD.replace("some words", "\\ud800"), "surrogate"),
        ("[" * 100_000, "nested too deeply"),
        (GOOD + " " * 200_000, "too many"),
        (GOOD.replace('"c1"', "9" * 5_000), ""),
    ],
)
def test_what_is_not_exactly_one_decision_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(JudgingError) as refused:
        read_decision(text)
    assert words in str(refused.value)


def test_a_long_note_is_cut_where_one_can_see_it() -> None:
    text = json.dumps(decision(verdict("c1", True, note="x" * 10_000)))
    note = read_decision(text).answers()[0].note
    assert len(note) < 2_100
    assert note.endswith("[cut: 10000 characters in all]")


def test_a_second_decision_replaces_the_verdicts_it_speaks_of_and_keeps_the_others() -> None:
    first = read_decision(json.dumps(decision(verdict("c1", True), verdict("c2", True), summary="First.")))
    second = read_decision(json.dumps(decision(verdict("c2", False), summary=" ")))
    whole = merged(first, second)
    assert [(ruling.criterion, ruling.verdict) for ruling in whole.verdicts] == [("c1", "pass"), ("c2", "fail")]
    assert whole.summary == "First."


def test_the_schemas_of_all_tools_are_plain_objects_without_references() -> None:
    for tool in (*look_tools(ON_RECORD), *look_tools(ON_MACHINE), decide_tool()):
        text = json.dumps(tool.parameters)
        assert tool.parameters["type"] == "object"
        assert "$ref" not in text
        assert '"title"' not in text
        assert "anyOf" not in text
        assert "null" not in text


def test_what_the_schema_of_a_decision_asks_for_is_what_is_read() -> None:
    schema = decide_tool().parameters
    assert schema["required"] == ["verdicts", "summary"]
    item = schema["properties"]["verdicts"]["items"]
    assert item["required"] == ["criterion", "verdict", "note"]
    assert item["properties"]["verdict"] == {"type": "string", "enum": ["fail", "pass"]}
    assert isinstance(read_decision('{"verdicts": [], "summary": ""}'), Decision)


def test_arguments_are_never_taken_for_an_empty_object() -> None:
    for text in ("", " ", "null", '""', "[]"):
        with pytest.raises(JudgingError):
            read_strictly(text, OpenEntry)
