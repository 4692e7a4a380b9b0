"""Small drawings of figures, as SVG of a fixed size that the page stretches; each stands beside the same in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil

from markupsafe import Markup

from adjudge.passes.results import CriterionResult, DimensionResult
from adjudge.rubric import Dimension

Part = tuple[str, int]
"""The kind of a part of a bar, which is a class of the style sheet, and how many it stands for."""

WIDTH, HEIGHT = 100, 12
GAP = 0.4
"""Between two parts of a bar."""
CAUSES = ("agent", "none", "evidence", "unproven", "skipped", "environment")
"""Why a criterion fails, in the order in which a bar shows it; `none` is a probe's fail."""


def bar(parts: Iterable[Part]) -> Markup:
    """One bar, whose parts are as wide as what they stand for."""
    there = [(kind, count) for kind, count in parts if count]
    total = sum(count for _, count in there)
    room = WIDTH - GAP * max(0, len(there) - 1)
    shapes, x = Markup(), 0.0
    for kind, count in there:
        width = room * count / total
        shapes += _rect(kind, x, width)
        x += width + GAP
    return _frame("dist", shapes or _rect("nothing", 0, WIDTH))


def bar_of_criterion(found: CriterionResult, errored: int) -> Markup:
    """Passes, then fails by their cause, then judgments without an answer."""
    causes = [(f"c-{cause}", found.causes.get(cause, 0)) for cause in CAUSES]
    return bar((("pass", found.passed), *causes, ("errored", errored)))


def bar_of_dimension(found: DimensionResult, dimension: Dimension, errored: int) -> Markup:
    """Values from blameless to worst, then what lost its value, what has none, and judgments without an answer.

    Values of a scale that is not of few whole numbers are drawn as their middle half with the median.
    """
    if not (dimension.scale.whole and dimension.scale.most - dimension.scale.least <= 6):
        return middle_half(found, dimension)
    shades = [0, 0, 0, 0]
    for value, count in found.values:
        shades[shade_of(value, dimension)] += count
    shades[1] += found.scored - sum(count for _, count in found.values)  # a share of waste without a value
    none = found.missing_reasoning + found.unanswered + found.not_established
    scored = [(f"s{shade}", count) for shade, count in enumerate(shades)]
    return bar((*scored, ("demoted", found.evidence_missing), ("hollow", none), ("errored", errored)))


def shade_of(value: float, dimension: Dimension) -> int:
    """How dark a value is, from 0 for blameless to 3 for the worst of the scale."""
    if not dimension.accuses(value):
        return 0
    worst = dimension.scale.most if dimension.worse == "higher" else dimension.scale.least
    return min(3, max(1, ceil(3 * abs(value - dimension.baseline) / (abs(worst - dimension.baseline) or 1))))


def middle_half(found: DimensionResult, dimension: Dimension) -> Markup:
    """The middle half of the values on their scale, and the median."""
    line = Markup('<rect class="line" y="5.5" width="100" height="1"/>')
    if not found.values:
        return _frame("dist", line)
    low, middle, high = (_place(value, dimension) for value in quartiles(found.values))
    half = _rect("half", low, max(high - low, 0.6))
    return _frame("dist", line + half + _rect("median", min(middle, 99.2), 0.8))


def quartiles(values: Sequence[tuple[float, int]]) -> tuple[float, float, float]:
    """The values that a quarter, half and three quarters of all do not exceed; `values` are counted and in order."""
    total = sum(count for _, count in values)
    return tuple(_reaching(values, total * share) for share in (0.25, 0.5, 0.75))  # type: ignore[return-value]  # three


def _reaching(values: Sequence[tuple[float, int]], wanted: float) -> float:
    passed = 0
    for value, count in values:
        passed += count
        if passed >= wanted:
            return value
    return values[-1][0]


def _place(value: float, dimension: Dimension) -> float:
    scale = dimension.scale
    return WIDTH * (value - scale.least) / ((scale.most - scale.least) or 1)


def share_bar(share: float, accuses: bool) -> Markup:
    """A share of 1 as a bar on its ground; one that `accuses` is of what is worse than blameless."""
    return _frame("share", _rect("ground", 0, WIDTH) + _rect("accused" if accuses else "filled", 0, WIDTH * share))


def interval_bar(value: float, low: float | None, high: float | None, reach: float, apart: bool) -> Markup:
    """A difference with its interval around zero; `reach` is what either end of the drawing stands for.

    One that is `apart` from zero is drawn so.
    """
    shape = " apart" if apart else ""
    parts = Markup('<path class="zero" d="M100 0V20"/>')
    if low is not None and high is not None:
        parts += Markup('<path class="range{}" d="M{:.1f} 10H{:.1f}"/>').format(shape, _x(low, reach), _x(high, reach))
    parts += Markup('<rect class="point{}" x="{:.1f}" y="6" width="4" height="8"/>').format(shape, _x(value, reach) - 2)
    return Markup('<svg class="ci" viewBox="0 0 200 20" preserveAspectRatio="none" aria-hidden="true">{}</svg>').format(
        parts
    )


def _x(value: float, reach: float) -> float:
    return 100 + 100 * max(-1.0, min(1.0, value / reach))


def _rect(kind: str, x: float, width: float) -> Markup:
    return Markup('<rect class="{}" x="{:.2f}" y="0" width="{:.2f}" height="12"/>').format(kind, x, width)


def _frame(kind: str, shapes: Markup) -> Markup:
    frame = Markup('<svg class="{}" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">{}</svg>')
    return frame.format(kind, shapes)
