"""The way to the endpoint: certificates are checked, and the user's proxies are used for what is far."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest

from adjudge.agents.endpoints import AgentEndpoint
from adjudge.agents.proxy import ModelProxy
from adjudge.errors import InputError

from .provider import KEY, OK, Provider, endpoint, listening, proxied, reply

CERTIFICATE = Path(__file__).parent / "fixtures/loopback.pem"
"""A certificate for 127.0.0.1 that nobody trusts, with its key; made for these tests, valid for a hundred years."""


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "SSL_CERT_DIR", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


class SecureProvider(Provider):
    """Speaks TLS."""

    async def __aenter__(self) -> SecureProvider:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(CERTIFICATE)
        self._server = await asyncio.start_server(self._met, "127.0.0.1", 0, ssl=context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self


def secure(port: int) -> AgentEndpoint:
    return AgentEndpoint("openai/m", "m", "chat", f"https://127.0.0.1:{port}/v1", KEY, True)


async def test_an_endpoint_that_nobody_vouches_for_gets_no_key() -> None:
    async with SecureProvider(OK) as provider, proxied(secure(provider.port)) as agent:
        answer = await agent.asks()
    assert answer.status == 502
    assert provider.seen == []
    assert "CERTIFICATE_VERIFY_FAILED" in agent.proxy.traffic.last_error


async def test_a_certificate_that_the_user_trusts_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    async with SecureProvider(OK) as provider, proxied(secure(provider.port)) as agent:
        assert (await agent.asks()).status == 200
    assert provider.seen[0].header("authorization") == f"Bearer {KEY}"


# --- proxies of the environment


def far(port: int = 80) -> AgentEndpoint:
    return AgentEndpoint("openai/m", "m", "chat", f"http://model.invalid:{port}/v1", KEY)


async def test_a_far_endpoint_is_reached_through_the_users_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Provider(OK) as users_proxy:
        monkeypatch.setenv("http_proxy", f"http://me:password@127.0.0.1:{users_proxy.port}")
        async with proxied(far()) as agent:
            assert (await agent.asks()).status == 200
    [seen] = users_proxy.seen
    assert seen.target == "http://model.invalid/v1/chat/completions"
    assert seen.header("host") == "model.invalid"
    assert seen.header("proxy-authorization") is not None
    assert seen.header("authorization") == f"Bearer {KEY}"


async def test_a_far_endpoint_that_speaks_tls_is_reached_through_a_tunnel(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Provider(reply(f"no, not with {KEY}", 407)) as users_proxy:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{users_proxy.port}")
        async with proxied(AgentEndpoint("openai/m", "m", "chat", "https://model.invalid/v1", KEY)) as agent:
            answer = await agent.asks()
    assert (users_proxy.seen[0].method, users_proxy.seen[0].target) == ("CONNECT", "model.invalid:443")
    assert KEY not in repr(users_proxy.seen)
    assert answer.status == 502
    assert "407" in agent.proxy.traffic.last_error
    assert KEY not in repr(agent.proxy.traffic)


async def test_a_near_endpoint_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Provider(OK) as users_proxy, Provider(OK) as provider:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{users_proxy.port}")
        monkeypatch.setenv("all_proxy", f"http://127.0.0.1:{users_proxy.port}")
        async with proxied(endpoint(provider.port)) as agent:
            assert (await agent.asks()).status == 200
    assert users_proxy.seen == []


async def test_exceptions_of_the_user_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Provider(OK) as users_proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{users_proxy.port}")
        monkeypatch.setenv("no_proxy", "model.invalid")
        async with proxied(far()) as agent:
            assert (await agent.asks()).status == 502
    assert users_proxy.seen == []


async def test_a_proxy_of_another_kind_is_told_before_anything_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "socks5://me:password@127.0.0.1:1080")
    at = listening()
    proxy = ModelProxy(far(), 10)
    with pytest.raises(InputError, match=r"socks5 proxy for model\.invalid; models are asked through HTTP proxies"):
        await proxy.serve(at)
    await proxy.close()
    at.close()


async def test_passwords_of_netrc_are_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password users-password\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    async with Provider(OK) as provider, proxied(endpoint(provider.port, key=None)) as agent:
        await agent.asks()
    assert provider.seen[0].header("authorization") is None
