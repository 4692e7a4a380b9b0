"""The judge's side of one item, for a reviewer who has answered, or who approves or denies it: never for a blind one."""

from __future__ import annotations

import msgspec
from markupsafe import Markup

from adjudge.exports.html.verdicts import CAUSES
from adjudge.exports.scores import figure, why_none
from adjudge.judgment import Score, Verdict, doubt
from adjudge.reviews.values import Review
from adjudge.web.addresses import of_run
from adjudge.web.queries.reviewing import AtDesk
from adjudge.web.text import when, with_code
from adjudge.web.views.cites import Card, Cite, Way, exhibit_of, marks_of, sign_of_score, sign_of_verdict
from adjudge.web.views.transcript import Transcript, transcript_of

ANCHOR = "judge"


class Said(msgspec.Struct, frozen=True):
    """What one review says: by whom, in a few words, why, when, and whether another has taken its place."""

    who: str
    sign: str
    words: str
    reason: str
    when: str
    superseded: bool


class JudgeSide(msgspec.Struct, frozen=True):
    """What the judge said, what the gate made of it, and what reviewers said. `own` is the id of the reviewer's latest."""

    anchor: str
    sign: str
    words: str
    cause: str | None
    note: Markup
    model: str | None
    model_note: Markup | None
    gate: str | None
    doubt: str | None
    cites: tuple[Cite, ...]
    run: Markup
    mine: tuple[Said, ...]
    others: tuple[Said, ...]
    own: str | None
    agrees: str | None


def judge_side(at_desk: AtDesk, way: Way) -> JudgeSide:
    """The judge's side; the item must be answered."""
    answered = at_desk.answered
    assert answered is not None
    judged, judgment = answered.judged, answered.judgment
    taken = {review.supersedes for review in answered.reviews}
    said = [(review, _said(review, at_desk.reviewer, review.id in taken)) for review in answered.reviews]
    return JudgeSide(
        anchor=ANCHOR,
        sign=card_of(at_desk).sign,
        words=_words(judged),
        cause=CAUSES[judged.cause] if isinstance(judged, Verdict) and judged.cause else None,
        note=with_code(judged.note if isinstance(judged, Verdict) else judged.reasoning),
        model=_model(judged),
        model_note=with_code(judged.answer.note) if isinstance(judged, Verdict) and judged.answer else None,
        gate=_gate(judged),
        doubt=doubt(judged, judgment.tampering) if isinstance(judged, Verdict) else None,
        cites=way.cites(card_of(at_desk)),
        run=of_run(judgment.run, judgment=judgment.id),
        mine=tuple(one for review, one in said if review.reviewer == at_desk.reviewer),
        others=tuple(one for review, one in said if review.reviewer != at_desk.reviewer),
        own=at_desk.own.id if at_desk.own else None,
        agrees=_agrees(judged, at_desk.own),
    )


def card_of(at_desk: AtDesk) -> Card:
    """The card that the judge's citations belong to; the item must be answered."""
    assert at_desk.answered is not None
    judged = at_desk.answered.judged
    sign = sign_of_verdict(judged) if isinstance(judged, Verdict) else sign_of_score(judged)
    return Card(ANCHOR, at_desk.question.item, sign, judged.holdings)


def transcript_of_item(at_desk: AtDesk) -> Transcript:
    """The looks that the judge cites for the item; its others belong to items that may still be judged blind."""
    assert at_desk.answered is not None
    judgment, judged = at_desk.answered.judgment, at_desk.answered.judged
    cited = {exhibit_of(holding) for holding in judged.holdings}
    shown = msgspec.structs.replace(judgment, steps=(), looks=tuple(look for look in judgment.looks if look.id in cited))
    return transcript_of(shown, marks_of((card_of(at_desk),)))


def _words(judged: Verdict | Score) -> str:
    if isinstance(judged, Verdict):
        return "pass" if judged.passed else "fail"
    worse = ", worse than blameless" if judged.worse else ""
    return "no value" if judged.value is None else f"{figure(judged.value)}{worse}"


def _model(judged: Verdict | Score) -> str | None:
    """What the model itself had answered, where the gate changed it."""
    if judged.answer is None:
        return None
    if isinstance(judged, Verdict):
        changed = judged.answer.passed != judged.passed
        return ("pass" if judged.answer.passed else "fail") if changed else None
    return figure(judged.answer.value)


def _gate(judged: Verdict | Score) -> str | None:
    """What the gate found, unless the note says it already."""
    if isinstance(judged, Score):
        return why_none(judged)
    return f"{judged.fault}." if judged.fault and judged.fault not in judged.note else None


def _said(review: Review, reviewer: str | None, superseded: bool) -> Said:
    if review.mode == "seen":
        sign, words = ("pass", "approves") if review.approved else ("fail", "denies")
    elif review.passed is None:
        sign, words = ("warn" if review.worse else "none"), figure(review.value)
    else:
        sign = words = "pass" if review.passed else "fail"
    who = "You" if review.reviewer == reviewer else review.reviewer
    return Said(
        who, sign, f"{words}, {'blind' if review.mode == 'blind' else 'having seen it'}", review.reason,
        when(review.added), superseded,
    )  # fmt: skip


def _agrees(judged: Verdict | Score, own: Review | None) -> str | None:
    """Whether the reviewer's blind answer is the judge's."""
    if own is None or own.mode != "blind":
        return None
    ours = own.passed if isinstance(judged, Verdict) else own.value
    theirs = judged.passed if isinstance(judged, Verdict) else judged.value
    if theirs is None:
        return "The judge gave no value to compare yours with."
    what = "verdict" if isinstance(judged, Verdict) else "value"
    if ours == theirs:
        return f"You agree on the {what}. Is its reasoning sound too?"
    return f"You differ on the {what}. Having seen why it says so, is it right?"
