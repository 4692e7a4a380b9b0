from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import closing
from functools import partial
from pathlib import Path

import msgspec
import pytest
from tests.passes.conftest import NAMES, Conducted, ScriptedWork, answered, never
from tests.passes.provider import MOST, judgment

from adjudge.errors import InputError, ModelError, OutsideError
from adjudge.judgment import Call, Failure, Judgment
from adjudge.passes.work import Paying
from adjudge.record import Usage
from adjudge.store.faults import DiskFailedError, LockLostError
from adjudge.store.listing import Filter, list_runs
from adjudge.store.pass_rows import PassItem
from adjudge.store.passes import PassWriter
from adjudge.store.store import Store


@pytest.fixture
def begun(store: Store, writer: PassWriter) -> Conducted:
    return Conducted(store, writer, 20)


async def failed(item: PassItem, paying: Paying, failure: Failure = "refused", busy: int = 0) -> Judgment:
    """A judgment whose only call failed; nothing was billed."""
    await paying(MOST)
    made = judgment("down", item.run, [Call("m", Usage(cost=0.0), 0.1, error="no", busy=busy)], timeout=True)
    return msgspec.structs.replace(made, failure=failure)


async def free(most: float | None) -> None:
    """For a call that is paid for already."""


# --- to the end


def folder_of(store: Store) -> Path:
    assert store.folder is not None
    return store.folder


async def test_a_pass_judges_all_its_runs_in_order_and_finishes(begun: Conducted) -> None:
    work = ScriptedWork(answered)
    ending = await begun.run(work, at_once=1)
    assert work.asked == list(NAMES[:20])
    assert (ending.status, ending.reason, ending.lost) == ("finished", None, 0)
    row = begun.row
    assert (row.status, row.landed, row.lost) == ("finished", 20, 0.0)
    assert row.cost == pytest.approx(20 * MOST / 2)


async def test_never_more_than_allowed_are_under_way(begun: Conducted) -> None:
    under_way, seen = set[str](), list[int]()

    async def counted(item: PassItem, paying: Paying) -> Judgment:
        under_way.add(item.run)
        seen.append(len(under_way))
        await asyncio.sleep(0.001)
        under_way.remove(item.run)
        return await answered(item, paying)

    await begun.run(counted, at_once=4)
    assert max(seen) == 4


async def test_progress_is_told_after_each_and_counts_what_landed_before(begun: Conducted) -> None:
    async def until_five(item: PassItem, paying: Paying) -> Judgment:
        if item.position == 4:
            begun.stop.ask()
        return await answered(item, paying)

    await begun.run(until_five, at_once=1)
    assert begun.row.landed == 5
    begun.told.clear()
    await begun.resume(answered, at_once=1)
    assert [(each.before, each.landed, each.selected) for each in begun.told] == [(5, n, 20) for n in range(6, 21)]
    assert begun.told[-1].spent == pytest.approx(20 * MOST / 2)


# --- asked to stop


async def test_once_asked_to_stop_nothing_new_begins_and_what_is_under_way_lands(begun: Conducted) -> None:
    async def asking(item: PassItem, paying: Paying) -> Judgment:
        if item.position == 3:
            begun.stop.ask()
        await asyncio.sleep(0.01)
        return await answered(item, paying)

    work = ScriptedWork(asking)
    ending = await begun.run(work, at_once=4)
    assert (ending.status, ending.reason) == ("stopped", "it was asked to stop")
    assert work.asked == list(NAMES[:4])
    assert (begun.row.status, begun.row.landed, begun.row.lost) == ("stopped", 4, 0.0)
    assert (await begun.resume(answered)).status == "finished"
    assert begun.row.landed == 20


async def test_what_does_not_land_within_the_grace_is_given_up_and_counts_as_lost(begun: Conducted) -> None:
    all_paid = asyncio.Barrier(3)

    async def stuck(item: PassItem, paying: Paying) -> Judgment:
        await paying(MOST)
        await all_paid.wait()
        begun.stop.asked.set()
        return await never(item, free)

    ending = await begun.run(stuck, at_once=3, grace=0.2)
    assert (ending.status, begun.row.landed) == ("stopped", 0)
    assert begun.row.lost == pytest.approx(3 * MOST)


