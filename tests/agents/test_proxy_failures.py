"""Endpoints that fail or misbehave, and what is counted and told of it."""

from __future__ import annotations

import asyncio
import gzip
import socket

import pytest

from adjudge.agents.proxy import ProxyLimits
from adjudge.agents.traffic import Traffic

from .provider import A_QUESTION, OK, Provider, begun, between, endpoint, hang, proxied, raw, reply

# --- what goes wrong upstream


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(status: int) -> None:
    async with Provider(OK) as elsewhere:
        to = f"location: http://127.0.0.1:{elsewhere.port}/v1/chat/completions\r\n"
        async with between(reply("", status, headers=to)) as (agent, _):
            answer = await agent.asks()
    assert answer.status == 502
    assert "redirects" in answer.json["error"]["message"]
    assert "location" not in answer.headers
    assert elsewhere.seen == []
    assert agent.proxy.traffic.answered is False


async def test_an_endpoint_that_is_not_there_is_told() -> None:
    async with Provider(OK) as gone:
        pass
    async with proxied(endpoint(gone.port)) as agent:
        answer = await agent.asks()
    assert answer.status == 502
    assert answer.json["error"]["message"] == "the model's endpoint could not be reached"
    told = agent.proxy.traffic
    assert (told.requests, told.failed, told.answered, told.last_status) == (1, 1, False, None)
    assert f"127.0.0.1:{gone.port}" in told.last_error


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 X\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello",
        b"HTTP/1.1 101 X\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 X\r\nx: " + b"a" * 200_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 X\r\ncontent-encoding: br\r\ncontent-length: 5\r\n\r\nhello",
        b"HTTP/1.1 200 X\r\ncontent-length: abc\r\n\r\nhello",
        b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\nno number\r\n",
    ],
    ids=["nothing", "no HTTP", "two lengths", "another protocol", "endless header", "brotli", "no number", "bad chunk"],
)
async def test_a_reply_that_cannot_be_passed_on_is_a_502(sent: bytes) -> None:
    async with between(raw(sent, close=True)) as (agent, _):
        answer = await agent.asks()
    assert answer.status == 502
    assert answer.json["error"]["message"].startswith("the model's endpoint ")
    assert agent.proxy.traffic.answered is False


@pytest.mark.parametrize(
    "sent",
    [
        b"content-length: 100\r\n\r\n{",
        b"transfer-encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n",
        b"content-encoding: gzip\r\n\r\n" + gzip.compress(b"data: 1\n\n")[:-4],
        b"content-encoding: gzip\r\ncontent-length: 8\r\n\r\nnot gzip",
    ],
    ids=["length", "chunks", "half gzip", "no gzip"],
)
async def test_a_reply_that_breaks_off_is_broken_for_the_agent_too(sent: bytes) -> None:
    async with between(raw(b"HTTP/1.1 200 X\r\n" + sent, close=True)) as (agent, _):
        data = await agent.sends(A_QUESTION)
    assert b" 200 " in data.partition(b"\r\n")[0]
    assert not data.endswith(b"0\r\n\r\n")
    assert b"content-length: 100" in data.lower() or b"chunked" in data.lower()
    traffic = agent.proxy.traffic
    assert (traffic.failed, traffic.answered, traffic.last_status) == (1, False, 200)


async def test_an_endpoint_that_says_nothing_is_not_waited_for_for_ever() -> None:
    async with between(hang, limits=ProxyLimits(idle=0.1)) as (agent, _):
        answer = await agent.asks()
    assert (answer.status, answer.json["error"]["message"]) == (502, "the model's endpoint did not answer in time")


async def test_an_endpoint_that_stops_in_the_middle_is_not_waited_for_for_ever() -> None:
    async with between(begun, limits=ProxyLimits(idle=0.1)) as (agent, _):
        data = await agent.sends(A_QUESTION)
    assert data.endswith(b"data: 1\n\n\r\n")
    assert agent.proxy.traffic.answered is False


async def test_an_endpoint_that_takes_nothing_is_not_waited_for_for_ever() -> None:
    deaf = socket.socket()
    deaf.bind(("127.0.0.1", 0))
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.listen()
    async with proxied(endpoint(deaf.getsockname()[1]), limits=ProxyLimits(idle=0.2)) as agent:
        answer = await agent.asks(body=b"x" * (16 << 20))
    deaf.close()
    assert answer.status == 502


