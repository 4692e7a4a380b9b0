"""Finding one's way in a record: what a search found, and the outline by turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from markupsafe import Markup

from adjudge.web.addresses import of_run
from adjudge.web.queries.kept import OpenRun
from adjudge.web.queries.outline import Outline
from adjudge.web.queries.search import Found
from adjudge.web.text import Mark, counted, tokens
from adjudge.web.views.record import Leads


class HitLine(msgspec.Struct, frozen=True):
    """An entry that was found."""

    id: str
    href: Markup
    what: str
    failed: str | None
    excerpt: str


class FoundView(msgspec.Struct, frozen=True):
    """What was found, in words and lines; `more` goes on where it stopped."""

    words: str
    hits: tuple[HitLine, ...]
    more: Markup | None
    back: Markup


def found_view(found: Found, words: str, kind: str | None, leads: Leads) -> FoundView:
    """What a search found."""
    entries = counted(len(found.hits), kind or "entry", f"{kind}s" if kind else "entries")
    told = f"{entries} with “{words}”" if words else entries
    seen = "" if found.next is None else f", after {found.walked:,} of {found.total:,} entries"
    more = leads.to("record", q=words, kind=kind, after=found.next) if found.next else None
    hits = tuple(
        HitLine(
            id=hit.id,
            href=leads.to(hit.id, at_=hit.id),
            what=f"{hit.kind} {hit.name or ''}".strip(),
            failed=f"exit {hit.exit_status}" if hit.exit_status else None,
            excerpt=hit.excerpt,
        )
        for hit in found.hits
    )
    return FoundView(f"{told}{seen}", hits, more, leads.to("record"))


class OutlineLine(msgspec.Struct, frozen=True):
    """A turn in the outline; `chips` lead to what cites it."""

    name: str
    href: Markup
    says: str
    tools: tuple[str, ...]
    entries: str
    tokens: str
    failed: bool
    edits: bool
    chips: tuple[Mark, ...]


class OutlineView(msgspec.Struct, frozen=True):
    """A page of the outline."""

    words: str
    lines: tuple[OutlineLine, ...]
    more: Markup | None
    back: Markup


WALKED = 3_000
"""Entries of a record of which the outline marks the turns with edits."""


def outline_view(
    opened: OpenRun, outline: Outline, marks: Mapping[str, Sequence[Mark]], judgment: str | None
) -> OutlineView:
    """A page of the outline of a record."""
    run, cited = opened.run.id, _by_turn(opened, marks)
    edits = opened.edits if len(opened.run.record.entries) <= WALKED else frozenset()
    lines = tuple(
        OutlineLine(
            name=f"t{turn.number}",
            href=of_run(run, at=f"t{turn.number}", at_=f"t{turn.number}", judgment=judgment),
            says=turn.says,
            tools=turn.tools[:4],
            entries=counted(turn.entries, "entry", "entries"),
            tokens=f"{tokens(turn.usage.prompt)} in" if turn.usage and turn.usage.prompt is not None else "",
            failed=turn.failed,
            edits=turn.number in edits,
            chips=tuple({mark.back: mark for mark in cited.get(turn.number, ())}.values()),
        )
        for turn in outline.turns
    )
    more = of_run(run, at="record", outline=outline.next, judgment=judgment) if outline.next else None
    return OutlineView(counted(outline.total, "turn"), lines, more, of_run(run, at="record", judgment=judgment))


def _by_turn(opened: OpenRun, marks: Mapping[str, Sequence[Mark]]) -> dict[int, list[Mark]]:
    found: dict[int, list[Mark]] = {}
    for exhibit, cites in marks.items():
        place = opened.place_of(exhibit)
        if place and not place[0]:
            found.setdefault(opened.turn_at("", place[1]), []).extend(cites)
    return found
