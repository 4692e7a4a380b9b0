"""Reading what a model answered about dimensions: on the scale and in the rubric, or refused in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import JudgingError
from adjudge.evidence import Citation
from adjudge.judges.reader.answers import ReaderAnswer, ToldSteering, answer_schema, object_in_prose, read_answer
from adjudge.judges.reader.own import own_rubric
from adjudge.judgment import CauseAnswer, DimensionAnswer
from adjudge.rubric import RATIO, SEVERITY, Dimension, Rubric, Scale

RUBRIC = Rubric(
    "ours",
    (),
    "hash",
    "rubric.yaml",
    (
        Dimension("loop", SEVERITY, 0, "higher", "repeated calls"),
        Dimension("useful", RATIO, 1, "lower", "useful calls"),
        Dimension("mood", Scale(-2.5, 2.5, whole=False), 0, "lower", "how it went"),
        Dimension("waste", SEVERITY, 0, "higher", "avoidable tokens", causes=("repeated call", "large output")),
    ),
    "1",
)
SCALES = {dimension.id: dimension.scale for dimension in RUBRIC.dimensions}

CITED = {"turn": "t7", "quote": "the very same call"}


def scored(value: object, **more: object) -> dict[str, Any]:
    return {"reasoning": "It says why.", "value": value, "citations": [CITED], **more}


def message(**scores: object) -> str:
    return json.dumps({"scores": scores, "summary": "It ran in circles.", "steering": []})


def waste(**changed: object) -> dict[str, Any]:
    cause = {"cause": "large output", "share": 0.2, "recommendation": "Use tail.", "citations": [CITED]}
    return scored(2, share=0.3, causes=[cause | changed])


def answers(text: str) -> tuple[DimensionAnswer, ...]:
    return read_answer(text, RUBRIC).answers


def refusal(text: str) -> str:
    with pytest.raises(JudgingError) as refused:
        read_answer(text, RUBRIC)
    return str(refused.value)


GOOD = message(loop=scored(3))


# --- what is read


def test_an_answer_becomes_answers_for_the_gate_in_the_rubrics_order() -> None:
    seen = Citation("t7", "the very same call")
    assert answers(message(waste=waste(), loop=scored(3), useful=scored(0.25))) == (
        DimensionAnswer("loop", 3, "It says why.", (seen,)),
        DimensionAnswer("useful", 0.25, "It says why.", (seen,)),
        DimensionAnswer(
            "waste", 2, "It says why.", (seen,), 0.3, (CauseAnswer("large output", 0.2, "Use tail.", (seen,)),)
        ),
    )


def test_a_fence_around_the_whole_message_is_accepted() -> None:
    plain = read_answer(GOOD, RUBRIC)
    for fenced in (f"```json\n{GOOD}\n```", f"\n```\n{GOOD}```\n", f"  {GOOD}\n"):
        assert read_answer(fenced, RUBRIC) == plain


def test_a_whole_number_may_be_written_with_a_point() -> None:
    for written in ("2", "2.0", "2e0"):
        (answer,) = answers(GOOD.replace('"value": 3', f'"value": {written}'))
        assert answer.value == 2


def test_what_was_not_established_is_null() -> None:
    (answer,) = answers(message(waste=scored(None, share=None, causes=[])))
    assert (answer.value, answer.share) == (None, None)


def test_minus_zero_is_zero() -> None:
    (answer,) = answers(message(loop=scored(-0.0)))
    assert str(answer.value) == "0.0"


def test_a_dimension_that_is_left_out_is_the_gates_affair() -> None:
    assert [answer.dimension for answer in answers(GOOD)] == ["loop"]


def test_what_else_is_left_out_accuses_nobody_and_is_the_gates_affair() -> None:
    whole = read_answer(
        '{"scores": {"loop": {"value": 1}, "waste": {"value": 1, "causes": [{"cause": "large output"}]}}}', RUBRIC
    )
    assert whole.answers[0] == DimensionAnswer("loop", 1, "")
    assert whole.answers[1].causes == (CauseAnswer("large output", None, ""),)
    assert (whole.summary, whole.steering) == ("", ())


@pytest.mark.parametrize(
    ("written", "turn"),
    [
        ("t7", "t7"),
        ("7", "t7"),
        (7, "t7"),
        ("turn 7", "t7"),
        ("Turn 7", "t7"),
        ("turn7", "t7"),
        (" [t7] ", "t7"),
        ("T07", "t7"),
        ("s1.t3", "s1.t3"),
        ("S1.T3", "s1.t3"),
        ("s1.s2.t3", "s1.s2.t3"),
        ("s1.3", "s1.t3"),
        ("t0", "t0"),
        ("e12", "e12"),
        ("t7-t9", "t7-t9"),
        ("t٣", "t٣"),
        ("the last one", "the last one"),
        ("", ""),
    ],
)
def test_a_turn_is_named_as_exhibits_are_where_it_can_be_read(written: str | int, turn: str) -> None:
    (answer,) = answers(message(loop=scored(3) | {"citations": [CITED | {"turn": written}]}))
    assert answer.citations[0].exhibit == turn
    told = json.dumps({"scores": {"loop": scored(0)}, "steering": [{"turn": written, "excerpt": "Score 0."}]})
    assert read_answer(told, RUBRIC).steering == (ToldSteering(turn, "Score 0."),)


def test_long_words_are_cut_where_one_can_see_it() -> None:
    text = json.dumps(
        {
            "scores": {"loop": scored(0) | {"reasoning": "r" * 9_000}, "waste": waste(recommendation="w" * 9_000)},
            "summary": "s" * 9_000,
        }
    )
    whole = read_answer(text, RUBRIC)
    loop, found = whole.answers
    for words in (loop.reasoning, found.causes[0].recommendation, whole.summary):
        assert len(words) < 6_100
        assert words.endswith("[cut: 9000 characters in all]")


# --- what is refused


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not one JSON value"),
        ("The agent looped.", "not one JSON value"),
        (GOOD + GOOD, "not one JSON value"),
        (GOOD + "\nI hope this helps.", "not one JSON value"),
        (f"Here it is:\n```json\n{GOOD}\n```", "not one JSON value"),
        (f"```json\n{GOOD}\n```\n```json\n{GOOD}\n```", "not one JSON value"),
        (GOOD[:-1], "not one JSON value"),
        (GOOD.replace('"value": 3', '"value": 3, "value": 0'), "the key 'value' stands twice in one object"),
        (GOOD.replace('"summary"', '"scores": {}, "summary"'), "the key 'scores' stands twice in one object"),
        (GOOD.replace('"value": 3', '"value": NaN'), "NaN is not JSON"),
        (GOOD.replace('"value": 3', '"value": -Infinity'), "-Infinity is not JSON"),
        (GOOD.replace("It ran", "\\udc00"), "surrogate"),
        ("[" * 100_000, "nested too deeply"),
        ('{"scores":' * 10_000, "nested too deeply"),
        (GOOD + " " * 200_000, "are too many; at most 200000 are read"),
    ],
)
def test_what_is_not_exactly_one_json_object_is_refused_in_words(text: str, words: str) -> None:
    assert words in refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "null",
        "3",
        '"loop"',
        "{}",
        f"[{GOOD}]",
        '{"loop": {"value": 1}}',
        json.dumps({"name": "answer", "arguments": json.loads(GOOD)}),
        json.dumps({"tool_calls": [{"function": {"name": "answer", "arguments": GOOD}}]}),
    ],
)
def test_another_object_or_a_call_of_a_tool_is_told_which_object_is_wanted(text: str) -> None:
    assert refusal(text) == (
        'the answer is one object {"scores": {…}, "summary": "…", "steering": […]}, and no call of a tool'
    )


def with_value(value: str) -> str:
    return GOOD.replace('"value": 3', f'"value": {value}')


SEVERE = "scores.loop.value: must be a whole number from 0 to 3, or null if nothing was established, "


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (with_value('"3"'), SEVERE + 'got "3"'),
        (with_value("true"), SEVERE + "got true"),
        (with_value('"false"'), SEVERE + 'got "false"'),
        (with_value("[3]"), SEVERE + "got a list"),
        (with_value('{"level": 3}'), SEVERE + "got a mapping"),
        (with_value("2.5"), SEVERE + "got 2.5"),
        (with_value("4"), SEVERE + "got 4"),
        (with_value("-1"), SEVERE + "got -1"),
        (with_value("1e999"), SEVERE + "got inf"),
        (with_value("9" * 4_000), SEVERE + "got a number of more than 80 digits"),
        (GOOD.replace(', "value": 3', ""), SEVERE + "but is missing"),
        (message(useful=scored(1.01)), "scores.useful.value: must be a number from 0 to 1, or null"),
        (message(mood=scored(-2.6)), "scores.mood.value: must be a number from -2.5 to 2.5, or null"),
        (message(stars=scored(1)), "scores: there is no dimension 'stars'; there are loop, useful, mood, waste"),
        (message(Loop=scored(1)), "scores: there is no dimension 'Loop'"),
        (message(), "scores: holds no dimension; there are loop, useful, mood, waste"),
        ('{"scores": [{"dimension": "loop", "value": 1}]}', "the answer.scores: Expected `object`, got `array`"),
        ('{"scores": null}', "the answer.scores: Expected `object`, got `null`"),
        (message(loop=None), "scores.loop: Expected `object`, got `null`"),
        (message(loop=2), "scores.loop: Expected `object`, got `int`"),
        (message(loop=scored(1, share=None)), "scores.loop: Object contains unknown field `share`"),
        (message(loop=scored(1, confidence=0.9)), "scores.loop: Object contains unknown field `confidence`"),
        (GOOD.replace('"steering"', '"total": 3, "steering"'), "the answer: Object contains unknown field `total`"),
        (GOOD.replace('"It says why."', "null"), "scores.loop.reasoning: Expected `str`, got `null`"),
        (GOOD.replace('"t7"', "true"), "scores.loop.citations[0].turn: Expected `int | str`, got `bool`"),
        (GOOD.replace('"t7"', "7.5"), "scores.loop.citations[0].turn: Expected `int | str`, got `float`"),
        (GOOD.replace('"t7"', "-7"), 'scores.loop.citations[0].turn: must name a turn, such as "t7" or "s1.t3", got -7'),
        (message(loop=scored(1) | {"citations": "t7"}), "scores.loop.citations: Expected `array`, got `str`"),
        (message(loop=scored(1) | {"citations": ["t7"]}), "scores.loop.citations[0]: Expected `object`, got `str`"),
        (message(loop=scored(1) | {"citations": [CITED] * 51}), "scores.loop.citations: holds 51 items; give at most 50"),
        (
            message(waste=waste(cause="bad luck")),
            "scores.waste.causes[0].cause: must be one of repeated call, large output, got 'bad luck'",
        ),
        (message(waste=waste(share=1.5)), "scores.waste.causes[0].share: must be a number from 0 to 1, or null"),
        (message(waste=waste(share="20 %")), "scores.waste.causes[0].share: must be a number from 0 to 1, or null"),
        (message(waste=waste(value=1)), "scores.waste.causes[0]: Object contains unknown field `value`"),
        (message(waste=scored(1, share=30, causes=[])), "scores.waste.share: must be a number from 0 to 1, or null"),
        (
            message(waste=scored(1, causes=[{"cause": "large output"}] * 51)),
            "scores.waste.causes: holds 51 items; give at most 50",
        ),
        (GOOD.replace('"steering": []', '"steering": "none"'), "the answer.steering: Expected `array`, got `str`"),
        (
            GOOD.replace('"steering": []', '"steering": [' + ", ".join(['{"turn": 1, "excerpt": ""}'] * 51) + "]"),
            "steering: holds 51 items; give at most 50",
        ),
    ],
)  # fmt: skip
def test_what_is_off_its_scale_or_not_in_the_rubric_is_told_with_its_place(text: str, words: str) -> None:
    assert refusal(text).startswith(words)


def test_a_refusal_is_short_whatever_was_sent() -> None:
    long = "x" * 50_000
    for text in (message(**{long: scored(1)}), message(loop=scored(long)), message(waste=waste(cause=long))):
        assert len(refusal(text)) < 400


# --- the schema


def strict_objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Every object of a schema."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for part in schema.values():
            yield from strict_objects(part)
    if isinstance(schema, list):
        for part in schema:
            yield from strict_objects(part)


REFUSED_BY_PROVIDERS = ("$ref", "oneOf", "allOf", "default", "minLength", "maxLength", "uniqueItems", "patternProperties")


@pytest.mark.parametrize("rubric", [RUBRIC, own_rubric()], ids=["made", "own"])
def test_the_schema_keeps_to_what_strict_mode_takes(rubric: Rubric) -> None:
    """As OpenAI's guide to structured outputs says: all keys required, none besides, and not every keyword."""
    schema = answer_schema(rubric)
    jsonschema.Draft202012Validator.check_schema(schema)
    objects = list(strict_objects(schema))
    assert len(objects) > len(rubric.dimensions)
    for each in objects:
        assert each["additionalProperties"] is False
        assert each["required"] == list(each["properties"])
    text = json.dumps(schema)
    assert [word for word in REFUSED_BY_PROVIDERS if f'"{word}"' in text] == []
    assert schema["type"] == "object"


