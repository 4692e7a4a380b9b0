"""The page of one item before a reviewer: what is asked, what it is asked of, and how it can be answered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from markupsafe import Markup

from adjudge.exports.scores import scale_of
from adjudge.rubric import Criterion, Dimension
from adjudge.run import Run
from adjudge.store.review_queue import QueueCounts
from adjudge.web.addresses import address
from adjudge.web.queries.kept import OpenRun
from adjudge.web.queries.reviewing import AtDesk, Sitting
from adjudge.web.text import block_of, counted, with_code
from adjudge.web.views.cites import Way, marks_of
from adjudge.web.views.judged_item import JudgeSide, card_of, judge_side, transcript_of_item
from adjudge.web.views.known import Known
from adjudge.web.views.patch import PatchView, patch_of
from adjudge.web.views.record import Leads, RecordView, Shown
from adjudge.web.views.run import title_of
from adjudge.web.views.transcript import Transcript

MOST_CHOICES = 10
"""Values of a scale that are offered one by one; of a longer one a number is typed."""


class Choice(msgspec.Struct, frozen=True):
    """An answer that is one key: what is sent, what it is called, what it means. `sign` is that of a verdict."""

    value: str
    words: str
    note: str
    key: str
    sign: str | None = None


class Field(msgspec.Struct, frozen=True):
    """How a blind answer is given: by one of some choices, or by a number on a scale."""

    name: str
    choices: tuple[Choice, ...]
    least: str = ""
    most: str = ""
    step: str = ""


class Desk(msgspec.Struct, frozen=True):
    """The page. `side` is the judge's side, `looks` are those that it cites, both `None` while they must not be seen.

    `shown` says that the reviewer was shown them and has not answered yet.
    """

    judgment: str
    item: str
    heading: str
    rubric: str
    about: str
    text: Markup
    guidance: Markup | None
    ended: str
    context: Markup | None
    reviewer: str | None
    field: Field
    send: Markup
    next: Markup
    next_seen: Markup
    find: Markup
    hidden: tuple[tuple[str, str], ...]
    record: RecordView
    entries: int
    patch: PatchView | None
    done: int
    of: int
    progress: str | None
    side: JudgeSide | None
    looks: Transcript | None
    shown: bool


def desk_of(
    at_desk: AtDesk, opened: OpenRun, sitting: Sitting, seen: bool, counts: QueueCounts | None, at: str | None
) -> Desk:
    """The page of an item, with its record opened around `at`."""
    asked, run = at_desk.question, opened.run
    leads = leads_of(asked.judgment, asked.item, sitting, seen)
    record = shown_record(at_desk, opened, leads).view(at)
    cited = _looks(at_desk)
    known = Way(run.id, asked.judgment, record.ids | (cited.ids if cited else frozenset()), Known(opened))
    done = counts.mine if counts else 0
    of = counts.mine + counts.open if counts else 0
    return Desk(
        judgment=asked.judgment,
        item=asked.item,
        heading="Is this true of the run?" if isinstance(asked.asked, Criterion) else "Which value is right for the run?",
        rubric=asked.rubric.name,
        about=f"{'Criterion' if isinstance(asked.asked, Criterion) else 'Dimension'} {asked.item} of {asked.rubric.name}",
        text=with_code(asked.asked.text if isinstance(asked.asked, Criterion) else asked.asked.description),
        guidance=_guidance(asked.asked),
        ended=_ended(run),
        context=block_of(run.context).html if run.context else None,
        reviewer=at_desk.reviewer,
        field=field_of(asked.asked),
        send=address("api", "review", asked.judgment, asked.item, **query_of(sitting)),
        next=next_of(sitting),
        next_seen=next_of(sitting, skipped=0 if at_desk.own else 1),
        find=address("review", asked.judgment, asked.item),
        hidden=tuple((name, str(value)) for name, value in leads.query.items() if value not in (None, "")),
        record=record,
        entries=sum(len(each.entries) for each in opened.records.values()),
        patch=patch_of(run.patch),
        done=done,
        of=of,
        progress=f"{done:,} reviewed by you, {counted(counts.open, 'item')} open" if counts else None,
        side=judge_side(at_desk, known) if at_desk.answered else None,
        looks=cited.transcript if cited else None,
        shown=at_desk.shown and at_desk.own is None,
    )


def shown_record(at_desk: AtDesk, opened: OpenRun, leads: Leads) -> Shown:
    """The record, in which nothing is marked and nothing points at a citation while the judge's side must not be seen."""
    return Shown(opened, marks_of((card_of(at_desk),) if at_desk.answered else ()), leads)


