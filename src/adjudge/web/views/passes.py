"""The pages of passes: all of them, and what a plan and a pass say in the same words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

import msgspec
from markupsafe import Markup

from adjudge.passes.estimate import rounded
from adjudge.passes.values import Estimate, Stratum
from adjudge.store.pass_rows import PassRow, PassStanding
from adjudge.web.addresses import address
from adjudge.web.queries.pass_now import StratumNow
from adjudge.web.queries.passes import ListedPass, PassList
from adjudge.web.text import counted, money, when

SIGNS: Mapping[PassStanding, str] = {
    "running": "live",
    "finished": "pass",
    "stopped": "warn",
    "provider down": "warn",
    "budget": "warn",
    "failed": "fail",
    "died": "fail",
}


class PassLine(msgspec.Struct, frozen=True):
    """A pass in the list."""

    id: str
    href: Markup
    rubric: str
    judge: str
    model: str
    sign: str
    standing: str
    landed: str
    errored: str
    empty: str
    cost: str
    estimate: str
    results: Markup | None
    started: str


class PassesPage(msgspec.Struct, frozen=True):
    """Everything on the page of all passes. `first` is true if there is none at all."""

    sentence: str
    lines: tuple[PassLine, ...]
    first: bool
    more: Markup | None
    back: Markup | None


class StratumLine(msgspec.Struct, frozen=True):
    """A stratum in a table; the last two columns are empty of a plan."""

    harness: str
    outcome: str
    candidates: str
    unrecorded: str
    judged: str
    selected: str
    landed: str = ""
    errored: str = ""


def passes_page(listed: PassList, later: bool) -> PassesPage:
    """The page of a list; `later` says that something stands before it."""
    return PassesPage(
        sentence=_sentence(listed),
        lines=tuple(map(_line, listed.passes)),
        first=not listed.passes and not later,
        more=address("passes", after=listed.next) if listed.next else None,
        back=address("passes") if later else None,
    )


def _sentence(listed: PassList) -> str:
    if listed.under_way is None:
        return "Many runs judged with one rubric by one judge. None is under way."
    return "Many runs judged with one rubric by one judge. One at a time; one is under way now."


def _line(listed: ListedPass) -> PassLine:
    row = listed.row
    return PassLine(
        id=row.id,
        href=address("passes", row.id),
        rubric=row.rubric or "unnamed",
        judge=row.judge,
        model=row.model or "",
        sign=SIGNS[listed.standing],
        standing=listed.standing,
        landed=f"{row.landed - row.errored:,} of {row.selected:,}",
        errored=f"{row.errored:,}" if row.errored else "",
        empty=f"{row.empty:,}" if row.empty else "",
        cost=cost_of(row),
        estimate=range_of(listed.estimate),
        results=address("results", row.id) if row.landed else None,
        started=when(row.started, str(datetime.now(UTC).year)),
    )


def cost_of(row: PassRow) -> str:
    """What judging has cost, as far as it is known."""
    return amount(row.cost, row.lost, row.unpriced, row.landed)


def amount(cost: float, lost: float, unpriced: int, landed: int) -> str:
    """US dollars, with what was lost and what is not known."""
    if landed and unpriced == landed and not lost:
        return "not known"
    unknown = f" and {unpriced:,} not known" if unpriced else ""
    return f"{money(cost)}{unknown}" + (f" + {money(lost)} lost" if lost else "")


def range_of(estimate: Estimate | None) -> str:
    """The range of an estimate, in few words."""
    if estimate is None or estimate.least is None or estimate.most is None:
        return "not known"
    return "$0" if estimate.most == 0 else f"{rounded(estimate.least)} to {rounded(estimate.most)}"


def strata_lines(strata: Sequence[Stratum], now: Sequence[StratumNow] = ()) -> tuple[StratumLine, ...]:
    """A line for each stratum, and their sums if there are several; `now` is what has come of each."""
    come = {(each.harness, each.outcome): each for each in now}
    lines = [_stratum(each, come.get((each.harness, each.outcome)), bool(now)) for each in strata]
    return (*lines, *([_sum(strata, now)] if len(strata) > 1 else []))


def _stratum(each: Stratum, come: StratumNow | None, told: bool) -> StratumLine:
    landed, errored = (come.landed, come.errored) if come else (0, 0)
    numbers = (each.candidates, each.unrecorded, each.judged, each.selected)
    return StratumLine(each.harness, each.outcome, *map("{:,}".format, numbers), *_come(landed, errored, told))


def _sum(strata: Sequence[Stratum], now: Sequence[StratumNow]) -> StratumLine:
    numbers = [sum(getattr(each, name) for each in strata) for name in ("candidates", "unrecorded", "judged", "selected")]
    landed, errored = sum(each.landed for each in now), sum(each.errored for each in now)
    return StratumLine("all", "", *map("{:,}".format, numbers), *_come(landed, errored, bool(now)))


def _come(landed: int, errored: int, told: bool) -> Iterator[str]:
    if told:
        yield f"{landed:,}"
        yield f"{errored:,}"


def drawn_words(quota: int | None, share: float | None, always: Sequence[str], seed: int, again: bool) -> str:
    """How runs are drawn, in a sentence."""
    if quota is not None:
        what = f"{counted(quota, 'run')} of each stratum"
    else:
        what = f"{share * 100:g} % of each stratum" if share is not None else "all runs of each stratum"
    kept = f"; whole: {', '.join(always)}" if always else ""
    return f"{what}{kept}; seed {seed}" + ("; again what was judged before" if again else "")