async def test_a_slow_but_living_stream_has_no_limit_of_time() -> None:
    async def play(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 X\r\nconnection: close\r\n\r\n")
        for _dot in range(20):
            writer.write(b".")
            await asyncio.sleep(0.02)
        writer.close()

    async with between(play, limits=ProxyLimits(idle=0.2)) as (agent, _):
        assert (await agent.asks()).body == b"." * 20


async def test_headers_that_could_not_be_written_again_are_left_out() -> None:
    head = "HTTP/1.1 200 X\r\ncontent-length: 2\r\nx-letters: \xff\xfe\r\nx-good: yes\r\n\r\n{}"
    async with between(raw(head.encode("latin-1"))) as (agent, _):
        answer = await agent.asks()
    assert (answer.status, answer.headers["x-good"]) == (200, "yes")
    assert "x-letters" not in answer.headers


# --- counting


async def test_the_endpoints_own_errors_pass_and_are_told() -> None:
    told = '{"type": "error", "error": {"type": "not_found_error", "message": "model: \\u001b[31mnone\u202e"}}'
    async with between(reply(told, 404), wire="anthropic") as (agent, _):
        answer = await agent.asks("/v1/messages")
    assert (answer.status, answer.body.decode()) == (404, told)
    traffic = agent.proxy.traffic
    assert (traffic.requests, traffic.failed, traffic.answered, traffic.last_status) == (1, 1, False, 404)
    assert traffic.last_error == "HTTP 404: not_found_error · model:  [31mnone"


async def test_a_long_or_strange_error_is_told_in_short() -> None:
    async with between(reply("<html>" + "x" * 3_000_000, 503)) as (agent, _):
        assert len((await agent.asks()).body) == 3_000_006
    assert agent.proxy.traffic.last_error.startswith("HTTP 503: <html>xxx")
    assert len(agent.proxy.traffic.last_error) <= 400


async def test_a_success_after_a_failure_counts() -> None:
    async with between(reply("{}", 500), OK) as (agent, _):
        await agent.asks()
        await agent.asks()
    assert agent.proxy.traffic == Traffic(requests=2, asked=2, failed=1, answered=True, last_status=200)


async def test_what_is_no_question_does_not_decide_whether_the_last_one_was_answered() -> None:
    async with between(OK, reply("{}", 404), wire="anthropic") as (agent, _):
        await agent.asks("/v1/messages")
        await agent.asks("/v1/messages/count_tokens")
        await agent.asks("/v1/files", method="GET")
    assert agent.proxy.traffic == Traffic(requests=2, asked=1, failed=1, refused=1, answered=True, last_status=200)


async def test_an_early_question_that_fails_late_does_not_count_as_the_last() -> None:
    answer_first = asyncio.Event()

    async def late(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await answer_first.wait()
        await reply("{}", 500)(_, writer)

    async with between(late, OK) as (agent, provider):
        first = asyncio.create_task(agent.asks())
        await provider.arrived(1)
        await agent.asks()
        answer_first.set()
        assert (await first).status == 500
    assert agent.proxy.traffic == Traffic(requests=2, asked=2, failed=1, answered=True, last_status=200)


async def test_after_the_most_requests_there_are_no_more() -> None:
    async with between(OK, most=2) as (agent, provider):
        statuses = [(await agent.asks()).status for _ in range(4)]
        last = await agent.asks()
    assert statuses == [200, 200, 429, 429]
    assert "at most 2 requests" in last.json["error"]["message"]
    assert last.headers["x-should-retry"] == "false"
    assert len(provider.seen) == 2
    traffic = agent.proxy.traffic
    assert (traffic.requests, traffic.refused, traffic.beyond) == (2, 3, 3)
    assert (traffic.answered, traffic.last_status) == (False, 429)


async def test_the_most_requests_hold_when_they_come_at_once() -> None:
    async with between(OK, most=5) as (agent, provider):
        answers = await asyncio.gather(*(agent.asks() for _ in range(20)))
    assert sorted(answer.status for answer in answers) == [200] * 5 + [429] * 15
    assert len(provider.seen) == 5
