"""What a pass may cost, before it starts: from what earlier judgments consumed, or from inputs that were prepared for it.

The range is a prediction interval for the mean of all judgments of the pass. Costs lie far apart and to one side: most runs
are short, a few are very long. So it is a ratio, the mean divided and multiplied by one factor, from Student's t. A few
judgments tell little of how far others lie apart, so a prior counts like four of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from statistics import NormalDist, fmean

import msgspec

from adjudge.judges.reader.cascade import MOST_CALLS
from adjudge.passes.values import Estimate
from adjudge.record import Usage

Price = Callable[[Usage], float | None]

SPREAD, SPREAD_WEIGHT = 1.2, 4
"""The prior: costs lie apart by so much of their mean, and that counts like so many judgments.

The inputs prepared for a reader from 97 recorded trajectories have a standard deviation of 1.2 means. In simulated passes
of 10 and 1,000 judgments, after 1 to 100 earlier ones, drawn from those inputs or from log-normal costs with a deviation of
0.5 or 1, at least 86 of 100 ended within the range, and mostly 92 to 100.
"""

FURTHEST = 5.0
"""The logarithm of the largest factor; the range then says that nothing is known."""

USUAL_ANSWER = 2_000
"""Tokens of an answer where none was measured; a recorded reading of nine dimensions has 1,626."""

UNSEEN = 3
"""What none of m judgments did, up to 3/m of others may do (the rule of three, at 95 %)."""


class PreparedInput(msgspec.Struct, frozen=True):
    """A run's input as a reader would get it, in estimated tokens, and the longest answer that one call may have."""

    tokens: int
    longest: int


def estimate_from_rows(judgments: int, rows: Sequence[Usage], price: Price, longest: int | None = None) -> Estimate:
    """The estimate from what each earlier judgment consumed in all its calls, in the same prune mode.

    A reader's longest answer, in tokens, makes `most` cover that some judgments take every call of the cascade with such
    answers, though no earlier one did. Judgments that made no call are left aside, and, where some have a price, those
    without. Of no rows nothing is told: what an evaluator will look at cannot be known from the run.
    """
    counted = [(row.prompt, row.cost or price(row)) for row in rows if row.prompt]  # a cost of 0 is not "free"
    priced = [(tokens, cost) for tokens, cost in counted if cost is not None]
    tokens = fmean(tokens for tokens, _ in priced or counted) if counted else None
    if tokens is None or not priced:
        return Estimate(judgments, "rows", len(counted), tokens, None, None, None, _has_prices(price))
    costs = [cost for _, cost in priced]
    # The earlier judgments are a sample, and those to come are another.
    factor = _factor(costs, 1 / len(costs) + 1 / max(1, judgments))
    mean = fmean(costs)
    most = mean * factor
    if longest is not None:
        worst = _worst(PreparedInput(math.ceil(tokens), longest), price) or 0.0
        most += max(0.0, worst - most) * min(1, UNSEEN / len(costs))
    return Estimate(
        judgments, "rows", len(costs), tokens, judgments * mean / factor, judgments * mean, judgments * most, priced=True
    )


def free(judgments: int) -> Estimate:
    """The estimate for judgments that ask no model."""
    return Estimate(judgments, "rows", 0, 0.0, 0.0, 0.0, 0.0, priced=True)


