"""The formats of Anthropic and Google, and all formats against an independent scripted server where that is at hand."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import ModelError
from adjudge.models.names import Endpoint
from adjudge.models.provider import ProviderModel
from adjudge.ports import Message, Reply, Request, ToolCall

from .fault_server import LOOK, SCHEMA, Clock, FaultServer, a_request, answer, ask, patience

pytestmark = pytest.mark.xdist_group("models")  # what they import takes seconds in every process


def claude(*content: dict[str, Any], stop: Any = "end_turn", usage: Any = ...) -> dict[str, Any]:
    reply: dict[str, Any] = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": list(content),
    }
    reply |= {"stop_reason": stop, "stop_sequence": None}
    return reply | ({"usage": {"input_tokens": 3, "output_tokens": 5}} if usage is ... else {"usage": usage})


def gemini(*parts: dict[str, Any], finish: Any = "STOP", usage: Any = None) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": finish, "index": 0}
    return {"candidates": [candidate], "modelVersion": "gemini-x"} | ({"usageMetadata": usage} if usage else {})


async def from_anthropic(*replies: Any, request: Request | None = None) -> tuple[Reply, list[Any]]:
    async with FaultServer(*(answer(reply) for reply in replies)) as server:
        reply = await ask(server, request, endpoint=Endpoint("anthropic", "claude-sonnet-5-5", server.url, "k"))
        return reply, server.asked


async def from_google(*replies: Any, request: Request | None = None) -> tuple[Reply, list[Any]]:
    async with FaultServer(*(answer(reply) for reply in replies)) as server:
        reply = await ask(server, request, endpoint=Endpoint("google", "gemini-2.5-pro", server.url, "k"))
        return reply, server.asked


# --- Anthropic


async def test_anthropic_tokens_count_those_read_from_and_written_to_the_cache() -> None:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 90, "output_tokens": 7}
    reply, _ = await from_anthropic(claude({"type": "text", "text": "Yes."}, usage=usage))
    got = reply.call.usage
    assert (got.prompt, got.cached, got.written, got.output) == (1000, 900, 90, 7)
    assert got.cost


@pytest.mark.parametrize(
    ("said", "stop"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "filtered"),
        ("pause_turn", "pause_turn"),
        ("something_new", "something_new"),
        (None, "missing"),
    ],
)
async def test_anthropic_stops_are_told_apart(said: Any, stop: str) -> None:
    reply, _ = await from_anthropic(claude({"type": "text", "text": "Yes."}, stop=said))
    assert reply.stop == stop


@pytest.mark.parametrize(
    ("sent", "kept"), [({"path": "a"}, '{"path": "a"}'), ("oops", "oops"), ([1], "[1]"), (None, ""), ({}, "{}")]
)
async def test_anthropic_arguments_are_kept(sent: Any, kept: str) -> None:
    block = {"type": "tool_use", "id": "t1", "name": "look", "input": sent}
    reply, _ = await from_anthropic(claude(block, stop="tool_use"), request=a_request(tools=(LOOK,)))
    assert (reply.stop, reply.calls) == ("calls", (ToolCall("t1", "look", kept),))


async def test_anthropic_thinking_goes_back_with_its_signature() -> None:
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmF0dXJl"}
    use = {"type": "tool_use", "id": "t1", "name": "look", "input": {"path": "a"}}
    first = a_request(tools=(LOOK,))
    reply, _ = await from_anthropic(claude(thinking, use, stop="tool_use"), request=first)
    assert reply.reasoning == "Hm."
    stored: Message = json_round_trip(reply.message)
    told = Message("tool", "text", answers="t1", name="look")
    again = Request("You judge.", (*first.messages, stored, told), (LOOK,))
    _, asked = await from_anthropic(claude({"type": "text", "text": "Yes."}), request=again)
    assistant = next(message for message in asked[0].json["messages"] if message["role"] == "assistant")
    assert [block["type"] for block in assistant["content"]] == ["thinking", "tool_use"]
    assert assistant["content"][0]["signature"] == "c2lnbmF0dXJl"


def json_round_trip(message: Message) -> Message:
    import msgspec

    return msgspec.json.decode(msgspec.json.encode(message), type=Message)


async def test_anthropic_is_asked_to_cache_the_prefix() -> None:
    _, asked = await from_anthropic(claude({"type": "text", "text": "Yes."}), request=a_request(tools=(LOOK,)))
    assert "cache_control" in json.dumps(asked[0].json)
    assert asked[0].headers.get("x-api-key", asked[0].headers.get("authorization")) in ("k", "Bearer k")


async def test_anthropic_gets_the_schema_of_the_answer() -> None:
    _, asked = await from_anthropic(claude({"type": "text", "text": "{}"}), request=a_request(schema=SCHEMA))
    assert "ok" in json.dumps(asked[0].json.get("output_config") or asked[0].json.get("output_format"))


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": -1, "output_tokens": None}])
async def test_anthropic_usage_that_is_not_told_is_estimated(usage: Any) -> None:
    reply, _ = await from_anthropic(claude({"type": "text", "text": "Yes."}, usage=usage))
    assert reply.call.estimated
    assert reply.call.usage.prompt


@pytest.mark.parametrize(
    "body",
    [
        claude() | {"content": None},
        {"type": "message"},
        {"type": "error", "error": {"type": "overloaded_error"}},
    ],
)
async def test_anthropic_replies_without_substance_are_asked_for_again(body: Any) -> None:
    reply, asked = await from_anthropic(body, claude({"type": "text", "text": "Yes."}))
    assert (reply.text, len(asked)) == ("Yes.", 2)


async def test_anthropic_blocks_of_an_unknown_kind_are_left_out() -> None:
    reply, _ = await from_anthropic(claude({"type": "hologram", "x": 1}, {"type": "text", "text": "Yes."}))
    assert reply.text == "Yes."


# --- Google


async def test_google_tokens_count_thoughts_as_output() -> None:
    usage = {"promptTokenCount": 1000, "cachedContentTokenCount": 900, "candidatesTokenCount": 7, "thoughtsTokenCount": 30}
    reply, _ = await from_google(gemini({"text": "Yes."}, usage=usage))
    got = reply.call.usage
    assert (got.prompt, got.cached, got.output, got.reasoning) == (1000, 900, 37, 30)


@pytest.mark.parametrize(
    ("said", "stop"),
    [
        ("STOP", "end"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "filtered"),
        ("RECITATION", "filtered"),
        ("PROHIBITED_CONTENT", "filtered"),
        ("MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL"),
        ("BRAND_NEW", "BRAND_NEW"),
        (None, "missing"),
    ],
)
async def test_google_stops_are_told_apart(said: Any, stop: str) -> None:
    reply, _ = await from_google(gemini({"text": "Yes."}, finish=said))
    assert reply.stop == stop


async def test_google_calls_come_with_ids_and_signatures_go_back() -> None:
    part = {"functionCall": {"name": "look", "args": {"path": "a"}}, "thoughtSignature": "c2ln"}
    other = {"functionCall": {"name": "look", "args": {"path": "b"}}}
    first = a_request(tools=(LOOK,))
    reply, _ = await from_google(gemini(part, other), request=first)
    assert (reply.stop, [c.arguments for c in reply.calls]) == ("calls", ['{"path": "a"}', '{"path": "b"}'])
    assert len({c.id for c in reply.calls}) == 2
    told = tuple(Message("tool", "text", answers=c.id, name=c.name) for c in reply.calls)
    again = Request("You judge.", (*first.messages, json_round_trip(reply.message), *told), (LOOK,))
    _, asked = await from_google(gemini({"text": "Yes."}), request=again)
    model = next(content for content in asked[0].json["contents"] if content["role"] == "model")
    assert model["parts"][0]["thoughtSignature"] == "c2ln"


async def test_google_arguments_that_are_no_object_are_kept() -> None:
    reply, _ = await from_google(
        gemini({"functionCall": {"name": "look", "args": "oops"}}), request=a_request(tools=(LOOK,))
    )
    assert "oops" in reply.calls[0].arguments


async def test_a_prompt_that_google_blocks_is_filtered() -> None:
    async with FaultServer(answer({"promptFeedback": {"blockReason": "SAFETY"}})) as server:
        with pytest.raises(ModelError, match="SAFETY") as caught:
            await ask(server, endpoint=Endpoint("google", "gemini-2.5-pro", server.url, "k"))
    assert caught.value.kind == "filtered"


@pytest.mark.parametrize("odd", [{"text": 7}, {"text": "", "thought": "much"}, {"inlineData": "x"}])
async def test_parts_of_google_of_the_wrong_kind_are_left_out(odd: dict[str, Any]) -> None:
    reply, _ = await from_google(gemini(odd, {"text": "Yes."}))
    assert reply.text == "Yes."


async def test_a_reply_that_its_sdk_cannot_read_is_billed_and_not_asked_for_again() -> None:
    usage = {"promptTokenCount": 20, "candidatesTokenCount": 5}
    async with FaultServer(answer(gemini({"text": "Yes.", "thoughtSignature": "not base64!"}, usage=usage))) as server:
        with pytest.raises(ModelError, match="cannot be read") as caught:
            await ask(server, endpoint=Endpoint("google", "gemini-2.5-pro", server.url, "k"))
        assert len(server.asked) == 1
    (line,) = caught.value.calls
    assert caught.value.kind == "broken"
    assert line.usage.prompt == 20  # type: ignore[attr-defined]  # ModelError cannot name the ledger's type


@pytest.mark.parametrize("body", [{}, {"candidates": []}, {"candidates": None}])
async def test_google_replies_without_candidates_are_asked_for_again(body: Any) -> None:
    reply, asked = await from_google(body, gemini({"text": "Yes."}))
    assert (reply.text, len(asked)) == ("Yes.", 2)


async def test_google_with_tools_and_a_schema_at_once_gets_the_schema_in_one_way_or_the_other() -> None:
    request = a_request(tools=(LOOK,), choice="none", schema=SCHEMA)
    reply, asked = await from_google(gemini({"text": '{"ok": true}'}), request=request)
    assert reply.text == '{"ok": true}'
    assert "ok" in json.dumps(asked[0].json)


async def test_errors_of_google_are_read() -> None:
    body = {"error": {"code": 400, "message": "API key not valid", "status": "INVALID_ARGUMENT"}}
    async with FaultServer(answer(body, 400)) as server:
        with pytest.raises(ModelError, match="API key not valid") as caught:
            await ask(server, endpoint=Endpoint("google", "gemini-2.5-pro", server.url, "k"))
    assert caught.value.kind == "refused"


# --- against a server that we did not write


SHARED = Path(os.environ.get("ADJUDGE_SHARED", Path(__file__).parents[2].parent / "shared"))
SCRIPT = {
    "threads": [
        {
            "match": "Look",
            "steps": [
                {
                    "text": "I look.",
                    "tools": [{"name": "look", "args": {"path": "a"}}, {"name": "look", "args": {"path": "b"}}],
                },
                {"text": "It is so.", "usage": {"input": 900, "cached": 800, "output": 9}},
            ],
        }
    ]
}


@asynccontextmanager
async def model_server(folder: Path) -> AsyncIterator[str]:
    program = SHARED / "tools" / "modelserver.py"
    if not program.exists():
        pytest.skip("no scripted model server: set ADJUDGE_SHARED to the folder that holds tools/modelserver.py")
    script = folder / "script.json"
    script.write_text(json.dumps(SCRIPT))
    server = await asyncio.create_subprocess_exec(sys.executable, program, script, stdout=asyncio.subprocess.PIPE)
    assert server.stdout is not None
    try:
        yield (await server.stdout.readline()).decode().strip()
    finally:
        server.kill()
        await server.communicate()


@pytest.mark.parametrize(
    ("provider", "path"),
    [("endpoint", "/v1"), ("ollama", "/v1"), ("openrouter", "/v1"), ("openai", "/v1"), ("anthropic", ""), ("google", "")],
)
async def test_every_format_calls_tools_and_answers(provider: Any, path: str, tmp_path: Path) -> None:
    async with model_server(tmp_path) as url:
        name = {"google": "gemini-2.5-pro", "openrouter": "openai/gpt-5"}.get(provider, "m")
        model = ProviderModel(Endpoint(provider, name, url + path, "k", near=True), patience(Clock()))
        try:
            first = Request("You judge.", (Message("user", "Look at a and b."),), (LOOK,))
            reply = await model.answer(first)
            assert (reply.text, reply.stop, [c.name for c in reply.calls]) == ("I look.", "calls", ["look", "look"])
            assert [json.loads(c.arguments) for c in reply.calls] == [{"path": "a"}, {"path": "b"}]
            told = tuple(Message("tool", f"text {n}", answers=c.id, name=c.name) for n, c in enumerate(reply.calls))
            last = await model.answer(Request("You judge.", (*first.messages, reply.message, *told), (LOOK,)))
        finally:
            await model.close()
    assert (last.text, last.stop) == ("It is so.", "end")
    assert (last.call.usage.prompt, last.call.usage.cached, last.call.usage.output) == (900, 800, 9)
