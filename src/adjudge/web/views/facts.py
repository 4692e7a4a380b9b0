"""Figures of a run and of its judging: what each cost, and what the judges did not see."""

from __future__ import annotations

import msgspec

from adjudge.exports.scores import RUNGS
from adjudge.judgment import Judgment, Omitted, Prepared
from adjudge.record import Usage
from adjudge.web.queries.judged import JudgedRun
from adjudge.web.queries.kept import OpenRun
from adjudge.web.text import clock, counted, money, size

Facts = tuple[tuple[str, str], ...]


class Box(msgspec.Struct, frozen=True):
    """Some facts under a heading; `total` is the figure beside it, `tags` the names of those to look at twice."""

    heading: str
    facts: Facts
    total: str | None = None
    tags: tuple[str, ...] = ()


def usage_of_run(opened: OpenRun) -> Usage:
    """What the run consumed, with the cost that was stored with it, else the recording's own."""
    cost = opened.run.cost
    return opened.usage if cost is None else msgspec.structs.replace(opened.usage, cost=cost)


def cost_of_run(opened: OpenRun) -> Box:
    """What the run consumed."""
    usage, run = usage_of_run(opened), opened.run
    new = None if usage.prompt is None else usage.prompt - (usage.cached or 0)
    facts = (("in, new", _count(new)), ("in, cached", _count(usage.cached)), ("out", _count(usage.output)))
    return Box("The run", (*facts, ("time", clock(run.seconds) or "not known")), money(usage.cost))


def cost_of_judging(judged: JudgedRun) -> Box:
    """What all judgments of the run cost; those that are shown in detail."""
    costs = [row.cost for row in judged.rows if row.cost is not None]
    shown = [each.judgment for each in (judged.evaluation, judged.reading) if each]
    facts = [(judgment.judge.kind, _judging(judgment)) for judgment in shown]
    others = len(judged.rows) - len(shown)
    more = [("others", counted(others, "more judgment"))] if others else []
    return Box("The judging", (*facts, *more), money(sum(costs)) if costs else "nothing" if not shown else money(None))


def _judging(judgment: Judgment) -> str:
    usage = judgment.usage()
    cached = f", {usage.cached / usage.prompt:.0%} cached" if usage.cached and usage.prompt else ""
    calls = counted(len(judgment.calls), "call")
    return f"{money(usage.cost, 'cost not known')}, {calls}{cached}" if judgment.calls else "no model was asked"


def _count(number: int | None) -> str:
    return "not known" if number is None else counted(number, "token")


# --- what the judges did not see


def unseen(judged: JudgedRun) -> tuple[Box, ...]:
    """What was kept from each judge, or done to what it was given."""
    boxes = []
    if judged.evaluation and judged.evaluation.judgment.judge.kind == "evaluator":
        boxes.append(_of_evaluator(judged.evaluation.judgment))
    if judged.reading and judged.reading.judgment.prepared:
        boxes.append(_of_reader(judged.reading.judgment, judged.reading.judgment.prepared))
    return tuple(boxes)


def _of_evaluator(judgment: Judgment) -> Box:
    most = judgment.judge.limits.get("looks")
    looks = f"{len(judgment.looks)} of {most}" if isinstance(most, int) else str(len(judgment.looks))
    decided = {"forced": "forced, when its looks were over", "probes": "by probes alone"}
    facts = [
        ("record", "whole, opened on demand"),
        ("credentials masked", f"{judgment.masked:,}"),
        ("looks", looks),
        ("decided", decided.get(judgment.decided or "", judgment.decided or "not")),
        ("time", clock(judgment.seconds)),
    ]
    return Box("Evaluator", tuple(facts), tags=("credentials masked",) if judgment.masked else ())


def _of_reader(judgment: Judgment, prepared: Prepared) -> Box:
    omitted = {
        name: getattr(prepared, name) for name in ("tool_output_pruned", "events_elided", "input_truncated", "boilerplate")
    }
    mode = prepared.mode if prepared.asked == prepared.mode else f"{prepared.mode} ({prepared.asked} was asked for)"
    facts = [
        ("prune mode", mode),
        *((name, _omitted(value)) for name, value in omitted.items()),
        ("credentials masked", f"{judgment.masked:,}"),
        ("answer", RUNGS.get(judgment.decided or "", "not")),
        ("shown", f"{prepared.characters:,} characters, about {prepared.tokens:,} tokens"),
        ("time", clock(judgment.seconds)),
    ]
    tags = [name for name, value in omitted.items() if value.pieces and name != "boilerplate"]
    return Box("Reader", tuple(facts), tags=(*tags, *(["credentials masked"] if judgment.masked else [])))


def _omitted(omitted: Omitted) -> str:
    if not omitted.pieces:
        return "none"
    return f"{counted(omitted.pieces, 'piece')}, {size(omitted.characters)}"


def machine_of(judgment: Judgment) -> Facts:
    """What is known of the machine on which an evaluator looked."""
    return tuple((name, _said(value)) for name, value in judgment.machine.items())


def _said(value: str | float | bool | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "not known" if value is None else str(value)
