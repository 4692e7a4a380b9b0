"""The work of a pass on a Ray cluster: workers judge, each a process of its own, and this process pays and lands.

Workers are actors that end with this process. Ray is an extra, and is imported only when workers are started.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

import msgspec

from adjudge import __version__
from adjudge.errors import AdjudgeError, ModelError, OutsideError
from adjudge.judgment import Call, Judgment
from adjudge.passes.ray_cluster import RayCluster, imported_ray, open_ray
from adjudge.passes.remote import ERRORS, Asking, Factory, Failed, Judged, Ready, Refusal, Said, Worker
from adjudge.passes.work import Paying
from adjudge.record import Usage
from adjudge.store.codec import StoredJudgment, unpacked
from adjudge.store.pass_rows import PassItem

__all__ = ["RayCluster", "RayWork", "WorkerLostError", "open_ray"]

START = 120.0
"""Seconds that workers may take to start, on machines that have to import all of adjudge first."""
PAUSE = 5.0
"""Seconds until a worker that could not be started anew is tried again."""
LONGEST = 500
"""Characters of Ray's explanations that are told."""
END = 10.0
"""Seconds that workers may take to stop what they do when all ends."""

SAID: msgspec.msgpack.Decoder[Said] = msgspec.msgpack.Decoder(Said)


class WorkerLostError(OutsideError):
    """A worker's process or machine is gone, and with it what it was judging."""


class RayWork:
    """Judges with the workers of a cluster, `at_once` runs under way in each. `open` makes one."""

    def __init__(self, factory: Factory, workers: int, at_once: int) -> None:
        self._seats = [_Seat(factory) for _ in range(workers)]
        self._at_once = at_once
        self._changed = asyncio.Event()
        self._starting: set[asyncio.Task[None]] = set()
        self._numbers = count()

    @classmethod
    async def open(cls, factory: Factory, workers: int, at_once: int, seconds: float = START) -> RayWork:
        """Start workers on the cluster that this process is connected to; each takes one CPU of it.

        `factory` is called in each worker for its work. It travels there pickled, and is shown in no log.

        Raises:
            OutsideError: not all of them could be started within `seconds`.
            InputError: the factory raised it.
        """
        work = cls(factory, workers, at_once)
        starts = [asyncio.create_task(seat.start()) for seat in work._seats]
        done, late = await asyncio.wait(starts, timeout=seconds)
        failure = next((task.exception() for task in done if task.exception()), None)
        if late or failure:
            for task in late:
                task.cancel()
            await asyncio.gather(*starts, return_exceptions=True)
            await work.close()
            raise failure or OutsideError(_too_few(len(done), workers, seconds))
        return work

    async def judge(self, item: PassItem, paying: Paying) -> Judgment:
        """Judge one run. If its worker is lost it is judged once more by another. Raises as `Work.judge` does."""
        reserved: list[float | None] = []
        try:
            return await self._judged(item, paying, reserved)
        except WorkerLostError:
            return _with_lost(await self._judged(item, paying, []), reserved)

    async def close(self) -> None:
        """End the workers and what they do."""
        for task in list(self._starting):
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        await asyncio.gather(*(seat.end() for seat in self._seats))

    async def _judged(self, item: PassItem, paying: Paying, reserved: list[float | None]) -> Judgment:
        """Judge one run with one worker; `reserved` is given the amounts that its calls were allowed to cost."""
        number = next(self._numbers)
        async with self._seat() as seat:
            actor = seat.actor  # the seat may be given to another one meanwhile, which knows nothing of this run
            try:
                said = await _said(actor, "begin", number, msgspec.msgpack.encode(item))
                while isinstance(said, Asking):
                    refusal = await _refusal(paying, said.most)
                    if refusal is None:
                        reserved.append(said.most)
                    said = await _said(actor, "proceed", number, refusal and msgspec.msgpack.encode(refusal))
            except WorkerLostError:
                raise
            except BaseException:
                actor.drop.remote(number)  # nobody waits for that
                raise
        return _judgment(said)

    @asynccontextmanager
    async def _seat(self) -> AsyncIterator[_Seat]:
        """The worker that has the least to do, once one has room. One that is lost meanwhile is started anew."""
        seat = await self._free()
        seat.busy += 1
        actor = seat.actor
        try:
            yield seat
        except WorkerLostError:
            if seat.actor is actor and seat.ready:
                self._start_anew(seat)
            raise
        finally:
            seat.busy -= 1
            self._tell()

    async def _free(self) -> _Seat:
        while True:
            free = [seat for seat in self._seats if seat.ready and seat.busy < self._at_once]
            if free:
                return min(free, key=lambda seat: seat.busy)
            try:
                await asyncio.wait_for(self._changed.wait(), START)
            except TimeoutError:
                self._require_ready()

    def _require_ready(self) -> None:
        if not any(seat.ready for seat in self._seats):
            raise OutsideError(f"all workers of the Ray cluster are lost: {self._seats[0].fault}")

    def _start_anew(self, seat: _Seat) -> None:
        seat.ready = False
        task = asyncio.create_task(self._restarted(seat))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _restarted(self, seat: _Seat) -> None:
        """Try until it is there again: its machine may be gone, and another may take its place much later."""
        while not seat.ready:
            seat.kill()
            try:
                await seat.start()
            except AdjudgeError as error:
                seat.fault = str(error)
                await asyncio.sleep(PAUSE)
        self._tell()

    def _tell(self) -> None:
        """Wake all that wait for room."""
        self._changed.set()
        self._changed = asyncio.Event()


