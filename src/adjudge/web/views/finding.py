"""Finding one's way in a record: what a search found, and the outline by turn."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec
from markupsafe import Markup

from adjudge.untrusted import one_line
from adjudge.web.queries.kept import OpenRun
from adjudge.web.queries.outline import Outline
from adjudge.web.queries.search import Found
from adjudge.web.text import Mark, counted, tokens
from adjudge.web.views.record import SUB_AGENTS, Leads, leads_of_run


class HitLine(msgspec.Struct, frozen=True):
    """An entry that was found; in its excerpt the words that were looked for are set apart."""

    id: str
    href: Markup
    what: str
    failed: str | None
    excerpt: Markup


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
            excerpt=_with_words(hit.excerpt, words),
        )
        for hit in found.hits
    )
    return FoundView(f"{told}{seen}", hits, more, leads.to("record"))


def _with_words(excerpt: str, words: str) -> Markup:
    """The excerpt with the words set apart wherever they stand in it, whatever their case."""
    parts = re.split(f"({re.escape(words)})", excerpt, flags=re.IGNORECASE) if words else [excerpt]
    return Markup().join(Markup("<b>{}</b>").format(part) if at % 2 else part for at, part in enumerate(parts))


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


class OutlineOf(msgspec.Struct, frozen=True):
    """Whose outline there is, with a link to it; `current` is the one on the page."""

    name: str
    href: Markup
    current: bool


class OutlineView(msgspec.Struct, frozen=True):
    """A page of the outline. `of` are the record and its sub-agents, if it has any; `back` leads to that record."""

    words: str
    of: tuple[OutlineOf, ...]
    lines: tuple[OutlineLine, ...]
    more: Markup | None
    back: Markup


def outline_view(
    opened: OpenRun, outline: Outline, name: str, marks: Mapping[str, Sequence[Mark]], judgment: str | None
) -> OutlineView:
    """A page of the outline of a record, or of the sub-agent's with this name."""
    leads, cited = leads_of_run(opened.run.id, judgment), _by_turn(opened, name, marks)
    prefix = f"{name}." if name else ""
    lines = tuple(
        OutlineLine(
            name=f"{prefix}t{turn.number}",
            href=leads.to(f"{prefix}t{turn.number}", at_=f"{prefix}t{turn.number}"),
            says=turn.says,
            tools=turn.tools[:4],
            entries=counted(turn.entries, "entry", "entries"),
            tokens=f"{tokens(turn.usage.prompt)} in" if turn.usage and turn.usage.prompt is not None else "",
            failed=turn.failed,
            edits=turn.edits,
            chips=tuple({mark.back: mark for mark in cited.get(turn.number, ())}.values()),
        )
        for turn in outline.turns
    )
    more = leads.to("record", outline=outline.next, of=name) if outline.next else None
    back = leads.to(f"of-{name}") if name else leads.to("record")
    return OutlineView(counted(outline.total, "turn"), _choices(opened, name, leads), lines, more, back)


def _choices(opened: OpenRun, name: str, leads: Leads) -> tuple[OutlineOf, ...]:
    """Whose outlines there are, of many the first and the one that is shown; nothing without sub-agents."""
    names = list(opened.records)
    if len(names) == 1:
        return ()
    shown = names[: SUB_AGENTS + 1] + ([name] if name not in names[: SUB_AGENTS + 1] else [])
    return tuple(OutlineOf(_called(opened, each), leads.to("record", outline=0, of=each), each == name) for each in shown)


def _called(opened: OpenRun, name: str) -> str:
    label = opened.records[name].label
    return (f"{name}: {one_line(label, 60)}" if label else name) if name else "record"


def _by_turn(opened: OpenRun, name: str, marks: Mapping[str, Sequence[Mark]]) -> dict[int, list[Mark]]:
    found: dict[int, list[Mark]] = {}
    for exhibit, cites in marks.items():
        place = opened.place_of(exhibit)
        if place and place[0] == name:
            found.setdefault(opened.turn_at(name, place[1]), []).extend(cites)
    return found
