"""Reading what a model answered about dimensions: on the scale and in the rubric, or refused in words."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import JudgingError
from adjudge.evidence import Citation
from adjudge.judges.reader.answers import ReaderAnswer, ToldSteering, read_answer
from adjudge.judgment import CauseAnswer, DimensionAnswer
from adjudge.rubric import RATIO, Scale

from .made import CITED, GOOD, RUBRIC, SCALES, message, scored, waste


def answers(text: str) -> tuple[DimensionAnswer, ...]:
    return read_answer(text, RUBRIC).answers


def refusal(text: str) -> str:
    with pytest.raises(JudgingError) as refused:
        read_answer(text, RUBRIC)
    return str(refused.value)


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
        (message(**{"": scored(1)}), "scores: there is no dimension ''"),
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
    more = {long: 1}
    before_all = {"citations": [CITED | {"turn": -(10**4_000)}]}
    for text in (
        message(loop=scored(1) | before_all),
        message(**more),
        message(loop=scored(1) | more),
        message(loop=scored(long)),
        message(waste=waste(cause=long)),
    ):
        assert len(refusal(text)) < 400


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
                ["scores", "loop", "waste", "value", "share", "causes", "cause", "citations", "turn", "quote", ""]
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
