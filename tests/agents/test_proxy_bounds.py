"""Agents that want too much, or send what can be read in two ways."""

from __future__ import annotations

import asyncio

import pytest

from adjudge.agents.proxy import ModelProxy, ProxyLimits
from adjudge.agents.traffic import Traffic

from .provider import A_QUESTION, HEAD, OK, begun, between, endpoint, hang, parsed, reply

# --- bounds


async def test_fifty_at_once_are_all_answered_thirty_two_at_a_time() -> None:
    go_on = asyncio.Event()

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await go_on.wait()
        await OK(reader, writer)

    async with between(play) as (agent, provider):
        asking = [asyncio.create_task(agent.asks()) for _ in range(50)]
        await provider.arrived(32)
        go_on.set()
        answers = await asyncio.gather(*asking)
    assert {answer.status for answer in answers} == {200}
    assert provider.most_open == 32


async def test_an_agent_cannot_open_connections_without_end() -> None:
    async with between(OK, limits=ProxyLimits(connections=3)) as (agent, _):
        kept = [await agent.connect() for _ in range(3)]
        for _, writer in kept:
            writer.write(b"POST /v1/chat")
        assert await agent.sends(A_QUESTION) == b""
        for _, writer in kept:
            writer.close()


@pytest.mark.parametrize("announced", [True, False])
async def test_a_request_may_not_be_too_large(announced: bool) -> None:
    body = b"x" * 1001 if announced else b"3e9\r\n" + b"x" * 1001 + b"\r\n0\r\n\r\n"
    length = b"content-length: 1001" if announced else b"transfer-encoding: chunked"
    async with between(OK, limits=ProxyLimits(body=1000)) as (agent, provider):
        answer = parsed(await agent.sends(HEAD + length + b"\r\n\r\n" + body))
    assert answer.status == 413
    assert "1000 bytes" in answer.json["error"]["message"]
    assert provider.seen == []
    assert agent.proxy.traffic == Traffic(
        refused=1, answered=False, last_status=413, last_error="a request may have at most 1000 bytes"
    )


async def test_all_requests_together_may_not_be_too_large() -> None:
    async with between(hang, limits=ProxyLimits(bodies=1500)) as (agent, provider):
        first = asyncio.create_task(agent.asks(body=b"x" * 1000))
        await provider.arrived(1)
        assert (await agent.asks(body=b"x" * 1000)).status == 503
        first.cancel()


async def test_a_body_in_chunks_arrives_with_its_length() -> None:
    async with between(OK) as (agent, provider):
        await agent.sends(HEAD + b'transfer-encoding: chunked\r\n\r\n3\r\n{"a\r\n4\r\n": 1\r\n1\r\n}\r\n0\r\n\r\n')
    assert provider.seen[0].body == b'{"a": 1}'


async def test_an_agent_that_waits_for_leave_to_send_gets_it() -> None:
    async with between(OK) as (agent, provider):
        reader, writer = await agent.connect()
        writer.write(HEAD + b"expect: 100-continue\r\ncontent-length: 2\r\n\r\n")
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"{}")
        assert parsed(await reader.read()).json == {"ok": True}
        writer.close()
    assert provider.seen[0].header("expect") is None


async def test_closing_ends_everything_at_once_and_twice_is_once() -> None:
    async with between(begun, hang) as (agent, provider):
        streaming = asyncio.create_task(agent.sends(A_QUESTION))
        await provider.arrived(1)
        waiting = asyncio.create_task(agent.sends(A_QUESTION))
        await provider.arrived(2)
        idle = await agent.connect()
        await asyncio.wait_for(agent.proxy.close(), 2)
        await agent.proxy.close()
        await asyncio.wait_for(asyncio.gather(streaming, waiting), 2)
        idle[1].close()
        with pytest.raises(ConnectionError):
            await agent.connect()


async def test_closing_does_not_wait_for_an_agent_that_does_not_read() -> None:
    async with between(reply(b"x" * (64 << 20))) as (agent, provider):
        _, writer = await agent.connect()
        writer.write(A_QUESTION)
        await provider.arrived(1)
        await asyncio.wait_for(agent.proxy.close(), 2)
        writer.close()


async def test_a_proxy_that_never_served_can_be_closed() -> None:
    await ModelProxy(endpoint(1), 1).close()


# --- smuggling


@pytest.mark.parametrize(
    "sent",
    [
        b"content-length: 2\r\ncontent-length: 3\r\n\r\n{}x",
        b"content-length: 2\r\ncontent-length: 2\r\n\r\n{}",
        b"content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n0\r\n\r\n",
        b"transfer-encoding: gzip, chunked, identity\r\n\r\n0\r\n\r\n",
        b"transfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"content-length: +2\r\n\r\n{}",
        b"content-length: -2\r\n\r\n{}",
        b"content-length: 2, 2\r\n\r\n{}",
        b"content-length : 2\r\n\r\n{}",
        b"x: a\r\n folded: b\r\n\r\n",
        b"x: a\nauthorization: b\r\n\r\n",
        b"x: a\x00b\r\n\r\n",
        b"transfer-encoding: chunked\r\n\r\nxyz\r\n{}\r\n0\r\n\r\n",
        b"transfer-encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n",
    ],
)
async def test_what_can_be_read_in_two_ways_reaches_nobody(sent: bytes) -> None:
    async with between(OK) as (agent, provider):
        answer = parsed(await agent.sends(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n" + sent))
    assert answer.status == 400
    assert provider.seen == []
    assert agent.proxy.traffic.refused == 1


async def test_the_end_of_one_request_is_not_the_beginning_of_another() -> None:
    hidden = b"GET /v1/files HTTP/1.1\r\nhost: x\r\n\r\n"
    async with between(OK) as (agent, provider):
        await agent.sends(HEAD.replace(b"connection: close\r\n", b"") + b"content-length: 2\r\n\r\n{}" + hidden)
    assert [(seen.target, seen.body) for seen in provider.seen] == [("/v1/chat/completions", b"{}")]
    assert agent.proxy.traffic.refused == 1


async def test_requests_one_after_another_on_one_connection_are_answered_in_order() -> None:
    question = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\n\r\n"
    last = HEAD + b"content-length: 1\r\n\r\n3"
    async with between(*(reply(f"answer {number}") for number in (1, 2, 3))) as (agent, provider):
        data = await agent.sends(question + b"1" + question + b"2" + last)
    assert [seen.body for seen in provider.seen] == [b"1", b"2", b"3"]
    assert data.index(b"answer 1") < data.index(b"answer 2") < data.index(b"answer 3")


async def test_half_a_request_is_never_passed_on() -> None:
    async with between(OK) as (agent, provider):
        _, writer = await agent.connect()
        writer.write(HEAD + b'content-length: 20\r\n\r\n{"model"')
        await writer.drain()
        await agent.asks()  # a slow one keeps nobody else from asking
        writer.close()
    assert [seen.body for seen in provider.seen] == [b"{}"]
