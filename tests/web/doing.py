"""A client who is inside of a store of its own, and may change what is there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import msgspec
from litestar.testing import TestClient

from adjudge.settings import Settings
from adjudge.store.store import Store
from adjudge.web.app import create_app
from adjudge.web.guard import Access, Doors, Guard
from adjudge.web.jobs import Job

from .conftest import ACCESS, BASE, TOKEN, Client

HEADERS = {"authorization": f"Bearer {TOKEN}", "x-adjudge": "1", "content-type": "application/json"}


def guard_of(store: Store, settings: Settings | None = None, access: Access = ACCESS) -> Guard:
    """The application over a store that is a folder."""
    return create_app(store, settings or Settings(store=str(store.folder)), access, Doors())


def inside(guard: Guard) -> Client:
    """A client with the token."""
    client = TestClient(guard, base_url=BASE, raise_server_exceptions=False)
    client.headers.update(HEADERS)
    return client


def said(client: Client, address: str, method: str = "POST", **values: Any) -> tuple[int, Any]:
    """The status and the JSON of a change."""
    answer = client.request(method, address, content=msgspec.json.encode(values))
    return answer.status_code, answer.json()


def page(client: Client, address: str) -> str:
    """The HTML of a page that must be there."""
    answer = client.get(address)
    assert answer.status_code == 200, answer.text[:2000]
    return answer.text


@asynccontextmanager
async def working(store: Store, settings: Settings | None = None) -> AsyncIterator[tuple[httpx.AsyncClient, Guard]]:
    """A client in this event loop, for jobs that go on in it."""
    guard = guard_of(store, settings)
    transport = httpx.ASGITransport(guard)  # type: ignore[arg-type]  # ASGI
    async with httpx.AsyncClient(transport=transport, base_url=BASE, headers=HEADERS) as client:
        yield client, guard


async def ended(guard: Guard, answer: httpx.Response) -> Job:
    """The job that an answer names, when it has ended."""
    assert answer.status_code == 200, answer.text
    job: Job = guard.app.state.site.jobs.find(answer.json()["job"])
    async for _ in job.follow():
        pass
    return job
