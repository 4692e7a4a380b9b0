"""Passes: all, a plan, one that is watched; starting, stopping and resuming; and the same as JSON."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
from litestar import Response, get, post
from litestar.params import FromQuery, JSONBody, QueryParameter
from litestar.response import ServerSentEvent, ServerSentEventMessage

from adjudge.errors import InputError
from adjudge.passes.selection import read_sampling
from adjudge.passes.values import Sampling
from adjudge.settings import Settings
from adjudge.web.doing.asking_pass import following, require_followed
from adjudge.web.queries.agents import require_token
from adjudge.web.queries.asking_model import why_no_model
from adjudge.web.queries.pass_now import PassNow
from adjudge.web.queries.passes import PassFacts, PassList, Planned, pass_list, planned
from adjudge.web.queries.rubrics import rubrics_in
from adjudge.web.rendering import page
from adjudge.web.routes.asked import Most, Name, Names, Words
from adjudge.web.routes.judging import Begun
from adjudge.web.site import Here, Site
from adjudge.web.views.passes import passes_page
from adjudge.web.views.passing import now_view, pass_page
from adjudge.web.views.planning import AT_ONCE, PlanForm, PlanPage, plan_page

Patterns = Annotated[str | None, QueryParameter(max_length=4_000)]
"""Patterns of strata, one a line."""
NO_NUL = r"\A[^\x00]*\Z"
"""No argument of a command can hold one."""
Pattern = Annotated[str, msgspec.Meta(max_length=300, pattern=NO_NUL)]
MOST_PATTERNS = 50

LARGEST_SEED = 2**53 - 1
"""What a number in JSON holds in every browser."""
AtOnce = Annotated[int, msgspec.Meta(ge=1, le=1000)]
Dollars = Annotated[float, msgspec.Meta(ge=0, le=1e9)]


class StartPass(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A pass to start: the plan that was shown, by its fingerprint, and how it is to be judged.

    `quota` or `share` (`10%`, `0.1`) of each stratum is drawn, or all; `always` are strata HARNESS/OUTCOME that are taken
    whole; `max_cost` is in US dollars.
    """

    plan: Annotated[str, msgspec.Meta(max_length=64, pattern=NO_NUL)]
    rubric: Annotated[str, msgspec.Meta(max_length=64, pattern=NO_NUL)]
    model: Annotated[str, msgspec.Meta(max_length=300, pattern=NO_NUL)] | None = None
    quota: Annotated[int, msgspec.Meta(ge=0, le=10**12)] | None = None
    share: Annotated[str, msgspec.Meta(max_length=40, pattern=NO_NUL)] | None = None
    always: Annotated[tuple[Pattern, ...], msgspec.Meta(max_length=MOST_PATTERNS)] = ()
    seed: Annotated[int, msgspec.Meta(ge=0, le=LARGEST_SEED)] = 0
    again: bool = False
    at_once: AtOnce = AT_ONCE
    max_cost: Dollars | None = None


