"""Asking in the browser: the question's form, the job with its looks, the answer and where its statements lead."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from tests.cli.conftest import serve  # noqa: F401  a fixture
from tests.cli.test_asking import COUNT, Plays, Serve, answer

from adjudge.asking.values import Asking, Cited, Holding, Statement
from adjudge.settings import Settings
from adjudge.store.store import Store
from adjudge.web.app import create_app
from adjudge.web.guard import Doors, Guard
from adjudge.web.jobs import Jobs

from .conftest import ACCESS, BASE, RUN, TOKEN, Client, text_of
from .sample_asking import JUDGMENT, an_asking, kept_asking

HEADERS = {"authorization": f"Bearer {TOKEN}", "x-adjudge": "1", "content-type": "application/json"}


def jobs_of(guard: Guard) -> Jobs:
    jobs: Jobs = guard.app.state.site.jobs
    return jobs


async def shown(guard: Guard, asking: Asking) -> str:
    """The page of an asking that has ended."""
    job = await kept_asking(guard, asking)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(guard), base_url=BASE, headers=HEADERS) as client:  # type: ignore[arg-type]  # ASGI
        answered = await client.get(f"/ask/{job}")
        whole = (await client.get(f"/api/ask/{job}")).json()
    assert answered.status_code == 200, answered.text
    assert (whole["job"]["state"], whole["asking"]["id"]) == ("done", asking.id)
    return answered.text


@pytest.fixture
def fresh(store: Store) -> Guard:
    return create_app(store, Settings(), ACCESS, Doors())


async def test_each_statement_leads_to_what_it_rests_on(fresh: Guard) -> None:
    html = await shown(fresh, an_asking())
    for lead in (
        'href="#L1"',
        f'href="/runs/{RUN}?at=e89#e89"',
        f'href="/runs/{RUN}"',
        f'href="/runs/{RUN}?judgment={JUDGMENT}#v6"',
        f'href="/runs/{RUN}?judgment={JUDGMENT}"',
        f'href="/runs/{RUN}?at=e122#e122"',
    ):
        assert lead in html, lead
    assert 'id="L1"' in html


async def test_what_does_not_stand_is_struck_and_says_why(fresh: Guard) -> None:
    html = await shown(fresh, an_asking())
    assert "<s>gemini cheats.</s>" in html
    text = text_of(html)
    assert "Not supported, and no part of the answer" in text
    assert "L1: the quote is not in L1" in text
    assert "What the store does not tell" in text
    assert "who paid for it" in text


async def test_cost_looks_and_that_it_is_not_kept_are_said(fresh: Guard) -> None:
    text = text_of(await shown(fresh, an_asking()))
    assert "cost $0.0312" in text
    assert "looks 2" in text
    assert "gone when this server ends" in text
    assert "L2 search_runs, pattern pip install failed" in text


async def test_an_asking_without_an_answer_says_why(fresh: Guard) -> None:
    nothing = an_asking(
        status="errored", reason="The model did not answer in time.", statements=(), untold=(), unsupported=(), cost=None
    )
    text = text_of(await shown(fresh, nothing))
    assert "no answer The model did not answer in time." in text
    assert "What stands" not in text
    assert "cost not known" in text


async def test_what_is_cited_and_gone_leads_nowhere_and_breaks_nothing(fresh: Guard) -> None:
    gone = Statement(
        "So.", (Holding(Cited("j-00000000000000ff/x"), "judgment"), Holding(Cited("nonsense"), fault="nothing")), "nothing"
    )
    html = await shown(fresh, an_asking(statements=(), unsupported=(gone,)))
    assert '<span class="ref">j-00000000000000ff/x</span>' in html
    assert 'href="/runs/j-' not in html


# --- the form


def test_without_a_model_it_says_so_and_how_to_connect_one(client: Client) -> None:
    html = client.get("/ask").text
    text = text_of(html)
    assert "no model is named to answer with" in text
    assert 'href="/agents"' in html
    answered = client.post("/api/ask", json={"question": "How many?"}, headers=HEADERS)
    assert answered.status_code == 400
    assert "no model is named" in answered.json()["detail"]
    assert client.get("/api/ask").json()["wrong"].startswith("no model is named")


def test_without_its_key_a_model_is_refused_before_anything_is_asked(client: Client) -> None:
    answered = client.post("/api/ask", json={"question": "How many?", "model": "openai/gpt-6-sol"}, headers=HEADERS)
    assert answered.status_code == 400
    assert "OPENAI_API_KEY" in answered.json()["detail"]


@pytest.mark.parametrize(
    "sent", [{}, {"question": " "}, {"question": None}, {"question": "a" * 4001}, {"question": "a", "x": 1}]
)
def test_what_is_no_question_is_refused(client: Client, sent: dict[str, Any]) -> None:
    assert client.post("/api/ask", json=sent, headers=HEADERS).status_code == 400


def test_the_scope_and_examples_are_said(client: Client) -> None:
    html = client.get("/ask", params={"q": "Who <b>won</b>?"}).text
    assert "all of this store: 9 runs, 8 judgments" in text_of(html)
    assert "Who &lt;b&gt;won&lt;/b&gt;?</textarea>" in html
    assert 'href="/ask?q=Which+agent' in html


def test_another_jobs_page_is_not_taken_for_an_answer(client: Client) -> None:
    assert client.get("/ask/job-none").status_code == 404


# --- with a model


@pytest.fixture
async def asked(store: Store, serve: Serve) -> AsyncIterator[httpx.AsyncClient]:  # noqa: F811
    script = Plays(COUNT, answer({"text": "The store has 9 runs.", "citations": [{"exhibit": "L1", "quote": "runs: 9"}]}))
    guard = create_app(store, Settings(model=serve(script)), ACCESS, Doors())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(guard), base_url=BASE, headers=HEADERS) as client:  # type: ignore[arg-type]  # ASGI
        yield client
    await jobs_of(guard).close()


async def test_a_question_is_answered_look_by_look(asked: httpx.AsyncClient) -> None:
    answered = await asked.post("/api/ask", json={"question": "How many runs?"})
    assert answered.status_code == 201, answered.text
    job = answered.json()
    assert job["href"] == f"/ask/{job['id']}"
    events = (await asked.get(f"/api/live/{job['id']}/events")).text
    assert "L1 count_runs: runs: 9" in events
    page = text_of((await asked.get(job["href"])).text)
    assert "1 The store has 9 runs. L1 count_runs runs: 9" in page
    assert "How many runs?" in text_of((await asked.get("/ask")).text)


async def test_one_that_is_stopped_says_so(store: Store, serve: Serve) -> None:  # noqa: F811
    guard = create_app(store, Settings(model=serve(Plays(COUNT))), ACCESS, Doors())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(guard), base_url=BASE, headers=HEADERS) as client:  # type: ignore[arg-type]  # ASGI
        job = (await client.post("/api/ask", json={"question": "How many runs?"})).json()
        await client.post(f"/api/live/{job['id']}/stop", content=b"{}")
        page = text_of((await client.get(job["href"])).text)
    assert "stopped" in page
