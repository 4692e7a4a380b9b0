"""The makers' own clients come through the proxy, as agents use them, with nothing but a placeholder for a key."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import openai
import pytest
from google.genai import Client
from google.genai.types import HttpOptions

from adjudge.agents.endpoints import PLACEHOLDER
from adjudge.agents.proxy import ModelProxy

from .provider import KEY, Agent, Seen, between, reply


def url(agent: Agent) -> str:
    host, port = agent.address
    return f"http://{host}:{port}"


def events(*data: object, named: bool = False) -> str:
    """A stream of events, as their type is called in the Messages and Responses formats if `named`."""
    lines = ((f"event: {each['type']}\n" if named and isinstance(each, dict) else "", json.dumps(each)) for each in data)
    return "".join(f"{name}data: {text}\n\n" for name, text in lines)


def told(seen: Seen, proxy: ModelProxy) -> None:
    assert PLACEHOLDER not in repr(seen)
    assert KEY in repr(seen)
    assert proxy.traffic.answered is True


HI: Any = [{"role": "user", "content": "Hi"}]


def openai_for(agent: Agent) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{url(agent)}/v1", api_key=PLACEHOLDER)


async def test_openais_client_asks_for_chat_completions() -> None:
    made = [
        {"id": "1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": w}}]} for w in "ab"
    ]
    stream = reply(events(*made) + "data: [DONE]\n\n", kind="text/event-stream")
    async with between(stream) as (agent, provider), openai_for(agent) as client:
        arriving = await client.chat.completions.create(model="m", messages=HI, stream=True)
        words = [chunk.choices[0].delta.content async for chunk in arriving]
    assert words == ["a", "b"]
    told(provider.seen[0], agent.proxy)


async def test_openais_client_asks_for_responses() -> None:
    stream = events({"type": "response.output_text.delta", "delta": "Hi", "sequence_number": 1}, named=True)
    script = reply(stream, kind="text/event-stream")
    async with between(script, wire="responses") as (agent, provider), openai_for(agent) as client:
        arriving = await client.responses.create(model="m", input="Hi", stream=True)
        kinds = [event.type async for event in arriving]
    assert kinds == ["response.output_text.delta"]
    told(provider.seen[0], agent.proxy)


async def test_anthropics_client_asks_for_messages() -> None:
    message = {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "Hi"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    async with (
        between(reply(json.dumps(message)), wire="anthropic", header="x-api-key") as (agent, provider),
        anthropic.AsyncAnthropic(base_url=url(agent), api_key=PLACEHOLDER) as client,
    ):
        answer = await client.messages.create(model="m", max_tokens=9, messages=HI)
    assert answer.content[0].type == "text"
    assert provider.seen[0].header("anthropic-version")
    told(provider.seen[0], agent.proxy)


@pytest.mark.filterwarnings("ignore:Inheritance class:DeprecationWarning")  # within Google's client
async def test_googles_client_asks_for_content() -> None:
    answer = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]}
    script = reply(events(answer), kind="text/event-stream")
    async with between(script, wire="gemini", header="x-goog-api-key") as (agent, provider):
        client = Client(api_key=PLACEHOLDER, http_options=HttpOptions(base_url=url(agent)))
        arriving = await client.aio.models.generate_content_stream(model="gemini-x", contents="Hi")
        texts = [piece.text async for piece in arriving]
        await client.aio.aclose()
        client.close()
    assert texts == ["Hi"]
    assert provider.seen[0].target == "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"
    told(provider.seen[0], agent.proxy)


async def test_a_client_understands_a_refusal() -> None:
    async with between(reply("{}")) as (agent, _), openai_for(agent) as client:
        with pytest.raises(openai.PermissionDeniedError, match="nothing else can be reached"):
            await client.files.list()
    assert agent.proxy.traffic.refused == 1


async def test_a_client_does_not_try_again_where_no_more_requests_are_left() -> None:
    async with between(reply("{}"), most=0) as (agent, _), openai_for(agent) as client:
        with pytest.raises(openai.RateLimitError, match="at most 0 requests"):
            await client.chat.completions.create(model="m", messages=HI)
    assert agent.proxy.traffic.beyond == 1