async def test_asked_twice_it_ends_at_once(begun: Conducted) -> None:
    all_paid = asyncio.Barrier(3)

    async def impatient(item: PassItem, paying: Paying) -> Judgment:
        await paying(MOST)
        await all_paid.wait()
        if item.position == 2:
            asyncio.get_running_loop().call_later(0.05, begun.stop.ask)
            asyncio.get_running_loop().call_later(0.1, begun.stop.ask)
        return await never(item, free)

    ending = await begun.run(impatient, at_once=3, grace=60)
    assert (ending.status, begun.row.landed) == ("stopped", 0)
    assert begun.row.lost == pytest.approx(3 * MOST)
    assert (await begun.resume(answered)).status == "finished"


async def test_given_up_while_its_money_is_being_reserved_a_call_stops_nobody(
    begun: Conducted, store: Store, writer: PassWriter
) -> None:
    with closing(sqlite3.connect(folder_of(store) / "adjudge.db")) as other:
        other.execute("BEGIN IMMEDIATE")  # so that reservations wait
        loop = asyncio.get_running_loop()
        loop.call_later(0.1, begun.stop.ask)
        loop.call_later(0.2, begun.stop.ask)
        loop.call_later(0.4, other.rollback)
        ending = await begun.run(answered, at_once=4, grace=60)
    assert ending.status == "stopped"
    assert (await begun.resume(answered)).status == "finished"
    assert begun.row.landed == 20


# --- what goes wrong


async def test_after_eight_failed_calls_the_provider_is_down_and_resuming_judges_those_again(begun: Conducted) -> None:
    async def goes_down(item: PassItem, paying: Paying) -> Judgment:
        return await (answered if item.position < 5 else failed)(item, paying)

    ending = await begun.run(goes_down, at_once=1)
    assert ending.status == "provider down"
    assert ending.reason is not None
    assert ending.reason.startswith("8 calls in a row failed")
    assert (begun.row.status, begun.row.landed, begun.row.errored) == ("provider down", 13, 8)
    work = ScriptedWork(answered)
    assert (await begun.resume(work)).status == "finished"
    assert sorted(work.asked) == list(NAMES[5:20])
    assert (begun.row.landed, begun.row.errored) == (20, 0)


async def test_full_contexts_end_no_pass_and_are_not_judged_again(begun: Conducted) -> None:
    assert (await begun.run(partial(failed, failure="context"))).status == "finished"
    assert begun.row.errored == 20
    work = ScriptedWork(answered)
    assert (await begun.resume(work)).status == "finished"
    assert work.asked == []
    assert (await begun.resume(work, retry=True)).status == "finished"
    assert (len(work.asked), begun.row.errored) == (20, 0)


async def test_a_busy_provider_is_asked_less_at_a_time(store: Store, writer: PassWriter) -> None:
    begun, all_eight = Conducted(store, writer, 40), asyncio.Barrier(8)

    async def busy_at_first(item: PassItem, paying: Paying) -> Judgment:
        made = await answered(item, paying)
        if item.position >= 8:
            return made
        await all_eight.wait()
        return msgspec.structs.replace(made, calls=(msgspec.structs.replace(made.calls[0], busy=1),))

    assert (await begun.run(busy_at_first, at_once=8)).status == "finished"
    limits = [progress.limit for progress in begun.told]
    assert limits[:8] == [4] * 8  # halved once for all of them
    assert limits[8 + 4] == 5  # one more after a round
    assert limits == sorted(limits)
    assert limits[-1] == 8


async def test_a_lost_worker_costs_its_run_alone_which_is_judged_when_it_is_resumed(begun: Conducted) -> None:
    async def loses(item: PassItem, paying: Paying) -> Judgment:
        if item.position in (3, 7):
            await paying(MOST)
            raise OutsideError(f"the worker of {item.run} is gone")
        return await answered(item, paying)

    ending = await begun.run(loses, at_once=1)
    assert (ending.status, ending.lost, begun.row.landed) == ("stopped", 2, 18)
    assert ending.reason == "2 runs could not be judged, the last one so: the worker of r-07 is gone"
    assert begun.row.lost == pytest.approx(2 * MOST)
    work = ScriptedWork(answered)
    assert (await begun.resume(work)).status == "finished"
    assert sorted(work.asked) == ["r-03", "r-07"]