def test_the_reasoning_comes_before_the_value_and_causes_only_where_there_are_some() -> None:
    scores = answer_schema(RUBRIC)["properties"]["scores"]["properties"]
    assert list(scores) == ["loop", "useful", "mood", "waste"]
    for name, score in scores.items():
        keys = list(score["properties"])
        assert keys.index("reasoning") < keys.index("value")
        assert ("causes" in keys) == ("share" in keys) == (name == "waste")
    causes = scores["waste"]["properties"]["causes"]["items"]["properties"]["cause"]
    assert causes["enum"] == ["repeated call", "large output"]


VALIDATOR = jsonschema.Draft202012Validator(answer_schema(RUBRIC))


def is_valid(answer: object) -> bool:
    return VALIDATOR.is_valid(answer)


def is_read(answer: object) -> bool:
    try:
        read_answer(json.dumps(answer), RUBRIC)
    except JudgingError:
        return False
    return True


def numbers(scale: Scale) -> st.SearchStrategy[Any]:
    if scale.whole:
        return st.none() | st.integers(int(scale.least), int(scale.most)).flatmap(
            lambda number: st.sampled_from([number, float(number)])
        )
    return st.none() | st.floats(scale.least, scale.most)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
CITATIONS = st.lists(st.fixed_dictionaries({"turn": TEXTS, "quote": TEXTS}), max_size=3)
CAUSES = st.fixed_dictionaries(
    {
        "cause": st.sampled_from(["repeated call", "large output"]),
        "citations": CITATIONS,
        "share": numbers(RATIO),
        "recommendation": TEXTS,
    }
)


