"""The page of one pass: where it stands, what it has cost beside its estimate, and what can be done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec
from markupsafe import Markup

from adjudge.judgment import Judge
from adjudge.passes.breaker import IN_A_ROW
from adjudge.passes.estimate import described, rounded
from adjudge.passes.under_way import RunUnderWay
from adjudge.passes.values import Estimate
from adjudge.record import dollars
from adjudge.web.addresses import address, of_run
from adjudge.web.doing.passing import Child, PassEnded
from adjudge.web.queries.pass_now import PassNow
from adjudge.web.queries.passes import PassFacts
from adjudge.web.text import clock, counted, when
from adjudge.web.views.facts import Box
from adjudge.web.views.parts import Notice
from adjudge.web.views.passes import SIGNS, StratumLine, amount, drawn_words, range_of, strata_lines
from adjudge.web.views.planning import AT_ONCE

SEVERAL = 2
"""Failures in a row that are worth a word."""


class UnderWayLine(msgspec.Struct, frozen=True):
    """A run that is being judged, since when, and what its judge is at."""

    run: str
    href: Markup
    follow: Markup
    since: str
    words: str


Doing = Literal["stop", "end", "resume", "retry", "nothing"]


class NowView(msgspec.Struct, frozen=True):
    """What changes while a pass goes on. `doing` is what can be done about it from here."""

    id: str
    live: bool
    sign: str
    standing: str
    sentence: str
    landed: int
    selected: int
    progress: Box
    money: Box
    notices: tuple[Notice, ...]
    judging: tuple[UnderWayLine, ...]
    more: str
    strata: tuple[StratumLine, ...]
    doing: Doing
    results: Markup | None
    at_once: int
    max_cost: str


class PassPage(msgspec.Struct, frozen=True):
    """Everything on the page."""

    id: str
    title: str
    about: tuple[str, ...]
    rubric: str
    rubric_href: Markup | None
    started: Box
    judge: Box
    now: NowView


def pass_page(facts: PassFacts, child: Child | None, ended: PassEnded | None) -> PassPage:
    """The page; `child` is the process of this server that judges it, `ended` how the last one ended."""
    row, started = facts.now.row, facts.started
    drawn = [("drawn", "not known")]
    if started is not None:
        sampling = started.sampling
        words = drawn_words(sampling.quota, sampling.share, sampling.always, sampling.seed, started.again)
        drawn = [("drawn", words), ("estimate", f"{described(started.estimate)}.")]
        drawn += [("limit", f"at most {rounded(started.max_cost)}")] if started.max_cost is not None else []
    return PassPage(
        id=row.id,
        title=f"Pass over {counted(row.selected, 'run')}",
        about=(f"{row.judge} {row.model or ''}".strip(), f"started {when(row.started)} UTC"),
        rubric=row.rubric or "unnamed",
        rubric_href=address("rubrics", row.rubric_hash) if row.rubric_hash else None,
        started=Box("How it was started", tuple(drawn)),
        judge=Box("Who judges", tuple(_judge(facts.judge))),
        now=now_view(facts, child, ended),
    )


def _judge(judge: Judge) -> Iterator[tuple[str, str]]:
    yield "identity", judge.hash[:12]
    yield "prompts", judge.prompt[:12]
    yield "adjudge", judge.version
    for name, value in judge.limits.items():
        if value != "":
            yield name.replace("_", " "), _limit(value)


def _limit(value: float | bool | str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else f"{value:g}"


def now_view(facts: PassFacts, child: Child | None, ended: PassEnded | None) -> NowView:
    """What changes."""
    now, row, started = facts.now, facts.now.row, facts.started
    return NowView(
        id=row.id,
        live=now.under_way,
        sign="live" if now.under_way else SIGNS[now.standing],
        standing="running" if now.under_way else now.standing,
        sentence=_sentence(now),
        landed=row.landed,
        selected=row.selected,
        progress=Box("Judgments", tuple(_progress(now))),
        money=_money(now, started.estimate if started else None, started.max_cost if started else None),
        notices=tuple(_notices(now, child, ended)),
        judging=tuple(_under_way(row.id, each) for each in now.judging),
        more=f"{counted(now.more, 'more run')} under way." if now.more else "",
        strata=strata_lines(started.strata, now.strata) if started else (),
        doing=_doing(now, child),
        results=address("results", row.id) if row.landed else None,
        at_once=AT_ONCE,
        max_cost="" if started is None or started.max_cost is None else f"{started.max_cost:g}",
    )


def _under_way(of_pass: str, each: RunUnderWay) -> UnderWayLine:
    follow = address("api", "passes", of_pass, "runs", each.run, "follow")
    return UnderWayLine(each.run, of_run(each.run), follow, each.since[11:19], each.words)


def _sentence(now: PassNow) -> str:
    done = f"{now.row.landed:,} of {counted(now.row.selected, 'run')} done"
    if now.under_way:
        left = f", about {clock(now.left)} left" if now.left else ""
        return f"{done}{left}."
    why = f": {now.row.reason}" if now.row.reason else ""
    if now.standing == "died":
        return f"{done}. Its process ended without a word, and what had landed is kept."
    return f"{done}{why}."


def _progress(now: PassNow) -> Iterator[tuple[str, str]]:
    yield "with a verdict", f"{now.row.landed - now.row.errored:,}"
    yield "no verdict", f"{now.row.errored:,}"
    for kind, number in now.failures.items():
        yield f"  {kind}", f"{number:,}"
    yield "empty", f"{now.row.empty:,}"
    yield "not judged yet", f"{now.row.selected - now.row.landed:,}"
    if now.under_way:
        yield "rate, last minute", _rate(now.rate)


def _rate(rate: float | None) -> str:
    if rate is None:
        return "not known yet"
    return f"{rate:.1f} a second" if rate >= 1 else f"{rate * 60:.1f} a minute"


def _money(now: PassNow, estimate: Estimate | None, limit: float | None) -> Box:
    facts = [("estimate", range_of(estimate))]
    if estimate is not None and estimate.likely is not None and estimate.most:
        facts.append(_beside(now, estimate))
    facts += [("at most", rounded(limit))] if limit is not None else []
    facts += [("reserved for calls under way", dollars(now.reserved))] if now.reserved else []
    facts += [("lost", f"{dollars(now.row.lost)}, of calls whose end nobody saw")] if now.row.lost else []
    return Box("Cost of judging", tuple(facts), amount(now.row.cost, 0.0, now.row.unpriced, now.row.landed))


def _beside(now: PassNow, estimate: Estimate) -> tuple[str, str]:
    """The true cost beside the estimate, once the pass has come to its end."""
    if now.standing != "finished" or now.under_way:
        return "so far", f"{now.row.landed / now.row.selected if now.row.selected else 0.0:.0%} of the runs are judged"
    spent, least, most = now.row.cost + now.row.lost, estimate.least or 0.0, estimate.most or 0.0
    place = "within" if least <= spent <= most else "below" if spent < least else "above"
    return "came out", f"{place} that range"


def _notices(now: PassNow, child: Child | None, ended: PassEnded | None) -> Iterator[Notice]:
    if now.under_way and child is None:
        yield Notice(
            "none",
            "started elsewhere",
            f"Process {now.pid} on {now.host} judges it, which this server did not start: it neither stops it nor sees "
            "which runs are under way. There, this asks it to end:",
            f"kill {now.pid}",
        )
    if now.under_way and child is not None and child.asked:
        yield Notice("warn", "stopping", "Nothing new is begun; what is under way may land for 30 s.")
    if now.under_way and now.failed_in_a_row >= SEVERAL:
        yield Notice(
            "warn",
            f"{now.failed_in_a_row} failures in a row",
            f"The last {now.failed_in_a_row} judgments failed as they do when a provider is down; after {IN_A_ROW} the "
            "pass ends, and what is there stays.",
        )
    elif now.under_way and now.busy:
        yield Notice("none", "the provider is busy", "Calls were refused as it was busy; fewer are made at a time now.")
    if not now.under_way and now.standing == "died" and ended is not None:
        yield Notice("fail", f"ended with status {ended.status}", "This is what it said last:", ended.words)
    if now.other is not None and now.standing != "finished":
        yield Notice("none", "another is under way", "One pass at a time: this one can be resumed when that has ended.")


def _doing(now: PassNow, child: Child | None) -> Doing:
    if now.under_way:
        return "nothing" if child is None else "end" if child.asked else "stop"
    if now.other is not None:
        return "nothing"
    if now.standing != "finished":
        return "resume"
    return "retry" if now.row.errored else "nothing"
