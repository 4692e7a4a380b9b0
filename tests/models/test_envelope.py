"""The rows of the fault matrix that concern the envelope: status, headers, bytes and time."""

import asyncio
import gzip
import json
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from adjudge.errors import ModelError
from adjudge.models.names import Endpoint

from .fault_server import (
    SCHEMA,
    Clock,
    FaultServer,
    Script,
    a_request,
    answer,
    ask,
    chat,
    drip,
    hang,
    http,
    raw,
    reset,
    zipped,
)

pytestmark = pytest.mark.xdist_group("models")  # what they import takes seconds in every process


def error(message: str = "no", **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


async def refusal(
    *scripts: Any, deadline: float = 600.0, clock: Clock | None = None, **request: Any
) -> tuple[ModelError, int]:
    """The error that a call ends with, and how many requests the server saw."""
    async with FaultServer(*scripts) as server:
        with pytest.raises(ModelError) as caught:
            await ask(server, a_request(**request), clock, deadline)
        return caught.value, len(server.asked)


async def test_a_reply_comes_through() -> None:
    async with FaultServer(answer(chat("Yes."))) as server:
        reply = await ask(server)
    assert (reply.text, reply.stop, reply.calls) == ("Yes.", "end", ())
    assert (reply.call.usage.prompt, reply.call.usage.output, reply.call.attempts) == (20, 5, 1)


async def test_a_compressed_reply_comes_through() -> None:
    async with FaultServer(zipped(chat("Yes."))) as server:
        assert (await ask(server)).text == "Yes."


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 524, 529])
async def test_a_passing_failure_is_tried_again(status: int) -> None:
    clock = Clock()
    async with FaultServer(answer(error(), status), answer(error(), status), answer(chat())) as server:
        reply = await ask(server, clock=clock)
    assert (reply.call.attempts, len(clock.waits)) == (3, 2)


async def test_a_lasting_failure_is_tried_six_times_again() -> None:
    clock = Clock()
    caught, asked = await refusal(answer(error("overloaded"), 529), clock=clock)
    assert (caught.kind, asked) == ("busy", 7)
    assert "overloaded" in str(caught)
    assert "7 times" in str(caught)
    assert sum(clock.waits) <= 120


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "7.5"}, 7.5),
        ({"retry_after_ms": "2500"}, 2.5),
        ({"retry_after_ms": "2500", "retry_after": "9"}, 2.5),
        ({"retry_after": "soon"}, 0.5),
        ({"retry_after": "-5"}, 0.5),
        ({"retry_after": "nan"}, 0.5),
        ({"retry_after": "1e9"}, 0.5),
        ({"retry_after": "9" * 400}, 0.5),
        ({"retry_after": "Fri, 31 Dec 99999 23:59:59 GMT"}, 0.5),
        ({"retry_after": "Fri, 31 Dec 1999 23:59:59 GMT"}, 0.5),
        ({}, 0.5),
    ],
)
async def test_a_retry_waits_as_long_as_is_asked_and_ignores_nonsense(headers: dict[str, str], wait: float) -> None:
    clock = Clock()
    async with FaultServer(answer(error(), 429, **headers), answer(chat())) as server:
        await ask(server, clock=clock)
    assert clock.waits == [wait]


async def test_a_retry_waits_until_the_date_that_is_asked() -> None:
    clock = Clock()
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    async with FaultServer(answer(error(), 429, retry_after=date), answer(chat())) as server:
        await ask(server, clock=clock)
    assert 17 <= clock.waits[0] <= 20


