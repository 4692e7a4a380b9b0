"""A reader's scores on the page: a card for each dimension, and what they come to."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from adjudge.evidence import Holding
from adjudge.exports.html.cites import Cite, cites_of
from adjudge.exports.judged import Judged
from adjudge.exports.scores import figure, percent, scale_of, share_of_cause, why_none
from adjudge.judgment import CauseFound, Score


class CauseView(msgspec.Struct, frozen=True):
    """A cause of waste, its share in words, and the turns that show it."""

    cause: str
    share: str
    recommendation: str
    cites: tuple[Cite, ...]


class ScoreCard(msgspec.Struct, frozen=True):
    """A score. `state` is `worse`, `blameless` or `none`; `why` says why there is no value."""

    anchor: str
    dimension: str
    text: str | None
    state: str
    value: str
    scale: str
    share: str | None
    reasoning: str
    why: str | None
    cites: tuple[Cite, ...]
    causes: tuple[CauseView, ...]

    @property
    def cell(self) -> str:
        """How it stands in the row of all."""
        return {"worse": "fail", "blameless": "pass", "none": "skipped"}[self.state]


def score_cards(judged: Judged, there: Collection[str]) -> tuple[ScoreCard, ...]:
    """A card for each score; `there` are the ids of all exhibits on the page."""
    return tuple(_card(f"v{number}", score, judged, there) for number, score in enumerate(judged.judgment.scores, 1))


def figure_of_scores(cards: tuple[ScoreCard, ...]) -> str:
    """The scores in the fewest words."""
    if all(card.state == "none" for card in cards):
        return "empty"
    found = sum(card.state == "worse" for card in cards)
    return f"{found} of {len(cards)} worse"


def sentence_of_scores(cards: tuple[ScoreCard, ...]) -> str:
    """What the scores come to, counted by code."""
    states = [card.state for card in cards]
    found, unknown, all_of_them = states.count("worse"), states.count("none"), len(cards)
    if unknown == all_of_them:
        return "No dimension has a value: this judgment is empty."
    told = f"{found or 'None'} of {all_of_them} dimensions {'are' if found > 1 else 'is'} worse than blameless"
    without = f"; {unknown} {'have' if unknown > 1 else 'has'} no value" if unknown else ""
    return f"{told}{without}."


def _card(anchor: str, score: Score, judged: Judged, there: Collection[str]) -> ScoreCard:
    dimension = judged.dimension(score.dimension)
    cites = dict(zip(score.holdings, cites_of(anchor, score.holdings, there), strict=True))
    under_causes = {holding for cause in score.causes for holding in cause.holdings}
    return ScoreCard(
        anchor=anchor,
        dimension=score.dimension,
        text=dimension.description if dimension else None,
        state="worse" if score.worse else "none" if score.value is None else "blameless",
        value=figure(score.value),
        scale=scale_of(dimension),
        share=f"avoidable: {percent(score.share)}" if score.share else None,
        reasoning=score.reasoning,
        why=why_none(score),
        cites=tuple(cite for holding, cite in cites.items() if holding not in under_causes),
        causes=tuple(_cause(cause, cites) for cause in score.causes),
    )


def _cause(cause: CauseFound, cites: dict[Holding, Cite]) -> CauseView:
    found = tuple(cites[holding] for holding in cause.holdings if holding in cites)
    return CauseView(cause.cause, share_of_cause(cause), cause.recommendation, found)
