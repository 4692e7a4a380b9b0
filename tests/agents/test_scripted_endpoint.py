"""The scripted endpoint keeps to the formats: it is asked by adjudge's own clients and by OpenAI's."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import httpx
import pytest
from openai import AsyncOpenAI

from adjudge.errors import ModelError
from adjudge.models.opening import open_model
from adjudge.ports import Message, Model, Reply, Request, Tool
from adjudge.settings import Settings

from .scripted_endpoint import Billed, Script, ScriptedEndpoint, Step, billed_together, scripted

pytestmark = pytest.mark.xdist_group("models")  # what they import takes seconds in every process

Format = Literal["chat", "anthropic", "gemini"]
FORMATS: tuple[Format, ...] = ("chat", "anthropic", "gemini")

LOOK = Tool("look", "Look at a file.", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})
STEPS = (
    Step("I look at two.", "Which files are there?", (("look", {"path": "a"}), ("look", {"path": "b"}))),
    Step("And at one more.", calls=(("look", {"path": "c"}),), billed=Billed(2000, 1500, 33)),
    Step("It is so."),
)


@asynccontextmanager
async def client(endpoint: ScriptedEndpoint, format: Format, name: str = "m") -> AsyncIterator[Model]:
    """A model of adjudge's own that asks this endpoint in a format, with the key `secret`."""
    settings = Settings(
        keys={"OPENAI_API_KEY": "secret", "ANTHROPIC_API_KEY": "secret", "GEMINI_API_KEY": "secret"},
        base_urls={
            "OPENAI_BASE_URL": f"{endpoint.url}/v1",
            "ANTHROPIC_BASE_URL": endpoint.url,
            "GEMINI_BASE_URL": endpoint.url,
        },
    )
    provider = {"chat": "openai", "anthropic": "anthropic", "gemini": "google"}[format]
    model = open_model(f"{provider}/{name}", settings)
    try:
        yield model
    finally:
        await model.close()


async def converse(model: Model, text: str = "Look.") -> list[Reply]:
    """A conversation in which every call is answered, until there is none."""
    messages: tuple[Message, ...] = (Message("user", text),)
    replies: list[Reply] = []
    while not replies or replies[-1].calls:
        replies.append(await model.answer(Request("You look.", messages, (LOOK,), retries=0)))
        results = (Message("tool", "There.", answers=call.id, name=call.name) for call in replies[-1].calls)
        messages = (*messages, replies[-1].message, *results)
    return replies


@pytest.mark.parametrize("format", FORMATS)
async def test_a_script_is_played_from_its_first_step_to_its_last(format: Format) -> None:
    async with scripted(STEPS) as endpoint, client(endpoint, format) as model:
        replies = await converse(model)
    assert [reply.text for reply in replies] == ["I look at two.", "And at one more.", "It is so."]
    paths = [[json.loads(call.arguments)["path"] for call in reply.calls] for reply in replies]
    assert paths == [["a", "b"], ["c"], []]
    assert [reply.stop for reply in replies] == ["calls", "calls", "end"]
    assert (endpoint.steps(), endpoint.unknown) == ([0, 1, 2], [])
    assert {asked.key for asked in endpoint.requests} == {"secret"}


@pytest.mark.parametrize("format", FORMATS)
async def test_usage_is_what_the_script_bills(format: Format) -> None:
    async with scripted(STEPS) as endpoint, client(endpoint, format) as model:
        usages = [reply.call.usage for reply in await converse(model)]
    assert [(usage.prompt, usage.cached or 0, usage.output) for usage in usages] == [
        (1200, 0, 30),
        (2000, 1500, 33),
        (1800, 1500, 32),
    ]


def test_what_all_steps_bill_is_summed() -> None:
    assert billed_together(STEPS) == Billed(1200 + 2000 + 1800, 1500 + 1500, 30 + 33 + 32)


@pytest.mark.parametrize("format", FORMATS)
async def test_reasoning_is_told_in_its_format(format: Format) -> None:
    async with scripted(STEPS) as endpoint, client(endpoint, format) as model:
        assert (await converse(model))[0].reasoning == "Which files are there?"