async def test_a_retry_waits_for_the_delay_in_a_body_of_google() -> None:
    clock = Clock()
    body = error("slow down", details=[{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17s"}])
    async with FaultServer(answer(body, 429), answer(chat())) as server:
        await ask(server, clock=clock)
    assert clock.waits == [17.0]


async def test_a_very_long_wait_is_not_begun_and_its_end_is_told() -> None:
    clock = Clock()
    caught, asked = await refusal(answer(error(), 429, retry_after="7200"), clock=clock)
    assert (caught.kind, asked, clock.waits) == ("busy", 1, [])
    assert "7200 s, until 2" in str(caught)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (402, error("Insufficient credits")),
        (429, error("You exceeded your current quota", code="insufficient_quota", type="insufficient_quota")),
        (429, error("hard limit", code="billing_hard_limit_reached")),
        (401, error("Incorrect API key")),
        (403, error("Forbidden")),
        (404, error("No such model")),
        (400, error("Unknown parameter")),
        (400, error("Your credit balance is too low")),
        (400, error("max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens")),
        (404, error("No endpoints found that support tool use")),
        (400, {}),
        (200, error("Insufficient credits", code=402)),
    ],
)
async def test_what_no_retry_can_mend_is_refused_at_once(status: int, body: dict[str, Any]) -> None:
    caught, asked = await refusal(answer(body, status))
    assert (caught.kind, asked) == ("refused", 1)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, error("This model's maximum context length is 8192 tokens", code="context_length_exceeded")),
        (400, error("prompt is too long: 210000 tokens > 200000 maximum", type="invalid_request_error")),
        (400, error("The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).")),
        (413, error("Request too large", type="request_too_large")),
        (500, error("This model's maximum context length is 8192 tokens")),
        (200, error("maximum context length is 8192 tokens", code=400)),
    ],
)
async def test_a_full_context_is_told_apart_and_not_tried_again(status: int, body: dict[str, Any]) -> None:
    caught, asked = await refusal(answer(body, status))
    assert (caught.kind, asked) == ("context", 1)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, error("The response was filtered", code="content_filter")),
        (403, error("Your chosen model requires moderation", metadata={"flagged_input": "x"})),
        (400, error("Output blocked by content filtering policy")),
    ],
)
async def test_a_content_filter_is_told_apart(status: int, body: dict[str, Any]) -> None:
    caught, asked = await refusal(answer(body, status))
    assert (caught.kind, asked) == ("filtered", 1)


@pytest.mark.parametrize(
    "body",
    [
        error("upstream", code=502),
        error("limited", code=429),
        error("limited", code="429"),
        error("Provider returned error", code=503, metadata={"raw": "the real reason"}),
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        {"error": "something broke"},
    ],
)
async def test_an_error_with_status_200_counts_by_its_own_code(body: dict[str, Any]) -> None:
    async with FaultServer(answer(body), answer(chat())) as server:
        assert (await ask(server)).call.attempts == 2


async def test_the_real_reason_behind_a_gateway_is_told() -> None:
    body = error("Provider returned error", code=400, metadata={"raw": "temperature must be 1"})
    caught, _ = await refusal(answer(body, 400))
    assert "temperature must be 1" in str(caught)


async def test_a_silent_server_costs_the_deadline_and_no_more() -> None:
    started = time.monotonic()
    caught, asked = await refusal(hang, deadline=0.5)
    assert (caught.kind, asked) == ("timeout", 1)
    assert time.monotonic() - started < 1.5
    assert caught.calls == ()


async def test_a_reply_that_drips_costs_the_deadline_and_no_more() -> None:
    started = time.monotonic()
    caught, _ = await refusal(drip, deadline=0.5)
    assert caught.kind == "timeout"
    assert time.monotonic() - started < 1.5


