"""Passes as pages and the API give them: all, one with how it was started, and a plan of one that has not begun."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

import msgspec

from adjudge.errors import OutsideError
from adjudge.judgment import Judge
from adjudge.passes.estimate import described
from adjudge.passes.selection import unmatched
from adjudge.passes.values import Estimate, Sampling, Stratum
from adjudge.rubric import Rubric
from adjudge.settings import Settings
from adjudge.store.pass_rows import PassRow, PassStanding, standing_of
from adjudge.store.store import Store
from adjudge.web.queries.pass_now import PassNow
from adjudge.wiring.inputs import known_rubric
from adjudge.wiring.passes import StartedWith, fingerprint_of, plan, started_with

MOST = 30
"""Passes of one page."""
MOST_STARTS = 300
"""Passes of which it is kept how they were started."""


class ListedPass(msgspec.Struct, frozen=True):
    """A pass in a list, where it stands, and what it was estimated to cost, if that can still be read."""

    row: PassRow
    standing: PassStanding
    estimate: Estimate | None


class PassList(msgspec.Struct, frozen=True):
    """Passes, the latest first. `after` of the next request is `next`; `under_way` is judged by a living process now."""

    passes: tuple[ListedPass, ...]
    next: str | None
    under_way: str | None


class PassFacts(msgspec.Struct, frozen=True):
    """A pass: who judges, how it was started, if that can still be read, and where it stands now."""

    judge: Judge
    started: StartedWith | None
    now: PassNow


class Planned(msgspec.Struct, frozen=True):
    """A pass that has not begun: who would judge how many runs of which strata, and what that may cost.

    `fingerprint` stands for all of it but the cost: what is started with it is this or nothing. `unmatched` are patterns of
    strata that are always judged, of which there is none. `told` says the estimate in a sentence.
    """

    fingerprint: str
    rubric: str
    rubric_hash: str
    judge: Judge
    sampling: Sampling
    again: bool
    selected: int
    strata: tuple[Stratum, ...]
    unmatched: tuple[str, ...]
    estimate: Estimate
    told: str


class KeptStarts:
    """How passes were started, which never changes: whoever watches one does not have it read each time.

    Any thread may use it.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[str, tuple[Judge, StartedWith | None]] = OrderedDict()
        self._lock = Lock()

    def of(self, identifier: str) -> tuple[Judge, StartedWith | None]:
        """Who judges, and how the pass was started. Raises InputError and OutsideError as `Store.run` does."""
        with self._lock:
            if (kept := self._kept.get(identifier)) is not None:
                return kept
        read = _started(self._store, identifier)
        with self._lock:
            self._kept[identifier] = read
            while len(self._kept) > MOST_STARTS:
                self._kept.popitem(last=False)
        return read


def pass_list(store: Store, starts: KeptStarts, after: str | None = None, most: int = MOST) -> PassList:
    """Passes behind the pass `after`, or the latest."""
    rows = store.passes.page(after, most + 1)
    under_way = store.passes.under_way()
    listed = tuple(
        ListedPass(row, standing_of(row.status, row.id, under_way), _estimate(starts, row.id)) for row in rows[:most]
    )
    more = rows[most - 1].id if len(rows) > most else None
    return PassList(listed, more, under_way)


def _estimate(starts: KeptStarts, identifier: str) -> Estimate | None:
    """What it was estimated to cost; of one that is damaged its own page says so, and the list goes on without it."""
    try:
        started = starts.of(identifier)[1]
    except OutsideError:
        return None
    return started.estimate if started else None


def _started(store: Store, identifier: str) -> tuple[Judge, StartedWith | None]:
    stored = store.passes.plan(identifier)
    try:
        return stored.judge, started_with(stored)
    except msgspec.ValidationError:  # another adjudge wrote it otherwise
        return stored.judge, None


def planned(rubric: str, sampling: Sampling, again: bool, settings: Settings, store: Store) -> Planned:
    """What a pass with the rubric of this hash would do with these settings; nothing is asked of a model.

    Raises:
        InputError: there is no such rubric, or the model's name stands for nothing.
    """
    found: Rubric = known_rubric(rubric, store)
    made = plan(found, sampling, settings, store, again)
    return Planned(
        fingerprint=fingerprint_of(made),
        rubric=found.name,
        rubric_hash=found.hash,
        judge=made.judge,
        sampling=sampling,
        again=again,
        selected=len(made.selection.runs),
        strata=made.selection.strata,
        unmatched=unmatched(made.selection, sampling),
        estimate=made.estimate,
        told=described(made.estimate),
    )