@pytest.mark.parametrize("format", FORMATS)
async def test_the_same_question_gets_the_same_step_again(format: Format) -> None:
    async with scripted(STEPS) as endpoint, client(endpoint, format) as model:
        await converse(model)
        await converse(model)
    assert endpoint.steps() == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize("format", FORMATS)
async def test_a_refusal_is_an_error_of_the_format(format: Format) -> None:
    async with scripted((Step(status=400),)) as endpoint, client(endpoint, format) as model:
        with pytest.raises(ModelError, match="The script refuses with 400"):
            await converse(model)


@pytest.mark.parametrize("format", FORMATS)
async def test_an_answer_is_cut_at_the_token_limit(format: Format) -> None:
    async with scripted((Step("It is s", finish="length"),)) as endpoint, client(endpoint, format) as model:
        (reply,) = await converse(model)
    assert (reply.stop, reply.text) == ("length", "It is s")


@pytest.mark.parametrize("format", FORMATS)
async def test_a_connection_is_cut_in_the_middle(format: Format) -> None:
    async with scripted((Step("It is so.", cut=True),)) as endpoint, client(endpoint, format) as model:
        with pytest.raises(ModelError) as caught:
            await converse(model)
    assert caught.value.kind == "broken"


@pytest.mark.parametrize("format", FORMATS)
async def test_a_question_without_tools_is_a_side_question(format: Format) -> None:
    async with scripted(STEPS) as endpoint, client(endpoint, format) as model:
        reply = await model.answer(Request("", (Message("user", "A title?"),)))
    assert (reply.text, endpoint.steps()) == ("Noted.", [None])


async def test_the_users_words_and_the_models_name_choose_the_script() -> None:
    scripts = (
        Script((Step("first"),), match="task (1|one)"),
        Script((Step("second for m"),), match="task 2", model="m"),
        Script((Step("second for all"),), match="task 2"),
    )
    async with scripted(scripts) as endpoint:
        for name, text, expected in (
            ("m", "Do task one.", "first"),
            ("m", "Do task 2.", "second for m"),
            ("n", "Do task 2.", "second for all"),
            ("n", "Do task 3.", "Noted."),
        ):
            async with client(endpoint, "chat", name) as model:
                assert (await converse(model, text))[0].text == expected


# --- streams, which adjudge's own clients do not ask for


async def test_chat_completions_are_streamed() -> None:
    async with scripted(STEPS) as endpoint, AsyncOpenAI(api_key="secret", base_url=f"{endpoint.url}/v1") as openai:
        tool: Any = {"type": "function", "function": {"name": "look", "parameters": LOOK.parameters}}
        stream = openai.chat.completions.stream(model="m", messages=[{"role": "user", "content": "Look."}], tools=[tool])
        async with stream as events:
            completion = await events.get_final_completion()
    (choice,) = completion.choices
    assert choice.message.content == "I look at two."
    assert [call.function.arguments for call in choice.message.tool_calls or ()] == ['{"path": "a"}', '{"path": "b"}']
    assert choice.finish_reason == "tool_calls"
    assert completion.usage is not None
    assert (completion.usage.prompt_tokens, completion.usage.completion_tokens) == (1200, 30)


FUNCTION: Any = {"type": "function", "name": "look", "parameters": LOOK.parameters, "strict": False}
FREE: Any = {"type": "custom", "name": "write"}


async def test_responses_come_whole() -> None:
    steps = (Step("I write.", "What to write?", (("look", {"path": "a"}), ("write", "a line"))),)
    async with scripted(steps) as endpoint, AsyncOpenAI(api_key="secret", base_url=f"{endpoint.url}/v1") as openai:
        response = await openai.responses.create(model="m", input="Write.", tools=[FUNCTION, FREE])
    assert response.output_text == "I write."
    assert [item.type for item in response.output] == ["reasoning", "message", "function_call", "custom_tool_call"]
    assert response.usage is not None
    assert (response.usage.input_tokens, response.usage.output_tokens) == (1200, 30)


