"""Citations on the page: each leads to the words that it quotes, and those lead back to whoever cites them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

import msgspec

from adjudge.evidence import Holding
from adjudge.exports.html.text import Mark
from adjudge.exports.judged import Judged
from adjudge.judgment import Score
from adjudge.untrusted import shown


class Cite(msgspec.Struct, frozen=True):
    """A citation: its exhibit, the quote, where the link leads (`None` if nowhere), and what is to be said of it."""

    exhibit: str
    quote: str
    target: str | None
    holds: bool
    why: str | None


def cites_of(anchor: str, holdings: Sequence[Holding], there: Collection[str]) -> tuple[Cite, ...]:
    """The citations of a verdict or a score; `there` are the ids of all exhibits on the page."""
    return tuple(_cite(f"{anchor}c{place}", holding, there) for place, holding in enumerate(holdings, 1))


def _cite(anchor: str, holding: Holding, there: Collection[str]) -> Cite:
    exhibit = holding.citation.exhibit.strip(" \n[]")
    why = holding.fault
    if holding.standing == "absence":
        why = "the look found nothing"
    elif holding.source and holding.source != exhibit:
        why = f"stands in {holding.source}"
    target = anchor if holding.standing else exhibit if exhibit in there else None
    return Cite(exhibit, shown(holding.citation.quote)[:4000], target, holding.standing is not None, why)


def marks_of(judged: Judged) -> dict[str, list[Mark]]:
    """For each exhibit the passages that are quoted from it, and by whom."""
    verdicts = [(each.criterion, each.passed, each.holdings) for each in judged.judgment.verdicts]
    scores = [(each.dimension, _blameless(each), each.holdings) for each in judged.judgment.scores]
    marks: dict[str, list[Mark]] = defaultdict(list)
    for number, (name, good, holdings) in enumerate([*verdicts, *scores], 1):
        for place, holding in enumerate(holdings, 1):
            if holding.standing:
                mark = Mark(f"v{number}c{place}", holding.citation.quote, f"v{number}", name, good)
                marks[holding.source or holding.citation.exhibit.strip(" \n[]")].append(mark)
    return marks


def _blameless(score: Score) -> bool | None:
    return False if score.worse else None if score.value is None else True
