"""The rows of dimensions on a run's page."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from markupsafe import Markup

from adjudge.evidence import Holding
from adjudge.exports.judged import Judged
from adjudge.exports.scores import figure, percent, scale_of, share_of_cause, why_none
from adjudge.judgment import CauseFound, Score
from adjudge.rubric import Dimension
from adjudge.web.addresses import address, of_run
from adjudge.web.text import with_code
from adjudge.web.views.cites import Card, Cite, Way, sign_of_score


class CauseRow(msgspec.Struct, frozen=True):
    """A cause of waste, its share in words, what would prevent it, and the turns that show it."""

    cause: str
    share: str
    recommendation: str
    cites: tuple[Cite, ...]


class DimensionRow(msgspec.Struct, frozen=True):
    """A score. `state` is `worse`, `base`, `demoted` (the gate took its value) or `none`; `scale` is a small drawing.

    `href` is a link to keep: it names the judgment.
    """

    anchor: str
    dimension: str
    description: str | None
    state: str
    value: str
    scale: Markup
    range: str
    share: str | None
    reasoning: Markup
    why: str | None
    fault: str | None
    cites: tuple[Cite, ...]
    causes: tuple[CauseRow, ...]
    review: Markup
    href: Markup


def dimensions_of(judged: Judged, way: Way) -> tuple[DimensionRow, ...]:
    """The scores of a judgment, in the rubric's order."""
    return tuple(_row(number, score, judged, way) for number, score in enumerate(judged.judgment.scores, 1))


def _row(number: int, score: Score, judged: Judged, way: Way) -> DimensionRow:
    dimension = judged.dimension(score.dimension)
    card = Card(f"d{number}", score.dimension, sign_of_score(score), score.holdings)
    cites = dict(zip(score.holdings, way.cites(card), strict=True))
    under_causes = {holding for cause in score.causes for holding in cause.holdings}
    return DimensionRow(
        anchor=card.anchor,
        dimension=score.dimension,
        description=dimension.description if dimension else None,
        state=_state(score),
        value=figure(score.value),
        scale=_scale(score, dimension),
        range=scale_of(dimension),
        share=f"avoidable: {percent(score.share)}" if score.share else None,
        reasoning=with_code(score.reasoning),
        why=why_none(score),
        fault=score.fault,
        cites=tuple(cite for holding, cite in cites.items() if holding not in under_causes),
        causes=tuple(_cause(cause, cites) for cause in score.causes),
        review=address("review", judged.judgment.id, score.dimension, seen="true"),
        href=of_run(judged.run.id, at=card.anchor, judgment=judged.judgment.id),
    )


def _state(score: Score) -> str:
    if score.worse:
        return "worse"
    if score.value is None:
        return "demoted" if score.fault == "evidence_missing" else "none"
    return "base"


def _cause(cause: CauseFound, cites: Mapping[Holding, Cite]) -> CauseRow:
    found = tuple(cites[holding] for holding in cause.holdings if holding in cites)
    return CauseRow(cause.cause, share_of_cause(cause), cause.recommendation, found)


WIDTH, HEIGHT = 62, 12


def _scale(score: Score, dimension: Dimension | None) -> Markup:
    """A cell for each severity, filled up to the value, or a bar for a ratio; hatched where the value was taken away."""
    if score.value is not None:
        return drawn_value(score.value, dimension)
    shape = "demoted" if score.fault == "evidence_missing" else ""
    return _SCALE.format(Markup('<rect class="{}" x=".5" y="1.5" width="61" height="9" rx="1.5"/>').format(shape))


_SCALE = Markup('<svg class="scale" viewBox="0 0 62 12" aria-hidden="true">{}</svg>')


def drawn_value(value: float, dimension: Dimension | None) -> Markup:
    """A value on its scale."""
    if dimension is not None and dimension.scale.whole and dimension.scale.most <= 6:
        return _SCALE.format(_cells(int(value), int(dimension.scale.most - dimension.scale.least)))
    return _SCALE.format(_bar(value, dimension))


def _cells(value: int, most: int) -> Markup:
    step = WIDTH / max(1, most)
    severity = min(3, value)
    cell = Markup('<rect class="{}" x="{:.1f}" y="1.5" width="{:.1f}" height="9" rx="1.5"/>')
    filled = (f"s{severity}" if number < value else "" for number in range(max(1, most)))
    return Markup().join(cell.format(shape, number * step + 0.5, step - 2) for number, shape in enumerate(filled))


def _bar(value: float, dimension: Dimension | None) -> Markup:
    least, most = (dimension.scale.least, dimension.scale.most) if dimension else (0, 1)
    share = min(1, max(0, (value - least) / ((most - least) or 1)))
    frame = Markup('<rect x=".5" y="1.5" width="61" height="9" rx="1.5"/>')
    return frame + Markup('<rect class="ratio" x="1" y="2" width="{:.1f}" height="8" rx="1"/>').format(60 * share)