async def test_responses_are_streamed() -> None:
    async with scripted(STEPS) as endpoint, AsyncOpenAI(api_key="secret", base_url=f"{endpoint.url}/v1") as openai:
        stream = openai.responses.stream(model="m", input="Look.", tools=[FUNCTION])
        async with stream as events:
            response = await events.get_final_response()
    assert (response.status, response.output_text) == ("completed", "I look at two.")
    assert [item.arguments for item in response.output if item.type == "function_call"] == [
        '{"path": "a"}',
        '{"path": "b"}',
    ]


async def test_results_in_the_input_lead_to_the_next_response() -> None:
    given: Any = [{"role": "user", "content": "Look."}]
    given += [{"type": "function_call_output", "call_id": str(number), "output": "There."} for number in range(3)]
    async with scripted(STEPS) as endpoint, AsyncOpenAI(api_key="secret", base_url=f"{endpoint.url}/v1") as openai:
        response = await openai.responses.create(model="m", input=given, tools=[FUNCTION])
    assert response.output_text == "It is so."


async def test_a_response_that_is_cut_at_the_limit_is_incomplete() -> None:
    steps = (Step("I wri", finish="length"),)
    async with scripted(steps) as endpoint, AsyncOpenAI(api_key="secret", base_url=f"{endpoint.url}/v1") as openai:
        response = await openai.responses.create(model="m", input="Write.", tools=[FREE])
    assert (response.status, response.output_text) == ("incomplete", "I wri")


async def test_messages_are_streamed() -> None:
    from anthropic import AsyncAnthropic

    async with scripted(STEPS) as endpoint, AsyncAnthropic(api_key="secret", base_url=endpoint.url) as anthropic:
        tool: Any = {"name": "look", "input_schema": LOOK.parameters}
        asked: Any = [{"role": "user", "content": "Look."}]
        async with anthropic.messages.stream(model="m", max_tokens=9, messages=asked, tools=[tool]) as events:
            message = await events.get_final_message()
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert [block.input for block in message.content if block.type == "tool_use"] == [{"path": "a"}, {"path": "b"}]
    assert (message.stop_reason, message.usage.input_tokens, message.usage.output_tokens) == ("tool_use", 1200, 30)


async def test_generated_content_is_streamed() -> None:
    from google.genai import Client
    from google.genai.types import HttpOptions

    tool: Any = {"function_declarations": [{"name": "look", "parameters_json_schema": LOOK.parameters}]}
    config: Any = {"tools": [tool]}
    async with scripted(STEPS) as endpoint, httpx.AsyncClient() as connection:
        options = HttpOptions(base_url=endpoint.url, httpx_async_client=connection)
        google = Client(api_key="secret", http_options=options).aio
        stream = await google.models.generate_content_stream(model="m", contents="Look.", config=config)
        chunks = [chunk async for chunk in stream]
    parts = [part for chunk in chunks for part in (chunk.candidates or [])[0].content.parts]  # type: ignore[union-attr]  # every chunk has some
    assert [part.thought or bool(part.function_call) for part in parts] == [True, False, True, True]
    assert chunks[-1].usage_metadata is not None
    assert chunks[-1].usage_metadata.prompt_token_count == 1200


# --- what agents ask besides


async def test_tokens_are_counted_for_who_asks() -> None:
    async with scripted(STEPS) as endpoint, httpx.AsyncClient() as connection:
        anthropic = await connection.post(f"{endpoint.url}/v1/messages/count_tokens", json={"messages": []})
        google = await connection.post(f"{endpoint.url}/v1beta/models/m:countTokens", json={"contents": []})
    assert anthropic.json()["input_tokens"] > 0
    assert google.json()["totalTokens"] > 0


async def test_a_path_that_is_not_known_is_refused_and_noted() -> None:
    async with scripted(STEPS) as endpoint, httpx.AsyncClient() as connection:
        reply = await connection.post(f"{endpoint.url}/v1/embeddings", json={})
    assert reply.status_code == 404
    assert endpoint.unknown == ["POST /v1/embeddings"]
