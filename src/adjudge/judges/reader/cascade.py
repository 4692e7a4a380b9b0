"""The cascade: one question, asked in up to four ways until an answer can be read, within a deadline and a budget.

It knows nothing of what is asked. A reply is an answer only if it ended of its own accord, is whole, and reads as what was
asked for; everything else is told in the transcript, and the next rung is tried.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Generic, TypeVar

import msgspec

from adjudge import untrusted
from adjudge.errors import AdjudgeError, JudgingError, ModelError
from adjudge.judges.rows import failure_of
from adjudge.judgment import Call, Failure, Rung, Step
from adjudge.ports import RETRIES, Model, Reply, Request
from adjudge.record import Usage

T = TypeVar("T")
R = TypeVar("R")

DEADLINE = 600.0
"""Seconds for all rungs together."""
MOST_CALLS = 4
"""Calls to the model, those that its window was too small for included; retries of the transport are not counted, and are
no more for all rungs together than for one call."""
MOST_ROOM = 32_768
"""Tokens that a reply may have after one was cut off."""
LONGEST = 200_000
"""Characters of a reply that are kept. A longer one is not read: an answer must stand whole in the transcript."""
LONGEST_REASON = 500
GRACE = 0.5
"""Seconds that a call which was given up has to end."""

_RUNGS: tuple[Rung, ...] = ("schema", "again", "transcribed", "prose")


class Questions(msgspec.Struct, frozen=True):
    """One question in all the ways in which it may be asked.

    `first` has a schema. `transcribe` makes of a reasoning the request, with the schema too, to write down what it
    concluded and judge nothing. `prose` gives the request without a schema that asks in words for one JSON object. `shrunk`
    gives the same questions with less input, for a model whose window is too small; it may be slow and is called once at
    most.
    """

    first: Request
    transcribe: Callable[[str], Request]
    prose: Callable[[], Request]
    shrunk: Callable[[], Questions] | None = None


class Climbed(msgspec.Struct, Generic[T], frozen=True):
    """What came of a question: an answer and the rung that gave it, or a failure and one sentence why.

    `calls` is the ledger and `steps` the transcript, of failures too. The texts that were told are left out of the steps:
    they are large, and can be made again; only that of a transcription is there. `shrunk` says that the input was.
    """

    answer: T | None
    rung: Rung | None
    failure: Failure | None
    reason: str
    calls: tuple[Call, ...]
    steps: tuple[Step, ...]
    shrunk: bool


def _keep_silent(_: Rung, __: str) -> None:
    """Report to nobody."""


async def climb(
    model: Model,
    questions: Questions,
    read: Callable[[str, bool], T],
    deadline: float = DEADLINE,
    on_ask: Callable[[Rung, str], None] = _keep_silent,
) -> Climbed[T]:
    """Ask rung by rung until `read` takes an answer. `on_ask` is told each call before it is made, and why the last failed.

    `read` gets a reply's text, and whether the answer may stand in prose; what it does not take it refuses by a
    `JudgingError`. What goes wrong outside is a failure in the result, never an exception, and `deadline` seconds are all
    the time that there is.
    """
    ladder = _Ladder(model, questions, read, deadline, on_ask)
    try:
        rung, answer = await ladder.up()
    except ModelError as error:
        return ladder.fallen(failure_of(error), str(error))
    except JudgingError as error:
        return ladder.fallen("judge_parse_failed", str(error))
    return Climbed(answer, rung, None, "", tuple(ladder.calls), tuple(ladder.steps), ladder.shrunk)


class _Ladder(Generic[T]):
    """One climb: what was asked, what came back, and what is left of time and calls."""

    def __init__(
        self,
        model: Model,
        questions: Questions,
        read: Callable[[str, bool], T],
        deadline: float,
        on_ask: Callable[[Rung, str], None],
    ) -> None:
        self._model, self._questions, self._read, self._on_ask = model, questions, read, on_ask
        self._fault = ""
        self._deadline, self._ends = deadline, time.monotonic() + deadline
        self._asked = self._room = 0
        self._reasoning: str | None = None
        self.calls: list[Call] = []
        self.steps: list[Step] = []
        self.shrunk = False

    async def up(self) -> tuple[Rung, T]:
        """The first rung that brings an answer, and the answer.

        Raises:
            ModelError: no further call may be made, or none can help.
            JudgingError: no rung brought one.
        """
        for rung in _RUNGS:
            if self._asked == MOST_CALLS or (rung == "transcribed" and self._reasoning is None):
                continue
            try:
                return rung, await self._answer_on(rung)
            except JudgingError as error:
                self._fault = _brief(str(error))
                self.steps[-1] = msgspec.structs.replace(self.steps[-1], refused=(self._fault,))
        raise JudgingError(
            f"{self._model.name}: none of {self._asked} calls brought an answer; the last reply: {self._fault}"
        )

    async def _answer_on(self, rung: Rung) -> T:
        reply = await self._reply_on(rung)
        if reply.stop == "filtered":
            raise ModelError(
                f"{self._model.name}: the model or its provider refused to answer (content filter)", "filtered"
            )
        if fault := _unfinished(reply):
            raise JudgingError(fault)
        return await self._in_time(partial(asyncio.to_thread, self._read, reply.text, rung == "prose"))

    async def _reply_on(self, rung: Rung) -> Reply:
        """The reply to a rung's request; where that is too long for the model, to one with less input."""
        try:
            return await self._ask(rung)
        except ModelError as error:
            if error.kind != "context":
                raise
            if rung == "transcribed":
                raise JudgingError("the reasoning is too long for the model to transcribe") from error
            if self.shrunk or self._questions.shrunk is None or self._asked == MOST_CALLS:
                raise
        self._questions = await self._in_time(partial(asyncio.to_thread, self._questions.shrunk))
        self.shrunk = True
        self._fault = "the input was too long for the model"
        return await self._ask(rung)

    async def _ask(self, rung: Rung) -> Reply:
        self._on_ask(rung, self._fault)
        request = self._request(rung)
        told = _bounded(request.messages[-1].text) if rung == "transcribed" else ""
        started = time.monotonic()
        self._asked += 1
        try:
            reply = await self._in_time(partial(self._model.answer, request))
        except ModelError as error:
            self._keep_failure(error, told, time.monotonic() - started)
            raise
        self._keep(reply, told)
        if reply.stop == "length":
            self._room = min(request.most * 2, MOST_ROOM, (self._model.window or 2 * MOST_ROOM) // 2)
        return reply

    def _request(self, rung: Rung) -> Request:
        request = self._questions.first
        if rung == "prose":
            request = self._questions.prose()
        elif rung == "transcribed":
            request = self._questions.transcribe(self._reasoning or "")
        retried = sum(call.attempts - 1 for call in self.calls)
        room = max(request.most, self._room)
        return msgspec.structs.replace(request, most=room, retries=max(0, RETRIES - retried))

    def _keep(self, reply: Reply, told: str) -> None:
        reasoning = _bounded(reply.reasoning or "")
        called = tuple(_bounded(f"{call.name} {call.arguments}", LONGEST_REASON) for call in reply.calls)
        self.calls.append(reply.call)
        self.steps.append(Step(told, _bounded(reply.text), reasoning or None, called, stop=reply.stop))
        if _is_thought_out(reply):
            self._reasoning = reasoning

    def _keep_failure(self, error: ModelError, told: str, seconds: float) -> None:
        """The ledger's lines of a call that failed. One without an answer in time has cost nothing that we know of."""
        billed = [call for call in error.calls if isinstance(call, Call)]
        if error.kind == "timeout" and not billed:
            billed = [Call(self._model.name, Usage(cost=0.0), seconds, error=_brief(str(error)))]
        self.calls += billed
        self.steps.append(Step(told, None, stop=error.kind))

    async def _in_time(self, work: Callable[[], Awaitable[R]]) -> R:
        """What the work brings, if that comes before the deadline. What does not end when it is cancelled is left behind.

        Raises:
            ModelError: it does not (kind `timeout`); its `calls` are of a reply that came too late to be read.
        """
        late = ModelError(f"{self._model.name}: no answer within {self._deadline:g} s", "timeout")
        left = self._ends - time.monotonic()
        if left <= 0:
            raise late
        task = asyncio.ensure_future(work())
        try:
            await asyncio.wait({task}, timeout=left)
            if task.done():
                return task.result()
        finally:
            if not task.done():
                await _give_up(task)
        late.calls = _billed(task)
        raise late

    def fallen(self, failure: Failure, reason: str) -> Climbed[T]:
        """The result without an answer."""
        return Climbed(None, None, failure, _brief(reason), tuple(self.calls), tuple(self.steps), self.shrunk)


def _unfinished(reply: Reply) -> str | None:
    """Why a reply is no answer whatever its text says, or `None`."""
    if reply.stop == "length":
        return "it was cut off where its room ended"
    if reply.calls or reply.stop == "calls":
        return "it calls a tool where an answer was asked for"
    if reply.stop != "end":
        return f"it ended with {reply.stop[:60]!r}, so that it may be cut"
    if not reply.text.strip():
        return "it holds reasoning and no answer" if reply.reasoning else "it is empty"
    return f"it is longer than {LONGEST} characters" if len(reply.text) > LONGEST else None


def _is_thought_out(reply: Reply) -> bool:
    """Whether a reply has reasoning that is whole: it came to an end, or something came after it."""
    reasoning = (reply.reasoning or "").strip()
    ended = reply.stop in ("end", "calls") or bool(reply.text.strip() or reply.calls)
    return bool(reasoning) and ended and len(reply.reasoning or "") <= LONGEST


async def _give_up(task: asyncio.Future[Any]) -> None:
    task.add_done_callback(_take_exception)
    task.cancel()
    await asyncio.wait({task}, timeout=GRACE)


def _take_exception(task: asyncio.Future[Any]) -> None:
    """Fetch the exception of a task that nobody waits for any more, lest asyncio complains."""
    if not task.cancelled():
        task.exception()


def _billed(task: asyncio.Future[Any]) -> tuple[object, ...]:
    """The ledger's lines of a call that was given up: of a reply that came while it was, or of what failed before."""
    if not task.done() or task.cancelled():
        return ()
    error = task.exception()
    if error is None:
        reply = task.result()
        return (msgspec.structs.replace(reply.call, error="the reply came too late"),) if isinstance(reply, Reply) else ()
    if not isinstance(error, AdjudgeError):
        raise error
    return error.calls if isinstance(error, ModelError) else ()


def _brief(words: str) -> str:
    return untrusted.one_line(words, LONGEST_REASON)


def _bounded(text: str, most: int = LONGEST) -> str:
    """The text as it is kept: storable, and of bounded length, with a mark where it was cut."""
    kept = text[:most].encode("utf-8", "replace").decode().replace("\x00", "\ufffd")
    return kept if len(text) <= most else f"{kept}… (cut: {most} of {len(text)} characters)"