async def test_eight_lost_in_a_row_end_the_pass(begun: Conducted) -> None:
    async def gone(item: PassItem, paying: Paying) -> Judgment:
        raise InputError(f"{item.run} was written by a newer adjudge")

    work = ScriptedWork(gone)
    ending = await begun.run(work, at_once=1)
    assert (ending.status, len(work.asked)) == ("failed", 8)
    assert ending.reason == "8 runs in a row could not be judged, the last one so: r-07 was written by a newer adjudge"
    assert begun.row.status == "failed"


async def test_a_bug_of_a_judge_ends_the_pass_loudly(begun: Conducted) -> None:
    async def buggy(item: PassItem, paying: Paying) -> Judgment:
        if item.position == 5:
            raise ZeroDivisionError("a bug")
        return await answered(item, paying)

    with pytest.raises(ZeroDivisionError, match="a bug"):
        await begun.run(buggy, at_once=1)
    assert (begun.row.status, begun.row.reason, begun.row.landed) == ("failed", "a bug", 5)


# --- money


async def test_no_call_is_made_that_might_pass_the_limit(begun: Conducted) -> None:
    billed = 0.0

    async def dear(item: PassItem, paying: Paying) -> Judgment:
        nonlocal billed
        try:
            await paying(MOST)
        except ModelError as error:
            return msgspec.structs.replace(judgment("x", item.run, [], timeout=True), failure=error.kind)
        billed += MOST
        return judgment("x", item.run, [Call("m", Usage(cost=MOST), 0.1)])

    work = ScriptedWork(dear)
    ending = await begun.run(work, at_once=4, cost=7.5 * MOST)
    assert ending.status == "budget"
    assert billed == pytest.approx(7 * MOST)
    assert (begun.row.landed, begun.row.errored) == (7, 0)  # what the money stopped is not judged, and no failure
    assert (await begun.resume(work, at_once=4, cost=7.5 * MOST)).status == "budget"
    assert billed == pytest.approx(7 * MOST)
    assert (await begun.resume(work, cost=20 * MOST + 1e-9)).status == "finished"
    assert billed == pytest.approx(20 * MOST)


async def test_a_call_that_was_billed_and_never_answered_counts_as_lost(begun: Conducted) -> None:
    async def late(item: PassItem, paying: Paying) -> Judgment:
        return await (partial(failed, failure="timeout") if item.position == 6 else answered)(item, paying)

    ending = await begun.run(late)
    assert ending.status == "finished"
    assert begun.row.lost == pytest.approx(MOST)
    assert ending.progress.spent == pytest.approx(begun.row.cost + begun.row.lost)


# --- the store


async def test_whoever_took_the_lock_over_ends_the_pass_although_calls_are_under_way(
    begun: Conducted, store: Store
) -> None:
    async def taken(item: PassItem, paying: Paying) -> Judgment:
        if item.position == 2:
            await asyncio.to_thread(store.passes.hold, "another", -1.0)
        return await never(item, paying)

    with pytest.raises(LockLostError):
        await begun.run(taken, at_once=3, beat=0.05)
    assert begun.row.status == "running"  # as the one who has the lock now will find it


async def test_a_disk_that_fails_beneath_the_blobs_ends_the_pass(begun: Conducted, store: Store) -> None:
    class Failing:
        """Blobs on a disk that breaks under the first large judgment."""

        def __getattr__(self, name: str) -> object:
            return getattr(blobs, name)

        def write(self, parts: list[bytes]) -> str:
            raise DiskFailedError("blobs: the disk failed: Input/output error")

    blobs = store.blobs
    store.blobs = Failing()  # type: ignore[assignment]  # it passes on the rest
    with pytest.raises(DiskFailedError, match="Input/output error"):
        await begun.run(answered, at_once=1)
    assert (begun.row.status, begun.row.landed) == ("failed", 7)
    store.blobs = blobs
    assert (await begun.resume(answered)).status == "finished"


