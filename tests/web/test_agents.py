"""Agents and connections: keys go in once and never come out, and what is there is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from adjudge.agents.connections import connections
from adjudge.settings import Settings
from adjudge.store.store import Store, open_store
from adjudge.web.guard import Access, Guard
from adjudge.web.site import Site

from .conftest import ACCESS, Client
from .doing import guard_of, inside, page, said

KEY = "sk-or-v1-74d0c2e19fa835b6"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store") as store:
        yield store


@pytest.fixture
def guard(store: Store) -> Guard:
    return guard_of(store)


@pytest.fixture
def client(guard: Guard) -> Client:
    return inside(guard)


def keys_of(guard: Guard) -> dict[str, str]:
    """The keys that judges and agents would use now."""
    site: Site = guard.app.state.site
    return dict(site.settings.keys)


def test_a_key_is_connected_while_the_server_runs_and_serves_judges_and_agents(
    client: Client, guard: Guard, store: Store
) -> None:
    assert keys_of(guard) == {}
    status, found = said(client, "/api/keys", provider="openrouter", key=f" {KEY} ")
    assert status == 200
    assert [(row["provider"], row["source"], row["ends"], row["used"]) for row in found] == [
        ("openrouter", "connected", KEY[-4:], True)
    ]
    assert keys_of(guard) == {"OPENROUTER_API_KEY": KEY}
    assert "connected here" in page(client, "/agents")
    assert store.folder is not None
    assert (store.folder / "keys.json").stat().st_mode & 0o777 == 0o600
    assert said(client, "/api/keys/openrouter", "DELETE") == (200, {"forgotten": True})
    assert keys_of(guard) == {}
    assert said(client, "/api/keys/openrouter", "DELETE") == (200, {"forgotten": False})


def test_a_key_never_comes_out_of_any_page_or_answer(
    client: Client, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    given = client.post("/api/keys", content=msgspec.json.encode({"provider": "anthropic", "key": KEY}))
    wrong = [
        said(client, "/api/keys", provider="nobody", key=KEY),
        said(client, "/api/keys", provider="openai", key=KEY + " x"),
        said(client, "/api/keys", provider="openai", key=KEY, more=1),
        said(client, "/api/keys", provider="openai", key=[KEY]),
        said(client, "/api/keys", "DELETE", key=KEY),
    ]
    assert {status for status, _ in wrong} == {400, 405}
    paths = ("/agents", "/agents/installed", "/build", "/api/keys", "/api/agents", "/live", "/api/schema/openapi.json")
    texts = [given.text, json.dumps(wrong), *(client.get(path).text for path in paths), *capfd.readouterr(), caplog.text]
    assert not any(KEY in text or KEY[3:-4] in text for text in texts)


def test_a_key_of_the_environment_goes_before_a_connected_one_and_both_are_told(store: Store) -> None:
    guard = guard_of(store, Settings(store=str(store.folder), keys={"OPENAI_API_KEY": "sk-environment-0123456789"}))
    client = inside(guard)
    said(client, "/api/keys", provider="openai", key=KEY)
    html = page(client, "/agents")
    assert "from the environment" in html
    assert "not used: the one above goes before it" in html
    assert keys_of(guard)["OPENAI_API_KEY"] == "sk-environment-0123456789"


def test_keys_that_others_can_read_are_not_used_and_it_is_said_why(client: Client, store: Store) -> None:
    said(client, "/api/keys", provider="openai", key=KEY)
    assert store.folder is not None
    (store.folder / "keys.json").chmod(0o644)
    answer = client.get("/agents")
    assert answer.status_code == 404
    assert "other users can get at the keys" in answer.text


def test_without_a_token_nothing_can_be_connected(store: Store) -> None:
    client = inside(guard_of(store, access=Access(ACCESS.names, None, port=8710)))
    status, found = said(client, "/api/keys", provider="openai", key=KEY)
    assert status == 400
    assert "--no-token" in found["detail"]
    assert 'name="key"' not in page(client, "/agents")
    assert store.folder is not None
    assert not (store.folder / "keys.json").exists()


def test_every_shipped_agent_is_listed_with_what_it_needs(client: Client) -> None:
    html = page(client, "/agents/installed")
    for connection in connections():
        (row,) = [row for row in html.split("<tr>") if f"<b>{connection.name}</b>" in row]
        assert all(name in row for name in connection.environment)
        assert "version" in row or connection.about in row or "cannot be started" in row
    names = [found["connection"]["name"] for found in client.get("/api/agents").json()]
    assert names == [connection.name for connection in connections()]


def test_an_agent_in_path_is_told_with_its_version(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho codex-cli 9.8.7\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    (found,) = [each for each in client.get("/api/agents").json() if each["connection"]["name"] == "codex"]
    assert (found["program"], found["version"], found["missing"]) == (str(program), "9.8.7", None)
    assert "version 9.8.7" in page(client, "/agents/installed")


def test_the_doctors_checks_are_told_with_what_failed_first(client: Client) -> None:
    checks = client.get("/api/checks").json()
    assert {"store", "models"} <= {check["name"] for check in checks}
    assert not any(check["name"].startswith("agent ") for check in checks)
    html = page(client, "/agents/checks")
    assert "can be written" in html
    assert html.find("does not work") < html.find(">works<")
