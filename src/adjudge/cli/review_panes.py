"""What the review screen shows: the question, the task, an exhibit, and the judge's side once it may be seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from adjudge.cli.exhibits import NO_TASK, heading
from adjudge.exports.scores import figure, scale_of, why_none
from adjudge.judgment import Verdict, doubt
from adjudge.rubric import Criterion, Dimension
from adjudge.untrusted import one_line, shown

if TYPE_CHECKING:
    from adjudge.evidence import Holding, Look
    from adjudge.judgment import Score
    from adjudge.record import Entry
    from adjudge.reviews.values import Review, Said
    from adjudge.wiring.reviews import Answered, Question

KEYS = """1 2       pass, fail; of a dimension its value, or v to type one
a x       approve, deny what the judge said, once you see it
s         skip: leave it open
Enter     go on, once yours is recorded
n p       next, previous entry of the record; once you see the judge's side, of its citations
[ ]       previous, next turn
t         the task
c         the judge's side, once you see it
o         open an exhibit by its id
/         search the record from here on
space b   page down, up
q         end; what was recorded is kept"""

LONGEST = 1 << 20
"""Characters of an exhibit that a pane holds."""


class Pane(msgspec.Struct, frozen=True):
    """A text under its title, safe to print; `quote` is what is marked in it."""

    title: str
    text: str
    quote: str = ""


def question_of(asked: Criterion | Dimension) -> tuple[str, str]:
    """What is asked, in one line, and all that is said of it."""
    if isinstance(asked, Criterion):
        return "Is this true of the run?", shown(asked.text)
    parts = [asked.description, asked.guidance, *(f"Not: {each}" for each in asked.not_findings)]
    return f"Which value, {scale_of(asked)}?", shown("\n".join(part for part in parts if part))


def task_pane(question: Question) -> Pane:
    """The run's task and how it ended."""
    run = question.run
    ending = [f"exit status {run.outcome.exit_status}" if run.outcome.exit_status is not None else ""]
    ending += [run.outcome.grade or "", run.outcome.failure or ""]
    ended = one_line(", ".join(part for part in ending if part) or "how it ended is not known", 200)
    return Pane("the task", f"{shown(run.task or NO_TASK)}\n\n({ended})")


def exhibit_pane(exhibit: Entry | Look, place: str, quote: str = "") -> Pane:
    """An entry or a look; `place` tells where it stands among others."""
    cut = "" if len(exhibit.text) <= LONGEST else f"\n… cut; `adjudge show` prints all {len(exhibit.text):,} characters"
    return Pane(f"{place} · {one_line(heading(exhibit), 300)}", shown(exhibit.text[:LONGEST]) + cut, shown(quote))


def judge_pane(answered: Answered, reviewer: str) -> Pane:
    """What the judge said of the item, and what reviewers did."""
    judged = answered.judged
    lines = _of_verdict(judged, answered) if isinstance(judged, Verdict) else _of_score(judged)
    told = [*lines, *map(_citation, judged.holdings)]
    reviews = [_review(each, reviewer) for each in answered.reviews]
    return Pane("what the judge said", "\n".join([*told, *(["", "Reviews"] if reviews else []), *reviews]))


def _of_verdict(verdict: Verdict, answered: Answered) -> Iterator[str]:
    cause = f"  ({verdict.cause})" if verdict.cause else ""
    yield f"{'PASS' if verdict.passed else 'FAIL'}{cause}"
    yield shown(verdict.note)
    if verdict.answer and verdict.cause == "evidence":
        yield f"The model had answered {'pass' if verdict.answer.passed else 'fail'}: {shown(verdict.answer.note)}"
    if words := doubt(verdict, answered.judgment.tampering):
        yield f"! {words}"


def _of_score(score: Score) -> Iterator[str]:
    yield f"{figure(score.value)}{'  worse than blameless' if score.worse else ''}"
    yield from filter(None, [why_none(score), shown(score.reasoning)])


def _citation(holding: Holding) -> str:
    fault = "" if holding.standing else f"  ✗ {one_line(holding.fault or '', 200)}"
    return f"  {one_line(holding.citation.exhibit, 40)}  “{one_line(holding.citation.quote, 200)}”{fault}"


def _review(review: Review, reviewer: str) -> str:
    who = "you" if review.reviewer == reviewer else one_line(review.reviewer, 100)
    return f"  {who}, {answer_in_words(review)}: {one_line(review.reason, 400)}"


def answer_in_words(review: Said) -> str:
    """What a review says, in a few words."""
    if review.mode == "seen":
        return "approves" if review.approved else "denies"
    own = figure(review.value) if review.passed is None else "pass" if review.passed else "fail"
    return f"blind: {own}"


def takes_digits(asked: Criterion | Dimension) -> bool:
    """Whether a value of the dimension is one key."""
    return isinstance(asked, Dimension) and asked.scale.whole and asked.scale.least >= 0 and asked.scale.most <= 9
