from __future__ import annotations

import threading
import time
from functools import partial

import pytest

from adjudge.errors import InputError, OutsideError
from adjudge.store.faults import DiskFailedError
from adjudge.store.writer import Writer


def note(seen: list[tuple[int, str]], number: int) -> None:
    seen.append((number, threading.current_thread().name))


def failing(error: Exception) -> None:
    raise error


def test_work_is_done_in_order_in_one_thread() -> None:
    writer, seen = Writer(), list[tuple[int, str]]()
    futures = [writer.land(partial(note, seen, number)) for number in range(50)]
    writer.close()
    assert [future.result() for future in futures] == [None] * 50
    assert seen == [(n, "adjudge-writer") for n in range(50)]


def test_whoever_waits_gets_the_error_and_the_next_is_done() -> None:
    writer = Writer()
    bad, good = writer.land(lambda: failing(InputError("no such run"))), writer.land(lambda: 7)
    writer.close()
    with pytest.raises(InputError, match="no such run"):
        bad.result()
    assert good.result() == 7


@pytest.mark.parametrize("error", [DiskFailedError("fsync failed"), ZeroDivisionError("a bug")])
def test_after_a_failed_disk_or_a_bug_nothing_is_written_any_more(error: Exception) -> None:
    writer = Writer()
    bad, later = writer.land(lambda: failing(error)), writer.land(lambda: 7)
    with pytest.raises(type(error)):
        bad.result()
    with pytest.raises(OutsideError, match=f"takes nothing more since a write failed: {error}"):
        later.result()
    writer.close()


def test_a_closed_writer_takes_nothing() -> None:
    writer = Writer()
    writer.close()
    with pytest.raises(RuntimeError, match="closed"):
        writer.land(lambda: 7)


def test_whoever_no_longer_waits_stops_nobody() -> None:
    writer, go, seen = Writer(), threading.Event(), list[str]()
    first = writer.land(go.wait)
    while not first.running():
        time.sleep(0.001)
    given_up = writer.land(lambda: seen.append("given up"))
    later = writer.land(lambda: 7)
    assert given_up.cancel()
    go.set()
    assert later.result(timeout=5) == 7
    first.result()
    writer.close()
    assert seen == []
