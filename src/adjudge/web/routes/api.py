"""The JSON API: what the pages show, from the same queries."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import get

from adjudge.judgment import Judgment
from adjudge.record import Unparsed, Usage
from adjudge.rubric import Rubric
from adjudge.run import Outcome
from adjudge.store.listing import Choices, ListedRun, choices_of, list_runs
from adjudge.store.rows import JudgmentRow
from adjudge.store.run_counts import Counts
from adjudge.web.queries.map import RunMap, run_map
from adjudge.web.queries.outline import Outline, outline_of
from adjudge.web.queries.search import Found, search
from adjudge.web.queries.windows import Window, window_around, window_of
from adjudge.web.routes.asked import (
    WANTED,
    BySort,
    Key,
    Most,
    Name,
    Names,
    OfKind,
    Position,
    Wanted,
    Words,
    key_of,
    place_of,
)
from adjudge.web.site import Here
from adjudge.wiring.inputs import known_rubric

NAMED = 100
"""Pieces of a recording that are named, of those that were not read."""


class Runs(msgspec.Struct, frozen=True):
    """A page of runs; `after` of the next request is `next`."""

    runs: tuple[ListedRun, ...]
    counts: Counts
    next: str | None


class SubAgent(msgspec.Struct, frozen=True):
    """A sub-agent's record: its name, which `of` takes, what the recording calls it, and how much there is of it."""

    name: str
    label: str | None
    turns: int
    entries: int


class RunFacts(msgspec.Struct, frozen=True):
    """A run without its entries. `usage` is what it consumed, `judgments` are all of it, the latest first.

    `workspace` is a folder, and `machine` a container or an image that holds it. `unparsed` pieces of the recording were
    not read; of these `not_read` has the first.
    """

    id: str
    source: str
    format: str
    task: str | None
    task_name: str | None
    agent: str | None
    agent_version: str | None
    model: str | None
    outcome: Outcome
    started: str | None
    seconds: float | None
    cost: float | None
    usage: Usage
    turns: int
    entries: int
    sub_agents: tuple[SubAgent, ...]
    unparsed: int
    not_read: tuple[Unparsed, ...]
    workspace: str | None
    machine: str | None
    patch: str | None
    context: str | None
    notes: tuple[str, ...]
    judgments: tuple[JudgmentRow, ...]


@get("/runs", sync_to_thread=True, dependencies=WANTED)
def api_runs(
    site: Here,
    wanted: Wanted,
    sort: BySort = "added",
    after: Key = None,
    most: Most = 50,
) -> Runs:
    """Runs, filtered and sorted, page by page."""
    listed = list_runs(site.store, wanted, sort, place_of(after), most)
    return Runs(listed.runs, listed.counts, key_of(listed.next))


@get("/runs/choices", sync_to_thread=True)
def api_choices(site: Here) -> Choices:
    """What runs can be filtered by."""
    return choices_of(site.store)


@get("/runs/{run:str}", sync_to_thread=True)
def api_run(site: Here, run: Name) -> RunFacts:
    """A run without its entries, and its judgments."""
    opened = site.runs.open(run)
    found, record = opened.run, opened.run.record
    names = (
        "id",
        "source",
        "task",
        "task_name",
        "agent",
        "agent_version",
        "model",
        "outcome",
        "started",
        "seconds",
        "cost",
        "workspace",
        "machine",
    )
    values: dict[str, Any] = {name: getattr(found, name) for name in names}
    return RunFacts(
        **values,
        format=record.format,
        usage=opened.usage,
        turns=len(record.turns),
        entries=len(record.entries),
        sub_agents=tuple(
            SubAgent(name, each.label, len(each.turns), len(each.entries)) for name, each in opened.records.items() if name
        ),
        unparsed=len(record.unparsed),
        not_read=tuple(record.unparsed[:NAMED]),
        patch=found.patch,
        context=found.context,
        notes=found.notes,
        judgments=tuple(site.store.judgments(run)),
    )


@get("/runs/{run:str}/entries", sync_to_thread=True)
def api_entries(site: Here, run: Name, at: Names = None, of: Names = None, start: Position = 0, most: Most = 80) -> Window:
    """Entries from a position on, or around the entry or turn `at`; `of` names a sub-agent's record."""
    opened = site.runs.open(run)
    if at:
        return window_around(opened, at, most // 4, most - most // 4)
    return window_of(opened, of or "", start, start + most)


@get("/runs/{run:str}/search", sync_to_thread=True)
def api_search(site: Here, run: Name, q: Words = None, kind: OfKind = None, after: Names = None, most: Most = 50) -> Found:
    """Entries of a kind, or with these words; bounded in time, `next` is where to go on."""
    return search(site.runs.open(run), q or "", kind or None, after or None, most)


@get("/runs/{run:str}/outline", sync_to_thread=True)
def api_outline(site: Here, run: Name, after: Position = 0, of: Names = None) -> Outline:
    """A line for each turn, at most 200 behind the turn `after`; `of` names a sub-agent's record."""
    return outline_of(site.runs.open(run), after, of or "")


@get("/runs/{run:str}/map", sync_to_thread=True)
def api_map(site: Here, run: Name) -> RunMap:
    """What the turns of a run consumed, in at most 280 columns, and in which of them files were edited."""
    return run_map(site.runs.open(run))


@get("/judgments/{judgment:str}", sync_to_thread=True)
def api_judgment(site: Here, judgment: Name) -> Judgment:
    """A judgment, whole."""
    return site.store.judgment(judgment)


@get("/rubrics/{hash:str}", sync_to_thread=True)
def api_rubric(site: Here, hash: Name) -> Rubric:
    """A rubric, whole: one of the store, or one that comes with adjudge."""
    return known_rubric(hash, site.store)


API = (api_runs, api_choices, api_run, api_entries, api_search, api_outline, api_map, api_judgment, api_rubric)
