"""Judging with workers of a real Ray cluster on this computer: nothing is called unpaid, and a lost worker is replaced."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.passes.stub_works import PRICE, CallingWork, Endpoint, MissingWork, freely, item
from tests.passes.test_ray_cluster import descendants, parents

from adjudge.errors import InputError, ModelError, OutsideError
from adjudge.judges.reader.tokens import calibrated
from adjudge.passes.engine import Bounds, Engine, Stop
from adjudge.passes.ray_work import RayCluster, RayWork, open_ray
from adjudge.passes.work import Paying
from adjudge.rubric import Criterion, FileProbe
from adjudge.settings import Settings
from adjudge.store.store import open_store
from adjudge.testing import make_rubric, make_run
from adjudge.wiring.elsewhere import WorkElsewhere
from adjudge.wiring.work import identity_of

pytest.importorskip("ray", reason="Ray is not installed; it is the extra `ray`")
pytestmark = [pytest.mark.xdist_group("ray"), pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

WORKERS = 2
GONE = 60.0
"""Seconds that Ray's helpers have for noticing that their cluster has ended."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    """One that is gone afterwards, with all that it has started."""
    others = descendants(os.getpid())
    with open_ray(None, cpus=WORKERS + 1) as opened:
        yield opened
        started = descendants(os.getpid()) - others
    assert len(started) > WORKERS
    ends = time.monotonic() + GONE
    while (left := started & parents().keys()) and time.monotonic() < ends:
        time.sleep(0.2)
    assert left == set()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def _started(cluster: RayCluster) -> AsyncIterator[tuple[RayWork, Endpoint]]:
    endpoint = Endpoint()
    work = await RayWork.open(CallingWork(await endpoint.start()), WORKERS, 2)
    yield work, endpoint
    await work.close()
    await endpoint.close()


@pytest.fixture
def work(_started: tuple[RayWork, Endpoint]) -> RayWork:
    return _started[0]


@pytest.fixture
def endpoint(_started: tuple[RayWork, Endpoint]) -> Iterator[Endpoint]:
    _started[1].forget()
    yield _started[1]
    _started[1].answering.set()


async def test_runs_are_judged_by_all_workers_and_no_more_at_once_than_allowed(work: RayWork, endpoint: Endpoint) -> None:
    endpoint.answering.clear()
    judging = [asyncio.create_task(work.judge(item(number), freely)) for number in range(7)]
    await endpoint.until(4)
    assert sorted(Counter(pid for _, pid in endpoint.calls).values()) == [2, 2]
    assert os.getpid() not in {pid for _, pid in endpoint.calls}
    endpoint.answering.set()
    assert [made.run for made in await asyncio.gather(*judging)] == [f"r-{number}" for number in range(7)]


async def test_a_refused_call_reaches_the_judge_as_such_and_is_not_made(work: RayWork, endpoint: Endpoint) -> None:
    async def paying(most: float | None) -> None:
        raise ModelError(f"no {most} are left", "budget")

    made = await work.judge(item(0), paying)
    assert (made.failure, made.reason, endpoint.calls) == ("budget", "no 0.25 are left", [])


async def test_a_reservation_that_cannot_be_written_ends_the_judgment_before_the_call(
    work: RayWork, endpoint: Endpoint
) -> None:
    async def paying(most: float | None) -> None:
        raise OutsideError("the disk is full")

    with pytest.raises(OutsideError, match="the disk is full"):
        await work.judge(item(0), paying)
    assert endpoint.calls == []


async def test_what_a_judge_raises_is_raised_here(work: RayWork) -> None:
    with pytest.raises(InputError, match="a newer adjudge wrote it"):
        await work.judge(item(0, "unreadable"), freely)


async def test_a_judges_bug_is_told_with_its_place(work: RayWork) -> None:
    with pytest.raises(RuntimeError, match=r"(?s)stub_works.py.*ValueError: invalid literal.*'bug'"):
        await work.judge(item(1, "bug"), freely)


async def test_a_worker_that_cannot_be_made_is_told_at_the_start(cluster: RayCluster) -> None:
    with pytest.raises(InputError, match="there is no such model"):
        await RayWork.open(MissingWork(), 1, 1)


