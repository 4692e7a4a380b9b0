"""What is under way: a page that fills as it goes, its steps as a stream, and how it is stopped."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
from litestar import Response, get, post
from litestar.response import ServerSentEvent, ServerSentEventMessage

from adjudge.web.jobs import JobFacts, Step
from adjudge.web.rendering import page
from adjudge.web.routes.asked import Name, Position
from adjudge.web.site import Here
from adjudge.web.text import when


class JobSteps(msgspec.Struct, frozen=True):
    """Where a job stands, and its steps behind the number that was asked for."""

    job: JobFacts
    steps: tuple[Step, ...]


@get("/live", include_in_schema=False, sync_to_thread=False)
def show_jobs(site: Here) -> Response[bytes]:
    """Everything that is or was under way since the server started."""
    return page("jobs.html", here="Runs", jobs=[(job, when(job.began)) for job in site.jobs.all()])


@get("/live/{job:str}", include_in_schema=False, sync_to_thread=False)
def show_job(site: Here, job: Name) -> Response[bytes]:
    """A job and its steps so far."""
    found = site.jobs.find(job)
    began, ended = when(found.facts.began), when(found.facts.ended)
    return page("job.html", here="Runs", job=found.facts, began=began, ended=ended, steps=found.steps)


@get("/live/{job:str}/steps", include_in_schema=False, sync_to_thread=False)
def show_steps(site: Here, job: Name, after: Position = 0) -> Response[bytes]:
    """Steps that are put behind those that the page has, and where the job stands now."""
    found = site.jobs.find(job)
    return page("job_steps.html", job=found.facts, steps=found.after(after))


@get("/live", sync_to_thread=False)
def api_jobs(site: Here) -> list[JobFacts]:
    """Where each job stands, the latest first."""
    return site.jobs.all()


@get("/live/{job:str}", sync_to_thread=False)
def api_job(site: Here, job: Name, after: Position = 0) -> JobSteps:
    """A job, and its steps behind a number."""
    found = site.jobs.find(job)
    return JobSteps(found.facts, tuple(found.after(after)))


@get("/live/{job:str}/events", sync_to_thread=False, media_type="text/event-stream")
def api_events(site: Here, job: Name, after: Position = 0) -> ServerSentEvent:
    """The steps behind a number as server-sent events `step`, then one event `end` with where the job stands."""
    found = site.jobs.find(job)

    async def events() -> AsyncIterator[ServerSentEventMessage]:
        async for steps in found.follow(after):
            for step in steps:
                yield ServerSentEventMessage(data=_json(step), event="step", id=step.number)
        yield ServerSentEventMessage(data=_json(found.facts), event="end")

    return ServerSentEvent(events())


@post("/live/{job:str}/stop", status_code=200)
async def api_stop(site: Here, job: Name) -> JobFacts:
    """Stop a job, and say where it stood."""
    found = site.jobs.find(job)
    await found.stop()
    return found.facts


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


PAGES = (show_jobs, show_job, show_steps)
API = (api_jobs, api_job, api_events, api_stop)
