"""Results of a pass, or of all judgments with a rubric, as a page and as JSON, and what reviews come to."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import Response, get
from litestar.params import FromQuery, QueryParameter

from adjudge.passes.detail import DetailedResults
from adjudge.passes.results import By
from adjudge.reviews.figures import By as ByFigures
from adjudge.reviews.figures import Report, Trust
from adjudge.reviews.values import Picked
from adjudge.store.judged import JudgeCount, Scope, judges_of, rubric_counts
from adjudge.web.rendering import page
from adjudge.web.routes.asked import Name, Names, Words
from adjudge.web.site import Here, Site
from adjudge.web.views.choosing import choosing
from adjudge.web.views.results import results_page
from adjudge.wiring.results import stored_rubric
from adjudge.wiring.reviews import agreement, scope_of

Splits = Annotated[list[By] | None, QueryParameter(max_items=4)]
Rubric = Annotated[str, QueryParameter(max_length=100)]
BY: tuple[By, ...] = ("harness", "outcome")
"""How results are split where nobody says otherwise."""
ORDER: tuple[By, ...] = ("harness", "outcome", "model", "task")


class ResultsJson(msgspec.Struct, frozen=True):
    """Results, and how far reviewers agree with the judge, over everything that is reviewed of it with this rubric."""

    results: DetailedResults
    agreement: Trust


@get("/results", include_in_schema=False, sync_to_thread=True)
def show_choice(site: Here, rubric: Names = None, judge: Names = None, by: Splits = None) -> Response[bytes]:
    """What results there are, or those of all judgments with a rubric."""
    if not rubric:
        return page(
            "results_list.html",
            here="Results",
            page=choosing(rubric_counts(site.store), site.store.passes.rows(), "results"),
        )
    found, chosen = _of_rubric(site, rubric, judge, by), _hash_of(judge)
    judges = judges_of(site.store, Scope(rubric=found.results.rubric_hash))
    return _page(site, found, judges, chosen)


@get("/results/{of_pass:str}", include_in_schema=False, sync_to_thread=True)
def show_results(site: Here, of_pass: Name, by: Splits = None) -> Response[bytes]:
    """What a pass came to."""
    return _page(site, _of_pass(site, of_pass, by), (), None)


def _page(
    site: Site, found: ResultsJson, judges: tuple[JudgeCount, ...] | list[JudgeCount], judge: str | None
) -> Response[bytes]:
    rubric = site.store.rubric(found.results.rubric_hash)
    return page("results.html", here="Results", page=results_page(found.results, rubric, found.agreement, judges, judge))


@get("/results", sync_to_thread=True)
def api_results_of_rubric(site: Here, rubric: Rubric, judge: Names = None, by: Splits = None) -> ResultsJson:
    """Results of all judgments with a rubric, by its name or the beginning of its hash, or of one judge's."""
    return _of_rubric(site, rubric, judge, by)


@get("/results/{of_pass:str}", sync_to_thread=True)
def api_results_of_pass(site: Here, of_pass: Name, by: Splits = None) -> ResultsJson:
    """Results of a pass, split by harness and outcome if nothing else is given."""
    return _of_pass(site, of_pass, by)


@get("/agreement", sync_to_thread=True)
def api_agreement(
    site: Here,
    by: Annotated[list[ByFigures] | None, QueryParameter(max_items=4)] = None,
    picked: FromQuery[Picked | None] = None,
    rubric: Names = None,
    item: Words = None,
    harness: Words = None,
    judge: Words = None,
    of_pass: Names = None,
    judgment: Names = None,
) -> Report:
    """How far judges are endorsed, agree with blind reviewers and with themselves; by item if nothing else is given."""
    given = (each or None for each in (rubric, item, harness, judge, of_pass, judgment))
    return agreement(site.store, tuple(dict.fromkeys(by or ("item",))), scope_of(site.store, *given), picked)


@get("/judges", sync_to_thread=True)
def api_judges(site: Here, rubric: Rubric) -> list[JudgeCount]:
    """Who judged with a rubric, and how often, the one that judged the most first."""
    return list(judges_of(site.store, Scope(rubric=stored_rubric(site.store, rubric))))


@get("/trust", sync_to_thread=True)
def api_trust(site: Here, rubric: Rubric, judge: Names = None) -> Trust:
    """How far a judge, by its hash, or all of them can be trusted with a rubric: by item, by harness and by judge."""
    return site.figures.trust(stored_rubric(site.store, rubric), _hash_of(judge))


def _of_pass(site: Site, name: str, by: list[By] | None) -> ResultsJson:
    found = site.figures.of_pass(site.store.passes.find(name), _splits(by))
    assert found.row is not None
    return ResultsJson(found, site.figures.trust(found.rubric_hash, found.row.judge_hash))


def _of_rubric(site: Site, name: str, judge: str | None, by: list[By] | None) -> ResultsJson:
    chosen = _hash_of(judge)
    found = site.figures.of_rubric(stored_rubric(site.store, name), chosen, _splits(by))
    return ResultsJson(found, site.figures.trust(found.rubric_hash, chosen))


def _splits(by: list[By] | None) -> tuple[By, ...]:
    return BY if by is None else tuple(each for each in ORDER if each in by)


def _hash_of(judge: str | None) -> str | None:
    """The hash of a judge in an address, in which `none` stands for judges that have none."""
    return None if not judge else "" if judge == "none" else judge


PAGES = (show_choice, show_results)
API = (api_results_of_rubric, api_results_of_pass, api_agreement, api_judges, api_trust)
