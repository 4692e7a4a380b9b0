"""The page of all runs: rows of one line, what they are filtered and sorted by, and counts that add up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import get_args

import msgspec
from markupsafe import Markup

from adjudge.store.listing import UPWARDS, Choices, Filter, ListedRun, RunList, Sort
from adjudge.store.run_counts import Counts
from adjudge.store.standing import FLAGS
from adjudge.untrusted import shown
from adjudge.web.addresses import LONGEST, address, of_run
from adjudge.web.text import counted, money, when

OUTCOMES: Mapping[str, str] = {
    "resolved": "resolved",
    "unresolved": "unresolved",
    "error": "grader failed",
    "ungraded": "no grader",
}
JUDGED: Mapping[str, str] = {
    "passes": "all pass",
    "fails": "some fail",
    "worse": "worse than blameless",
    "gate": "changed by the gate",
    "none": "no verdict",
    "unjudged": "not judged",
}
CELLS = 40
"""Cells of a strip in a list; more criteria are counted in words alone."""


class Option(msgspec.Struct, frozen=True):
    """A choice of a field."""

    value: str
    words: str
    chosen: bool


class Field(msgspec.Struct, frozen=True):
    """A field of the filter; `any` is what it says if nothing is chosen."""

    name: str
    label: str
    any: str
    options: tuple[Option, ...]


class Chip(msgspec.Struct, frozen=True):
    """A kept view, or a condition that can be dropped."""

    words: str
    href: Markup
    count: int | None = None


class Column(msgspec.Struct, frozen=True):
    """A heading; `href` sorts by it, `sorted` is how it is sorted now (`ascending`, `descending`)."""

    words: str
    numeric: bool = False
    href: Markup | None = None
    sorted: str | None = None


class RunLine(msgspec.Struct, frozen=True):
    """A run in the list. `cells` are letters, `sign` and `stands` say where it stands if there is no score to show."""

    id: str
    href: Markup
    name: str
    title: str
    agent: str
    agent_title: str
    model: str
    outcome_sign: str
    outcome: str
    cells: tuple[str, ...]
    cells_label: str
    score: str
    sign: str | None
    stands: str
    why: str
    worst: str
    flags: tuple[str, ...]
    turns: str
    cost: str
    judging: str
    when: str


class RunsPage(msgspec.Struct, frozen=True):
    """Everything on the page. `first` is true if there is no run at all.

    `tasks` are offered while one types.
    """

    sentence: str
    text: str
    task: str
    tasks: tuple[str, ...]
    fields: tuple[Field, ...]
    hidden: tuple[tuple[str, str], ...]
    kept: tuple[Chip, ...]
    dropped: tuple[Chip, ...]
    columns: tuple[Column, ...]
    lines: tuple[RunLine, ...]
    first: bool
    more: Markup | None
    back: Markup | None


def runs_page(listed: RunList, choices: Choices, wanted: Filter, sort: Sort, more: str | None, later: bool) -> RunsPage:
    """The page of a list; `more` is the key of what follows, `later` says that something stands before."""
    query = _query(wanted, sort)
    return RunsPage(
        sentence=sentence_of(listed.counts),
        text=wanted.text or "",
        task=wanted.task or "",
        tasks=tuple(filter(_can_be_chosen, choices.tasks)),
        fields=tuple(_fields(choices, wanted)),
        hidden=tuple((name, value) for name, value in query.items() if name == "sort"),
        kept=tuple(_kept(listed.counts)),
        dropped=tuple(_dropped(wanted, sort)),
        columns=tuple(_columns(wanted, sort)),
        lines=tuple(map(_line, listed.runs)),
        first=listed.counts.runs == 0,
        more=address("runs", **query, after=more) if more else None,
        back=address("runs", **query) if later else None,
    )


def sentence_of(counts: Counts) -> str:
    """Where the runs stand; the figures add up."""
    parts = [
        f"{counts.judged:,} judged",
        f"{counts.under_way:,} being judged" if counts.under_way else "",
        f"{counts.empty:,} with an empty judgment" if counts.empty else "",
        f"{counts.errored:,} without a verdict" if counts.errored else "",
        f"{counts.unjudged:,} not judged",
    ]
    return f"{counts.found:,} of {counted(counts.runs, 'run')}: {', '.join(part for part in parts if part)}."


# --- the filter


def _can_be_chosen(task: str) -> bool:
    """Whether a browser sends a task's name back as it is: shown as it is written, in one line, not too long."""
    return len(task) <= LONGEST and shown(task) == task and task.isprintable()


def _query(wanted: Filter, sort: Sort) -> dict[str, str]:
    given = {"q": wanted.text, **{name: getattr(wanted, name) for name in _NAMES}}
    return {name: value for name, value in (given | {"sort": None if sort == "added" else sort}).items() if value}


