"""The cards of verdicts on a run's page, and the strip that shows them all."""

from __future__ import annotations

from collections import Counter

import msgspec
from markupsafe import Markup

from adjudge.exports.html.verdicts import CAUSES
from adjudge.exports.judged import Judged
from adjudge.judgment import Judgment, Verdict, doubt
from adjudge.store.standing import cell
from adjudge.web.addresses import address, of_run
from adjudge.web.text import with_code
from adjudge.web.views.cites import Card, Cite, Way, sign_of_verdict

WORDS_OF_CELLS = {"p": "pass", "f": "fail", "g": "fail, changed by the gate", "s": "fail, skipped"}


class Cell(msgspec.Struct, frozen=True):
    """A criterion in the strip: its letter, where it leads on the page, and its name with the verdict."""

    letter: str
    anchor: str
    title: str


class VerdictCard(msgspec.Struct, frozen=True):
    """A verdict. `gate` says what the gate changed or found, `doubt` which files could have shaped all that it rests on.

    `own` says that the note is the model's, though the gate changed its answer. `href` names the judgment: a link to keep.
    """

    anchor: str
    number: str
    criterion: str
    text: Markup
    sign: str
    cell: str
    cause: str | None
    by: str | None
    note: Markup
    own: bool
    answered: str | None
    gate: str | None
    doubt: str | None
    cites: tuple[Cite, ...]
    review: Markup
    href: Markup


class Verdicts(msgspec.Struct, frozen=True):
    """All verdicts of a judgment: how many fail, and how many the gate changed."""

    cards: tuple[VerdictCard, ...]
    cells: tuple[Cell, ...]
    fails: int
    gated: int


def verdicts_of(judged: Judged, way: Way) -> Verdicts:
    """The verdicts of a judgment, in the rubric's order."""
    verdicts = judged.judgment.verdicts
    cards = tuple(_card(number, verdict, judged, way) for number, verdict in enumerate(verdicts, 1))
    cells = tuple(Cell(c.cell, c.anchor, f"{c.criterion}: {WORDS_OF_CELLS[c.cell]}") for c in cards)
    counts = Counter(card.cell for card in cards)
    return Verdicts(cards, cells, len(cards) - counts["p"], counts["g"])


def _card(number: int, verdict: Verdict, judged: Judged, way: Way) -> VerdictCard:
    anchor = f"v{number}"
    card = Card(anchor, f"C{number}", sign_of_verdict(verdict), verdict.holdings)
    changed = verdict.answer is not None and verdict.answer.passed != verdict.passed
    own = verdict.answer.note.strip() if changed and verdict.answer else ""
    return VerdictCard(
        anchor=anchor,
        number=f"C{number}",
        criterion=verdict.criterion,
        text=with_code(judged.criterion(verdict.criterion)),
        sign=card.sign,
        cell=cell(verdict),
        cause=CAUSES[verdict.cause] if verdict.cause else None,
        by=_by(verdict, judged.judgment),
        note=with_code(own or verdict.note),
        own=bool(own),
        answered="pass" if changed else None,
        gate=f"{verdict.fault}." if verdict.fault else None,
        doubt=doubt(verdict, judged.judgment.tampering),
        cites=way.cites(card),
        review=address("review", judged.judgment.id, verdict.criterion, seen="true"),
        href=of_run(judged.run.id, at=anchor, judgment=judged.judgment.id),
    )


def _by(verdict: Verdict, judgment: Judgment) -> str | None:
    """Who decided, if it was no model."""
    if judgment.judge.kind == "process":
        return "by the exit status"
    return "by a probe, no model" if verdict.probe else None
