"""What a reply becomes, however odd it is: words, calls, the reason for stopping, usage."""

import json
from typing import Any

import pytest

from adjudge.errors import ModelError
from adjudge.models.names import Endpoint
from adjudge.ports import Message, Reply, Request, ToolCall

from .fault_server import LOOK, SCHEMA, FaultServer, a_request, answer, ask, call, called, chat, http

pytestmark = pytest.mark.xdist_group("models")  # what they import takes seconds in every process


async def replied(reply: Any, **request: Any) -> Reply:
    async with FaultServer(answer(reply)) as server:
        return await ask(server, a_request(**request))


@pytest.mark.parametrize(
    "body",
    [
        chat() | {"choices": None},
        chat() | {"choices": []},
        chat() | {"choices": [None]},
        chat() | {"choices": [{"index": 0, "finish_reason": "stop", "message": None}]},
        {"id": "r", "object": "chat.completion"},
        {},
        chat(finish="error"),
        called({"id": "c", "type": "function", "function": None}),
    ],
)
async def test_a_reply_without_its_substance_is_asked_for_again(body: dict[str, Any]) -> None:
    async with FaultServer(answer(body), answer(chat())) as server:
        assert (await ask(server)).text == "Yes."
        assert len(server.asked) == 2


async def test_a_reply_with_nothing_in_it_is_passed_on_and_billed_once() -> None:
    async with FaultServer(answer(chat("")), answer(chat("Yes."))) as server:
        reply = await ask(server)
        assert len(server.asked) == 1
    assert (reply.text, reply.calls, reply.reasoning, reply.stop) == ("", (), None, "end")
    assert (reply.call.usage.prompt, reply.call.attempts) == (20, 1)


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
async def test_reasoning_without_an_answer_is_a_reply_with_no_text(field: str) -> None:
    reply = await replied(chat(None, **{field: "Let me think."}))
    assert (reply.text, reply.reasoning, reply.stop) == ("", "Let me think.", "end")


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("stop", "end"),
        ("length", "length"),
        ("content_filter", "filtered"),
        ("model_length", "model_length"),
        ("guardrail_intervened", "guardrail_intervened"),
        (None, "missing"),
        ("", "missing"),
        (7, "missing"),
        ("tool_calls", "tool_calls"),
    ],
)
async def test_only_a_known_end_is_an_end(finish: Any, stop: str) -> None:
    assert (await replied(chat("Yes.", finish))).stop == stop


async def test_calls_are_calls_even_if_the_reason_says_stop() -> None:
    reply = await replied(chat(None, "stop", tool_calls=[call()]), tools=(LOOK,))
    assert (reply.stop, reply.calls) == ("calls", (ToolCall("c1", "look", '{"path": "a"}'),))


async def test_a_cut_reply_with_calls_stays_cut() -> None:
    reply = await replied(chat(None, "length", tool_calls=[call(arguments='{"pa')]), tools=(LOOK,))
    assert (reply.stop, reply.calls[0].arguments) == ("length", '{"pa')


async def test_a_refusal_is_filtered_and_its_words_are_kept() -> None:
    reply = await replied(chat(None, refusal="I cannot help with that."))
    assert (reply.stop, reply.text) == ("filtered", "I cannot help with that.")


@pytest.mark.parametrize("message", [{}, {"message": None}])
async def test_a_filter_that_leaves_the_message_out_is_a_filter(message: dict[str, Any]) -> None:
    reply = await replied(chat() | {"choices": [{"index": 0, "finish_reason": "content_filter", **message}]})
    assert (reply.stop, reply.text) == ("filtered", "")


@pytest.mark.parametrize("content", [{"ok": True}, 7, True, [1, {"type": "image"}]])
@pytest.mark.parametrize("provider", ["endpoint", "openrouter"])
async def test_content_that_is_no_text_is_nothing(content: Any, provider: Any) -> None:
    async with FaultServer(answer(chat(content))) as server:
        reply = await ask(server, endpoint=Endpoint(provider, "maker/m", f"{server.url}/v1", "k"))
    assert (reply.text, reply.stop) == ("", "end")


@pytest.mark.parametrize("odd", [{"audio": {"x": 1}}, {"reasoning": {"x": 1}}, {"reasoning_details": [{"type": "new"}, 7]}])
@pytest.mark.parametrize("provider", ["endpoint", "openrouter"])
async def test_what_nobody_asked_for_in_a_message_does_no_harm(odd: dict[str, Any], provider: Any) -> None:
    async with FaultServer(answer(chat("Yes.", **odd) | {"service_tier": 7})) as server:
        assert (await ask(server, endpoint=Endpoint(provider, "maker/m", f"{server.url}/v1", "k"))).text == "Yes."