def made_score(name: str) -> st.SearchStrategy[dict[str, Any]]:
    parts: dict[str, st.SearchStrategy[Any]] = {"reasoning": TEXTS, "citations": CITATIONS, "value": numbers(SCALES[name])}
    if name == "waste":
        parts |= {"share": numbers(RATIO), "causes": st.lists(CAUSES, max_size=3)}
    return st.fixed_dictionaries(parts)


MADE: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "scores": st.fixed_dictionaries({name: made_score(name) for name in SCALES}),
        "summary": TEXTS,
        "steering": st.lists(st.fixed_dictionaries({"turn": TEXTS, "excerpt": TEXTS}), max_size=2),
    }
)


@given(MADE)
def test_an_answer_made_by_the_schema_is_read_with_every_dimension(answer: dict[str, Any]) -> None:
    assert is_valid(answer)
    read = read_answer(json.dumps(answer), RUBRIC)
    assert [each.dimension for each in read.answers] == list(SCALES)
    assert [each.value for each in read.answers] == [answer["scores"][name]["value"] for name in SCALES]


OTHER = st.sampled_from(["3", "", True, False, 2, 1.5, -3, 4, 1e300, [], {}, [{}], {"value": 1}, {"turn": "t1"}])


def spoilt(answer: dict[str, Any], choose: Callable[[Any], Any]) -> None:
    """Put something else, or something besides, into one place of an answer."""
    place: Any = answer
    for _ in range(choose(st.integers(0, 5))):
        inner = [
            part
            for part in (place.values() if isinstance(place, dict) else place)
            if isinstance(part, dict | list) and part
        ]
        if not inner:
            break
        place = choose(st.sampled_from(inner))
    key = choose(st.sampled_from([*place, "more"] if isinstance(place, dict) else list(range(len(place)))))
    place[key] = choose(OTHER)


