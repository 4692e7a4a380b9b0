"""The schema of an answer: what providers take, and exactly what is read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import JudgingError
from adjudge.judges.reader.answers import answer_schema, read_answer
from adjudge.judges.reader.own import own_rubric
from adjudge.rubric import RATIO, Rubric, Scale

from .made import RUBRIC, SCALES


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


OTHER = st.sampled_from(["3", "", True, False, 2, 1.5, -3, 4, 1e300, [], {}, [{}], {"other": 1}, {"turn": "t1"}])


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
