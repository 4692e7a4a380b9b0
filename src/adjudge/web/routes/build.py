"""Building a run: the page, what would come of it, and starting it."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

import msgspec
from litestar import Response, get, post
from litestar.params import JSONBody, QueryParameter

from adjudge.errors import JudgingError
from adjudge.rubric import Rubric
from adjudge.settings import AgentLimits
from adjudge.web.following import Following, ending_of
from adjudge.web.jobs import Tell, Work
from adjudge.web.queries.agents import keys_here, require_token
from adjudge.web.queries.build import Offered, installed, offered, prospect_of, require_started
from adjudge.web.rendering import page
from adjudge.web.site import Here, Site
from adjudge.web.views.build import AgentOption, BuildCheck, BuildPage, build_check, build_page, href_of
from adjudge.wiring.building import Build, name_of, settings_for
from adjudge.wiring.planning import Asked
from adjudge.wiring.starting import start

Hash = Annotated[str | None, QueryParameter(max_length=64)]


class Begun(msgspec.Struct, frozen=True):
    """A job that is under way, and its page."""

    job: str
    href: str


class Offers(msgspec.Struct, frozen=True):
    """What can be chosen: agents, and rubrics of criteria. `model` judges, at most so many `looks`, if none is named.

    `limits` hold where nothing else is given. `open` says whether this server starts anything.
    """

    agents: tuple[AgentOption, ...]
    rubrics: tuple[Offered, ...]
    model: str | None
    limits: AgentLimits
    looks: int
    open: bool


@get("/build", include_in_schema=False, sync_to_thread=True)
def show_build(site: Here, rubric: Hash = None) -> Response[bytes]:
    """A run that is being built."""
    return page("build.html", here="Build", page=_page(site, offered(site, rubric), rubric))


def _page(site: Site, rubrics: tuple[Offered, ...], chosen: str | None = None) -> BuildPage:
    locked = site.access.token is None
    return build_page(installed(os.environ), rubrics, chosen, site.settings, keys_here(site), locked)


@get("/build", sync_to_thread=True)
def api_offers(site: Here) -> Offers:
    """What a run can be built from."""
    rubrics = offered(site, None)
    shown = _page(site, rubrics)
    return Offers(shown.agents, rubrics, shown.model or None, shown.limits, shown.looks, shown.open)


@post("/build/check", status_code=200, sync_to_thread=True)
def api_check_build(site: Here, data: JSONBody[Build]) -> BuildCheck:
    """What would come of a build, and everything that is wrong with it. Nothing is started."""
    require_token(site, "ask for files of it")
    return build_check(data, prospect_of(site, data), settings_for(data, site.settings))


@post("/build", status_code=200)
async def api_build(site: Here, data: JSONBody[Build]) -> Begun:
    """Start agents as they are chosen, each on a machine of its own, and judge what they leave."""
    require_token(site, "start programs on it")
    asked, rubric = await asyncio.to_thread(require_started, site, data)
    job = site.jobs.start("run", f"Run {name_of(data)}", _work(site, data, asked, rubric))
    return Begun(job.facts.id, f"/live/{job.facts.id}")


def _work(site: Site, build: Build, asked: Asked, rubric: Rubric | None) -> Work:
    async def work(tell: Tell) -> str:
        results = await start(asked, settings_for(build, site.settings), Following(tell).watch())
        if (href := href_of(results, rubric, build)) is None:
            raise JudgingError("\n".join(ending_of(result) for result in results))
        return str(href)

    return work


PAGES = (show_build,)
API = (api_offers, api_check_build, api_build)
