"""What a run's model calls consumed, turn by turn. `None` means that the recording does not tell; it never means zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from adjudge.record import Record, Turn, Usage

Number = TypeVar("Number", int, float)


class Quantiles(msgspec.Struct, frozen=True):
    """The values that 50, 75, 90 and 95 in a hundred do not pass, by nearest rank."""

    p50: int
    p75: int
    p90: int
    p95: int


class Spend(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one turn consumed: tokens sent, of them from a cache, tokens received, US dollars."""

    turn: int
    prompt: int | None = None
    cached: int | None = None
    output: int | None = None
    cost: float | None = None


class Ledger(msgspec.Struct, frozen=True):
    """What the turns of a record consumed.

    `prompts` are the quantiles of a turn's prompt, over the `told` turns whose prompt is known. `cached_share` is the part
    of all tokens sent that came from a cache, over turns that tell both. The totals are sums over the turns, or else what
    the harness itself states.
    """

    by_turn: tuple[Spend, ...]
    told: int
    prompts: Quantiles | None
    prompt: int | None
    cached: int | None
    cached_share: float | None
    output: int | None
    cost: float | None


def ledger_of(record: Record) -> Ledger:
    """The ledger of a record, its sub-agents left out."""
    spends = tuple(map(_spend, record.turns))
    stated = record.reported or Usage()
    prompts = sorted(spend.prompt for spend in spends if spend.prompt is not None)
    return Ledger(
        by_turn=spends,
        told=len(prompts),
        prompts=quantiles(prompts),
        prompt=_total(spends, lambda spend: spend.prompt, stated.prompt),
        cached=_total(spends, lambda spend: spend.cached, stated.cached),
        cached_share=_cached_share(spends, stated),
        output=_total(spends, lambda spend: spend.output, stated.output),
        cost=_total(spends, lambda spend: spend.cost, stated.cost),
    )


def _spend(turn: Turn) -> Spend:
    used = turn.usage or Usage()
    return Spend(turn.number, used.prompt, used.cached, used.output, used.cost)


def quantiles(ordered: Sequence[int]) -> Quantiles | None:
    """The quantiles of sorted values, `None` if there are none."""
    if not ordered:
        return None
    return Quantiles(*(ordered[-(-percent * len(ordered) // 100) - 1] for percent in (50, 75, 90, 95)))


def _total(spends: Sequence[Spend], part: Callable[[Spend], Number | None], stated: Number | None) -> Number | None:
    known = [value for spend in spends if (value := part(spend)) is not None]
    return sum(known[1:], known[0]) if known else stated


def _cached_share(spends: Sequence[Spend], stated: Usage) -> float | None:
    both = [(each.cached, each.prompt) for each in spends if each.cached is not None and each.prompt is not None]
    if not both and stated.cached is not None and stated.prompt is not None:
        both = [(stated.cached, stated.prompt)]
    sent = sum(prompt for _, prompt in both)
    return sum(cached for cached, _ in both) / sent if sent else None