def leads_of(judgment: str, item: str, sitting: Sitting, seen: bool) -> Leads:
    """To this page, in this sitting."""
    return Leads(("review", judgment, item), query_of(sitting) | ({"seen": "true"} if seen else {}))


def next_of(sitting: Sitting, skipped: int = 1) -> Markup:
    """To the next item; without a sitting, to the queue."""
    if sitting.order is None:
        return address("review")
    behind = msgspec.structs.replace(sitting, skip=sitting.skip + skipped)
    return address("review", "next", **query_of(behind))


def query_of(sitting: Sitting) -> dict[str, Any]:
    """What addresses say of a sitting."""
    given: Mapping[str, str | int | None] = msgspec.structs.asdict(sitting)
    return {name: value for name, value in given.items() if value not in (None, "", 0)}


class _Cited(msgspec.Struct, frozen=True):
    transcript: Transcript
    ids: frozenset[str]


def _looks(at_desk: AtDesk) -> _Cited | None:
    if at_desk.answered is None:
        return None
    transcript = transcript_of_item(at_desk)
    ids = frozenset(look.id for look in transcript.before)
    return _Cited(transcript, ids) if ids else None


# --- what is asked, and how it is answered


def field_of(asked: Criterion | Dimension) -> Field:
    """How a blind answer to it is given."""
    if isinstance(asked, Criterion):
        return Field(
            "verdict",
            (
                Choice("pass", "pass", "it is true of this run", "1", "pass"),
                Choice("fail", "fail", "it is not, or it is not proven", "2", "fail"),
            ),
        )
    scale = asked.scale
    if scale.whole and scale.least >= 0 and scale.most <= 9 and scale.most - scale.least < MOST_CHOICES:
        notes = notes_of(asked.guidance)
        return Field("value", tuple(_value(value, notes, asked) for value in range(int(scale.least), int(scale.most) + 1)))
    return Field("value", (), f"{scale.least:g}", f"{scale.most:g}", "1" if scale.whole else "any")


def _value(value: int, notes: Mapping[int, str], asked: Dimension) -> Choice:
    words = f"{value}, blameless" if value == asked.baseline else str(value)
    return Choice(str(value), words, notes.get(value, ""), str(value))


_NOTE = re.compile(r"(\d{1,2}): (.*)")


def notes_of(guidance: str) -> dict[int, str]:
    """What a dimension's guidance says of each value, where it says so in lines that begin with the value."""
    notes: dict[int, str] = {}
    value = None
    for line in guidance.splitlines():
        if match := _NOTE.match(line):
            value = int(match[1])
            notes[value] = match[2]
        elif value is not None and line.strip():
            notes[value] += f" {line.strip()}"
    return notes


def _guidance(asked: Criterion | Dimension) -> Markup | None:
    if isinstance(asked, Criterion):
        return None
    parts = (f"On a scale {scale_of(asked)}.", asked.guidance, *(f"Not: {each}" for each in asked.not_findings))
    return with_code("\n".join(part.strip() for part in parts if part))


def _ended(run: Run) -> str:
    return ", ".join(dict.fromkeys(part for part in (run.id, title_of(run), *_grade(run)) if part))


def _grade(run: Run) -> Iterator[str]:
    yield run.outcome.grade or "no grader"
    yield run.outcome.ending or ""
