"""Every fault that calls to models are known to have, from bytes on a socket to the end of the cascade.

`ROWS` lists them by name. Each case is what a server sends, request by request (its last script is played again), how the
cascade has to end (the rung that answers, or the failure), and how many requests may arrive for that.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.fault_server import (
    Asked,
    Clock,
    FaultServer,
    Script,
    answer,
    call,
    called,
    chat,
    drip,
    hang,
    http,
    patience,
    raw,
    reset,
    zipped,
)

from adjudge.judges.reader.cascade import Climbed, Questions, climb
from adjudge.judgment import Failure, Rung
from adjudge.models.budget import BudgetedModel
from adjudge.models.names import Endpoint
from adjudge.models.provider import ProviderModel
from adjudge.ports import Message
from adjudge.record import Usage

from .strict import GOOD, questions, read

pytestmark = pytest.mark.xdist_group("models")  # what they import takes seconds in every process

Ending = Rung | Failure


class Met(msgspec.Struct, frozen=True):
    """What a cascade ended with, the requests that the server saw, and the seconds that were waited between them."""

    result: Climbed[bool]
    asked: list[Asked]
    waits: list[float]

    @property
    def ending(self) -> Ending | None:
        return self.result.rung or self.result.failure


CHAT, OPENROUTER = "endpoint", "openrouter"
MODELS = {
    CHAT: "m",
    OPENROUTER: "anthropic/claude-sonnet-4.5",
    "anthropic": "claude-sonnet-5-5",
    "google": "gemini-2.5-pro",
}


def model_at(url: str, provider: Any, clock: Clock | None = None) -> ProviderModel:
    path = "/v1" if provider in (CHAT, OPENROUTER) else ""
    endpoint = Endpoint(provider, MODELS[provider], url + path, "sk-secret", near=provider == CHAT)
    return ProviderModel(endpoint, patience(clock or Clock()))


async def met(
    *scripts: Script, provider: str = CHAT, asking: Questions | None = None, deadline: float = 20.0, budget: float = 0.0
) -> Met:
    clock = Clock()
    async with FaultServer(*scripts) as server:
        model = model_at(server.url, provider, clock)
        asked = BudgetedModel(model, budget) if budget else model
        try:
            result = await climb(asked, asking or questions(), read, deadline)
        finally:
            await model.close()
        return Met(result, server.asked, clock.waits)


def said(text: Any = GOOD, finish: Any = "stop", **more: Any) -> Script:
    return answer(chat(text, finish, **more))


def error(message: str = "no", status: int = 400, headers: dict[str, str] | None = None, **more: Any) -> Script:
    return answer({"error": {"message": message, **more}}, status, **(headers or {}))


def busy(**headers: str) -> Script:
    return error("slow down", 429, headers)


def choices(value: Any) -> Script:
    return answer(chat() | {"choices": value})


def tools(*calls: dict[str, Any]) -> Script:
    return answer(called(*calls))


THINKING = {"reasoning": "It is so, since line 3 says it."}
GOOD_REPLY = said()


class Case(msgspec.Struct, frozen=True):
    """What the server sends, how the cascade ends, and how many requests arrive."""

    scripts: tuple[Script, ...]
    ends: Ending
    asked: int
    waits: list[float] | None = None


def case(*scripts: Script, ends: Ending, asked: int, waits: list[float] | None = None) -> Case:
    return Case(scripts, ends, asked, waits)


def retried(*scripts: Script, waits: list[float] | None = None) -> Case:
    """Faults that pass: the transport asks again, and the first rung answers."""
    return case(*scripts, GOOD_REPLY, ends="schema", asked=len(scripts) + 1, waits=waits)


def asked_again(script: Script) -> Case:
    """A reply that is no answer: the second rung brings one."""
    return case(script, GOOD_REPLY, ends="again", asked=2, waits=[])


def at_once(script: Script, ends: Failure) -> Case:
    """What no further request can mend."""
    return case(script, GOOD_REPLY, ends=ends, asked=1, waits=[])


FULL = error("This model's maximum context length is 8192 tokens", code="context_length_exceeded")
NO_SCHEMA = "response_format json_schema is not supported"
SSE = "text/event-stream"
PIECE = f"data: {json.dumps({'choices': [{'delta': {'content': GOOD}}]})}\n\n"

ROWS: dict[str, dict[str, Case]] = {
    "429 without a header": {
        "passes": retried(busy(), busy(), waits=[0.5, 1.0]),
        "lasts": case(busy(), ends="busy", asked=7, waits=[0.5, 1.0, 2.0, 4.0, 8.0, 16.0]),
    },
    "429 with a Retry-After": {
        "seconds": retried(busy(retry_after="7"), waits=[7.0]),
        "part of a second": retried(busy(retry_after="7.5"), waits=[7.5]),
        "milliseconds": retried(busy(retry_after_ms="2500"), waits=[2.5]),
        "a date that has passed": retried(busy(retry_after="Fri, 31 Dec 1999 23:59:59 GMT"), waits=[0.5]),
        "a delay in the body": retried(error("slow", 429, details=[{"retryDelay": "17s"}]), waits=[17.0]),
    },
    "a Retry-After that is huge or garbage": {
        "two hours": case(busy(retry_after="7200"), ends="busy", asked=1, waits=[]),
        "a word": retried(busy(retry_after="soon"), waits=[0.5]),
        "negative": retried(busy(retry_after="-5"), waits=[0.5]),
        "not a number": retried(busy(retry_after="nan"), waits=[0.5]),
        "400 digits": retried(busy(retry_after="9" * 400), waits=[0.5]),
        "the year 99999": retried(busy(retry_after="Fri, 31 Dec 99999 23:59:59 GMT"), waits=[0.5]),
    },
    "no quota or credit is left": {
        "429 insufficient_quota": at_once(error("quota", 429, code="insufficient_quota"), "refused"),
        "429 that asks to wait": at_once(error("quota", 429, {"retry_after": "1"}, code="insufficient_quota"), "refused"),
        "402": at_once(error("Insufficient credits", 402), "refused"),
        "400 credit balance": at_once(error("Your credit balance is too low"), "refused"),
    },
    "529 and overloaded": {
        "passes": retried(error("Overloaded", 529, type="overloaded_error"), waits=[0.5]),
        "lasts": case(error("Overloaded", 529), ends="busy", asked=7),
    },
    "200 with an error in the body": {
        "429": retried(error("limited", 200, code=429)),
        "429 as text": retried(error("limited", 200, code="429")),
        "502": retried(error("upstream", 200, code=502)),
        "no code": retried(answer({"error": "something broke"})),
        "402": at_once(error("Insufficient credits", 200, code=402), "refused"),
        "400": at_once(error("Provider returned error", 200, code=400, metadata={"raw": "odd"}), "refused"),
        "a filter": at_once(error("blocked by content filter", 200, code=400), "filtered"),
    },
    "choices or message are missing": {
        "null": retried(choices(None)),
        "none": retried(choices([])),
        "a null choice": retried(choices([None])),
        "no message": retried(choices([{"index": 0, "finish_reason": "stop", "message": None}])),
        "an empty object": retried(answer({})),
        "broken off": retried(said(finish="error")),
    },
    "empty or reasoning only": {
        "empty": asked_again(said("")),
        "null": asked_again(said(None)),
        "white space": asked_again(said(" \n")),
        "an object where text belongs": asked_again(said({"ok": True})),
        "reasoning only": asked_again(said(None, **THINKING)),
        "reasoning only, twice": case(said(None, **THINKING), said(""), GOOD_REPLY, ends="transcribed", asked=3),
        "reasoning only, for ever": case(said(None, **THINKING), ends="judge_parse_failed", asked=4),
        "empty, for ever": case(said(""), ends="judge_parse_failed", asked=3),
        "empty in JSON mode only": case(said(""), said(""), said(f"So it is: {GOOD}"), ends="prose", asked=3),
    },
    "cut off at its length": {
        "in the middle": asked_again(said('{"ok": tr', "length")),
        "though it reads as whole": asked_again(said(GOOD, "length")),
        "for ever": case(said(GOOD, "length"), ends="judge_parse_failed", asked=3),
    },
    "an unknown reason for stopping": {
        "model_length": asked_again(said(finish="model_length")),
        "null": asked_again(said(finish=None)),
        "empty": asked_again(said(finish="")),
        "a number": asked_again(said(finish=7)),
        "for ever": case(said(finish="model_length"), ends="judge_parse_failed", asked=3),
    },
    "a content filter or a refusal": {
        "as the reason": at_once(said(GOOD, "content_filter"), "filtered"),
        "without a message": at_once(choices([{"index": 0, "finish_reason": "content_filter"}]), "filtered"),
        "a refusal": at_once(said(None, refusal="I cannot help with that."), "filtered"),
        "a refusal beside an answer": at_once(said(GOOD, refusal="I cannot help with that."), "filtered"),
        "400": at_once(error("The response was filtered", code="content_filter"), "filtered"),
        "403": at_once(error("The chosen model requires moderation", 403, metadata={"flagged_input": "x"}), "filtered"),
    },
    "JSON in a fence": {
        "around the whole": case(said(f"```json\n{GOOD}\n```"), ends="schema", asked=1),
        "with words before": asked_again(said(f"Here it is:\n```json\n{GOOD}\n```")),
        "not closed": asked_again(said(f"```json\n{GOOD}")),
    },
    "JSON that could be read in two ways": {
        "trailing text": asked_again(said(f"{GOOD} That is all.")),
        "two objects": asked_again(said(GOOD + '{"ok": false}')),
        "a key twice": asked_again(said('{"ok": false, "ok": true}')),
        "NaN": asked_again(said('{"ok": NaN}')),
        "deep nesting": asked_again(said("[" * 100_000)),
        "a boolean as text": asked_again(said('{"ok": "true"}')),
        "two objects, in prose too": case(said(f"{GOOD} {GOOD}"), ends="judge_parse_failed", asked=3),
    },
    "characters that cannot be stored": {
        "invalid UTF-8": asked_again(http(200, json.dumps(chat("@")).encode().replace(b"@", b"\xff\xfe"))),
        "half a surrogate pair": asked_again(http(200, json.dumps(chat("@")).replace("@", r"\ud800"))),
        "NUL": asked_again(http(200, json.dumps(chat("@")).replace("@", r"\u0000"))),
    },
    "a hung connection": {"silence": case(hang, ends="timeout", asked=1)},
    "a slow drip": {"a byte at a time": case(drip, ends="timeout", asked=1)},
    "a connection that breaks": {
        "reset": retried(reset),
        "closed at once": retried(raw(b"")),
        "an incomplete body": retried(
            raw(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{")
        ),
        "incomplete chunks": retried(
            raw(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"id"')
        ),
        "half an object": retried(http(200, json.dumps(chat())[:60])),
        "for ever": case(reset, ends="broken", asked=7),
    },
    "a stream nobody asked for": {
        "without its end": retried(http(200, PIECE, SSE)),
        "an error event": retried(http(200, f'{PIECE}event: error\ndata: {{"error": {{"code": 502}}}}\n\n', SSE)),
        "called JSON": retried(http(200, PIECE)),
        "for ever": case(http(200, PIECE, SSE), ends="broken", asked=7),
    },
    "HTML from a proxy": {
        "200": retried(http(200, "<script>alert(1)</script>", "text/html")),
        "502": retried(http(502, "<script>alert(1)</script>", "text/html")),
        "524": retried(http(524, "<script>alert(1)</script>", "text/html")),
        "for ever": case(http(502, "<script>alert(1)</script>", "text/html"), ends="broken", asked=7),
    },
    "tool calls with faulty arguments": {
        "cut JSON": asked_again(tools(call(arguments='{"path": "a"'))),
        "empty": asked_again(tools(call(arguments=""))),
        "missing": asked_again(tools(call(arguments=None))),
        "a list": asked_again(tools(call(arguments="[1, 2]"))),
        "huge": asked_again(tools(call(arguments="x" * 1_000_000))),
        "the answer itself": asked_again(tools(call("answer", GOOD))),
        "beside an answer": asked_again(said(GOOD, tool_calls=[call()])),
        "for ever": case(tools(call()), ends="judge_parse_failed", asked=3),
    },
    "tool calls of odd names and ids": {
        "an unknown tool": asked_again(tools(call("decide"))),
        "multi_tool_use.parallel": asked_again(tools(call("multi_tool_use.parallel"))),
        "several at once": asked_again(tools(call(id="a"), call(id="b"))),
        "one id twice": asked_again(tools(call(id="a"), call(id="a"))),
        "no ids": asked_again(tools(call(id=None), call(id=None))),
        "announced and not there": asked_again(said(GOOD, "tool_calls")),
        "three hundred": case(tools(*[call()] * 300), ends="broken", asked=1),
    },
    "an endpoint without JSON mode": {
        "400": case(error(NO_SCHEMA), GOOD_REPLY, ends="schema", asked=2, waits=[]),
        "404": case(
            error("No endpoints found that can handle the requested parameters.", 404), GOOD_REPLY, ends="schema", asked=2
        ),
        "busy in between": case(error(NO_SCHEMA), busy(), GOOD_REPLY, ends="schema", asked=3),
        "refuses anyway": case(error(NO_SCHEMA), ends="refused", asked=2),
    },
    "a full context": {
        "400": case(FULL, GOOD_REPLY, ends="schema", asked=2, waits=[]),
        "413": case(error("Request too large", 413), GOOD_REPLY, ends="schema", asked=2, waits=[]),
        "inside of a 500": case(error("maximum context length is 8192", 500), GOOD_REPLY, ends="schema", asked=2, waits=[]),
        "inside of a 200": case(
            error("maximum context length is 8192", 200, code=400), GOOD_REPLY, ends="schema", asked=2, waits=[]
        ),
        "again": case(FULL, ends="context", asked=2, waits=[]),
        "400 without a word": at_once(answer({}, 400), "refused"),
    },
    "usage that is not told": {
        "missing": case(said(usage=None), ends="schema", asked=1),
        "null": case(said(usage={"prompt_tokens": None, "completion_tokens": None}), ends="schema", asked=1),
        "negative": case(said(usage={"prompt_tokens": -1, "completion_tokens": -7}), ends="schema", asked=1),
        "zero": case(said(usage={"prompt_tokens": 0, "completion_tokens": 0, "cost": 0}), ends="schema", asked=1),
    },
    "another model in the reply": {"a dated one": case(said(model="m-2026-05-01"), ends="schema", asked=1)},
    "a body that is too large, or a redirect": {
        "25 MB": at_once(said("x" * 25_000_000), "broken"),
        "a gzip bomb": at_once(http(200, gzip.compress(b" " * 50_000_000, 9), content_encoding="gzip"), "broken"),
        "honest gzip": case(zipped(chat(GOOD)), ends="schema", asked=1),
        "a redirect": at_once(http(307, "", location="http://127.0.0.1:9/v1/chat/completions"), "refused"),
    },
}


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    """What an SDK loads at its first call takes longer than the deadlines here."""
    for provider, script in {
        CHAT: GOOD_REPLY,
        "anthropic": SAYS["anthropic"](GOOD),
        "google": SAYS["google"](GOOD),
    }.items():
        asyncio.run(met(script, provider=provider))


CASES = [pytest.param(one, id=f"{row}: {name}") for row, cases in ROWS.items() for name, one in cases.items()]


def seconds_for(one: Case) -> float:
    """A deadline: short where it is what ends the case."""
    return 0.3 if one.ends == "timeout" else 20.0


@pytest.mark.parametrize("one", CASES)
async def test_a_fault_ends_as_it_must(one: Case) -> None:
    started = time.monotonic()
    got = await met(*one.scripts, deadline=seconds_for(one))
    assert time.monotonic() - started < seconds_for(one) + 1
    assert (got.ending, len(got.asked)) == (one.ends, one.asked)
    assert one.waits is None or got.waits == one.waits
    assert sum(got.waits) <= 120
    assert len(got.result.steps) <= 4
    assert got.result.answer is (None if got.result.failure else True)
    assert bool(got.result.reason) == bool(got.result.failure)
    assert "script" not in got.result.reason
    assert "sk-secret" not in got.result.reason
    msgspec.json.encode((got.result.steps, got.result.calls, got.result.reason))  # no text in it that cannot be stored


FAULTS = [
    (f"{row}: {name}", one.scripts[0])
    for row, cases in ROWS.items()
    for name, one in cases.items()
    if one.ends != "timeout" and (one.asked, one.ends) != (1, "schema") and "too large" not in row
]


@settings(max_examples=60, deadline=None)
@given(faults=st.lists(st.sampled_from(FAULTS), min_size=1, max_size=9))
async def test_no_sequence_of_faults_brings_an_answer(faults: list[tuple[str, Script]]) -> None:
    got = await met(*(script for _, script in faults), GOOD_REPLY)
    assert got.result.rung in (None, "prose") or len(got.asked) > len(faults)  # in prose, text around an object is right
    assert (got.result.answer is None) == (got.result.failure is not None)
    assert len(got.result.steps) <= 4
    assert len(got.asked) <= 4 * 7 + 1  # six retries for each call, and one downgrade


# --- what a row requires besides its ending


async def test_a_date_to_wait_for_is_waited_for() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    got = await met(busy(retry_after=date), GOOD_REPLY)
    assert got.ending == "schema"
    assert 17 <= got.waits[0] <= 20


async def test_a_wait_that_is_too_long_is_told_with_its_end() -> None:
    got = await met(busy(retry_after="7200"))
    assert "7200 s, until 2" in got.result.reason


async def test_the_real_reason_behind_a_gateway_is_told() -> None:
    got = await met(error("Provider returned error", metadata={"raw": "temperature must be 1"}))
    assert (got.ending, "temperature must be 1" in got.result.reason) == ("refused", True)


async def test_a_silent_server_costs_nothing_and_its_row_says_so() -> None:
    got = await met(hang, deadline=0.2)
    (line,) = got.result.calls
    assert (line.usage, line.error) == (Usage(cost=0.0), got.result.reason)
    assert got.result.reason.endswith("no answer within 0.2 s")


async def test_a_silence_after_a_paid_reply_leaves_what_that_cost() -> None:
    got = await met(said("no", usage={"prompt_tokens": 20, "completion_tokens": 5, "cost": 0.25}), hang, deadline=0.5)
    assert (got.ending, [line.usage.cost for line in got.result.calls]) == ("timeout", [0.25, 0.0])


async def test_more_room_is_asked_for_after_a_cut() -> None:
    got = await met(said('{"ok": tr', "length"), GOOD_REPLY)
    assert [asked.json["max_tokens"] for asked in got.asked] == [8192, 16384]


async def test_the_reasoning_is_all_that_is_transcribed() -> None:
    got = await met(said(None, **THINKING), said(""), GOOD_REPLY)
    sent = got.asked[2].json
    assert "since line 3 says it" in sent["messages"][-1]["content"]
    assert "The long, long run" not in json.dumps(sent)
    assert "response_format" in sent
    assert got.result.steps[0].reasoning == THINKING["reasoning"]


async def test_prose_is_asked_for_without_json_mode() -> None:
    got = await met(said(""), said(""), said(f"It is so. {GOOD}"))
    assert ["response_format" in asked.json for asked in got.asked] == [True, True, False]


async def test_lone_surrogates_do_not_poison_the_request() -> None:
    plain = questions()
    odd = msgspec.structs.replace(plain.first, messages=(Message("user", "before \ud800 after \x00"),))
    got = await met(GOOD_REPLY, asking=msgspec.structs.replace(plain, first=odd))
    assert got.ending == "schema"
    assert "before \ufffd after \ufffd" in json.dumps(got.asked[0].json, ensure_ascii=False)


async def test_what_a_faulty_call_sent_is_in_the_transcript_and_is_not_made_up() -> None:
    got = await met(tools(call(arguments="")), tools(call(arguments="x" * 100_000)), GOOD_REPLY)
    assert got.result.steps[0].calls == ("look ",)
    assert got.result.steps[1].calls[0].startswith("look xxx")
    assert len(got.result.steps[1].calls[0]) < 600


async def test_a_downgrade_is_on_the_ledger_and_not_tried_again() -> None:
    async with FaultServer(error(NO_SCHEMA), GOOD_REPLY) as server:
        model = model_at(server.url, CHAT)
        try:
            first, second = [await climb(model, questions(), read) for _ in range(2)]
        finally:
            await model.close()
        assert ["response_format" in asked.json for asked in server.asked] == [True, False, False]
    assert [line.plain for line in (*first.calls, *second.calls)] == [True, True]
    assert [first.rung, second.rung] == ["schema", "schema"]


async def test_a_full_context_is_shrunk_and_the_row_says_so() -> None:
    got = await met(FULL, GOOD_REPLY)
    assert got.result.shrunk
    assert [asked.json["messages"][-1]["content"] for asked in got.asked] == [
        "The long, long run. Is it so?",
        "The run. Is it so?",
    ]


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": -1, "completion_tokens": 0, "cost": 0}])
async def test_what_is_not_told_is_estimated_and_never_free(usage: Any) -> None:
    got = await met(said(usage=usage), provider=OPENROUTER)
    (line,) = got.result.calls
    assert line.estimated
    assert line.usage.prompt
    assert line.usage.output
    assert line.usage.cost


async def test_a_cost_of_zero_does_not_open_the_budget() -> None:
    usage = {"prompt_tokens": 100_000, "completion_tokens": 10, "cost": 0}  # 0.3 dollars at 3 for a million
    got = await met(said("no", usage=usage), GOOD_REPLY, provider=OPENROUTER, budget=0.4)
    assert (got.ending, len(got.asked)) == ("budget", 1)


async def test_the_model_that_answered_is_on_the_ledger() -> None:
    got = await met(said(model="m-2026-05-01"))
    assert [line.model for line in got.result.calls] == ["m-2026-05-01"]


async def test_a_redirect_is_not_followed() -> None:
    async with FaultServer(GOOD_REPLY) as other:
        got = await met(http(307, "", location=f"{other.url}/v1/chat/completions"))
        assert (got.ending, other.asked) == ("refused", [])


# --- some of them in the other formats


def claude(*content: dict[str, Any], stop: Any = "end_turn") -> Script:
    usage = {"input_tokens": 3, "output_tokens": 5}
    reply = {"id": "m1", "type": "message", "role": "assistant", "model": "claude-x", "content": list(content)}
    return answer(reply | {"stop_reason": stop, "stop_sequence": None, "usage": usage})


def gemini(*parts: dict[str, Any], finish: Any = "STOP") -> Script:
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": finish, "index": 0}
    return answer({"candidates": [candidate], "modelVersion": "gemini-x"})


OVERLOADED = answer({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, 529)
TOO_LONG = error("prompt is too long: 210000 tokens > 200000 maximum", type="invalid_request_error")
SAYS: dict[str, Callable[..., Script]] = {
    "anthropic": lambda text, stop="end_turn": claude({"type": "text", "text": text}, stop=stop),
    "google": lambda text, stop="STOP": gemini({"text": text}, finish=stop),
}
THINKS = {
    "anthropic": claude({"type": "thinking", "thinking": THINKING["reasoning"], "signature": "c2ln"}),
    "google": gemini({"text": THINKING["reasoning"], "thought": True}),
}
CALLS = {
    "anthropic": claude({"type": "tool_use", "id": "t1", "name": "answer", "input": {"ok": True}}, stop="tool_use"),
    "google": gemini({"functionCall": {"name": "answer", "args": {"ok": True}}}),
}
STOPS = {
    "anthropic": {"cut": "max_tokens", "refused": "refusal", "unknown": "something_new", "missing": None},
    "google": {"cut": "MAX_TOKENS", "refused": "SAFETY", "unknown": "MALFORMED_FUNCTION_CALL", "missing": None},
}
REFUSALS = {
    "anthropic": claude(stop="refusal"),
    "google": answer({"promptFeedback": {"blockReason": "SAFETY"}}),
}


def others(format: str) -> dict[str, Case]:
    says, good, stops = SAYS[format], SAYS[format](GOOD), STOPS[format]
    return {
        "an answer": case(good, ends="schema", asked=1),
        "empty": case(says(""), good, ends="again", asked=2),
        "nothing at all": case(says(""), ends="judge_parse_failed", asked=3),
        "cut": case(says(GOOD, stops["cut"]), good, ends="again", asked=2),
        "an unknown stop": case(says(GOOD, stops["unknown"]), good, ends="again", asked=2),
        "no stop": case(says(GOOD, stops["missing"]), good, ends="again", asked=2),
        "a refusal": case(says(GOOD, stops["refused"]), good, ends="filtered", asked=1),
        "a refusal without a word": case(REFUSALS[format], good, ends="filtered", asked=1),
        "a tool call": case(CALLS[format], good, ends="again", asked=2),
        "reasoning only": case(THINKS[format], says("no"), good, ends="transcribed", asked=3),
        "prose": case(says("no"), says("no"), says(f"It is so: {GOOD}"), ends="prose", asked=3),
        "overloaded": case(OVERLOADED, OVERLOADED, good, ends="schema", asked=3),
        "overloaded, for ever": case(OVERLOADED, ends="busy", asked=7),
        "waits": case(busy(retry_after="7"), good, ends="schema", asked=2, waits=[7.0]),
        "full": case(TOO_LONG, good, ends="schema", asked=2),
        "full, for ever": case(TOO_LONG, ends="context", asked=2),
        "no substance": case(answer({}), good, ends="schema", asked=2),
        "reset": case(reset, good, ends="schema", asked=2),
        "silence": case(hang, ends="timeout", asked=1),
    }


OTHERS = [pytest.param(name, one, id=f"{name}: {what}") for name in SAYS for what, one in others(name).items()]


@pytest.mark.parametrize(("provider", "one"), OTHERS)
async def test_other_formats_end_alike(provider: str, one: Case) -> None:
    got = await met(*one.scripts, provider=provider, deadline=seconds_for(one))
    assert (got.ending, len(got.asked)) == (one.ends, one.asked)
    assert one.waits is None or got.waits == one.waits
    assert got.result.answer is (None if got.result.failure else True)


def test_many_cascades_at_once_do_not_disturb_each_other() -> None:
    async def both() -> list[Climbed[bool]]:
        async with FaultServer(said("no"), GOOD_REPLY) as server:
            model = model_at(server.url, CHAT)
            try:
                return await asyncio.gather(*(climb(model, questions(), read) for _ in range(8)))
            finally:
                await model.close()

    results = asyncio.run(both())
    assert sorted(str(result.rung) for result in results) == ["again", *["schema"] * 7]
