"""What results and comparisons can be had of: passes, and rubrics with all judgments that were made with them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from markupsafe import Markup

from adjudge.store.judged import RubricCount
from adjudge.store.pass_rows import PassRow
from adjudge.untrusted import one_line
from adjudge.web.addresses import address
from adjudge.web.text import counted, money, when

MOST = 100
"""Passes that are listed."""


class PassLine(msgspec.Struct, frozen=True):
    """A pass that can be chosen."""

    href: Markup
    id: str
    rubric: str
    judge: str
    landed: str
    without: str
    sign: str
    status: str
    cost: str
    when: str


class RubricLine(msgspec.Struct, frozen=True):
    """A rubric that can be chosen."""

    href: Markup
    name: str
    hash: str
    judgments: str
    judges: str
    when: str


class Choosing(msgspec.Struct, frozen=True):
    """What there is to choose from; `left_out` older passes are not listed."""

    rubrics: tuple[RubricLine, ...]
    passes: tuple[PassLine, ...]
    left_out: int


def choosing(rubrics: Sequence[RubricCount], passes: Sequence[PassRow], page: str) -> Choosing:
    """The choice for a page, which is `results` or `compare`."""
    return Choosing(
        tuple(_rubric(each, page) for each in rubrics),
        tuple(_pass(each, page) for each in passes[:MOST]),
        max(0, len(passes) - MOST),
    )


def _rubric(each: RubricCount, page: str) -> RubricLine:
    return RubricLine(
        address(page, rubric=each.hash),
        one_line(each.name or "unnamed", 80),
        each.hash[:12],
        f"{each.judgments:,}",
        counted(each.judges, "judge"),
        when(each.latest),
    )


_SIGNS = {"running": "live", "finished": "pass", "stopped": "warn", "provider down": "warn", "budget": "warn"}


def _pass(each: PassRow, page: str) -> PassLine:
    return PassLine(
        address(page, each.id) if page == "results" else address(page, pass_=each.id),
        each.id,
        one_line(each.rubric or "no rubric", 80),
        one_line(f"{each.judge}, {each.model or 'no model'}", 100),
        f"{each.landed:,} of {each.selected:,}",
        f"{each.errored:,} failed, {each.empty:,} empty" if each.errored or each.empty else "",
        _SIGNS.get(each.status, "fail"),
        each.status,
        money(each.cost) + (f" + {each.unpriced:,} not known" if each.unpriced else ""),
        when(each.started),
    )
