"""Figures over many judgments, kept until what they are made from changes: results, comparisons, agreement."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYetError
from threading import Lock
from typing import Any, TypeVar, cast

import msgspec

from adjudge.passes.comparing import AgentComparison, compare_observed
from adjudge.passes.detail import DetailedResults
from adjudge.passes.observing import Observed
from adjudge.passes.pairing import Wanted
from adjudge.passes.results import By
from adjudge.reviews.figures import Trust
from adjudge.store.judged import Scope, state_of
from adjudge.store.review_counts import counts_of_store
from adjudge.store.store import Store
from adjudge.wiring.results import observe, pass_in_detail, rubric_in_detail
from adjudge.wiring.reviews import trust

MOST = 40
"""Results, comparisons and figures of agreement that are kept, those asked for longest ago forgotten first."""
PATIENCE = 0.25
"""Seconds that a page which shows figures beside something else waits for them."""
SHARE = 20
"""While judgments land one after the other, agreement is counted anew for at most one part in so many of the time."""


Value = TypeVar("Value")


class _Kept(msgspec.Struct):
    """A value, the state of the store that it was made from, when it was made and how many seconds that took."""

    value: Any
    state: Any
    made: float
    took: float


def _is_same(kept: _Kept, state: Any) -> bool:
    """Whether nothing has changed since."""
    return bool(kept.state == state)


def _is_young(kept: _Kept, state: tuple[int, int]) -> bool:
    """Whether nothing has changed since, or nobody reviewed anything and it was counted a moment ago."""
    young = time.monotonic() - kept.made < SHARE * kept.took
    return kept.state == state or (young and bool(kept.state[0] == state[0]))


class KeptFigures:
    """Figures of a store. Any thread may ask; each figure is counted by one thread at a time, and kept."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._lock, self._making = Lock(), Lock()
        self._counting: dict[Hashable, Future[Trust]] = {}
        self._counter = ThreadPoolExecutor(1, "agreement")

    def close(self) -> None:
        """Begin nothing more."""
        self._counter.shutdown(wait=False, cancel_futures=True)

    def of_pass(self, identifier: str, by: Sequence[By]) -> DetailedResults:
        """Results of a pass. Raises InputError and OutsideError as `pass_in_detail`."""
        row = self._store.passes.row(identifier)
        return self._get(("pass", identifier, *by), row, lambda: pass_in_detail(self._store, identifier, by))

    def of_rubric(self, rubric: str, judge: str | None, by: Sequence[By]) -> DetailedResults:
        """Results of all judgments with a rubric. Raises InputError and OutsideError as `rubric_in_detail`."""
        state = state_of(self._store, Scope(rubric=rubric, judge=judge))
        return self._get(("rubric", rubric, judge, *by), state, lambda: rubric_in_detail(self._store, rubric, judge, by))

    def observed(self, scope: Scope, across_judges: bool) -> Observed:
        """What agents are compared by. Raises InputError and OutsideError as `observe`."""
        key = ("observed", scope, across_judges)
        return self._get(key, state_of(self._store, scope), lambda: observe(self._store, scope, across_judges))

    def compared(self, scope: Scope, across_judges: bool, wanted: Wanted) -> AgentComparison:
        """Agents compared. Raises InputError and OutsideError as `wiring.results.compare`."""
        observed = self.observed(scope, across_judges)
        key, state = ("compared", scope, across_judges, wanted), state_of(self._store, scope)
        return self._get(key, state, lambda: compare_observed(observed.rubric, observed.judges, observed.seen, wanted))

    def trust(self, rubric: str, judge: str | None) -> Trust:
        """How far a judge can be trusted with a rubric. Raises OutsideError as `wiring.reviews.trust`."""
        state, key = counts_of_store(self._store), ("trust", rubric, judge)
        return self._get(key, state, lambda: trust(self._store, rubric, judge), _is_young)

    def trust_soon(self, rubric: str, judge: str | None) -> Trust | None:
        """The same, without waiting for it: where that takes a while, as it was before, or `None` if it never was."""
        key = ("trust", rubric, judge)
        with self._lock:
            kept = self._kept.get(key)
            if key not in self._counting or self._counting[key].done():
                self._counting[key] = self._counter.submit(self.trust, rubric, judge)
            counting = self._counting[key]
        try:
            return counting.result(PATIENCE)
        except NotYetError:
            return None if kept is None else cast("Trust", kept.value)

    def _get(
        self,
        key: Hashable,
        state: Any,
        make: Callable[[], Value],
        is_fresh: Callable[[_Kept, Any], bool] = _is_same,
    ) -> Value:
        if (kept := self._found(key)) is None or not is_fresh(kept, state):
            with self._making:
                kept = self._found(key)
                if kept is None or not is_fresh(kept, state):
                    kept = self._make(key, state, make)
        return cast("Value", kept.value)

    def _found(self, key: Hashable) -> _Kept | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def _make(self, key: Hashable, state: Any, make: Callable[[], object]) -> _Kept:
        began = time.monotonic()
        value = make()
        kept = _Kept(value, state, time.monotonic(), time.monotonic() - began)
        with self._lock:
            self._kept[key] = kept
            while len(self._kept) > MOST:
                self._counting.pop(self._kept.popitem(last=False)[0], None)
        return kept