async def test_reasoning_in_the_details_of_openrouter_is_read() -> None:
    details = [{"type": "reasoning.text", "text": "Let me think.", "signature": None, "index": 0}]
    async with FaultServer(answer(chat("Yes.", reasoning_details=details))) as server:
        reply = await ask(server, endpoint=Endpoint("openrouter", "maker/m", f"{server.url}/v1", "k"))
    assert reply.reasoning == "Let me think."


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ('{"path": "a"', '{"path": "a"'),
        ("[1, 2]", "[1, 2]"),
        ("", ""),
        (None, ""),
        ("look at it", "look at it"),
        ({"path": "a"}, '{"path": "a"}'),
        (["a"], '["a"]'),
        ("x" * 1_000_000, "x" * 1_000_000),
    ],
)
async def test_arguments_are_kept_as_the_text_that_was_sent(sent: Any, kept: str) -> None:
    reply = await replied(called(call(arguments=sent)), tools=(LOOK,))
    assert reply.calls[0].arguments == kept


async def test_an_unknown_tool_is_passed_on_by_its_name() -> None:
    reply = await replied(called(call("multi_tool_use.parallel")), tools=(LOOK,))
    assert reply.calls[0].name == "multi_tool_use.parallel"


@pytest.mark.parametrize("ids", [("a", "a", "a"), (None, None, None), ("", "b", "b"), ("a", 7, {})])
async def test_every_call_has_an_id_of_its_own(ids: tuple[Any, ...]) -> None:
    reply = await replied(called(*(call(id=id) for id in ids)), tools=(LOOK,))
    assert len({c.id for c in reply.calls}) == 3
    assert all(c.id for c in reply.calls)
    assert reply.message.calls == reply.calls


async def test_a_flood_of_calls_is_no_reply() -> None:
    async with FaultServer(answer(called(*(call(id=f"c{n}") for n in range(300))))) as server:
        with pytest.raises(ModelError, match="300 tool calls") as caught:
            await ask(server, a_request(tools=(LOOK,)))
    assert caught.value.kind == "broken"


async def test_invalid_utf_8_is_replaced() -> None:
    body = json.dumps(chat("Yes: @.")).encode().replace(b"@", b"\xff\xfe")
    async with FaultServer(http(200, body)) as server:
        assert (await ask(server)).text == "Yes: \ufffd\ufffd."


@pytest.mark.parametrize(
    ("escaped", "kept"),
    [(r"\ud800!", "\ufffd!"), (r"a\u0000b", "a\ufffdb"), (r"\\u0000", r"\u0000"), (r"\ud83d\ude00", "\U0001f600")],
)
async def test_what_cannot_be_stored_is_replaced_and_the_rest_is_kept(escaped: str, kept: str) -> None:
    async with FaultServer(http(200, json.dumps(chat("@")).replace("@", escaped))) as server:
        reply = await ask(server)
    assert reply.text == kept
    reply.text.encode()


async def test_lone_surrogates_do_not_poison_the_request() -> None:
    text = "before \ud800 after \x00"
    messages = (Message("user", text), Message("assistant", text), Message("tool", text, answers="c", name="look"))
    async with FaultServer(answer(chat())) as server:
        await ask(server, Request(text, messages))
        assert "before \ufffd after \ufffd" in json.dumps(server.asked[0].json, ensure_ascii=False)


@pytest.mark.parametrize("refused", [False, True])
async def test_lone_surrogates_in_a_schema_do_not_either(refused: bool) -> None:
    schema = {**SCHEMA, "description": "a \ud800 b", "required": ["ok", "\udfff"]}
    scripts = [answer({"error": {"message": "no JSON mode here"}}, 400)] if refused else []
    async with FaultServer(*scripts, answer(chat(usage=None))) as server:
        reply = await ask(server, a_request(schema=schema))
        assert "a \ufffd b" in json.dumps(server.asked[-1].json, ensure_ascii=False)
    assert reply.call.plain == refused


@pytest.mark.parametrize(
    ("usage", "prompt", "output", "estimated"),
    [
        ({"prompt_tokens": 20, "completion_tokens": 5}, 20, 5, False),
        ({"prompt_tokens": 20, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 16}}, 20, 5, False),
        (None, 105, 26, True),
        ({}, 105, 26, True),
        ({"prompt_tokens": None, "completion_tokens": None}, 105, 26, True),
        ({"prompt_tokens": -1, "completion_tokens": -7}, 105, 26, True),
        ({"prompt_tokens": 0, "completion_tokens": 0}, 105, 26, True),
        ({"prompt_tokens": "20", "completion_tokens": True}, 105, 26, True),
        ({"prompt_tokens": 20}, 20, 26, True),
        ([], 105, 26, True),
    ],
)
async def test_usage_that_is_not_told_is_estimated(usage: Any, prompt: int, output: int, estimated: bool) -> None:
    # 10 characters of system, 400 of question, 9 of empty tools and no schema: 419 // 4 + 1; 100 of answer: 100 // 4 + 1
    async with FaultServer(answer(chat("y" * 100, usage=usage))) as server:
        reply = await ask(server, a_request("x" * 400))
    assert (reply.call.usage.prompt, reply.call.usage.output, reply.call.estimated) == (prompt, output, estimated)


