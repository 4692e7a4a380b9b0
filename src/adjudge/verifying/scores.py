"""Scores put through their gate again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adjudge.errors import OutsideError
from adjudge.evidence import Citation, Exhibits, Holding
from adjudge.judgment import CauseAnswer, CauseFound, DimensionAnswer, Score, gate_scores
from adjudge.rubric import Dimension, Rubric
from adjudge.verifying.holdings import moved
from adjudge.verifying.values import Finding


def of_scores(scores: Sequence[Score], rubric: Rubric, exhibits: Exhibits) -> Iterator[Finding]:
    """What is not as the gate lets it through today."""
    answers = [answer for score in scores if (answer := _answer(score))]
    try:
        again = {score.dimension: score for score in gate_scores(rubric, answers, exhibits)}
    except OutsideError as error:  # an entry that is damaged where it lies
        yield Finding("record", f"no score could be checked: {error}")
        return
    dimensions = {dimension.id: dimension for dimension in rubric.dimensions}
    for score in scores:
        if dimension := dimensions.get(score.dimension):
            words = (*_off_the_rubric(dimension, score), *_of_score(score, again[dimension.id]))
            yield from (Finding(dimension.id, each) for each in words)


def _answer(score: Score) -> DimensionAnswer | None:
    """The answer from which the gate made a score; of one that it did not change, the score itself."""
    if score.fault == "unanswered":
        return None  # there was none, or several, which are not kept
    if score.answer is not None:
        return score.answer
    causes = tuple(CauseAnswer(each.cause, each.share, each.recommendation, _cited(each.holdings)) for each in score.causes)
    under_causes = {citation for cause in causes for citation in cause.citations}
    own = tuple(citation for citation in _cited(score.holdings) if citation not in under_causes)
    return DimensionAnswer(score.dimension, score.value, score.reasoning, own, score.share, causes)


def _cited(holdings: Sequence[Holding]) -> tuple[Citation, ...]:
    return tuple(holding.citation for holding in holdings)


def _off_the_rubric(dimension: Dimension, score: Score) -> Iterator[str]:
    if score.value is not None and not dimension.scale.holds(score.value):
        yield f"its value {score.value:g} is not on the scale"
    for cause in score.causes:
        if cause.cause not in dimension.causes:
            yield f"{cause.cause!r} is none of the rubric's causes"


def _of_score(stored: Score, now: Score) -> Iterator[str]:
    if _decision(stored) != _decision(now):
        yield f"stored is {_words(stored)}, the gate says {_words(now)}"
    elif stored.worse != now.worse:
        yield f"stored is that it is {_standing(stored)}, the gate says {_standing(now)}"
    elif stored.reasoning != now.reasoning:
        yield "its reasoning is not that of the answer beside it"
    elif [_of_cause(each) for each in stored.causes] != [_of_cause(each) for each in now.causes]:
        yield "its causes are not those that the gate lets through"
    yield from _of_holdings(stored.holdings, now.holdings)


def _decision(score: Score) -> tuple[float | None, float | None, str | None]:
    return score.value, score.share, score.fault


def _words(score: Score) -> str:
    share = f" with a share of {score.share:g}" if score.share is not None else ""
    return f"{'no value' if score.value is None else f'{score.value:g}'}{share}{f' ({score.fault})' if score.fault else ''}"


def _standing(score: Score) -> str:
    return "worse than blameless" if score.worse else "not worse"


def _of_cause(cause: CauseFound) -> tuple[object, ...]:
    holdings = [(holding.citation, holding.standing, holding.source) for holding in cause.holdings]
    return cause.cause, cause.share, cause.recommendation, cause.fault, holdings


def _of_holdings(stored: Sequence[Holding], now: Sequence[Holding]) -> Iterator[str]:
    """The order is free: which citations stood under a cause and which beside it is told by the causes."""
    checked = {holding.citation: holding for holding in now}
    if set(_cited(stored)) != checked.keys():
        yield "its citations are not those of the answer beside it"
    for holding in stored:
        if again := checked.get(holding.citation):
            yield from moved(holding, again)