async def test_more_workers_than_the_cluster_has_cpus_are_refused(work: RayWork) -> None:
    with pytest.raises(OutsideError, match=r"only [01] of 2 workers could be started within 1 s.*the Ray cluster has 3"):
        await RayWork.open(CallingWork(1), 2, 1, seconds=1)


async def test_a_cancelled_judgment_is_cancelled_in_its_worker(work: RayWork, endpoint: Endpoint) -> None:
    endpoint.answering.clear()
    judging = asyncio.create_task(work.judge(item(0), freely))
    await endpoint.until(1)
    judging.cancel()
    await asyncio.wait_for(endpoint.ended.wait(), 10)
    assert isinstance((await asyncio.gather(judging, return_exceptions=True))[0], asyncio.CancelledError)


async def test_a_killed_worker_is_replaced_and_what_it_may_have_spent_is_in_the_row(
    work: RayWork, endpoint: Endpoint
) -> None:
    endpoint.answering.clear()
    judging = asyncio.create_task(work.judge(item(0), freely))
    await endpoint.until(1)
    os.kill(endpoint.calls[0][1], signal.SIGKILL)
    await endpoint.until(2)
    endpoint.answering.set()
    made = await judging
    assert made.usage().cost == 2 * PRICE
    assert [call.error for call in made.calls] == ["the worker that made this call was lost", None]
    assert endpoint.calls[0][1] != endpoint.calls[1][1]


async def test_a_run_that_takes_two_workers_with_it_stays_unjudged(work: RayWork, endpoint: Endpoint) -> None:
    endpoint.answering.clear()
    endpoint.seen = lambda _, pid: os.kill(pid, signal.SIGKILL)
    with pytest.raises(OutsideError, match="a worker of the Ray cluster was lost"):
        await work.judge(item(0), freely)
    assert [position for position, _ in endpoint.calls] == [0, 0]


async def test_each_call_was_reserved_before_it_was_made_whenever_workers_are_killed(
    work: RayWork, endpoint: Endpoint
) -> None:
    reserved: Counter[int] = Counter()
    unpaid: list[int] = []
    kills = iter([True, False, False, False, False, True, False, False, False, True])

    def seen(position: int, pid: int) -> None:
        if Counter(number for number, _ in endpoint.calls)[position] > reserved[position]:
            unpaid.append(position)
        if next(kills, False):
            os.kill(pid, signal.SIGKILL)

    def paying_for(position: int) -> Paying:
        async def paying(most: float | None) -> None:
            await asyncio.sleep(0.01)  # as long as a disk may take
            reserved[position] += 1

        return paying

    endpoint.seen = seen
    made = await asyncio.gather(
        *(work.judge(item(number, "3"), paying_for(number)) for number in range(12)), return_exceptions=True
    )
    assert unpaid == []
    assert sum(reserved.values()) >= len(endpoint.calls) > 30
    for position, found in enumerate(made):
        if isinstance(found, BaseException):
            assert isinstance(found, OutsideError)
        else:
            assert found.usage().cost == PRICE * reserved[position]


async def test_a_pass_lands_what_workers_judge_with_nothing_but_the_blobs(cluster: RayCluster, tmp_path: Path) -> None:
    (tmp_path / "done.txt").write_text("done")
    runs = [make_run(task=f"task {number}", workspace=str(tmp_path)) for number in range(5)]
    rubric = make_rubric(Criterion("done", "It is done", FileProbe("done.txt", equals="done")))
    sent = WorkElsewhere(rubric, Settings(store=str(tmp_path / "none")), calibrated(()), str(tmp_path / "store" / "blobs"))
    work = await RayWork.open(sent, 1, 2)
    with open_store(tmp_path / "store") as store:
        writer = store.passes.hold("a test")
        identifier = writer.begin(
            identity_of(rubric, sent.settings, None), {}, rubric, [store.add_run(run) for run in runs]
        )
        ending = await Engine(writer, store.passes.row(identifier), work, Bounds(2), Stop()).run()
        writer.release()
        assert ending.status == "finished"
        landed = list(store.passes.judgments(identifier))
    await work.close()
    assert sorted(row.run for row in landed) == sorted(run.id for run in runs)
    assert {row.score for row in landed} == {1.0}
