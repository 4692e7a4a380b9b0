"""What one judgment says as a whole, and what it has cost."""

from __future__ import annotations

from adjudge.judgment import Judgment, Score
from adjudge.passes.account import UNANSWERED


def says_something(judgment: Judgment) -> bool:
    """Whether it has an answer, and of at least one criterion or dimension."""
    return judgment.status == "judged" and not judgment.empty and bool(judgment.verdicts or judgment.scores)


def is_partial(judgment: Judgment) -> bool:
    """Whether it says something, but nothing of some dimension: nobody established it, or an accusation was demoted."""
    return says_something(judgment) and not all(map(establishes, judgment.scores))


def is_flawless(judgment: Judgment) -> bool | None:
    """Whether every criterion passed, or nothing is worse than blameless; `None` unless something was said of each."""
    if not says_something(judgment) or is_partial(judgment):
        return None
    return judgment.worse == 0 and all(verdict.passed for verdict in judgment.verdicts)


def establishes(score: Score) -> bool:
    """Whether it says something: by its value, or by a share of waste."""
    return score.value is not None or score.worse


def cost_of(judgment: Judgment) -> float | None:
    """What judging has cost in US dollars, as far as it is known: 0 if no model was asked, `None` if nothing is known."""
    known = judgment.usage().cost or 0.0
    return None if not known and unpriced(judgment) else known


def unpriced(judgment: Judgment) -> bool:
    """Whether some call of a judgment cost nobody knows how much, or one may have been billed that has no line.

    An errored judgment without a line may have asked in vain, and after silence or a broken reply a provider may bill all
    the same. A judged one without a line asked no model, and has cost nothing.
    """
    if any(call.usage.cost is None for call in judgment.calls):
        return True
    if judgment.usage().cost:
        return False
    return judgment.failure in UNANSWERED or (judgment.status == "errored" and not judgment.calls)
