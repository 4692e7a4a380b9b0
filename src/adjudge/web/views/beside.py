"""Runs side by side: what each judgment says of a criterion or dimension, with the words that it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from markupsafe import Markup

from adjudge.evidence import Holding, Look
from adjudge.exports.judged import Judged
from adjudge.exports.scores import why_none
from adjudge.exports.trust import note_of
from adjudge.reviews.figures import Trust
from adjudge.rubric import Criterion, Dimension
from adjudge.untrusted import one_line
from adjudge.web.addresses import address, of_run
from adjudge.web.queries.beside import Beside, BesideRun
from adjudge.web.queries.kept import OpenRun
from adjudge.web.text import Mark, block_of, with_code
from adjudge.web.views.cites import Cite, Way, exhibit_of, sign_of_score
from adjudge.web.views.dimensions import dimensions_of
from adjudge.web.views.entries import entry_view
from adjudge.web.views.known import Known
from adjudge.web.views.run import title_of
from adjudge.web.views.runs import OUTCOMES, Option
from adjudge.web.views.trust import trust_cell
from adjudge.web.views.verdicts import verdicts_of

MOST_EXHIBITS = 6
"""Exhibits of one verdict that stand below it in full."""


class ExhibitSide(msgspec.Struct, frozen=True):
    """An exhibit with the quoted words marked; `href` is its place on the page of the run."""

    id: str
    href: Markup
    title: str
    facts: tuple[str, ...]
    shape: str
    text: Markup


class Side(msgspec.Struct, frozen=True):
    """What one judgment says. `missing` says in its place why it says nothing; `scale` draws a score."""

    href: Markup | None
    sign: str
    word: str
    scale: Markup | None
    aside: tuple[str, ...]
    words: Markup
    gate: str | None
    cites: tuple[Cite, ...]
    exhibits: tuple[ExhibitSide, ...]
    missing: str | None


class BesideRow(msgspec.Struct, frozen=True):
    """A criterion or dimension, and what each run's judgment says of it, in the order of the runs."""

    anchor: str
    name: str
    text: Markup
    differs: bool
    sides: tuple[Side, ...]


class RunHead(msgspec.Struct, frozen=True):
    """A run at the head of its column."""

    letter: str
    href: Markup
    who: str
    task: str
    outcome_sign: str
    outcome: str
    score: str


class BesidePage(msgspec.Struct, frozen=True):
    """Runs side by side. `opened` is the row whose exhibits are shown in full, if one was chosen."""

    title: str
    sentence: str
    rubric: str | None
    rubrics: tuple[Option, ...]
    hidden: tuple[tuple[str, str], ...]
    heads: tuple[RunHead, ...]
    opened: BesideRow | None
    rows: tuple[BesideRow, ...]
    note: str = ""
    before: Markup | None = None
    after: Markup | None = None
    back: Markup | None = None


def beside_page(found: Beside, trusts: Sequence[Trust | None], item: str | None = None) -> BesidePage:
    """The page; `trusts` say how far the judge of each run can be trusted, `None` where there is none."""
    items: Sequence[Criterion | Dimension] = (
        () if found.rubric is None else found.rubric.dimensions or found.rubric.criteria
    )
    rows = tuple(_row(at, each, found.runs, trusts, each.id == item) for at, each in enumerate(items, 1))
    opened = next((row for row in rows if row.name == item), None)
    return BesidePage(
        title=f"{len(found.runs)} runs side by side",
        sentence=_sentence(found, rows),
        rubric=found.rubric.name if found.rubric else None,
        rubrics=tuple(Option(hash, f"{one_line(name, 60)} {hash[:12]}", _is(found, hash)) for hash, name in found.rubrics),
        hidden=tuple(("run", each.opened.run.id) for each in found.runs),
        heads=tuple(_head(at, each) for at, each in enumerate(found.runs)),
        opened=opened,
        rows=tuple(row for row in rows if row is not opened),
        note=next((note for trust in trusts if trust and (note := note_of(trust))), ""),
    )


def _is(found: Beside, hash: str) -> bool:
    return found.rubric is not None and found.rubric.hash == hash


def _sentence(found: Beside, rows: Sequence[BesideRow]) -> str:
    if not rows:
        return f"{_of_tasks(found)} None of them was judged with a rubric."
    apart = sum(row.differs for row in rows)
    return f"{_of_tasks(found)} Their judgments differ in {apart} of {len(rows)}."


def _of_tasks(found: Beside) -> str:
    """Whether they are of one task, as far as their recordings say of which they are."""
    tasks = {each.opened.run.task_name or each.opened.run.task for each in found.runs}
    if None in tasks:
        return "Of what task they all are is not known, so that they are not one measure."
    return "They are of one task." if len(tasks) == 1 else "They are of different tasks, so that they are not one measure."


def _head(at: int, each: BesideRun) -> RunHead:
    run = each.opened.run
    grade, judged = run.outcome.grade, each.judged
    verdicts = judged.judgment.verdicts if judged else ()
    scores = judged.judgment.scores if judged else ()
    score = f"{sum(verdict.passed for verdict in verdicts)} of {len(verdicts)} pass" if verdicts else ""
    worse = f"{sum(score.worse for score in scores)} of {len(scores)} worse" if scores else ""
    who = " ".join(filter(None, (run.agent or "unknown agent", run.agent_version)))
    return RunHead(
        letter=chr(ord("A") + at),
        href=of_run(run.id, judgment=judged.judgment.id if judged else None),
        who=", ".join(filter(None, (who, run.model))),
        task=f"{title_of(run)}, {run.id}",
        outcome_sign={"resolved": "pass", "unresolved": "fail", "error": "warn"}.get(grade or "", "none"),
        outcome=OUTCOMES.get(grade, "no grader") if grade else run.outcome.ending or "no grader",
        score=score or worse or "not judged",
    )


