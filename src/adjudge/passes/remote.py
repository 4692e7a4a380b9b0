"""A worker elsewhere: judges with a work of its own, and asks back before each call that must be paid for.

What goes between it and the pass are the values here, as MessagePack, never pickled objects. Ray carries them, but nothing
here needs it. `begin` and `proceed` each return the next thing that is to be said of a job: that its next call wants to be
paid for, or its end. A call is made only after `proceed` has told that it may, so a pass that answers once the reservation
is on its disk has reserved each call before it is made, whatever dies when.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable

import msgspec

from adjudge import __version__
from adjudge.errors import AdjudgeError, InputError, JudgingError, MachineError, ModelError, OutsideError
from adjudge.passes.work import Work
from adjudge.store.codec import packed_judgment
from adjudge.store.pass_rows import PassItem

Factory = Callable[[], Work]
"""Makes a worker's work, where the worker is; it must be picklable."""

LONGEST = 4_000
"""Characters of a bug's traceback that are told, from its end."""


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The worker can judge, with this version of adjudge: another version is another judge."""

    version: str


class Asking(msgspec.Struct, frozen=True, tag=True):
    """The next call may cost `most` US dollars, `None` where no price is known; `proceed` says whether it may be made."""

    most: float | None


class Judged(msgspec.Struct, frozen=True, tag=True):
    """The job's judgment, packed as in the store."""

    judgment: bytes


class Failed(msgspec.Struct, frozen=True, tag=True):
    """There is no judgment. `error` is the name of the class of `errors.py`, or `None` for a bug."""

    error: str | None
    message: str


class Refusal(msgspec.Struct, frozen=True):
    """A call may not be made. `kind` is that of a ModelError, `None` for another failure."""

    message: str
    kind: str | None


Said = Ready | Asking | Judged | Failed

ERRORS: dict[str, type[AdjudgeError]] = {
    each.__name__: each for each in (InputError, OutsideError, MachineError, JudgingError)
}


class Worker:
    """Judges as many jobs at a time as it is asked to. Jobs are numbered by whoever asks."""

    def __init__(self, factory: Factory) -> None:
        self._factory = factory
        self._work: Work | None = None
        self._jobs: dict[int, _Job] = {}

    async def ready(self) -> bytes:
        """Make the work, and say whether that went well."""
        try:
            self._work = self._factory()
        except Exception as error:  # noqa: BLE001  it is raised again where the pass is
            return msgspec.msgpack.encode(_failed(error))
        return msgspec.msgpack.encode(Ready(__version__))

    async def begin(self, number: int, item: bytes) -> bytes:
        """Begin to judge a run, and say what comes of it first."""
        assert self._work is not None
        self._jobs[number] = _Job(self._work, msgspec.msgpack.decode(item, type=PassItem))
        return await self._next(number)

    async def proceed(self, number: int, refusal: bytes | None) -> bytes:
        """Make the call that was asked for, or take the refusal, and say what comes of it."""
        self._jobs[number].answer(msgspec.msgpack.decode(refusal, type=Refusal) if refusal else None)
        return await self._next(number)

    async def drop(self, number: int) -> None:
        """Judge this no further."""
        if job := self._jobs.pop(number, None):
            await job.cancel()

    async def close(self) -> None:
        """Drop all and let go of the work."""
        for number in list(self._jobs):
            await self.drop(number)
        if self._work is not None:
            await self._work.close()

    async def _next(self, number: int) -> bytes:
        said = await self._jobs[number].said()
        if not isinstance(said, Asking):
            self._jobs.pop(number, None)
        return msgspec.msgpack.encode(said)


class _Job:
    """One run being judged, between two things that are said of it."""

    def __init__(self, work: Work, item: PassItem) -> None:
        self._out: asyncio.Queue[Said] = asyncio.Queue()
        self._answers: asyncio.Queue[Refusal | None] = asyncio.Queue()
        self._one_call = asyncio.Lock()
        self._task = asyncio.create_task(self._judge(work, item))

    async def said(self) -> Said:
        """What is to be said next."""
        return await self._out.get()

    def answer(self, refusal: Refusal | None) -> None:
        """Answer what was asked last."""
        self._answers.put_nowait(refusal)

    async def cancel(self) -> None:
        """Stop, and wait until it has."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _judge(self, work: Work, item: PassItem) -> None:
        try:
            said: Said = Judged(await asyncio.to_thread(packed_judgment, await work.judge(item, self._paying)))
        except asyncio.CancelledError:
            self._out.put_nowait(Failed(OutsideError.__name__, "it was dropped"))
            raise
        except Exception as error:  # noqa: BLE001  it is raised again where the pass is
            said = _failed(error)
        self._out.put_nowait(said)

    async def _paying(self, most: float | None) -> None:
        async with self._one_call:
            self._out.put_nowait(Asking(most))
            refusal = await self._answers.get()
        if refusal is not None:
            raise ModelError(refusal.message, refusal.kind) if refusal.kind else OutsideError(refusal.message)


def _failed(error: Exception) -> Failed:
    if not isinstance(error, AdjudgeError):
        return Failed(None, "".join(traceback.format_exception(error))[-LONGEST:])
    name = type(error).__name__
    return Failed(name if name in ERRORS else OutsideError.__name__, str(error))
