"""What passes the proxy, what does not, and what is counted."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import zlib
from pathlib import Path

import pytest

from adjudge.agents.endpoints import KeyHeader, Wire
from adjudge.agents.proxy import ModelProxy, ProxyLimits
from adjudge.agents.traffic import Traffic

from .provider import KEY, OK, Agent, Provider, between, endpoint, hang, parsed, proxied, raw, reply

HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
A_QUESTION = HEAD + b"content-length: 2\r\n\r\n{}"

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
    given = "te: trailers\r\nkeep-alive: 5\r\nx-mine: 1\r\nconnection: x-mine\r\nx-forwarded-for: 1.2.3.4\r\nforwarded: for=x\r\n"
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


# --- what goes wrong upstream


async def begun(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The beginning of a stream, and no end."""
    writer.write(b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n")
    await hang(reader, writer)


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
    ],
    ids=["nothing", "no HTTP", "two lengths", "another protocol", "endless header", "brotli", "no number"],
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
        b"transfer-encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\nno number\r\n",
        b"content-encoding: gzip\r\n\r\n" + gzip.compress(b"data: 1\n\n")[:-4],
        b"content-encoding: gzip\r\ncontent-length: 8\r\n\r\nnot gzip",
    ],
    ids=["length", "chunks", "bad chunk", "half gzip", "no gzip"],
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
        for _ in range(20):
            writer.write(b".")
            await asyncio.sleep(0.02)
        writer.close()

    async with between(play, limits=ProxyLimits(idle=0.2)) as (agent, _):
        assert (await agent.asks()).body == b"." * 20


async def test_headers_that_could_not_be_written_again_are_left_out() -> None:
    odd = "x-odd: a\x01b\r\nx-letters: \xff\r\nx-good: yes\r\n"
    head = f"HTTP/1.1 200 X\r\ncontent-length: 2\r\n{odd}\r\n{{}}"
    async with between(raw(head.encode("latin-1"))) as (agent, _):
        answer = await agent.asks()
    assert answer.status in (200, 502)
    assert not set(answer.headers) & {"x-odd", "x-letters"}


# --- counting


async def test_the_endpoints_own_errors_pass_and_are_told() -> None:
    told = '{"type": "error", "error": {"type": "not_found_error", "message": "model: \x1b[31mnone\u202e"}}'
    async with between(reply(told, 404), wire="anthropic") as (agent, _):
        answer = await agent.asks("/v1/messages")
    assert (answer.status, answer.body.decode()) == (404, told)
    traffic = agent.proxy.traffic
    assert (traffic.requests, traffic.failed, traffic.answered, traffic.last_status) == (1, 1, False, 404)
    assert traffic.last_error == "HTTP 404: not_found_error · model: none<U+202E>"


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