_NAMES = ("agent", "model", "task", "outcome", "judged", "flag")


def _fields(choices: Choices, wanted: Filter) -> Iterator[Field]:
    given: tuple[tuple[str, str, str, Mapping[str, str]], ...] = (
        ("agent", "Agent", "Any agent", {name: name for name in choices.agents}),
        ("model", "Model", "Any model", {name: name for name in choices.models}),
        ("outcome", "Outcome", "Any outcome", OUTCOMES),
        ("judged", "Verdict", "Any verdict", JUDGED),
        ("flag", "Flag", "Any flag", {name: name for name in FLAGS}),
    )
    for name, label, any_, options in given:
        chosen = getattr(wanted, name)
        yield Field(name, label, any_, tuple(Option(value, words, value == chosen) for value, words in options.items()))


def _kept(counts: Counts) -> Iterator[Chip]:
    yield Chip(
        "Resolved, yet a criterion fails", address("runs", outcome="resolved", judged="fails"), counts.resolved_yet_fails
    )
    yield Chip("Changed by the gate", address("runs", judged="gate"), counts.gate)
    yield Chip("Attempts to steer", address("runs", flag="steer"), counts.steer)
    yield Chip("Not judged", address("runs", judged="unjudged"), counts.unjudged)


def _dropped(wanted: Filter, sort: Sort) -> Iterator[Chip]:
    words: Mapping[str, Mapping[str, str]] = {"outcome": OUTCOMES, "judged": JUDGED}
    query = _query(wanted, sort)
    for name, value in query.items():
        if name != "sort":
            rest = {key: kept for key, kept in query.items() if key != name}
            label = {"q": "search", "judged": "verdict"}.get(name, name)
            yield Chip(f"{label}: {words.get(name, {}).get(value, value)}", address("runs", **rest))


# --- the table

_SORTS: tuple[tuple[str, bool, str | None], ...] = (
    ("Task", False, "task"),
    ("Agent", False, "agent"),
    ("Model", False, "model"),
    ("Outcome", False, "outcome"),
    ("Score", False, "score"),
    ("Worst dimension", False, "worse"),
    ("Flags", False, None),
    ("Turns", True, "turns"),
    ("Run cost", True, "cost"),
    ("Judging", True, "judging"),
    ("Imported", True, "added"),
)


def _columns(wanted: Filter, sort: Sort) -> Iterator[Column]:
    for words, numeric, key in _SORTS:
        if key is None:
            yield Column(words, numeric)
            continue
        reverse = f"-{key}"
        following = reverse if sort == key else key
        assert following in get_args(Sort)
        query = _query(wanted, following)  # type: ignore[arg-type]  # asserted
        now = ("ascending" if sort in UPWARDS else "descending") if sort in (key, reverse) else None
        yield Column(words, numeric, address("runs", **query), now)


def _line(run: ListedRun) -> RunLine:
    grade = run.outcome.grade
    cells = tuple(run.cells or "") if run.cells and len(run.cells) <= CELLS else ()
    sign, stands, why = _stands(run)
    name = run.task_name or run.task or run.id
    return RunLine(
        id=run.id,
        href=of_run(run.id),
        name=name,
        title=f"{run.id}: {': '.join(part for part in (run.task_name, run.task) if part)}",
        agent=run.agent or "",
        agent_title=f"{run.agent or ''} {run.agent_version or ''}".strip(),
        model=run.model or "",
        outcome_sign={"resolved": "pass", "unresolved": "fail", "error": "warn"}.get(grade or "", "none"),
        outcome=OUTCOMES.get(grade, "no grader") if grade else run.outcome.ending or "no grader",
        cells=cells,
        cells_label=f"{run.passed} of {run.criteria} criteria pass",
        score=f"{run.passed}/{run.criteria}" if run.criteria else "",
        sign=sign,
        stands=stands,
        why=why,
        worst=run.worst or ("" if run.worse is None else "none"),
        flags=tuple(flag for flag in run.flags if flag != "gate"),
        turns=f"{run.turns:,}",
        cost=money(run.cost, ""),
        judging=money(run.judging, ""),
        when=when(run.added, str(datetime.now(UTC).year)),
    )


def _stands(run: ListedRun) -> tuple[str | None, str, str]:
    """The sign and words of where a run stands, and why, where there is no score to show."""
    if run.under_way:
        return "live", "judging", ""
    if run.state is None:
        return "none", "not judged", "" if run.entries else "no record"
    if run.state == "errored":
        return "warn", "no verdict", run.failure or run.reason or ""
    if run.state == "empty":
        return "warn", "empty judgment", ""
    return (None, "", "") if run.criteria or run.worse is not None else ("none", "no rubric", "")
