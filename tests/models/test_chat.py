"""What is sent in the chat format, and what goes back to the endpoint that it came from."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from adjudge.errors import InputError, ModelError
from adjudge.models.names import PLACES, Endpoint, Provider
from adjudge.models.patience import Patience
from adjudge.models.provider import ProviderModel
from adjudge.ports import Message, Reply, Request, Tool, ToolCall

from .fault_server import LOOK, FaultServer, a_request, answer, ask, call, called, chat, http

pytestmark = pytest.mark.xdist_group("models")  # what some of them import takes seconds in every process

MARK = {"type": "ephemeral"}
MAKER = "anthropic/claude-sonnet-5.5"


async def conversed(first: Any, provider: Provider = "endpoint", model: str = "m") -> tuple[Reply, dict[str, Any]]:
    """A first reply, and what is sent when the conversation goes on after it has been stored."""
    async with FaultServer(answer(first), answer(chat())) as server:
        endpoint = Endpoint(provider, model, f"{server.url}/v1", "k")
        asked = Request("You judge.", (Message("user", "Look."),), (LOOK,))
        reply = await ask(server, asked, endpoint=endpoint)
        stored = msgspec.json.decode(msgspec.json.encode(reply.message), type=Message)
        told = tuple(Message("tool", "text", answers=each.id, name=each.name) for each in reply.calls)
        await ask(server, msgspec.structs.replace(asked, messages=(*asked.messages, stored, *told)), endpoint=endpoint)
        sent: dict[str, Any] = server.asked[1].json
    return reply, sent


async def test_reasoning_of_openrouter_goes_back_with_its_signature() -> None:
    details = [{"type": "reasoning.text", "text": "Hm.", "signature": "c2ln", "format": "anthropic-claude-v1", "index": 0}]
    reply, sent = await conversed(
        called(call()) | chat(None, reasoning="Hm.", reasoning_details=details), "openrouter", "a/m"
    )
    assert reply.reasoning == "Hm."
    assert sent["messages"][2]["reasoning_details"] == details
    assert "reasoning" not in sent["messages"][2]


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
async def test_reasoning_goes_back_in_the_field_in_which_it_came(field: str) -> None:
    _, sent = await conversed(chat("Yes.", **{field: "Hm."}))
    assert sent["messages"][2] == {"role": "assistant", "content": "Yes.", field: "Hm."}


async def test_signatures_of_calls_go_back_with_their_calls_although_ids_were_mended() -> None:
    extra = {"google": {"thought_signature": "c2ln"}}
    reply, sent = await conversed(called(call(id="c"), call(id="c") | {"extra_content": extra}))
    first, second = sent["messages"][2]["tool_calls"]
    assert "extra_content" not in first
    assert second["extra_content"] == extra
    assert second["id"] == reply.calls[1].id == sent["messages"][4]["tool_call_id"]


async def test_a_text_in_pieces_arrives_whole() -> None:
    pieces = ("A «text»\n", "in \0 pieces\n", "\ud83d\n")
    async with FaultServer(answer(chat())) as server:
        await ask(server, Request("You judge.", (Message("user", "".join(pieces), pieces=pieces),)))
        assert server.asked[0].json["messages"][1]["content"] == "A «text»\nin \ufffd pieces\n\ufffd\n"


async def test_a_message_that_another_wire_has_kept_goes_back_in_its_words() -> None:
    old = Message("assistant", "Yes.", opaque={"response": {"parts": []}})
    async with FaultServer(answer(chat())) as server:
        await ask(server, Request("You judge.", (Message("user", "Look."), old, Message("user", "And?"))))
        assert server.asked[0].json["messages"][2] == {"role": "assistant", "content": "Yes."}


@pytest.mark.parametrize(("said", "sent"), [("", {}), ('{"path": "a"}', {"path": "a"}), ("[1]", {"INVALID_JSON": "[1]"})])
async def test_arguments_go_back_as_an_object(said: str, sent: Any) -> None:
    turn = (Message("assistant", "", (ToolCall("c", "look", said),)), Message("tool", "?", answers="c", name="look"))
    async with FaultServer(answer(chat())) as server:
        await ask(server, Request("You judge.", (Message("user", "Look."), *turn), (LOOK,)))
        (called_,) = server.asked[0].json["messages"][2]["tool_calls"]
    assert json.loads(called_["function"]["arguments"]) == sent


async def test_anthropics_models_behind_openrouter_are_asked_to_keep_the_prefix() -> None:
    _, sent = await conversed(called(call()), "openrouter", MAKER)
    marked = [type(message["content"]) is list for message in sent["messages"]]
    assert marked == [True, False, False, True]
    assert sent["messages"][3]["content"] == [{"type": "text", "text": "text", "cache_control": MARK}]
    assert [tool.get("cache_control") for tool in sent["tools"]] == [MARK]


async def test_an_empty_result_is_not_marked() -> None:
    turn = (Message("assistant", "", (ToolCall("c", "look", "{}"),)), Message("tool", "", answers="c", name="look"))
    async with FaultServer(answer(chat())) as server:
        endpoint = Endpoint("openrouter", MAKER, f"{server.url}/v1", "k")
        await ask(server, Request("You judge.", (Message("user", "Look."), *turn), (LOOK,)), endpoint=endpoint)
        sent = server.asked[0].json["messages"]
    assert (type(sent[0]["content"]), sent[3]["content"]) == (list, "")


async def test_others_keep_prefixes_unasked() -> None:
    _, sent = await conversed(called(call()), "openrouter", "openai/gpt-6-sol")
    assert "cache_control" not in json.dumps(sent)


@pytest.mark.parametrize(
    ("content", "reasoning", "text"),
    [
        ("<think>Hm.</think>\n\nYes.", "Hm.", "Yes."),
        ("\n<think>\nHm.", "Hm.", ""),
        ("It wrote <think>no</think>.", None, "It wrote <think>no</think>."),
        ("<think></think>Yes.", None, "Yes."),
    ],
)
async def test_thoughts_between_tags_at_the_beginning_are_reasoning(content: str, reasoning: str | None, text: str) -> None:
    async with FaultServer(answer(chat(content))) as server:
        reply = await ask(server)
    assert (reply.reasoning, reply.text) == (reasoning, text)


@pytest.mark.parametrize(
    ("parameters", "strict"),
    [
        (
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False},
            True,
        ),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "required": [], "additionalProperties": False}, None),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, None),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "array", "items": {"type": "object", "properties": {"b": {}}}}},
                "required": ["a"],
                "additionalProperties": False,
            },
            None,
        ),
    ],
)
async def test_a_tool_is_strict_if_its_parameters_leave_nothing_open(parameters: Any, strict: bool | None) -> None:
    async with FaultServer(answer(chat())) as server:
        await ask(server, a_request(tools=(Tool("t", "A tool.", parameters),)))
        assert server.asked[0].json["tools"][0]["function"].get("strict") is strict


async def test_only_openai_itself_is_told_the_newer_name_of_the_limit_and_to_keep_the_instructions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with FaultServer(answer(chat())) as server:
        monkeypatch.setitem(PLACES, "openai", f"{server.url}/v1")
        await ask(server, endpoint=Endpoint("openai", "gpt-6-sol", f"{server.url}/v1", "k"))
        sent = server.asked[0].json
    assert (sent.get("max_completion_tokens"), sent.get("max_tokens")) == (8192, None)
    assert "prompt_cache_breakpoint" in sent["messages"][0]["content"][0]


async def test_without_a_key_none_is_sent() -> None:
    async with FaultServer(answer(chat())) as server:
        await ask(server)
        assert "authorization" not in server.asked[0].headers


async def test_a_key_that_no_header_can_hold_is_refused_and_not_repeated() -> None:
    async with FaultServer(answer(chat())) as server:
        with pytest.raises(Exception, match="cannot be used") as caught:
            await ask(server, endpoint=Endpoint("endpoint", "m", f"{server.url}/v1", "sec\r\nret"))
    assert "ret" not in str(caught.value)


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    for name in ("no_proxy", "NO_PROXY", "http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return Endpoint("endpoint", "m", "http://llm.example.org:8080/v1", "k")


@pytest.mark.parametrize(
    ("proxy", "told"),
    [
        ("socks5://127.0.0.1:9", "names a socks5 proxy for llm.example.org"),
        ("http://user:sec/ret@127.0.0.1:9", "is no address"),
        ("http://user:secret@127.0.0.1:99999", "is no address"),
        ("http://user:secret@", "is no address"),
    ],
)
def test_a_proxy_that_is_none_is_bad_input_and_its_password_is_not_repeated(
    proxy: str, told: str, far: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with pytest.raises(InputError, match=told) as caught:
        ProviderModel(far, Patience(1.0))
    assert "ret@" not in str(caught.value)


async def test_a_proxy_without_a_scheme_is_one_of_http(far: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    async with FaultServer(answer(chat())) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.removeprefix("http://"))
        await ask(proxy, endpoint=far)
        assert proxy.asked[0].path == "http://llm.example.org:8080/v1/chat/completions"


async def test_a_port_in_no_proxy_counts(far: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    async with FaultServer(answer(chat())) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "llm.example.org:8080")
        with pytest.raises(ModelError, match="connection failed"):
            await ask(proxy, a_request(retries=0), endpoint=far)
        assert proxy.asked == []


async def test_a_mark_before_the_json_is_read_over() -> None:
    async with FaultServer(http(200, b"\xef\xbb\xbf" + json.dumps(chat()).encode())) as server:
        assert (await ask(server)).text == "Yes."


async def test_ids_that_had_to_be_made_up_are_no_others() -> None:
    async with FaultServer(answer(called(*(call(id=id) for id in ("call_2_1", "", "call_3_2", ""))))) as server:
        calls = (await ask(server, a_request(tools=(LOOK,)))).calls
    assert len({each.id for each in calls}) == 4
