"""What a layer is told of tools and schema is drawn up once for requests that have the same."""

from __future__ import annotations

import msgspec
import pytest
from pydantic_ai.models.test import TestModel

from adjudge.models.conversation import parameters_of
from adjudge.models.parameters import Parameters
from adjudge.ports import Message, Request, Tool

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}
ASKED = Request("You judge.", (Message("user", "Is it so?"),), schema=SCHEMA)
TOOLS = (Tool("look", "Looks.", {"type": "object", "properties": {}}),)


@pytest.mark.parametrize("plain", [False, True])
def test_requests_with_the_same_schema_share_what_was_drawn_up(plain: bool) -> None:
    layer = TestModel()
    parameters = Parameters(layer)
    given = parameters.of(ASKED, plain)
    again = parameters.of(msgspec.structs.replace(ASKED, messages=(Message("user", "And now?"),)), plain)
    assert given is again
    assert given == parameters_of(ASKED, plain)
    assert layer.customize_request_parameters(given) is layer.customize_request_parameters(again)


def test_another_schema_other_tools_and_no_schema_are_drawn_up_anew() -> None:
    layer = TestModel()
    parameters = Parameters(layer)
    for request, plain in (
        (ASKED, False),
        (ASKED, True),
        (msgspec.structs.replace(ASKED, schema=None), False),
        (msgspec.structs.replace(ASKED, schema={"type": "object"}), False),
        (msgspec.structs.replace(ASKED, tools=TOOLS), False),
    ):
        given = parameters.of(request, plain)
        assert given == parameters_of(request, plain)
        assert layer.customize_request_parameters(given) == TestModel().customize_request_parameters(given)


def test_what_the_layer_makes_of_other_parameters_is_not_taken_for_these() -> None:
    layer = TestModel()
    parameters = Parameters(layer)
    layer.customize_request_parameters(parameters.of(ASKED, False))
    other = parameters_of(msgspec.structs.replace(ASKED, tools=TOOLS), False)
    assert layer.customize_request_parameters(other).function_tools == other.function_tools