@pytest.mark.parametrize(
    "error", [OSError(5, "Input/output error"), DiskFailedError("the disk failed"), ZeroDivisionError()]
)
async def test_an_error_in_the_writers_thread_ends_the_pass_and_nothing_hangs(
    begun: Conducted, store: Store, error: Exception
) -> None:
    tokens, threads = store.database.tokens, set[str]()

    class Failing:
        """A clock that breaks: it is read in every transaction."""

        def now(self, connection: object) -> float:
            threads.add(threading.current_thread().name)
            if begun.row.landed >= 5:
                raise error
            return tokens.now(connection)  # type: ignore[arg-type]  # it is passed on

    begun.writer._lock._tokens = Failing()  # type: ignore[assignment]  # taking is over
    with pytest.raises((type(error), OutsideError)) as raised:
        await begun.run(answered, at_once=4)
    assert error in (raised.value, raised.value.__cause__)
    assert threads == {"adjudge-writer"}
    assert begun.row.status == "running"  # nothing more could be written
    with pytest.raises(OutsideError, match="takes nothing more since a write failed"):
        begun.writer.end(begun.identifier, "failed")


async def test_a_store_that_cannot_be_read_ends_the_pass(begun: Conducted, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(identifier: str, after: int, most: int) -> list[PassItem]:
        raise OutsideError("the store cannot be read")

    monkeypatch.setattr(begun.writer, "open_items", unreadable)
    with pytest.raises(OutsideError, match="the store cannot be read"):
        await begun.run(answered)
    assert (begun.row.status, begun.row.reason) == ("failed", "the store cannot be read")


async def test_with_hardly_any_room_left_nothing_new_is_judged(begun: Conducted, store: Store) -> None:
    async def filling(item: PassItem, paying: Paying) -> Judgment:
        if item.position == 5:
            assert store._room is not None
            store._room.free = lambda: 15 << 20  # type: ignore[method-assign]  # a disk that somebody else fills
        return await answered(item, paying)

    ending = await begun.run(filling, at_once=1)
    assert (ending.status, begun.row.landed, begun.row.lost) == ("failed", 6, 0.0)
    assert ending.reason is not None
    assert "only 15 MiB are free and 16 MiB are needed" in ending.reason


async def test_a_reader_that_looks_for_long_is_in_nobodys_way(begun: Conducted, store: Store) -> None:
    with closing(sqlite3.connect(folder_of(store) / "adjudge.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        (seen,) = reader.execute("SELECT count(*) FROM judgments").fetchone()
        assert (await begun.run(answered)).status == "finished"
        assert reader.execute("SELECT count(*) FROM judgments").fetchone() == (seen,)
        reader.execute("COMMIT")
        assert reader.execute("SELECT count(*) FROM judgments").fetchone() == (20,)


async def test_another_writer_only_delays_a_pass(begun: Conducted, store: Store) -> None:
    with closing(sqlite3.connect(folder_of(store) / "adjudge.db", isolation_level=None)) as other:

        async def interrupted(item: PassItem, paying: Paying) -> Judgment:
            if item.position == 5:
                other.execute("BEGIN IMMEDIATE")
                asyncio.get_running_loop().call_later(2.0, other.execute, "COMMIT")
            return await answered(item, paying)

        ending = await begun.run(interrupted)
    assert ending.status == "finished"
    assert ending.progress.seconds >= 2.0


async def test_lists_show_what_has_landed_while_the_pass_goes_on(store: Store, begun: Conducted) -> None:
    def is_shown() -> bool:
        return any(list_runs(store, Filter()).counts.judged for _ in range(5_000))

    async def shown_before_the_second(item: PassItem, paying: Paying) -> Judgment:
        assert item.position == 0 or await asyncio.to_thread(is_shown)
        return await answered(item, paying)

    assert (await begun.run(shown_before_the_second, at_once=1, lag=0.01)).status == "finished"
    assert list_runs(store, Filter()).counts.judged == 20


# --- the lock's clock


@pytest.mark.parametrize("step", [-3600.0, 3600.0])
async def test_a_dead_holder_is_replaced_whatever_the_clock_says(store: Store, step: float) -> None:
    store.passes.hold("the dead one")._lock._token.release()  # as its end would
    tokens = store.database.tokens
    stepped = tokens.now(None) + step  # type: ignore[arg-type]  # this clock needs no connection
    tokens.now = lambda connection: stepped  # type: ignore[method-assign]  # a machine that was started again counts from zero
    store.passes.hold("the next").release()
