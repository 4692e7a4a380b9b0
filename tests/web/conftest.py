"""A store with everything in it, and a client that is inside."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from litestar.testing import TestClient
from playwright.sync_api import expect
from tests.web import sample

from adjudge.settings import Settings
from adjudge.store.store import Store
from adjudge.web.app import create_app
from adjudge.web.guard import Access, Doors, Guard

expect.set_options(timeout=20_000)  # milliseconds: a busy machine is slow, not wrong

TOKEN = "t" * 43
ACCESS = Access(frozenset({"127.0.0.1", "localhost", "::1"}), TOKEN, port=8710)
BASE = "http://127.0.0.1:8710"
RUN = sample.long_run().id

Client = TestClient[Guard]
Page = Callable[[str], str]


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The sample's store, which no test changes."""
    with sample.make(tmp_path_factory.mktemp("web") / "store") as store:
        yield store


@pytest.fixture(scope="session")
def guard(store: Store) -> Guard:
    """The application over it."""
    return create_app(store, Settings(store=str(store.folder)), ACCESS, Doors())


@pytest.fixture(scope="session")
def outside(guard: Guard) -> Client:
    """A client without a token, who follows nothing. None of the clients is entered: there is nothing to start or stop."""
    client = TestClient(guard, base_url=BASE, raise_server_exceptions=False)
    client.follow_redirects = False
    return client


@pytest.fixture(scope="session")
def client(guard: Guard) -> Client:
    """A client who is inside."""
    client = TestClient(guard, base_url=BASE, raise_server_exceptions=False)
    client.headers["authorization"] = f"Bearer {TOKEN}"
    return client


@pytest.fixture
def page(client: Client) -> Page:
    """The HTML of a page that must be there."""

    def fetch(address: str) -> str:
        answer = client.get(address)
        assert answer.status_code == 200, answer.text[:2000]
        return answer.text

    return fetch


def text_of(html: str) -> str:
    """What a person reads of some HTML, roughly: tags out, white space folded."""
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())
