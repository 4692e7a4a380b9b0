"""Having runs judged: the form, and the job that it starts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

import msgspec
from litestar import Response, get, post
from litestar.params import JSONBody, QueryParameter

from adjudge.errors import InputError
from adjudge.run import Run
from adjudge.web.doing.judging import MOST_RUNS, Judging, judging
from adjudge.web.queries.agents import require_token
from adjudge.web.queries.asking_model import require_asking, why_no_model
from adjudge.web.queries.rubrics import rubrics_in
from adjudge.web.rendering import page
from adjudge.web.routes.asked import Name
from adjudge.web.site import Here, Site
from adjudge.web.views.judging import judge_page
from adjudge.wiring.inputs import known_rubric

Id = Annotated[str, msgspec.Meta(max_length=100)]
Model = Annotated[str, msgspec.Meta(max_length=300)]
NONE = "none"
"""What stands for judging without a rubric."""

Chosen = Annotated[list[str] | None, QueryParameter(max_items=MOST_RUNS)]


class JudgeRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a run is judged: by the rubric of a hash, or `none`; `model` in place of the one that the server has."""

    rubric: Id
    model: Model | None = None


class JudgeRuns(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """As `JudgeRun`, for several runs, one after the other."""

    runs: Annotated[tuple[Id, ...], msgspec.Meta(min_length=1, max_length=MOST_RUNS)]
    rubric: Id
    model: Model | None = None


class Begun(msgspec.Struct, frozen=True):
    """The job that was begun, and the page that shows it."""

    job: str
    href: str


@get("/runs/{run:str}/judge", include_in_schema=False, sync_to_thread=True)
def show_judge_run(site: Here, run: Name) -> Response[bytes]:
    """The form for one run."""
    return _form(site, [run])


@get("/judge", include_in_schema=False, sync_to_thread=True)
def show_judge_runs(site: Here, run: Chosen = None) -> Response[bytes]:
    """The form for the runs that were selected."""
    if not run:
        raise InputError("no run was selected; select some in the list of runs")
    return _form(site, list(dict.fromkeys(run)))


def _form(site: Site, names: Sequence[str]) -> Response[bytes]:
    runs = [site.runs.open(name).run for name in names]
    settings = site.settings
    shown = judge_page(runs, rubrics_in(site.store), settings.model, why_no_model(settings))
    return page("judge.html", here="Runs", page=shown)


@post("/runs/{run:str}/judge", status_code=202)
async def api_judge_run(site: Here, run: Name, data: JSONBody[JudgeRun]) -> Begun:
    """Judge a run; the job tells each look as it is made."""
    return await _begun(site, (run,), data.rubric, data.model)


@post("/judge", status_code=202)
async def api_judge_runs(site: Here, data: JSONBody[JudgeRuns]) -> Begun:
    """Judge several runs, one after the other, in one job."""
    return await _begun(site, tuple(dict.fromkeys(data.runs)), data.rubric, data.model)


async def _begun(site: Site, names: Sequence[str], rubric: str, model: str | None) -> Begun:
    require_token(site, "spend what judging costs")
    asked = await asyncio.to_thread(_asked, site, names, rubric, model)
    job = site.jobs.start("judge", asked.title, judging(asked))
    return Begun(job.facts.id, f"/live/{job.facts.id}")


def _asked(site: Site, names: Sequence[str], rubric: str, model: str | None) -> Judging:
    settings = site.settings if model is None else msgspec.structs.replace(site.settings, model=model)
    chosen = None if rubric == NONE else known_rubric(rubric, site.store)
    require_asking(chosen, settings)
    runs: list[Run] = [site.runs.open(name).run for name in names]
    return Judging(tuple(runs), chosen, settings)


PAGES = (show_judge_run, show_judge_runs)
API = (api_judge_run, api_judge_runs)
