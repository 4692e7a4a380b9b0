"""Where a pass stands at a moment, from the store's rows: whoever judges it, and wherever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import takewhile

import msgspec

from adjudge.passes.breaker import DOWN
from adjudge.passes.results import outcome_of
from adjudge.passes.under_way import Answer, RunUnderWay
from adjudge.store.pass_counts import Landed, PassCounts, RunsAlike
from adjudge.store.pass_rows import PassRow, PassStanding, standing_of
from adjudge.store.store import Store

LATELY = timedelta(seconds=60)
"""The time from which the rate is counted."""


class StratumNow(msgspec.Struct, frozen=True):
    """Of one stratum: the runs that the pass takes, those that have a judgment, and those of them without a verdict."""

    harness: str
    outcome: str
    selected: int
    landed: int
    errored: int


class PassNow(msgspec.Struct, frozen=True):
    """Where a pass stands: its row, and what else tells of it.

    `under_way` says that a living process judges it, which is `pid` on `host`; `other` is what such a process judges
    instead. `failures` counts what brought no verdict by kind. `reserved`, in US dollars, is for calls under way. `rate` is
    in judgments a second and `left` in seconds, `None` where nothing tells. Of the last judgments `failed_in_a_row` failed
    in a way that a provider which is down brings, and `busy` were refused as it was busy. `judging` are runs that are being
    judged and `more` is how many there are beside them, as far as the process is one that this server started.
    """

    row: PassRow
    standing: PassStanding
    under_way: bool
    failures: dict[str, int]
    reserved: float
    rate: float | None
    left: float | None
    failed_in_a_row: int
    busy: int
    strata: tuple[StratumNow, ...]
    pid: int | None = None
    host: str | None = None
    other: str | None = None
    judging: tuple[RunUnderWay, ...] = ()
    more: int = 0


def pass_now(store: Store, identifier: str, clock: datetime | None = None) -> PassNow:
    """Where a pass stands now. Raises InputError if there is none."""
    now = clock or datetime.now(UTC)
    holder = store.passes.holder()
    counts = store.passes.counted(identifier, (now - LATELY).isoformat(timespec="microseconds"))
    row, under_way = counts.row, holder is not None and holder.what == identifier
    rate = _rate(counts, now) if under_way else None
    return PassNow(
        row=row,
        standing=standing_of(row.status, identifier, holder.what if holder else None),
        under_way=under_way,
        failures=_failures(counts.runs),
        reserved=counts.reserved,
        rate=rate,
        left=(row.selected - row.landed) / rate if rate else None,
        failed_in_a_row=_failed_in_a_row(counts.latest),
        busy=sum(each.failure == "busy" for each in counts.latest),
        strata=_strata(counts.runs),
        pid=holder.pid if holder and under_way else None,
        host=holder.host if holder and under_way else None,
        other=holder.what if holder and not under_way else None,
    )


def with_judging(now: PassNow, answer: Answer | None) -> PassNow:
    """The same with what the process that judges it answered."""
    if answer is None or not now.under_way:
        return now
    return msgspec.structs.replace(now, judging=answer.runs, more=answer.more)


def _rate(counts: PassCounts, now: datetime) -> float | None:
    """Judgments a second since the first of those that landed lately; one tells nothing."""
    if counts.recent < 2 or counts.first is None:
        return None
    seconds = (now - datetime.fromisoformat(counts.first)).total_seconds()
    return float(f"{(counts.recent - 1) / max(seconds, 0.001):.3g}")


def _failures(runs: Sequence[RunsAlike]) -> dict[str, int]:
    found = Counter[str]()
    for each in runs:
        if each.status == "errored":
            found[each.failure or "machine"] += each.number
    return dict(sorted(found.items()))


def _failed_in_a_row(latest: Sequence[Landed]) -> int:
    return sum(1 for _ in takewhile(lambda each: each.failure in DOWN, latest))


def _strata(runs: Sequence[RunsAlike]) -> tuple[StratumNow, ...]:
    counted: dict[tuple[str, str], list[int]] = {}
    for each in runs:
        numbers = counted.setdefault((each.agent or "unknown", outcome_of(each.outcome)), [0, 0, 0])
        for place, is_so in enumerate((True, each.status is not None, each.status == "errored")):
            numbers[place] += each.number * is_so
    return tuple(StratumNow(*key, *numbers) for key, numbers in sorted(counted.items()))
