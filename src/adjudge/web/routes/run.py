"""The page of a run, and the pieces of it that are fetched later."""

from __future__ import annotations

from typing import Literal

from litestar import Response, get
from litestar.params import FromPath
from litestar.response import Redirect
from markupsafe import Markup

from adjudge.errors import InputError
from adjudge.store.review_counts import reviews_on
from adjudge.web.addresses import address
from adjudge.web.queries.judged import JudgedRun, judged_run
from adjudge.web.queries.outline import outline_of
from adjudge.web.queries.search import search
from adjudge.web.rendering import page
from adjudge.web.routes.asked import Name, Names, Near, OfKind, Position, Turn, Words
from adjudge.web.site import Here, Site
from adjudge.web.views.chart import map_of
from adjudge.web.views.cites import cards_of, marks_of
from adjudge.web.views.exhibit import exhibit_page, look_page, step_page
from adjudge.web.views.finding import found_view, outline_view
from adjudge.web.views.going import Missing, going_to
from adjudge.web.views.record import Shown, leads_of_run
from adjudge.web.views.run import run_page
from adjudge.web.views.trust import RunTrust, TrustView, counting, trust_view

JudgeKind = Literal["evaluator", "reader"]
WHO: dict[JudgeKind, str] = {"evaluator": "The evaluator", "reader": "The reader"}


def _judged(site: Site, run: str, judgment: str | None) -> JudgedRun:
    return judged_run(site.store, site.runs.open(run), judgment or None)


def _trusts(site: Site, judged: JudgedRun, judgment: str | None) -> RunTrust:
    """How far the judges of a run can be trusted, as far as that is known without waiting for it."""
    shown = [each.judgment.id for each in (judged.evaluation, judged.reading) if each]
    evaluation, reading = (_trust(site, judged, kind, judgment) for kind in WHO)
    return RunTrust(evaluation, reading, reviews_on(site.store, shown))


def _trust(site: Site, judged: JudgedRun, kind: JudgeKind, judgment: str | None) -> TrustView | None:
    each = judged.evaluation if kind == "evaluator" else judged.reading
    if each is None or each.rubric is None:
        return None
    found = site.figures.trust_soon(each.rubric.hash, each.judgment.judge.hash)
    if found is None:
        return counting(WHO[kind], address("runs", each.run.id, "trust", kind, judgment=judgment))
    return trust_view(WHO[kind], found)


@get("/runs/{run:str}", include_in_schema=False, sync_to_thread=True)
def show_run(
    site: Here,
    run: Name,
    at: Names = None,
    judgment: Names = None,
    q: Words = None,
    kind: OfKind = None,
    after: Names = None,
    outline: Turn = None,
    of: Names = None,
    go: Names = None,
) -> Response[bytes] | Redirect:
    """A run: its record opened around an entry, searched, or as an outline, which may be `of` a sub-agent.

    `go` names a place as a person types it, and leads to the page's address at that place.
    """
    judged = _judged(site, run, judgment)
    missing = going_to(judged, go or at or "", leads_of_run(run, judgment or None)) if go or at else None
    if go and isinstance(missing, Markup):
        return Redirect(missing.unescape())
    shown = run_page(judged, at, judgment or None, _trusts(site, judged, judgment or None))
    found = lines = None
    if q or kind:
        found = found_view(
            search(judged.opened, q or "", kind or None, after or None), q or "", kind, leads_of_run(run, judgment)
        )
    elif outline is not None:
        marks = marks_of(cards_of(judged))
        lines = outline_view(judged.opened, outline_of(judged.opened, outline, of or ""), of or "", marks, judgment or None)
    return page(
        "run.html",
        here="Runs",
        page=shown,
        found=found,
        outline=lines,
        q=q or "",
        kind=kind or None,
        judgment=judgment,
        missing=missing if isinstance(missing, Missing) else None,
    )


@get("/runs/{run:str}/entries", include_in_schema=False, sync_to_thread=True)
def show_entries(
    site: Here, run: Name, start: Position, end: Position, of: Names = None, near: Near = None, judgment: Names = None
) -> Response[bytes]:
    """Entries that take a gap's place on the page, those near a position or else the first."""
    judged = _judged(site, run, judgment)
    record = Shown(judged.opened, marks_of(cards_of(judged)), leads_of_run(run, judgment))
    return page("entries.html", entries=record.between(of or "", start, end, near))


@get("/runs/{run:str}/map", include_in_schema=False, sync_to_thread=True)
def show_map(site: Here, run: Name, judgment: Names = None) -> Response[bytes]:
    """The map with the turns in which files were edited, for which the whole record is walked."""
    judged = _judged(site, run, judgment)
    made = map_of(judged.opened, marks_of(cards_of(judged)), judgment, edits=True)
    if made is None:
        raise InputError(f"run {run} has no turns to draw")
    return page("map.html", map=made)


@get("/runs/{run:str}/trust/{kind:str}", include_in_schema=False, sync_to_thread=True)
def show_trust(site: Here, run: Name, kind: FromPath[JudgeKind], judgment: Names = None) -> Response[bytes]:
    """How far one judge of a run can be trusted, in place of the word that this is being counted."""
    trust = _trust(site, _judged(site, run, judgment), kind, judgment or None)
    if trust is None:
        raise InputError(f"run {run} has no judgment by {WHO[kind].lower()} with a rubric")
    return page("trust.html", trust=trust)


@get("/runs/{run:str}/exhibits/{exhibit:str}", include_in_schema=False, sync_to_thread=True)
def show_exhibit(site: Here, run: Name, exhibit: Name, start: Position = 0) -> Response[bytes]:
    """One entry, whole, in parts."""
    return page("exhibit.html", here="Runs", page=exhibit_page(site.runs.open(run), exhibit, start))


@get("/judgments/{judgment:str}/looks/{look:str}", include_in_schema=False, sync_to_thread=True)
def show_look(site: Here, judgment: Name, look: Name, start: Position = 0) -> Response[bytes]:
    """One look, whole, in parts."""
    return page("exhibit.html", here="Runs", page=look_page(site.store.judgment(judgment), look, start))


@get("/judgments/{judgment:str}/steps/{step:str}", include_in_schema=False, sync_to_thread=True)
def show_step(site: Here, judgment: Name, step: Name, start: Position = 0) -> Response[bytes]:
    """One exchange of a judge, whole, in parts."""
    return page("exhibit.html", here="Runs", page=step_page(site.store.judgment(judgment), step, start))


PAGES = (show_run, show_entries, show_map, show_trust, show_exhibit, show_look, show_step)