def estimate_from_inputs(judgments: int, inputs: Sequence[PreparedInput], price: Price, error: float = 0.0) -> Estimate:
    """The estimate from the inputs prepared for some or all of the very runs that a reader will get.

    `likely` is one call each with an answer of usual length, `least` one with next to none, `most` every call of the
    cascade with the longest answers, as nothing was seen that speaks against it. `error` is how far off, as a share,
    estimates of tokens are.
    """
    tokens = fmean(each.tokens for each in inputs) if inputs else None
    if tokens is None or not _has_prices(price):
        return Estimate(judgments, "prepared", len(inputs), tokens, None, None, None, _has_prices(price))
    # Where all are prepared, nothing is left to chance but the tokens.
    factor = _factor([each.tokens for each in inputs], max(0.0, 1 / len(inputs) - 1 / max(1, judgments))) * (1 + error)
    least, likely, most = (
        judgments * fmean(amounts)
        for amounts in (
            [price(Usage(prompt=each.tokens, output=0)) or 0.0 for each in inputs],
            [price(Usage(prompt=each.tokens, output=min(each.longest, USUAL_ANSWER))) or 0.0 for each in inputs],
            [_worst(each, price) or 0.0 for each in inputs],
        )
    )
    return Estimate(judgments, "prepared", len(inputs), tokens, least / factor, likely, most * factor, priced=True)


def _has_prices(price: Price) -> bool:
    return price(Usage(prompt=1, output=1)) is not None


def _worst(each: PreparedInput, price: Price) -> float | None:
    """One judgment that takes every call of the cascade, each with the longest answer."""
    one = price(Usage(prompt=each.tokens, output=each.longest))
    return None if one is None else one * MOST_CALLS


def _factor(values: Sequence[float], variance: float) -> float:
    """How far the mean to come may lie from this mean, as a ratio; `variance` is its variance in those of one value."""
    mean = fmean(values)
    squares = sum((value / mean - 1) ** 2 for value in values) if mean else 0.0
    freedom = len(values) - 1 + SPREAD_WEIGHT
    spread = math.sqrt((squares + SPREAD_WEIGHT * SPREAD**2) / freedom)
    return math.exp(min(FURTHEST, student_t(freedom) * spread * math.sqrt(variance)))


def student_t(freedom: int) -> float:
    """The bound of Student's t for 95 %, two-sided, within 0.3 % from 4 degrees of freedom on.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5.
    """
    z = NormalDist().inv_cdf(0.975)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / float(freedom) ** power for power, term in enumerate(terms, start=1))


def described(estimate: Estimate) -> str:
    """The estimate in one line for people: the amount, its range and what it rests on."""
    judgments = _counted(estimate.judgments, "judgment")
    if not estimate.judgments:
        return "nothing is left to be judged, which costs nothing"
    if estimate.tokens_in is None:
        return f"nothing tells yet what {judgments} will cost; --max-cost sets a limit"
    if estimate.least is None or estimate.likely is None or estimate.most is None:
        tokens = round(estimate.tokens_in * estimate.judgments)
        return f"no price is known for the model; about {tokens:,} tokens in for {judgments}, from {_ground(estimate)}"
    if estimate.most == 0:
        return f"$0 for {judgments}: " + ("the model costs nothing" if estimate.tokens_in else "no model is asked")
    least, likely, most = map(rounded, (estimate.least, estimate.likely, estimate.most))
    return f"about {likely} ({least} to {most}) for {judgments}, from {_ground(estimate)}"


def _ground(estimate: Estimate) -> str:
    tokens = f"{round(estimate.tokens_in or 0):,} tokens in"
    if estimate.ground == "rows":
        if estimate.sampled == 1:
            return f"a single earlier judgment ({tokens}), which tells little"
        return f"the mean of {estimate.sampled:,} earlier judgments ({tokens} each)"
    runs = _counted(estimate.sampled, "run")
    return f"the prepared input of {runs} (mean {tokens}); the most is {MOST_CALLS} calls each with the longest answers"


def _counted(number: int, one: str) -> str:
    return f"{number:,} {one if number == 1 else one + 's'}"


def rounded(amount: float) -> str:
    """An amount in US dollars with as few digits as an estimate deserves: two below a dollar, no cents from 100 on."""
    if amount < 0.995:
        return f"${Decimal(f'{amount:.1e}'):f}" if amount else "$0"
    return f"${amount:,.2f}" if amount < 99.995 else f"${amount:,.0f}"
