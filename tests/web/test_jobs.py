"""What the web interface does that takes a while."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from adjudge.errors import InputError, OutsideError
from adjudge.settings import Settings
from adjudge.store.store import Store
from adjudge.web.app import create_app
from adjudge.web.guard import Doors, Guard
from adjudge.web.jobs import MOST_AT_ONCE, MOST_KEPT, MOST_STEPS, Job, Jobs, Tell

from .conftest import ACCESS, BASE, TOKEN


async def ended(job: Job) -> Job:
    async for _ in job.follow():
        pass
    return job


async def forever(_: Tell) -> str | None:
    await asyncio.sleep(3600)
    return None


async def test_a_job_says_its_steps_and_what_it_made() -> None:
    async def work(tell: Tell) -> str:
        tell("first", "")
        await asyncio.sleep(0)
        tell("second", "all of it")
        return "/runs/r-1"

    job = await ended(Jobs().start("judge", "Judge r-1", work))
    assert [(step.number, step.words, step.detail) for step in job.steps] == [(1, "first", ""), (2, "second", "all of it")]
    assert (job.facts.state, job.facts.href, job.facts.steps) == ("done", "/runs/r-1", 2)


async def test_what_fails_says_why_and_a_bug_does_not_tell_its_inside(capsys: pytest.CaptureFixture[str]) -> None:
    async def outside(_: Tell) -> None:
        raise OutsideError("disk /x: full")

    async def bug(_: Tell) -> None:
        raise KeyError("inside")

    jobs = Jobs()
    assert (await ended(jobs.start("judge", "a", outside))).facts.failure == "disk /x: full"
    failure = (await ended(jobs.start("judge", "b", bug))).facts.failure
    assert failure is not None
    assert "inside" not in failure
    assert "KeyError" in capsys.readouterr().err


async def test_a_job_that_is_stopped_ends_as_stopped_and_whoever_follows_is_let_go() -> None:
    job = Jobs().start("judge", "a", forever)
    following = asyncio.create_task(ended(job))
    await asyncio.sleep(0)
    await job.stop()
    await asyncio.wait_for(following, 5)
    assert job.facts.state == "stopped"
    assert job.facts.ended


async def test_only_so_many_are_under_way_and_remembered() -> None:
    async def nothing(_: Tell) -> None:
        return None

    jobs = Jobs()
    for _ in range(MOST_KEPT + 20):
        await ended(jobs.start("judge", "a", nothing))
    for _ in range(MOST_AT_ONCE):
        jobs.start("judge", "b", forever)
    with pytest.raises(InputError, match="under way already"):
        jobs.start("judge", "c", forever)
    assert len(jobs.all()) == MOST_KEPT
    await jobs.close()
    assert {job.state for job in jobs.all()} == {"done", "stopped"}


async def test_steps_are_bounded_and_still_counted() -> None:
    async def much(tell: Tell) -> None:
        for number in range(MOST_STEPS + 5):
            tell(str(number), "")

    job = await ended(Jobs().start("judge", "a", much))
    assert (len(job.steps), job.facts.steps) == (MOST_STEPS, MOST_STEPS + 5)


# --- as it is served


@pytest.fixture
def fresh(store: Store) -> Guard:
    return create_app(store, Settings(), ACCESS, Doors())


def _jobs(guard: Guard) -> Jobs:
    jobs: Jobs = guard.app.state.site.jobs
    return jobs


def _inside(guard: Guard) -> httpx.AsyncClient:
    headers = {"authorization": f"Bearer {TOKEN}", "x-adjudge": "1", "content-type": "application/json"}
    return httpx.AsyncClient(transport=httpx.ASGITransport(guard), base_url=BASE, headers=headers)  # type: ignore[arg-type]  # ASGI


async def test_steps_come_as_events_and_the_last_event_says_how_it_ended(fresh: Guard) -> None:
    async def work(tell: Tell) -> str:
        tell("<b>first</b>", "detail\nof it")
        await asyncio.sleep(0.01)
        tell("second", "")
        return "/runs/r-1"

    job = _jobs(fresh).start("judge", "Judge <i>r-1</i>", work)
    async with _inside(fresh) as client:
        text = (await client.get(f"/api/live/{job.facts.id}/events")).text
        blocks = [dict(line.split(": ", 1) for line in block.splitlines()) for block in text.split("\r\n\r\n") if block]
        assert [block["event"] for block in blocks] == ["step", "step", "end"]
        assert [json.loads(block["data"])["words"] for block in blocks[:2]] == ["<b>first</b>", "second"]
        assert json.loads(blocks[2]["data"])["state"] == "done"
        later = (await client.get(f"/api/live/{job.facts.id}/events?after=1")).text
        assert later.count("event: step") == 1
        page = (await client.get(f"/live/{job.facts.id}")).text
    assert "&lt;b&gt;first&lt;/b&gt;" in page
    assert "<b>first" not in page
    assert "See what came of it" in page


async def test_a_job_is_stopped_over_the_api_and_an_unknown_one_is_said_so(fresh: Guard) -> None:
    job = _jobs(fresh).start("judge", "a", forever)
    async with _inside(fresh) as client:
        said = (await client.post(f"/api/live/{job.facts.id}/stop", content=b"{}")).json()
        missing = await client.post("/api/live/job-none/stop", content=b"{}")
    assert said["state"] == "stopped"
    assert missing.status_code == 400
    assert "job-none" in missing.json()["detail"]