def _row(
    at: int, item: Criterion | Dimension, runs: Sequence[BesideRun], trusts: Sequence[Trust | None], whole: bool
) -> BesideRow:
    sides = tuple(_side(f"{chr(97 + n)}{at}", item, each, trusts[n], whole) for n, each in enumerate(runs))
    said = {(side.sign, side.word) for side in sides if side.missing is None}
    text = item.description if isinstance(item, Dimension) else item.text
    return BesideRow(f"i{at}", item.id, with_code(text), len(said) > 1, sides)


def _side(prefix: str, item: Criterion | Dimension, each: BesideRun, trust: Trust | None, whole: bool) -> Side:
    judged = each.judged
    if judged is None:
        return _nothing("not judged with this rubric")
    if judged.judgment.status == "errored":
        return _nothing(f"no verdict: {judged.judgment.failure or judged.judgment.reason or 'errored'}")
    looks = {look.id: look for look in judged.judgment.looks}
    way = Way(each.opened.run.id, judged.judgment.id, (), Known(each.opened, looks))
    told = trust_cell(trust.items.get(item.id)) if trust else trust_cell(None)
    of_trust = tuple(line for line in told.more if line.startswith(("agree", "endorsed")))
    side = (
        _of_score(item.id, judged, way, of_trust)
        if isinstance(item, Dimension)
        else _of_verdict(item.id, judged, way, of_trust)
    )
    if side is None:
        return _nothing("not answered")
    holdings, made = side
    exhibits = tuple(_exhibits(prefix, holdings, each.opened, looks, judged)) if whole else ()
    return msgspec.structs.replace(made, exhibits=exhibits)


def _nothing(why: str) -> Side:
    return Side(None, "none", "none", None, (), Markup(), None, (), (), why)


Found = tuple[Sequence[Holding], Side]


def _of_verdict(item: str, judged: Judged, way: Way, trust: tuple[str, ...]) -> Found | None:
    verdicts = zip(judged.judgment.verdicts, verdicts_of(judged, way).cards, strict=True)
    verdict, card = next(((verdict, card) for verdict, card in verdicts if verdict.criterion == item), (None, None))
    if verdict is None or card is None:
        return None
    changed = f"The model answered {card.answered}. Changed to {card.sign}: {card.gate}"
    gate = changed if card.answered else f"The check found: {card.gate}" if card.gate else None
    aside = tuple(filter(None, (card.cause, card.by, *trust)))
    href = of_run(judged.run.id, at=card.anchor, judgment=judged.judgment.id)
    return verdict.holdings, Side(href, card.sign, card.sign, None, aside, card.note, gate, card.cites, (), None)


def _of_score(item: str, judged: Judged, way: Way, trust: tuple[str, ...]) -> Found | None:
    scores = zip(judged.judgment.scores, dimensions_of(judged, way), strict=True)
    score, row = next(((score, row) for score, row in scores if score.dimension == item), (None, None))
    if score is None or row is None:
        return None
    href = of_run(judged.run.id, at=row.anchor, judgment=judged.judgment.id)
    cites = (*row.cites, *(cite for cause in row.causes for cite in cause.cites))
    value = "none" if score.value is None else row.value
    side = Side(href, sign_of_score(score), value, row.scale, trust, row.reasoning, why_none(score), cites, (), None)
    return score.holdings, side


# --- exhibits in full


def _exhibits(
    prefix: str, holdings: Sequence[Holding], opened: OpenRun, looks: dict[str, Look], judged: Judged
) -> Iterator[ExhibitSide]:
    marks: dict[str, list[Mark]] = {}
    for place, holding in enumerate(holdings, 1):
        if holding.standing is not None:
            mark = Mark(f"{prefix}c{place}", holding.citation.quote, prefix, "", "none")
            marks.setdefault(exhibit_of(holding), []).append(mark)
    for name, of_it in list(marks.items())[:MOST_EXHIBITS]:
        if name in looks:
            yield _look(looks[name], of_it, judged)
        elif (place_of := opened.place_of(name)) is not None and name.rpartition(".")[2].startswith("e"):
            yield _entry(opened, place_of, of_it, judged.judgment.id)


def _entry(opened: OpenRun, place: tuple[str, int], marks: Sequence[Mark], judgment: str) -> ExhibitSide:
    entry = opened.records[place[0]].entries[place[1]]
    href = of_run(opened.run.id, at=entry.id, at_=entry.id, judgment=judgment)
    view = entry_view(opened.run.id, entry, marks, href)
    turn = opened.turn_at(*place)
    facts = (*([f"turn {turn}"] if turn else []), *view.facts, *view.failures)
    return ExhibitSide(entry.id, view.href, view.title, facts, view.shape, view.text)


def _look(look: Look, marks: Sequence[Mark], judged: Judged) -> ExhibitSide:
    text = block_of(look.text, marks, address("judgments", judged.judgment.id, "looks", look.id))
    asked = look.arguments.get("command") or look.arguments.get("text") or look.arguments.get("path") or ""
    href = of_run(judged.run.id, at=look.id, judgment=judged.judgment.id)
    title = f"{look.tool} {one_line(str(asked), 200)}".strip()
    empty = Markup('<pre class="muted">(nothing)</pre>')
    return ExhibitSide(look.id, href, title, look.facts, "look", text.html if look.text.strip() else empty)