def as_the_schema_wants_it(answer: Any) -> Any:
    """An answer with its turns as texts: the one thing that is read in more ways than the schema asks for."""
    if isinstance(answer, list):
        return [as_the_schema_wants_it(part) for part in answer]
    if not isinstance(answer, dict):
        return answer
    return {
        key: str(part) if key == "turn" and type(part) is int and part >= 0 else as_the_schema_wants_it(part)
        for key, part in answer.items()
    }


@given(MADE, st.data())
def test_the_schema_takes_exactly_what_is_read(answer: dict[str, Any], data: st.DataObject) -> None:
    spoilt(answer, data.draw)
    assert is_read(answer) == is_valid(as_the_schema_wants_it(answer))


# --- whatever comes


def values_of(answer: ReaderAnswer) -> Iterator[tuple[float | None, Scale]]:
    for each in answer.answers:
        yield each.value, SCALES[each.dimension]
        yield each.share, RATIO
        for cause in each.causes:
            yield cause.share, RATIO


def assert_on_scale_or_refused(text: str) -> None:
    try:
        answer = read_answer(text, RUBRIC)
    except JudgingError:
        return
    assert answer.answers
    for value, scale in values_of(answer):
        assert value is None or (scale.least <= value <= scale.most and (not scale.whole or value in range(-9, 9)))
        assert type(value) in (type(None), float)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["t7", "large output"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["scores", "loop", "waste", "value", "share", "causes", "cause", "citations", "turn", "quote", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    st.text()
    | ANY_JSON.map(json.dumps)
    | st.builds(lambda part: json.dumps({"scores": {"loop": part, "waste": part}}), ANY_JSON)
)
def test_whatever_text_comes_it_is_on_the_scale_or_refused(text: str) -> None:
    assert_on_scale_or_refused(text)


@given(st.integers(0, len(GOOD)), st.integers(0, len(GOOD)), st.text(max_size=4))
def test_a_damaged_answer_is_on_the_scale_or_refused(start: int, end: int, put: str) -> None:
    assert_on_scale_or_refused(GOOD[:start] + put + GOOD[end:])


# --- prose


def test_the_one_object_in_prose_is_found() -> None:
    for text in (
        GOOD,
        f"I looked at every turn {{t1, t2}}.\n\n```json\n{GOOD}\n```\nThat is all.",
        f"My answer: {GOOD} (from the config {{'a': 1}} and {json.dumps({'a': {'b': 1}})}).",
        f'A run of `{{"x"` was broken. {GOOD}',
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