@pytest.mark.parametrize(
    "script",
    [
        reset,
        raw(b""),
        raw(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"),
        raw(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"id"'),
        raw(b"not HTTP at all\r\n\r\n"),
        http(200, json.dumps(chat())[:60]),
        http(200, ""),
        http(200, "[1]"),
        http(200, "[" * 100_000),
        http(200, b"\x1f\x8b broken", content_encoding="gzip"),
        http(200, json.dumps(chat()), content_encoding="br"),
        http(200, "<html>captive portal</html>", "text/html"),
        http(502, "<html>bad gateway</html>", "text/html"),
        http(524, "<html>a timeout occurred</html>", "text/html"),
        http(200, "data: {}\n\n", "text/event-stream"),
    ],
)
async def test_a_broken_transport_is_tried_again(script: Any) -> None:
    async with FaultServer(script, answer(chat())) as server:
        assert (await ask(server)).text == "Yes."
        assert len(server.asked) == 2


async def test_nobody_listening_is_a_broken_transport() -> None:
    async with FaultServer(answer(chat())) as server:
        url = server.url
    with pytest.raises(ModelError) as caught:
        await ask(server, endpoint=Endpoint("endpoint", "m", f"{url}/v1", near=True))
    assert caught.value.kind == "broken"


async def test_what_a_proxy_wrote_is_not_repeated() -> None:
    caught, _ = await refusal(http(502, "<script>alert(1)</script>", "text/html"))
    assert "script" not in str(caught)


def _redirect(status: int, other: FaultServer) -> Script:
    async def play(writer: asyncio.StreamWriter) -> None:
        await http(status, "", location=f"{other.url}/v1/chat/completions")(writer)

    return play


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed_so_the_key_stays(status: int) -> None:
    async with FaultServer(answer(chat())) as other, FaultServer(_redirect(status, other)) as server:
        endpoint = Endpoint("openai", "m", f"{server.url}/v1", key="sk-secret", near=True)
        with pytest.raises(ModelError) as caught:
            await ask(server, endpoint=endpoint)
        assert server.asked[0].headers["authorization"] == "Bearer sk-secret"
        assert len(server.asked) == 1
    assert other.asked == []
    assert caught.value.kind == "refused"
    assert "sk-secret" not in str(caught.value)


async def test_a_body_of_25_megabytes_is_not_read_to_its_end() -> None:
    caught, asked = await refusal(http(200, json.dumps(chat("x" * 25_000_000))))
    assert (caught.kind, asked) == ("broken", 1)
    assert "larger than" in str(caught)


async def test_a_gzip_bomb_is_not_inflated() -> None:
    bomb = gzip.compress(b" " * 50_000_000, 9)
    assert len(bomb) < 100_000
    caught, asked = await refusal(http(200, bomb, content_encoding="gzip"))
    assert (caught.kind, asked) == ("broken", 1)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "response_format json_schema is not supported"),
        (400, "This model does not support structured outputs."),
        (400, "JSON mode is not enabled for this model"),
        (400, "JSON schema conversion failed: failed to parse grammar"),
        (400, 'Invalid JSON payload received. Unknown name "responseJsonSchema"'),
        (422, "response_format.type: Input should be 'text'"),
        (404, "No endpoints found that can handle the requested parameters."),
    ],
)
async def test_an_endpoint_without_schemas_gets_the_schema_in_words_once(status: int, words: str) -> None:
    async with FaultServer(answer(error(words), status), answer(chat('{"ok": true}'))) as server:
        reply = await ask(server, a_request(schema=SCHEMA))
        first, second = server.asked
    assert (reply.text, reply.stop, reply.call.plain) == ('{"ok": true}', "end", True)
    assert first.json["response_format"]["json_schema"]["schema"]["properties"] == SCHEMA["properties"]
    assert "response_format" not in second.json
    assert '"ok"' in second.json["messages"][-1]["content"]


async def test_an_endpoint_that_is_busy_after_it_refused_the_schema_is_not_asked_with_it_again() -> None:
    refused = answer(error("response_format json_schema is not supported"), 400)
    async with FaultServer(refused, answer(error(), 429), answer(chat('{"ok": true}'))) as server:
        reply = await ask(server, a_request(schema=SCHEMA))
        assert ["response_format" in asked.json for asked in server.asked] == [True, False, False]
    assert reply.call.plain


async def test_an_endpoint_that_refuses_without_the_schema_too_is_asked_twice_only() -> None:
    caught, asked = await refusal(answer(error("json_schema is not supported"), 404), schema=SCHEMA)
    assert (caught.kind, asked) == ("refused", 2)


async def test_a_call_that_is_given_up_closes_its_connection() -> None:
    closed = asyncio.Event()

    async def wait_for_end(writer: asyncio.StreamWriter) -> None:
        try:
            await asyncio.sleep(0.3)
            while True:  # writing is what notices
                writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                await writer.drain()
                await asyncio.sleep(0.02)
        except ConnectionError:
            closed.set()

    async with FaultServer(wait_for_end) as server:
        with pytest.raises(ModelError):
            await ask(server, deadline=0.3)
        await asyncio.wait_for(closed.wait(), 5)


def test_the_waits_of_a_retry_add_up_to_less_than_two_minutes() -> None:
    assert sum(min(30.0, 0.5 * 2**n) for n in range(6)) < 120


async def test_a_proxy_of_the_environment_is_used_for_far_places_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    async with FaultServer(answer(chat())) as server, FaultServer(answer(chat())) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        await ask(server)
        assert (len(server.asked), len(proxy.asked)) == (1, 0)
        await ask(server, endpoint=Endpoint("endpoint", "m", "http://llm.example.org/v1"))
        assert proxy.asked[0].path == "http://llm.example.org/v1/chat/completions"
