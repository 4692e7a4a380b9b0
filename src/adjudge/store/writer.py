"""The one thread that lands every write: in order, each whole or not at all, each answered."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

from adjudge.errors import AdjudgeError, OutsideError
from adjudge.store.faults import DiskFailedError

Result = TypeVar("Result")


class Writer:
    """Takes work from any thread and does it in one of its own, which starts with the first.

    A failed disk, or an error that is not adjudge's, stops it: that piece of work and all that follows raise.
    """

    def __init__(self) -> None:
        self._queue: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._stopped: BaseException | None = None

    def land(self, work: Callable[[], Result]) -> Future[Result]:
        """Queue a piece of work; the future has its result once it is on the disk, or the error."""
        future = Future[Result]()
        with self._lock:
            if self._closed:
                raise RuntimeError("the store is closed")
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="adjudge-writer", daemon=True)
                self._thread.start()
            self._queue.put((work, future))
        return future

    def close(self) -> None:
        """Land what is queued, then end. Closing twice is closing once."""
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
        if thread is not None:
            self._queue.put(None)
            thread.join()

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            self._do(*item)
            del item  # the work holds a run; the next may be long in coming

    def _do(self, work: Callable[[], Any], future: Future[Any]) -> None:
        if not future.set_running_or_notify_cancel():  # whoever wanted it waits no longer
            return
        try:
            self._require_sound()
            result = work()
        except BaseException as failure:  # noqa: BLE001  whatever it is, whoever waits must hear of it
            self._note(failure)
            future.set_exception(failure)
        else:
            future.set_result(result)

    def _require_sound(self) -> None:
        if self._stopped is not None:
            raise OutsideError(f"the store takes nothing more since a write failed: {self._stopped}") from self._stopped

    def _note(self, failure: BaseException) -> None:
        if isinstance(failure, DiskFailedError) or not isinstance(failure, AdjudgeError):
            self._stopped = failure
