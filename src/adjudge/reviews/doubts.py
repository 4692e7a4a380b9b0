"""What makes a verdict or score uncertain, as far as it can be told from what is stored: no model is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from adjudge.judgment import Judgment, Score, Verdict, doubt

Doubt = Literal[
    "demoted",
    "broken_citation",
    "no_citation",
    "unproven",
    "no_value",
    "forced",
    "shaped",
    "cut",
    "badly_answered",
    "steered",
]

WORDS: dict[Doubt, str] = {
    "demoted": "the gate changed what the model answered",
    "broken_citation": "a citation does not hold",
    "no_citation": "it fails without a citation that holds",
    "unproven": "it was left unproven",
    "no_value": "the reader established no value",
    "forced": "the evaluator had used up its looks",
    "shaped": "all that it rests on could have been shaped by a file of the workspace",
    "cut": "texts of the reader's input were cut",
    "badly_answered": "the reader's answer had to be transcribed or taken out of prose",
    "steered": "something in the run speaks to the judge",
}


def doubts_of(judgment: Judgment, judged: Verdict | Score) -> tuple[Doubt, ...]:
    """The doubts about one verdict or score of a judgment; the more, the more uncertain it is."""
    of_item = _of_verdict(judgment, judged) if isinstance(judged, Verdict) else _of_score(judged)
    return (*of_item, *_of_judgment(judgment, judged))


def _of_verdict(judgment: Judgment, verdict: Verdict) -> Iterator[Doubt]:
    holds = any(holding.standing for holding in verdict.holdings)
    if verdict.cause == "evidence":
        yield "demoted"
    if not all(holding.standing for holding in verdict.holdings):
        yield "broken_citation"
    if not verdict.passed and not holds and not verdict.probe:
        yield "no_citation"
    if verdict.cause in ("unproven", "skipped"):
        yield "unproven"
    if doubt(verdict, judgment.tampering):
        yield "shaped"


def _of_score(score: Score) -> Iterator[Doubt]:
    if score.fault == "evidence_missing":
        yield "demoted"
    if not all(holding.standing for holding in score.holdings):
        yield "broken_citation"
    if score.value is None and score.fault != "evidence_missing":
        yield "no_value"


def _of_judgment(judgment: Judgment, judged: Verdict | Score) -> Iterator[Doubt]:
    if isinstance(judged, Verdict) and judged.probe:
        return  # code decided, and nobody could speak to it
    if judgment.decided == "forced":
        yield "forced"
    if judgment.prepared and judgment.prepared.input_truncated.pieces:
        yield "cut"
    if judgment.decided in ("transcribed", "prose"):
        yield "badly_answered"
    if judgment.steering:
        yield "steered"
