"""The API against whatever its own document allows, and what it forbids: an answer each time, never a failure of ours."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from litestar.testing import TestClient
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.hooks import HookContext
from tests.conftest import RUBRIC as DIMENSIONS
from tests.web import sample, sample_passes
from tests.web.pictures import EVALUATION, READING, RUN, THREE
from tests.web.sample_asking import an_asking, kept_asking

from adjudge.settings import Settings
from adjudge.web.app import create_app
from adjudge.web.guard import Doors

from .conftest import ACCESS, BASE, TOKEN, Client

EXAMPLES = 15
"""Requests of each operation and mode."""
JSON = {"content-type": "application/json"}
FITTING = {"GET /api/compare/pair"}
"""Operations of which several parameters must fit each other, as made-up ones hardly do; `test_figures` asks them."""
Held = Mapping[str, Sequence[str]]
"""What the store holds under the names that parameters have."""
HELD = {
    "run": [RUN, "r-0000000000000006"],
    "judgment": [EVALUATION, READING],
    "in_judgment": [EVALUATION],
    "item": ["saves", "suite", "loop"],
    "hash": [sample.RUBRIC.hash, DIMENSIONS.hash],
    "rubric": [sample.RUBRIC.hash, DIMENSIONS.hash, sample.RUBRIC.name],
    "criterion": ["saves", "loop"],
    "agent": [*THREE, "codex", "unknown"],
    "against": [THREE[0]],
    "first": [*THREE],
    "second": [*THREE],
    "harness": ["codex", "claude-code"],
    "judge": ["none", "all", "evaluator"],
    "model": ["large-model"],
    "task": ["pydicom-1413"],
    "at": ["e40", "t12"],
    "provider": ["openrouter"],
    "path": ["openapi.json"],
}


class Fuzzed(NamedTuple):
    """A client of a store of its own, in a folder of its own: what is changed is changed here."""

    client: Client
    held: Held


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    folder = tmp_path_factory.mktemp("fuzzed")
    with pytest.MonkeyPatch.context() as patch, sample.make(folder / "store") as store:
        patch.chdir(folder)
        patch.setenv("HOME", str(folder))
        passes = list(sample_passes.fill(store))
        app = create_app(store, Settings(store=str(folder / "store")), ACCESS, Doors())
        job = asyncio.run(kept_asking(app, an_asking()))
        with TestClient(app, base_url=BASE, raise_server_exceptions=False) as client:
            client.headers.update({"authorization": f"Bearer {TOKEN}", "x-adjudge": "1"})
            yield Fuzzed(client, HELD | {"job": [job], "of_pass": passes, "in_pass": passes, "pass": passes})


def described(fuzzed: Fuzzed) -> Any:
    """What the document describes. Three of four values of a parameter that names something are of the store."""
    schema = schemathesis.openapi.from_dict(fuzzed.client.get("/api/schema/openapi.json").json())

    def mixed(_context: HookContext, made_up: dict[str, Any] | None) -> st.SearchStrategy[Any]:
        return st.fixed_dictionaries({name: one_of(name, value) for name, value in (made_up or {}).items()})

    def one_of(name: str, value: Any) -> st.SearchStrategy[Any]:
        held = fuzzed.held.get(name)
        if not held:
            return st.just(value)
        named: st.SearchStrategy[Any] = st.sampled_from(held)
        held_one = named.map(lambda one: [one]) if isinstance(value, list) else named
        return st.one_of(held_one, held_one, held_one, st.just(value))

    schema.hooks.register_hook_with_name(mixed, "flatmap_path_parameters")
    schema.hooks.register_hook_with_name(mixed, "flatmap_query")
    return schema


def operations(fuzzed: Fuzzed) -> Iterator[Any]:
    """Every operation that the document describes; a description that is wrong is an error here."""
    for result in described(fuzzed).get_all_operations():
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


def statuses_of(client: Client, operation: Any, mode: GenerationMode) -> set[int]:
    """What an operation answers to all that is made up for it."""
    statuses: set[int] = set()

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
        statuses.add(asked(client, case))

    with suppress(Unsatisfiable):  # nothing about a request without parameters and a body can be wrong
        ask()
    return statuses


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_request_makes_the_api_fail(fuzzed: Fuzzed, mode: GenerationMode) -> None:
    answered = {operation.label: statuses_of(fuzzed.client, operation, mode) for operation in operations(fuzzed)}
    if mode is GenerationMode.POSITIVE:
        found = {label for label, statuses in answered.items() if 200 in statuses}
        assert {label for label in answered if label.startswith("GET")} - found - FITTING == set()


def test_the_document_is_read_by_another_program(fuzzed: Fuzzed) -> None:
    labels = {operation.label for operation in operations(fuzzed)}
    assert {"GET /api/review", "POST /api/review/{judgment}/{item}", "POST /api/ask", "PUT /api/reviewer"} <= labels


def test_a_stream_of_a_job_that_is_unknown_is_not_begun(fuzzed: Fuzzed) -> None:
    assert fuzzed.client.get("/api/live/job-none/events").status_code == 404


def test_the_store_is_whole_afterwards(fuzzed: Fuzzed) -> None:
    assert fuzzed.client.get("/api/runs").json()["counts"]["runs"] >= 9
