"""Asking: a question over the whole store, its job, and the answer, which this server keeps until it ends."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import msgspec
from litestar import Response, get, post
from litestar.params import JSONBody

from adjudge.asking.asking import LONGEST_QUESTION
from adjudge.asking.values import Asking
from adjudge.errors import InputError, ModelError, OutsideError
from adjudge.settings import Settings
from adjudge.store.found import Totals, totals
from adjudge.store.store import Store
from adjudge.untrusted import one_line
from adjudge.web.jobs import Job, JobFacts, Tell
from adjudge.web.queries.agents import require_token
from adjudge.web.rendering import page
from adjudge.web.routes.asked import Name, Words
from adjudge.web.site import Here, Site
from adjudge.web.text import when
from adjudge.web.views.asking import answer_page, ask_page, cited_judgments, step_words
from adjudge.wiring.asking import follow, require_asker


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question over everything in the store, and the model that is to answer, if not the server's own."""

    question: Annotated[str, msgspec.Meta(max_length=LONGEST_QUESTION)] | None = None
    model: Annotated[str, msgspec.Meta(max_length=300)] | None = None


class Askings(msgspec.Struct, frozen=True):
    """What the store holds, why nothing can be asked now, if so, and where this server's askings stand."""

    held: Totals
    wrong: str | None
    askings: tuple[JobFacts, ...]


class AskingJob(msgspec.Struct, frozen=True):
    """Where an asking stands, and what came of it once it has ended, as `adjudge ask --json` prints it."""

    job: JobFacts
    asking: dict[str, Any] | None


# --- pages


@get("/ask", include_in_schema=False, sync_to_thread=True)
def show_ask(site: Here, q: Words = None) -> Response[bytes]:
    """The question's form."""
    shown = ask_page(q or "", site.settings.model, totals(site.store), what_is_wrong(site.settings), site.jobs.all())
    return page("ask.html", here="Ask", page=shown)


@get("/ask/{job:str}", include_in_schema=False, sync_to_thread=True)
def show_answer(site: Here, job: Name) -> Response[bytes]:
    """An answer, or how far it has come."""
    found = asking_job(site, job)
    shown = answer_page(found.result, places_of(site.store, found.result)) if isinstance(found.result, Asking) else None
    return page(
        "answer.html", here="Ask", job=found.facts, began=when(found.facts.began), steps=tuple(found.steps), page=shown
    )


def what_is_wrong(settings: Settings) -> str | None:
    """Why no question could be asked with the model of the settings."""
    if settings.model is None:
        return "no model is named to answer with: name one below as PROVIDER/MODEL, or start the server with ADJUDGE_MODEL"
    try:
        asyncio.run(require_asker(settings))
    except (InputError, ModelError) as error:
        return str(error)
    return None


def asking_job(site: Site, name: str) -> Job:
    """The job of an asking. Raises InputError if there is none of this id."""
    found = site.jobs.find(name)
    if found.facts.kind != "ask":
        raise InputError(f"job {name}: asks nothing; /live/{name} shows what it does")
    return found


def places_of(store: Store, asking: Asking) -> dict[str, tuple[str, str]]:
    """Where each judgment that is cited stands; one that cannot be read has no place."""
    places = {}
    for exhibit in cited_judgments(asking):
        name, _, item = exhibit.partition("/")
        try:
            judgment = store.judgment(name)
        except (InputError, OutsideError):
            continue
        anchors = {verdict.criterion: f"v{at}" for at, verdict in enumerate(judgment.verdicts, 1)}
        anchors |= {score.dimension: f"d{at}" for at, score in enumerate(judgment.scores, 1)}
        places[exhibit] = (judgment.run, anchors.get(item, ""))
    return places


# --- the API


@get("/ask", sync_to_thread=True)
def api_askings(site: Here) -> Askings:
    """What can be asked over, and the askings of this server."""
    jobs = tuple(job for job in site.jobs.all() if job.kind == "ask")
    return Askings(totals(site.store), what_is_wrong(site.settings), jobs)


@post("/ask", status_code=201)
async def api_ask(site: Here, data: JSONBody[Question]) -> JobFacts:
    """Begin to answer a question; `href` is where the answer comes to stand."""
    question = (data.question or "").strip()
    settings = msgspec.structs.replace(site.settings, model=data.model or site.settings.model)
    require_token(site, "spend what an answer costs")
    if not question:
        raise InputError("a question has at least one word")
    if wrong := await asyncio.to_thread(what_is_wrong, settings):
        raise InputError(wrong)
    job = begin(site, question, settings)
    return msgspec.structs.replace(job.facts, href=f"/ask/{job.facts.id}")


def begin(site: Site, question: str, settings: Settings) -> Job:
    """Start a job that answers a question, and keeps the asking as its result."""

    async def work(tell: Tell) -> str:
        async for said in follow(question, site.store, settings):
            if isinstance(said, Asking):
                job.result = said
            else:
                tell(*step_words(said))
        return f"/ask/{job.facts.id}"

    job = site.jobs.start("ask", one_line(question, 120), work)
    return job


@get("/ask/{job:str}", sync_to_thread=False)
def api_asking(site: Here, job: Name) -> AskingJob:
    """An asking, whole, once it has ended."""
    found = asking_job(site, job)
    return AskingJob(found.facts, msgspec.to_builtins(found.result) if isinstance(found.result, Asking) else None)


PAGES = (show_ask, show_answer)
API = (api_askings, api_ask, api_asking)