class _Seat:
    """The place of one worker: its actor, or the next one after that was lost."""

    def __init__(self, factory: Factory) -> None:
        self._factory = factory
        self.actor: Any = None
        self.ready = False
        self.busy = 0
        self.fault = "it has not answered yet"

    async def start(self) -> None:
        """Start an actor and wait until it answers. Raises OutsideError if it cannot judge."""
        ray = imported_ray()
        self.actor = ray.remote(Worker).options(num_cpus=1, max_restarts=0, max_task_retries=0).remote(self._factory)
        said = await _said(self.actor, "ready")
        if not isinstance(said, Ready):
            raise _error(said)
        if said.version != __version__:
            raise OutsideError(
                f"a worker has adjudge {said.version} and this is {__version__}: install the same everywhere"
            )
        self.ready = True

    async def end(self) -> None:
        """End the actor, after it has ended its work, if it does so in time."""
        if self.ready:
            with suppress(OutsideError, TimeoutError):
                await asyncio.wait_for(_answered(self.actor.close.remote()), END)
        self.kill()

    def kill(self) -> None:
        """End the actor at once."""
        self.ready = False
        if self.actor is not None:
            imported_ray().kill(self.actor)
            self.actor = None


async def _said(actor: Any, method: str, *given: object) -> Said:
    """What a worker says to this. Raises WorkerLostError."""
    said: bytes = await _answered(getattr(actor, method).remote(*given))
    return SAID.decode(said)


async def _answered(answer: Awaitable[Any]) -> Any:
    """What an actor answers.

    Raises:
        WorkerLostError: it is gone, or could not be made.
        RuntimeError: it has a bug.
    """
    errors = imported_ray().exceptions
    try:
        return await answer
    except errors.RayTaskError as error:
        raise RuntimeError(f"a worker of the Ray cluster broke: {_brief(error)}") from error
    except errors.RayError as error:
        raise WorkerLostError(f"a worker of the Ray cluster was lost: {_brief(error)}") from error


def _brief(error: Exception) -> str:
    """Ray's words on one line, without colours; the reason stands at the end."""
    return " ".join(re.sub(r"\x1b\[[\d;]*m", "", str(error)).split())[-LONGEST:]


async def _refusal(paying: Paying, most: float | None) -> Refusal | None:
    """`None` once the call is paid for, else why it may not be made, for the judge."""
    try:
        await paying(most)
    except ModelError as error:
        return Refusal(str(error), error.kind)
    except OutsideError as error:
        return Refusal(str(error), None)
    return None


def _judgment(said: Said) -> Judgment:
    if isinstance(said, Judged):
        return unpacked(said.judgment, StoredJudgment).judgment
    raise _error(said)


def _error(said: Said) -> Exception:
    """What was raised in the worker."""
    assert isinstance(said, Failed)
    if said.error is None:
        return RuntimeError(f"a worker of the Ray cluster met a bug:\n{said.message}")
    return ERRORS.get(said.error, OutsideError)(said.message)


def _with_lost(judgment: Judgment, reserved: list[float | None]) -> Judgment:
    """The judgment with a line in its ledger for each call that a lost worker may have made, at what it could cost."""
    model = judgment.judge.model or "unknown"
    calls = tuple(
        Call(model, Usage(cost=most), 0.0, error="the worker that made this call was lost", estimated=True)
        for most in reserved
    )
    return msgspec.structs.replace(judgment, calls=(*calls, *judgment.calls))


def _too_few(started: int, workers: int, seconds: float) -> str:
    ray = imported_ray()
    cpus = ray.cluster_resources().get("CPU", 0)
    free = ray.available_resources().get("CPU", 0)
    return (
        f"only {started} of {workers} workers could be started within {seconds:g} s: each takes one CPU, and the "
        f"Ray cluster has {cpus:g}, of which {free:g} are free"
    )
