"""The API against whatever its own document allows, and what it forbids: an answer each time, never a failure of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from litestar.testing import TestClient
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from tests.web import sample

from adjudge.settings import Settings
from adjudge.web.app import create_app
from adjudge.web.guard import Doors

from .conftest import ACCESS, BASE, TOKEN, Client

EXAMPLES = 5
"""Requests of each operation and mode."""
JSON = {"content-type": "application/json"}
NEVER = ("/api/live/{job}/events",)
"""Operations that are left out: a stream ends when its job does."""


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A client of a store of its own, in a folder of its own: what is changed is changed here."""
    folder = tmp_path_factory.mktemp("fuzzed")
    with pytest.MonkeyPatch.context() as patch, sample.make(folder / "store") as store:
        patch.chdir(folder)
        patch.setenv("HOME", str(folder))
        app = create_app(store, Settings(store=str(folder / "store")), ACCESS, Doors())
        with TestClient(app, base_url=BASE, raise_server_exceptions=False) as client:
            client.headers.update({"authorization": f"Bearer {TOKEN}", "x-adjudge": "1"})
            yield client


def operations(document: dict[str, Any]) -> Iterator[Any]:
    """Every operation that the document describes; a description that is wrong is an error here."""
    for result in schemathesis.openapi.from_dict(document).get_all_operations():
        assert isinstance(result, Ok), result
        yield result.ok()


def asked(client: Client, case: Any) -> int:
    """Send what was made up; gives the answer's status. What cannot even be put into a request is none."""
    given_ = {name: value for name, value in (case.query or {}).items() if value is not None}
    body = None if type(case.body).__name__ == "NotSet" else _as_json(case.body)
    path = case.formatted_path
    if "?" in path or "#" in path:
        return 0
    answer = client.request(case.method, path, params=given_, content=body, headers=JSON)
    assert answer.status_code < 500, (case.method, path, given_, body, answer.text)
    assert answer.headers["content-type"].startswith(("application/json", "application/vnd.oai", "text/event-stream"))
    return int(answer.status_code)


def _as_json(body: Any) -> bytes:
    """What was made up for a body, which may be bytes that are no JSON, or hold such."""
    return body if isinstance(body, bytes) else json.dumps(body, default=repr).encode()


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_request_makes_the_api_fail(fuzzed: Client, mode: GenerationMode) -> None:
    document = fuzzed.get("/api/schema/openapi.json").json()
    for operation in operations(document):
        if operation.path in NEVER:
            continue

        @seed(20261130)
        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case: Any) -> None:
            asked(fuzzed, case)

        with suppress(Unsatisfiable):  # nothing about a request without parameters and a body can be wrong
            ask()


def test_the_document_is_read_by_another_program(fuzzed: Client) -> None:
    labels = {operation.label for operation in operations(fuzzed.get("/api/schema/openapi.json").json())}
    assert {"GET /api/review", "POST /api/review/{judgment}/{item}", "POST /api/ask", "PUT /api/reviewer"} <= labels


def test_the_store_is_whole_afterwards(fuzzed: Client) -> None:
    assert fuzzed.get("/api/runs").json()["counts"]["runs"] >= 9
