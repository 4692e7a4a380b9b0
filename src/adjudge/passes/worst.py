"""The worst cases of each criterion or dimension, with the words that they rest on: kept few while judgments stream by."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from adjudge.judgment import Judgment, Score, Verdict
from adjudge.passes.results import outcome_of
from adjudge.rubric import Rubric
from adjudge.store.judged import JudgedRun

KEPT = 5
"""Cases of one criterion or dimension that are kept."""
LONGEST = 600
"""Characters of a reasoning and of a quote that are kept."""

Rank = tuple[float, ...]
"""How bad a case is; the smaller, the worse."""


class Case(msgspec.Struct, frozen=True):
    """One verdict that fails, or one score worse than blameless.

    `number` counts the judgment's verdicts or scores from 1. `value` is a score's, `None` for a verdict and where only a
    share of waste accuses. `citation` is the number of the first citation that holds, from 1, `exhibit` where its words
    stand and `quote` what they are; all three are `None` if none holds.
    """

    item: str
    number: int
    run: str
    judgment: str
    agent: str | None
    model: str | None
    task: str | None
    outcome: str
    value: float | None
    cause: str | None
    words: str
    citation: int | None
    exhibit: str | None
    quote: str | None


class Worst:
    """Keeps the worst cases of what it is shown, of each criterion or dimension of a rubric."""

    def __init__(self, rubric: Rubric) -> None:
        self._dimensions = {each.id: each for each in rubric.dimensions}
        items = (*(each.id for each in rubric.criteria), *self._dimensions)
        self._cases: dict[str, list[tuple[Rank, Case]]] = {item: [] for item in items}

    def count(self, judged: JudgedRun) -> None:
        """Look at one judgment."""
        for number, (rank, item) in enumerate(self._ranked(judged.judgment), 1):
            if rank is not None:
                self._keep(rank, item, number, judged)

    def cases(self) -> dict[str, tuple[Case, ...]]:
        """The cases of each item, the worst first, of equally bad ones those that came first."""
        return {name: tuple(case for _, case in kept) for name, kept in self._cases.items()}

    def _ranked(self, judgment: Judgment) -> Iterator[tuple[Rank | None, Verdict | Score]]:
        for verdict in judgment.verdicts:
            yield _rank_of_verdict(verdict, judgment), verdict
        for score in judgment.scores:
            yield self._rank_of_score(score), score

    def _rank_of_score(self, score: Score) -> Rank | None:
        dimension = self._dimensions.get(score.dimension)
        if dimension is None or not score.worse:
            return None
        value = dimension.baseline if score.value is None else score.value
        apart = value - dimension.baseline if dimension.worse == "higher" else dimension.baseline - value
        return (-apart, -(score.share or 0.0))

    def _keep(self, rank: Rank, judged: Verdict | Score, number: int, of: JudgedRun) -> None:
        item = judged.criterion if isinstance(judged, Verdict) else judged.dimension
        kept = self._cases.get(item)
        if kept is None or (len(kept) == KEPT and rank >= kept[-1][0]):
            return
        kept.append((rank, _case(item, number, judged, of)))
        kept.sort(key=lambda each: each[0])
        del kept[KEPT:]


_BLAME = ("agent", "evidence", "unproven", "skipped", "environment")


def _rank_of_verdict(verdict: Verdict, judgment: Judgment) -> Rank | None:
    """A fail is the worse the more it is the agent's doing, then the more else of the run fails."""
    if verdict.passed:
        return None
    blame = _BLAME.index(verdict.cause) if verdict.cause in _BLAME else len(_BLAME)
    return (blame, judgment.score or 0.0)


def _case(item: str, number: int, judged: Verdict | Score, of: JudgedRun) -> Case:
    place = next((at for at, holding in enumerate(judged.holdings) if holding.standing), None)
    holding = None if place is None else judged.holdings[place]
    run = of.run
    return Case(
        item=item,
        number=number,
        run=run.id,
        judgment=of.judgment.id,
        agent=run.agent,
        model=run.model,
        task=run.task_name or run.task,
        outcome=outcome_of(run.outcome),
        value=judged.value if isinstance(judged, Score) else None,
        cause=judged.cause if isinstance(judged, Verdict) else None,
        words=(judged.note if isinstance(judged, Verdict) else judged.reasoning)[:LONGEST],
        citation=None if place is None else place + 1,
        exhibit=None if holding is None else holding.source or holding.citation.exhibit,
        quote=None if holding is None else holding.citation.quote[:LONGEST],
    )
