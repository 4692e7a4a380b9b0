"""The gate for scores: no accusation without a turn that shows it.

Three steps, in this order: the citations given under a dimension's causes are gathered with its own, each is checked, and
a value worse than the blameless one that is left with no citation that holds is taken away.
"""

from __future__ import annotations

from collections.abc import Sequence

from adjudge.evidence import Citation, Exhibits, Holding, says_something
from adjudge.evidence.turns import Turns
from adjudge.judgment.values import CauseAnswer, CauseFound, DimensionAnswer, Score
from adjudge.rubric import Dimension, Rubric

MOST_CITATIONS = 50
"""Citations of one answer, or of one cause, that are checked; what those do not show, no more would."""


def gate_scores(rubric: Rubric, answers: Sequence[DimensionAnswer], exhibits: Exhibits) -> tuple[Score, ...]:
    """Turn a model's answers into scores, one for every dimension, in the rubric's order.

    The only place where an answer becomes a score. Of two answers for one dimension neither counts.
    """
    turns = Turns(exhibits)
    given: dict[str, list[DimensionAnswer]] = {}
    for answer in dict.fromkeys(answers):  # the same answer twice is one answer
        given.setdefault(answer.dimension, []).append(answer)
    return tuple(_score(dimension, given.get(dimension.id, []), turns) for dimension in rubric.dimensions)


def _score(dimension: Dimension, answers: Sequence[DimensionAnswer], turns: Turns) -> Score:
    if len(answers) != 1:
        return Score(dimension.id, None, "", fault="unanswered", answer=answers[0] if answers else None)
    (answer,) = answers
    causes = tuple(_cause(each, turns) for each in answer.causes)
    own = _checked(answer.citations, turns)
    holdings = tuple(dict.fromkeys((*own, *(holding for cause in causes for holding in cause.holdings))))
    if not says_something(answer.reasoning):
        return Score(dimension.id, None, "", holdings, fault="missing_reasoning", answer=answer)
    worse = _accuses(dimension, answer)
    if worse and not any(holding.standing for holding in holdings):
        return Score(dimension.id, None, answer.reasoning, holdings, fault="evidence_missing", answer=answer)
    own_words = answer if any(cause.fault for cause in causes) else None
    return Score(dimension.id, answer.value, answer.reasoning, holdings, answer.share, causes, None, own_words, worse)


def _cause(cause: CauseAnswer, turns: Turns) -> CauseFound:
    holdings = _checked(cause.citations, turns)
    if not any(holding.standing for holding in holdings):
        return CauseFound(cause.cause, None, cause.recommendation, holdings, "evidence_missing")
    if cause.share is None or not says_something(cause.recommendation):
        return CauseFound(cause.cause, None, cause.recommendation, holdings, "incomplete")
    return CauseFound(cause.cause, cause.share, cause.recommendation, holdings)


def _checked(citations: Sequence[Citation], turns: Turns) -> tuple[Holding, ...]:
    return tuple(turns.check(citation) for citation in citations[:MOST_CITATIONS])


def _accuses(dimension: Dimension, answer: DimensionAnswer) -> bool:
    """Whether anything in an answer says that the agent did worse than the blameless."""
    worse = answer.value is not None and dimension.accuses(answer.value)
    return worse or bool(answer.share) or any(cause.share for cause in answer.causes)