class ResumePass(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a pass is gone on with; `retry` judges again what brought no verdict, `max_cost` replaces its limit."""

    retry: bool = False
    at_once: AtOnce = AT_ONCE
    max_cost: Dollars | None = None


class PassBegun(msgspec.Struct, frozen=True):
    """The pass that has begun, and its page."""

    id: str
    href: str


# --- pages


@get("/passes", include_in_schema=False, sync_to_thread=True)
def show_passes(site: Here, after: Names = None) -> Response[bytes]:
    """All passes, one page of them."""
    return page(
        "passes.html", here="Passes", page=passes_page(pass_list(site.store, site.starts, after or None), bool(after))
    )


@get("/passes/new", include_in_schema=False, sync_to_thread=True)
def show_plan(
    site: Here,
    rubric: Names = None,
    model: Words = None,
    quota: Names = None,
    share: Names = None,
    always: Patterns = None,
    seed: Names = None,
    again: Names = None,
) -> Response[bytes]:
    """The form of a plan, and the plan once a rubric was chosen."""
    form = PlanForm(rubric or "", model or "", quota or "", share or "", always or "", seed or "0", bool(again))
    return page("plan.html", here="Passes", page=_plan_page(site, form))


def _plan_page(site: Site, form: PlanForm) -> PlanPage:
    made = fault = missing = None
    if form.rubric:
        settings = _settings(site, form.model)
        missing = why_no_model(settings)
        try:
            made = _planned(site, form, settings)
        except InputError as error:
            fault = str(error)
    return plan_page(form, rubrics_in(site.store), site.own.model, made, fault, missing, site.store.passes.under_way())


def _planned(site: Site, form: PlanForm, settings: Settings) -> Planned:
    return planned(form.rubric, _sampling(form), form.again, settings, site.store)


def _settings(site: Site, model: str) -> Settings:
    return msgspec.structs.replace(site.settings, model=model) if model else site.settings


def _sampling(form: PlanForm) -> Sampling:
    quota = None if not form.quota else _number("quota", form.quota)
    always = [line.strip() for line in form.always.splitlines() if line.strip()]
    if len(always) > MOST_PATTERNS:
        raise InputError(f"at most {MOST_PATTERNS} strata can be named")
    return read_sampling(quota, form.share or None, always, min(_number("seed", form.seed), LARGEST_SEED + 1))


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise InputError(f"{name}: must be a whole number from 0 on, got {text[:40]!r}")
    return int(text)


@get("/passes/{of_pass:str}", include_in_schema=False, sync_to_thread=True)
def show_pass(site: Here, of_pass: Name) -> Response[bytes]:
    """One pass."""
    facts = _facts(site, of_pass)
    shown = pass_page(facts, site.passing.child_of(of_pass), site.passing.ended(of_pass))
    return page("pass.html", here="Passes", page=shown)


@get("/passes/{of_pass:str}/now", include_in_schema=False, sync_to_thread=True)
def show_now(site: Here, of_pass: Name) -> Response[bytes]:
    """What has changed of a pass: a piece of its page."""
    shown = now_view(_facts(site, of_pass), site.passing.child_of(of_pass), site.passing.ended(of_pass))
    return page("pass_now.html", now=shown)


def _facts(site: Site, name: str) -> PassFacts:
    """A pass as those who watch it saw it last, or else as it is now."""
    now = site.watches.latest(name) or site.pass_now(name)
    return PassFacts(*site.starts.of(name), now)


# --- JSON


@get("/passes", sync_to_thread=True)
def api_passes(site: Here, after: Names = None, most: Most = 30) -> PassList:
    """Passes, the latest first, page by page."""
    return pass_list(site.store, site.starts, after or None, most)


@get("/passes/plan", sync_to_thread=True)
def api_plan(
    site: Here,
    rubric: Annotated[str, QueryParameter(max_length=64)],
    model: Words = None,
    quota: Names = None,
    share: Names = None,
    always: Patterns = None,
    seed: Names = None,
    again: FromQuery[bool] = False,
) -> Planned:
    """Which runs a pass would judge, and what that may cost; `always` has a pattern a line. Nothing is asked of a model."""
    form = PlanForm(rubric, model or "", quota or "", share or "", always or "", seed or "0", again)
    return _planned(site, form, _settings(site, form.model))


@post("/passes", status_code=202)
async def api_start(site: Here, data: JSONBody[StartPass]) -> PassBegun:
    """Start a pass in a process of its own, if its plan is still the one that was shown."""
    return await _begun(site, ["start", *_options(data, site.own.model), "--yes"])


@get("/passes/{of_pass:str}", sync_to_thread=True)
def api_pass(site: Here, of_pass: Name) -> PassFacts:
    """A pass: how it was started, and where it stands."""
    return _facts(site, of_pass)


@get("/passes/{of_pass:str}/events", media_type="text/event-stream")
async def api_pass_events(site: Here, of_pass: Name) -> ServerSentEvent:
    """Where a pass stands, as server-sent events `now` whenever that changes, and `end` once nobody judges it."""
    site.watches.require_room()
    await _there(site, of_pass)

    async def events() -> AsyncIterator[ServerSentEventMessage]:
        latest: PassNow | None = None
        async for latest in site.watches.follow(of_pass):
            yield ServerSentEventMessage(data=_json(latest), event="now")
        if latest is None or not latest.under_way:  # else this server ends: the browser asks again when one is there
            yield ServerSentEventMessage(data=_json(latest), event="end")

    return ServerSentEvent(events())


@post("/passes/{of_pass:str}/stop", status_code=202)
async def api_stop_pass(site: Here, of_pass: Name) -> PassBegun:
    """Ask the process of this server that judges a pass to end; once more, to end at once."""
    site.passing.stop(of_pass)
    return _at(of_pass)


@post("/passes/{of_pass:str}/resume", status_code=202)
async def api_resume(site: Here, of_pass: Name, data: JSONBody[ResumePass]) -> PassBegun:
    """Go on with a pass in a process of its own."""
    await _there(site, of_pass)
    limit = [f"--max-cost={data.max_cost!r}"] if data.max_cost is not None else []
    retry = ["--retry-no-verdict"] if data.retry else []
    return await _begun(site, ["resume", of_pass, f"--at-once={data.at_once}", *limit, *retry])


@post("/passes/{of_pass:str}/runs/{run:str}/follow", status_code=202)
async def api_follow(site: Here, of_pass: Name, run: Name) -> Begun:
    """Follow the judging of a run that is under way, in a job that tells each look; to stop the job stops no judging."""
    questions = site.passing.questions_of(of_pass)
    await asyncio.to_thread(require_followed, questions, run)
    job = site.jobs.start_once("follow", f"How {run} is being judged", following(questions, run))
    return Begun(job.facts.id, f"/live/{job.facts.id}")


async def _begun(site: Site, arguments: list[str]) -> PassBegun:
    require_token(site, "spend what judging costs")
    return _at(await site.passing.begin(arguments, site.own))


def _at(name: str) -> PassBegun:
    return PassBegun(name, f"/passes/{name}")


async def _there(site: Site, name: str) -> None:
    """Do nothing if there is this pass: a name that is none must not become a word of a command."""
    await asyncio.to_thread(site.store.passes.plan, name)


def _options(data: StartPass, model: str | None) -> list[str]:
    """As a person would type them; each is one word with its value, so that no value is taken for an option."""
    given = {
        "rubric": data.rubric,
        "model": data.model or model,
        "quota": data.quota,
        "share": data.share,
        "seed": data.seed,
        "at-once": data.at_once,
        "max-cost": data.max_cost,
        "plan": data.plan,
    }
    options = [f"--{name}={value}" for name, value in given.items() if value is not None]
    return [*options, *(f"--always={pattern}" for pattern in data.always), *(["--again"] if data.again else [])]


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


PAGES = (show_passes, show_plan, show_pass, show_now)
API = (api_passes, api_plan, api_start, api_pass, api_pass_events, api_stop_pass, api_resume, api_follow)