async def test_cached_and_reasoning_tokens_are_on_the_ledger() -> None:
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 80,
        "prompt_tokens_details": {"cached_tokens": 900},
        "completion_tokens_details": {"reasoning_tokens": 60},
    }
    got = (await replied(chat(usage=usage))).call.usage
    assert (got.prompt, got.cached, got.output, got.reasoning) == (1000, 900, 80, 60)


async def test_the_model_that_answered_is_told_if_it_is_another() -> None:
    assert (await replied(chat(model="m-2026-05-01"))).call.model == "m-2026-05-01"


@pytest.mark.parametrize("model", [None, "", 7])
async def test_without_a_name_the_model_that_was_asked_is_told(model: Any) -> None:
    assert (await replied(chat(model=model))).call.model.endswith("#m")


async def test_a_model_on_this_machine_costs_nothing() -> None:
    assert (await replied(chat())).call.usage.cost == 0.0


async def test_the_cost_that_openrouter_reports_is_on_the_ledger() -> None:
    usage = {"prompt_tokens": 20, "completion_tokens": 5, "cost": 0.0125}
    async with FaultServer(answer(chat(usage=usage))) as server:
        endpoint = Endpoint("openrouter", "anthropic/claude-sonnet-4.5", f"{server.url}/v1", key="k")
        reply = await ask(server, endpoint=endpoint)
    assert reply.call.usage.cost == 0.0125


async def test_a_cost_of_zero_is_not_believed() -> None:
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 0, "cost": 0}
    async with FaultServer(answer(chat(usage=usage))) as server:
        endpoint = Endpoint("openrouter", "anthropic/claude-sonnet-4.5", f"{server.url}/v1", key="k")
        cost = (await ask(server, endpoint=endpoint)).call.usage.cost
    assert cost is not None
    assert cost >= 3.0  # three dollars for a million tokens of input


async def test_openrouter_without_the_fields_that_it_promises_is_understood() -> None:
    async with FaultServer(answer(chat() | {"created": None, "id": None, "provider": None})) as server:
        endpoint = Endpoint("openrouter", "anthropic/claude-sonnet-4.5", f"{server.url}/v1", key="k")
        assert (await ask(server, endpoint=endpoint)).text == "Yes."


async def test_content_in_parts_is_one_text() -> None:
    parts = [{"type": "text", "text": "Yes"}, {"type": "text", "text": "."}]
    assert (await replied(chat(parts))).text == "Yes."


async def test_what_is_sent_is_the_conversation_with_its_tools_and_choice() -> None:
    messages = (
        Message("user", "Look."),
        Message("assistant", "I look.", (ToolCall("c1", "look", '{"path": "a"}'), ToolCall("c2", "look", "{broken"))),
        Message("tool", "text of a", answers="c1", name="look"),
        Message("tool", "what?", answers="c2", name="look"),
        Message("user", "Decide now."),
    )
    async with FaultServer(answer(chat('{"ok": true}'))) as server:
        await ask(server, Request("You judge.", messages, (LOOK,), "none", SCHEMA, most=77))
        sent = server.asked[0].json
    assert [m["role"] for m in sent["messages"]] == ["system", "user", "assistant", "tool", "tool", "user"]
    assert [m.get("tool_call_id") for m in sent["messages"]][3:5] == ["c1", "c2"]
    assert [m["content"] for m in sent["messages"]][3:] == ["text of a", "what?", "Decide now."]
    assert "{broken" in sent["messages"][2]["tool_calls"][1]["function"]["arguments"].replace("\\", "")
    assert sent["tools"][0]["function"]["parameters"]["required"] == ["path"]
    assert sent["tool_choice"] == "none"
    assert sent["max_tokens"] == 77
    assert "temperature" not in sent
    assert sent["model"] == "m"


async def test_a_growing_conversation_repeats_what_was_sent_before_word_for_word() -> None:
    async with FaultServer(answer(called(call())), answer(chat())) as server:
        first = Request("You judge.", (Message("user", "Look."),), (LOOK,))
        reply = await ask(server, first)
        told = Message("tool", "text of a", answers=reply.calls[0].id, name="look")
        await ask(server, Request("You judge.", (*first.messages, reply.message, told), (LOOK,)))
        before, after = (asked.json for asked in server.asked)
    assert after["messages"][: len(before["messages"])] == before["messages"]
    assert after["tools"] == before["tools"]
