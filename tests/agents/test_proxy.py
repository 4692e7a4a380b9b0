"""What passes the proxy, what does not, and where the key is."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import zlib
from pathlib import Path

import pytest

from adjudge.agents.endpoints import KeyHeader, Wire
from adjudge.agents.proxy import ModelProxy
from adjudge.agents.traffic import Traffic

from .provider import A_QUESTION, KEY, OK, Provider, begun, between, endpoint, hang, parsed, raw, reply

# --- what passes


async def test_a_question_reaches_the_model_and_its_answer_the_agent() -> None:
    async with between(reply('{"choices": []}', headers="x-request-id: r1\r\n")) as (agent, provider):
        answer = await agent.asks(body=b'{"model": "m"}', headers="content-type: application/json\r\nx-title: mine\r\n")
    assert (answer.status, answer.body, answer.headers["x-request-id"]) == (200, b'{"choices": []}', "r1")
    [seen] = provider.seen
    assert (seen.method, seen.target, seen.body) == ("POST", "/v1/chat/completions", b'{"model": "m"}')
    assert seen.header("content-type") == "application/json"
    assert seen.header("x-title") == "mine"
    assert seen.header("host") == f"127.0.0.1:{provider.port}"
    assert agent.proxy.traffic == Traffic(requests=1, asked=1, answered=True, last_status=200)


async def test_an_agent_may_come_through_a_unix_socket(tmp_path: Path) -> None:
    at = socket.socket(socket.AF_UNIX)
    at.bind(str(tmp_path / "model"))
    at.listen()
    async with Provider(OK) as provider:
        proxy = ModelProxy(endpoint(provider.port), 10)
        await proxy.serve(at)
        reader, writer = await asyncio.open_unix_connection(str(tmp_path / "model"))
        writer.write(A_QUESTION)
        assert parsed(await reader.read()).json == {"ok": True}
        writer.close()
        await proxy.close()
    assert at.fileno() == -1


@pytest.mark.parametrize(
    ("wire", "method", "target", "upstream"),
    [
        ("chat", "POST", "/v1/chat/completions", "/v1/chat/completions"),
        ("chat", "POST", "/v1//chat/completions", "/v1/chat/completions"),
        ("chat", "GET", "/v1/models", "/v1/models"),
        ("chat", "GET", "/v1/models/anthropic/claude-sonnet-5.5:free", "/v1/models/anthropic/claude-sonnet-5.5:free"),
        ("responses", "POST", "/v1/responses", "/v1/responses"),
        ("responses", "GET", "/v1/models?client_version=1.2", "/v1/models?client_version=1.2"),
        ("anthropic", "POST", "/v1/messages?beta=true", "/v1/messages?beta=true"),
        ("anthropic", "POST", "/v1/messages/count_tokens", "/v1/messages/count_tokens"),
        ("anthropic", "GET", "/v1/models?limit=1000", "/v1/models?limit=1000"),
        ("gemini", "POST", "/v1beta/models/gemini-3.5-flash:generateContent", None),
        ("gemini", "POST", "/v1beta/models/gemini-3.5-flash:streamGenerateContent?alt=sse", None),
        ("gemini", "POST", "/v1/models/gemini-3.5-flash:countTokens", None),
        ("gemini", "GET", "/v1beta/models", None),
    ],
)
async def test_what_a_model_needs_is_let_through(wire: Wire, method: str, target: str, upstream: str | None) -> None:
    async with between(OK, wire=wire) as (agent, provider):
        assert (await agent.asks(target, method=method)).status == 200
    assert [(seen.method, seen.target) for seen in provider.seen] == [(method, upstream or target)]


@pytest.mark.parametrize(
    ("wire", "method", "target"),
    [
        ("chat", "POST", "/v1/responses"),
        ("chat", "GET", "/v1/chat/completions"),
        ("chat", "DELETE", "/v1/models/mine"),
        ("chat", "POST", "/v1/files"),
        ("chat", "GET", "/v1/organization/costs"),
        ("chat", "GET", "/v1/key"),
        ("chat", "GET", "/v1/models/../key"),
        ("chat", "GET", "/v1/models/./x"),
        ("chat", "GET", "/v1/models/%2e%2e/key"),
        ("chat", "GET", "/v1/models/x%2f..%2fkey"),
        ("chat", "GET", "/v1/models/x\\..\\key"),
        ("chat", "GET", "/v1/models;x"),
        ("chat", "POST", "/v1/chat/completions/"),
        ("chat", "POST", "/v1/chat/completions#x"),
        ("chat", "POST", "http://127.0.0.1:1/v1/chat/completions"),
        ("chat", "POST", "//127.0.0.1:1/v1/chat/completions"),
        ("chat", "POST", "/v1/chat/completions?" + "&".join(f"a{n}=1" for n in range(60))),
        ("chat", "OPTIONS", "*"),
        ("chat", "CONNECT", "127.0.0.1:1"),
        ("responses", "GET", "/v1/responses/resp_123"),
        ("responses", "POST", "/v1/responses/resp_123/cancel"),
        ("responses", "GET", "/v1/conversations/c"),
        ("anthropic", "POST", "/v1/messages/batches"),
        ("anthropic", "GET", "/v1/files"),
        ("anthropic", "GET", "/v1/organizations/me"),
        ("gemini", "POST", "/v1beta/files"),
        ("gemini", "POST", "/v1beta/models/m:batchGenerateContent"),
        ("gemini", "POST", "/v1beta/models/m:batch:generateContent"),
        ("gemini", "GET", "/v1beta/cachedContents"),
        ("gemini", "POST", "/v1beta/tunedModels/m:generateContent"),
    ],
)
async def test_nothing_else_is(wire: Wire, method: str, target: str) -> None:
    async with between(OK, wire=wire) as (agent, provider):
        answer = await agent.asks(target, method=method)
        assert answer.status in (400, 403)
        assert "error" in answer.json
    assert provider.seen == []
    assert agent.proxy.traffic == Traffic(refused=1)


async def test_an_agent_may_see_whether_anybody_is_there() -> None:
    async with between(OK, wire="anthropic") as (agent, provider):
        assert (await agent.asks("/", method="HEAD")).status == 200
    assert provider.seen == []
    assert agent.proxy.traffic == Traffic()


async def test_no_other_protocol_is_spoken() -> None:
    upgrade = "upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    async with between(OK, wire="responses") as (agent, provider):
        answer = await agent.asks("/v1/models", method="GET", headers=upgrade)
    assert answer.status == 403
    assert provider.seen == []


@pytest.mark.parametrize(
    ("wire", "shape"),
    [
        ("chat", {"error": {"type": "permission_error", "code": 403, "param": None}}),
        ("responses", {"error": {"type": "permission_error", "code": 403, "param": None}}),
        ("anthropic", {"type": "error", "error": {"type": "permission_error"}}),
        ("gemini", {"error": {"code": 403, "status": "PERMISSION_DENIED"}}),
    ],
)
async def test_a_refusal_has_the_shape_that_the_agents_client_knows(wire: Wire, shape: dict[str, object]) -> None:
    async with between(OK, wire=wire) as (agent, _):
        answer = await agent.asks("/v1/files", method="GET")
    told = answer.json
    assert "serves the model only" in told["error"].pop("message")
    assert told == shape


# --- the key


@pytest.mark.parametrize(
    ("wire", "header", "value"),
    [
        ("chat", "authorization", f"Bearer {KEY}"),
        ("anthropic", "authorization", f"Bearer {KEY}"),
        ("anthropic", "x-api-key", KEY),
        ("gemini", "x-goog-api-key", KEY),
    ],
)
async def test_the_key_is_put_in_and_what_the_agent_sent_is_taken_out(wire: Wire, header: KeyHeader, value: str) -> None:
    given = (
        "Authorization: Bearer agents\r\nX-Api-Key: agents\r\nx-goog-api-key: agents\r\napi-key: agents\r\n"
        "Cookie: a=agents\r\nProxy-Authorization: Basic agents\r\nX-Auth-Token: agents\r\nOpenAI-Organization: agents\r\n"
    )
    targets: dict[Wire, str] = {"chat": "/v1/models", "anthropic": "/v1/models", "gemini": "/v1beta/models"}
    async with between(OK, wire=wire, header=header) as (agent, provider):
        await agent.asks(f"{targets[wire]}?key=agents&K%45Y=agents&api_key=agents&alt=sse", method="GET", headers=given)
    [seen] = provider.seen
    assert seen.target == f"{targets[wire]}?alt=sse"
    assert seen.header(header) == value
    assert "agents" not in repr(seen)


async def test_without_a_key_none_is_sent() -> None:
    async with between(OK, key=None) as (agent, provider):
        await agent.asks(headers="authorization: Bearer adjudge\r\n")
    assert provider.seen[0].header("authorization") is None


async def test_an_endpoint_that_echoes_the_key_does_not_tell_it_to_the_agent() -> None:
    told = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}.", "code": "invalid_api_key"}})
    async with between(reply(told, 401, headers=f"x-debug: Bearer {KEY}\r\n")) as (agent, _):
        answer = await agent.asks()
    assert answer.status == 401
    assert KEY not in f"{answer}{agent.proxy.traffic}{agent.proxy!r}"
    assert "Incorrect API key provided: [secret key]" in answer.json["error"]["message"]
    assert agent.proxy.traffic.last_error.startswith("HTTP 401: invalid_api_key · Incorrect API key provided: [secret key]")


@pytest.mark.parametrize("at", range(1, len(KEY)))
async def test_an_echoed_key_is_masked_wherever_the_reply_is_cut(at: int) -> None:
    async def play(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 500 X\r\nconnection: close\r\n\r\n" + KEY[:at].encode())
        await writer.drain()
        await asyncio.sleep(0.002)
        writer.write(f"{KEY[at:]} was wrong".encode())
        writer.close()

    async with between(play) as (agent, _):
        answer = await agent.asks()
    assert KEY not in str(answer)
    assert answer.body.endswith(b" was wrong")


async def test_a_compressed_echo_is_masked_as_well() -> None:
    body = gzip.compress(f"wrong: {KEY}".encode())
    async with between(reply(body, 401, headers="content-encoding: gzip\r\n")) as (agent, _):
        answer = await agent.asks(headers="accept-encoding: gzip\r\n")
    assert answer.body == b"wrong: " + b"[secret key]".ljust(len(KEY), b"*")
    assert "content-encoding" not in answer.headers


async def test_nothing_is_logged(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    async with between(reply(KEY, 500), raw(b"garbage\r\n\r\n", close=True)) as (agent, _):
        await agent.asks()
        await agent.asks()
        await agent.sends(b"\x16\x03\x01 no http\r\n\r\n")
        await agent.sends(b"GET / HTTP/1.1\r\nbad header\r\n\r\n")
    assert [record for record in caplog.records if record.levelname != "DEBUG"] == []
    assert capfd.readouterr().err == ""


# --- headers


async def test_what_belongs_to_one_connection_does_not_pass() -> None:
    given = (
        "te: trailers\r\nkeep-alive: 5\r\nx-mine: 1\r\nconnection: x-mine\r\nx-forwarded-for: 1.2.3.4\r\nforwarded: x\r\n"
    )
    back = "set-cookie: a=b\r\nalt-svc: h3\r\nconnection: x-its\r\nx-its: 1\r\nx-kept: yes\r\nopenai-organization: acme\r\n"
    async with between(reply("{}", headers=back)) as (agent, provider):
        answer = await agent.asks(headers=given)
    names = {name for name, _ in provider.seen[0].headers}
    assert not names & {"te", "keep-alive", "x-mine", "x-forwarded-for", "forwarded"}
    assert answer.headers["x-kept"] == "yes"
    assert not set(answer.headers) & {"set-cookie", "alt-svc", "x-its", "openai-organization"}


async def test_cookies_are_not_kept_between_requests() -> None:
    async with between(reply("{}", headers="set-cookie: session=1\r\n")) as (agent, provider):
        await agent.asks()
        await agent.asks()
    assert [seen.header("cookie") for seen in provider.seen] == [None, None]


async def test_no_compression_is_asked_for() -> None:
    async with between(OK) as (agent, provider):
        await agent.asks(headers="accept-encoding: gzip, br, zstd\r\n")
    assert provider.seen[0].header("accept-encoding") == "identity"


async def test_a_compressed_request_passes_as_it_is() -> None:
    body = gzip.compress(b'{"model": "m"}')
    async with between(OK) as (agent, provider):
        await agent.asks(body=body, headers="content-encoding: gzip\r\n")
    assert provider.seen[0].body == body
    assert provider.seen[0].header("content-encoding") == "gzip"


# --- streams


@pytest.mark.parametrize("compressed", [False, True])
async def test_each_event_arrives_before_the_next_one_is_made(compressed: bool) -> None:
    go_on = asyncio.Event()
    packing = zlib.compressobj(wbits=31)

    def packed(data: bytes, last: bool = False) -> bytes:
        if compressed:
            data = packing.compress(data) + packing.flush(zlib.Z_FINISH if last else zlib.Z_SYNC_FLUSH)
        return b"%x\r\n%s\r\n" % (len(data), data)

    async def play(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        coding = b"content-encoding: gzip\r\n" if compressed else b""
        head = b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n"
        writer.write(head + coding + b"\r\n")
        for number in range(5):
            go_on.clear()
            writer.write(packed(b"data: {%d}\n\n" % number))
            await go_on.wait()
        writer.write(packed(b"data: [DONE]\n\n", last=True) + b"0\r\n\r\n")

    async with between(play) as (agent, _):
        reader, writer = await agent.connect()
        writer.write(A_QUESTION)
        got = b""
        for number in range(5):
            got += await asyncio.wait_for(reader.readuntil(b"data: {%d}\n\n" % number), 5)
            go_on.set()
        answer = parsed(got + await reader.read())
        writer.close()
    assert answer.body == b"".join(b"data: {%d}\n\n" % number for number in range(5)) + b"data: [DONE]\n\n"
    assert answer.headers["content-type"] == "text/event-stream"
    assert agent.proxy.traffic.answered is True


async def test_an_old_client_gets_a_stream_until_its_connection_is_closed() -> None:
    chunked = raw(b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n")
    async with between(chunked) as (agent, _):
        answer = parsed(await agent.sends(b"POST /v1/chat/completions HTTP/1.0\r\ncontent-length: 2\r\n\r\n{}"))
    assert (answer.status, answer.body) == (200, b"abcd")
    assert "transfer-encoding" not in answer.headers


async def test_an_agent_that_goes_away_ends_its_request() -> None:
    async with between(hang) as (agent, provider):
        _, writer = await agent.connect()
        writer.write(A_QUESTION)
        await provider.arrived(1)
        writer.close()
        await asyncio.wait_for(provider.left.wait(), 5)
    assert agent.proxy.traffic == Traffic(requests=1, asked=1)


async def test_an_agent_that_closes_its_side_has_gone_away() -> None:
    async with between(hang) as (agent, provider):
        reader, writer = await agent.connect()
        writer.write(A_QUESTION)
        await provider.arrived(1)
        writer.write_eof()
        await asyncio.wait_for(provider.left.wait(), 5)
        assert await reader.read() == b""
        writer.close()


async def test_an_agent_that_leaves_in_the_middle_of_an_answer_was_answered() -> None:
    async with between(begun) as (agent, provider):
        reader, writer = await agent.connect()
        writer.write(A_QUESTION)
        await reader.readuntil(b"data: 1")
        writer.close()
        await asyncio.wait_for(provider.left.wait(), 5)
    assert agent.proxy.traffic == Traffic(requests=1, asked=1, answered=True, last_status=200)
