"""Agents compared on one rubric, the runs of two of them side by side, and any runs that were selected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from litestar import Response, get
from litestar.di import NamedDependency, Provide
from litestar.params import QueryParameter

from adjudge.errors import InputError
from adjudge.passes.comparing import AgentComparison
from adjudge.passes.pairing import Wanted
from adjudge.reviews.figures import Trust
from adjudge.store.judged import JudgeCount, Scope, judges_of, rubric_counts
from adjudge.web.queries.beside import (
    Beside,
    BesideJson,
    Pairing,
    as_json,
    beside,
    beside_judgments,
    pairings,
    sort_of,
)
from adjudge.web.rendering import page
from adjudge.web.routes.asked import Names, Position, Words
from adjudge.web.site import Here, Site
from adjudge.web.views.beside import beside_page
from adjudge.web.views.choosing import choosing
from adjudge.web.views.matrix import COLUMNS, Asked, matrix_page
from adjudge.web.views.pair import pair_page
from adjudge.wiring.results import stored_rubric

Passes = Annotated[list[str] | None, QueryParameter(name="pass", max_items=20)]
Agents = Annotated[list[str] | None, QueryParameter(name="agent", max_items=20)]
Runs = Annotated[list[str] | None, QueryParameter(name="run", max_items=50)]
Agent = Annotated[str | None, QueryParameter(max_length=500)]
LONGEST = 500
"""Characters of a name in a list that an address gives."""


class Judgments(msgspec.Struct, frozen=True):
    """Which judgments are compared: their scope, who made them, and how an address says all of it."""

    scope: Scope
    judges: tuple[JudgeCount, ...]
    judge: str
    query: dict[str, str | Sequence[str]]

    @property
    def across(self) -> bool:
        """Whether those of several judges are compared."""
        return self.judge == "all"


class Pair(msgspec.Struct, frozen=True):
    """All pairs of runs of two agents at an item of a rubric, and the one at a place of them, side by side."""

    judgments: Judgments
    item: str
    found: list[Pairing]
    at: int
    runs: Beside


class PairJson(msgspec.Struct, frozen=True):
    """Runs of two agents side by side: the pair at a place of so many.

    `says` tells of whom the judgment says pass, or worse of a dimension: `first`, `second`, `both`, `neither`, or `unknown`
    where one says nothing. `same_task` is false where the agents have no task in common.
    """

    at: int
    pairs: int
    says: str
    same_task: bool
    runs: tuple[BesideJson, ...]


def pair_of(
    site: Here,
    item: Words = None,
    first: Agent = None,
    second: Agent = None,
    rubric: Names = None,
    passes: Passes = None,
    judge: Names = None,
    at: Position = 0,
) -> Pair:
    """What an address says of two agents. Raises InputError if there is no such item, or one of them has no judged run."""
    judgments = _judgments(site, rubric, passes, judge)
    observed = site.figures.observed(judgments.scope, judgments.across)
    found = pairings(observed, item or "", first or "", second or "")
    place = min(at, len(found) - 1)
    runs = beside_judgments(site.store, site.runs, (found[place].first, found[place].second), observed.rubric)
    return Pair(judgments, item or "", found, place, runs)


PAIR = {"pair": Provide(pair_of, sync_to_thread=True)}
Paired = NamedDependency[Pair]


@get("/compare", include_in_schema=False, sync_to_thread=True)
def show_comparison(
    site: Here,
    rubric: Names = None,
    passes: Passes = None,
    judge: Names = None,
    agents: Agents = None,
    first: Agent = None,
    against: Agent = None,
    runs: Runs = None,
) -> Response[bytes]:
    """Agents compared, or runs side by side, or what there is to compare."""
    if runs:
        return _beside(site, beside(site.store, site.runs, _short(runs), rubric or None))
    if not rubric and not passes:
        chosen = choosing(rubric_counts(site.store), site.store.passes.rows(), "compare")
        return page("compare_list.html", here="Compare", page=chosen)
    judgments = _judgments(site, rubric, passes, judge)
    whole = site.figures.compared(judgments.scope, judgments.across, Wanted(most=0))
    asked = _asked(whole, judgments, _short(agents or ()), first, against)
    wanted = Wanted((asked.first,) if asked.first else tuple(asked.shown), asked.against)
    pairs = site.figures.compared(judgments.scope, judgments.across, wanted).contrasts if asked.against else ()
    of_rubric = site.store.rubric(whole.rubric_hash)
    return page("compare.html", here="Compare", page=matrix_page(whole, pairs, of_rubric, asked))


@get("/compare/pair", include_in_schema=False, sync_to_thread=True, dependencies=PAIR)
def show_pair(site: Here, pair: Paired) -> Response[bytes]:
    """A run of each of two agents at one task, side by side, with the evidence of one criterion or dimension in full."""
    shown = beside_page(pair.runs, _trusts(site, pair.runs), pair.item)
    view = pair_page(shown, pair.found, pair.at, pair.item, pair.judgments.query)
    return page("beside.html", here="Compare", page=view)


@get("/compare", sync_to_thread=True)
def api_compare(
    site: Here,
    rubric: Names = None,
    passes: Passes = None,
    judge: Names = None,
    agents: Agents = None,
    against: Agent = None,
) -> AgentComparison:
    """Agents compared: each two, or each with the one that it is held against; of one judge, or with `all` of all."""
    judgments = _judgments(site, rubric, passes, judge)
    wanted = Wanted(tuple(_short(agents or ())), against or None, None if agents else MOST_PAIRS)
    return site.figures.compared(judgments.scope, judgments.across, wanted)


MOST_PAIRS = 10
"""Pairs that are compared without having been asked for."""


@get("/compare/runs", sync_to_thread=True)
def api_runs_beside(site: Here, runs: Runs = None, rubric: Names = None) -> list[BesideJson]:
    """What the judgments of several runs say on one rubric."""
    return as_json(beside(site.store, site.runs, _short(runs or ()), rubric or None))


@get("/compare/pair", sync_to_thread=True, dependencies=PAIR)
def api_pair(pair: Paired) -> PairJson:
    """A run of each of two agents at one task; those come first of which the `item` says different things."""
    chosen = pair.found[pair.at]
    return PairJson(pair.at, len(pair.found), sort_of(chosen), chosen.same_task, tuple(as_json(pair.runs)))


def _beside(site: Site, found: Beside) -> Response[bytes]:
    return page("beside.html", here="Compare", page=beside_page(found, _trusts(site, found)))


def _trusts(site: Site, found: Beside) -> list[Trust | None]:
    rubric = found.rubric
    return [
        site.figures.trust(rubric.hash, each.judged.judgment.judge.hash) if rubric and each.judged else None
        for each in found.runs
    ]


def _judgments(site: Site, rubric: str | None, passes: list[str] | None, judge: str | None) -> Judgments:
    """The judgments that an address names; of several judges those of the one that made the most, unless it says more.

    Raises:
        InputError: neither or both of a rubric and passes are given, or there is no such one.
    """
    if bool(rubric) == bool(passes):
        raise InputError("name a rubric, or passes, whose judgments are compared")
    names = tuple(site.store.passes.find(name) for name in _short(passes or ()))
    whole = Scope(passes=names, rubric=stored_rubric(site.store, rubric) if rubric else None)
    query: dict[str, str | Sequence[str]] = {"rubric": rubric} if rubric else {"pass": names}
    judges = tuple(judges_of(site.store, whole))
    several = len({each.judge_hash for each in judges}) > 1
    chosen = judge or (judges[0].judge_hash or "none" if several else "all")
    hash = None if chosen == "all" else "" if chosen == "none" else chosen
    return Judgments(msgspec.structs.replace(whole, judge=hash), judges, chosen, {**query, "judge": chosen})


def _asked(
    whole: AgentComparison, judgments: Judgments, agents: Sequence[str], first: str | None, against: str | None
) -> Asked:
    """What is shown: the agents that are named, else those of which the most is known; and which are held apart."""
    known = {agent.who: agent.judged for agent in whole.agents}
    most = sorted(sorted(known, key=lambda name: -known[name])[:COLUMNS])
    shown = [name for name in known if name in agents] or most
    base = against if against in shown else shown[0]
    others = [name for name in shown if name != base]
    one = "" if first == "" and others else first if first in others else next(iter(others), "")
    return Asked(judgments.query, judgments.judges, judgments.judge, shown, one, base if others else "")


def _short(names: Sequence[str]) -> list[str]:
    """Names of a list in an address. Raises InputError if one is longer than any name is."""
    if any(len(name) > LONGEST for name in names):
        raise InputError(f"a name in this address is longer than {LONGEST} characters")
    return list(names)


PAGES = (show_comparison, show_pair)
API = (api_compare, api_runs_beside, api_pair)
