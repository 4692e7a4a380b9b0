"""The one thread that lands every write: in order, each whole or not at all, each answered."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeVar

from adjudge.errors import AdjudgeError, OutsideError
from adjudge.store.faults import DiskFailedError

Result = TypeVar("Result")

MOST_TOGETHER = 256
"""Pieces of work that are landed at once."""


class Together(Protocol):
    """Does several pieces of work at once: gives for each its result or its error, in order, or raises for all."""

    def __call__(self, works: Sequence[Any], /) -> Sequence[Any]:
        """Do them."""


class _Item:
    """A piece of work, who does it, and who waits for it."""

    def __init__(self, work: Any, together: Together | None) -> None:
        self.work, self.together, self.future = work, together, Future[Any]()


class Writer:
    """Takes work from any thread and does it in one of its own, which starts with the first.

    A failed disk, or an error that is not adjudge's, stops it: that piece of work and all that follows raise.
    """

    def __init__(self) -> None:
        self._queue: SimpleQueue[_Item | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._stopped: BaseException | None = None

    def land(self, work: Callable[[], Result]) -> Future[Result]:
        """Queue a piece of work; the future has its result once it is on the disk, or the error."""
        return self._queued(_Item(work, None))

    def join(self, work: Any, together: Together) -> Future[Any]:
        """Queue a piece of work that `together` may do along with others that wait beside it."""
        return self._queued(_Item(work, together))

    def close(self) -> None:
        """Land what is queued, then end. Closing twice is closing once."""
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
        if thread is not None:
            self._queue.put(None)
            thread.join()

    def _queued(self, item: _Item) -> Future[Any]:
        with self._lock:
            if self._closed:
                raise RuntimeError("the store is closed")
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="adjudge-writer", daemon=True)
                self._thread.start()
            self._queue.put(item)
        return item.future

    def _work(self) -> None:
        item = self._queue.get()
        while item is not None:
            group, item = self._group(item)
            self._do(group)
            del group  # the work holds a run; the next may be long in coming
            item = item or self._queue.get()

    def _group(self, first: _Item) -> tuple[list[_Item], _Item | None]:
        """What can be done along with the first, and what was taken from the queue beyond that."""
        group = [first]
        while first.together is not None and len(group) < MOST_TOGETHER:
            try:
                item = self._queue.get_nowait()
            except Empty:
                break
            if item is None:
                self._queue.put(None)
                break
            if item.together != first.together:
                return group, item
            group.append(item)
        return group, None

    def _do(self, group: Sequence[_Item]) -> None:
        group = [item for item in group if item.future.set_running_or_notify_cancel()]  # some wait no longer
        if not group:
            return
        try:
            self._require_sound()
            outcomes = self._outcomes(group)
        except BaseException as failure:  # noqa: BLE001  whatever it is, whoever waits must hear of it
            outcomes = [failure] * len(group)
        for item, outcome in zip(group, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                self._note(outcome)
                item.future.set_exception(outcome)
            else:
                item.future.set_result(outcome)

    def _outcomes(self, group: Sequence[_Item]) -> Sequence[Any]:
        first = group[0]
        return [first.work()] if first.together is None else first.together([item.work for item in group])

    def _require_sound(self) -> None:
        if self._stopped is not None:
            raise OutsideError(f"the store takes nothing more since a write failed: {self._stopped}") from self._stopped

    def _note(self, failure: BaseException) -> None:
        if isinstance(failure, DiskFailedError) or not isinstance(failure, AdjudgeError):
            self._stopped = failure
