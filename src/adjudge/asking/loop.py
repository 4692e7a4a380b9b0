"""The loop of an asking: ask, look, let the answer be checked, mend it, and force one when the bounds are reached."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Literal

import msgspec

from adjudge.asking import prompt
from adjudge.asking.answers import Given, read_answer, read_arguments
from adjudge.asking.checking import Checked, check, fault_lines
from adjudge.asking.looks import Looker, shown_look
from adjudge.asking.seen import Seen
from adjudge.asking.tools import Arguments
from adjudge.asking.values import Look, Progress
from adjudge.errors import JudgingError, ModelError
from adjudge.judges.evaluator.conversation import Conversation
from adjudge.judges.evaluator.views import Envelope
from adjudge.judges.strict import bounded
from adjudge.judgment import Call
from adjudge.ports import Reply, ToolCall

LOOKS = 20
"""Looks that one question may take."""
MENDS = 2
"""How often an answer of which something does not stand may be mended."""
REFUSALS = 10
"""Calls that may be refused before an answer is forced."""
FAULTY = 2
"""Answers that may be unreadable before one is forced."""
FORCED = 3
"""How often a forced answer is asked for."""


class Decided(msgspec.Struct, frozen=True):
    """The end of a loop: the answer, what the check made of it, and how it came about."""

    given: Given
    checked: Checked
    how: Literal["freely", "forced"]


class Loop:
    """One asking, from the first question to an answer."""

    def __init__(
        self,
        question: str,
        seen: Seen,
        looker: Looker,
        talk: Conversation,
        envelope: Envelope,
        mask: bool,
        on_progress: Callable[[Progress], None],
    ) -> None:
        self._question, self._seen, self._looker = question, seen, looker
        self._talk, self._envelope, self._mask, self._on_progress = talk, envelope, mask, on_progress
        self._used = self._refused = self._faulty = self._forced = self._mended = 0
        self._withdrawn = False
        self._fault = "no answer came"
        self._decided: Decided | None = None
        self._say = talk.tell

    async def run(self) -> Decided:
        """Ask until there is an answer. The conversation must already hold its first message.

        Raises:
            ModelError: the model cannot be had.
            JudgingError: it did not answer within the bounds.
            OutsideError: the store cannot be read.
        """
        while self._forced < FORCED:
            if not self._withdrawn and (why := self._bound_reached()):
                self._withdraw(why)
            given = await self._answer_in(await self._ask())
            if given is not None and await self._settles(given):
                break
        if self._decided is None:
            raise JudgingError(f"The model did not answer, though it was made to {FORCED} times: {self._fault}.")
        return self._decided

    def _bound_reached(self) -> str | None:
        if self._used >= LOOKS:
            return prompt.NO_LOOKS
        if self._refused >= REFUSALS:
            return prompt.TOO_MANY_REFUSED
        if self._faulty >= FAULTY:
            return prompt.NO_PROPER_ANSWER
        return prompt.NO_ROOM if self._talk.full else None

    def _withdraw(self, why: str) -> None:
        self._withdrawn = True
        self._talk.tell(prompt.FORCED.format(why=why, question=self._question))

    async def _ask(self) -> Reply:
        """The model's reply; where a provider finds the conversation too long, to one that ends before the latest looks."""
        self._report()
        self._forced += self._withdrawn
        try:
            return await self._talk.ask(self._withdrawn)
        except ModelError as error:
            if error.kind != "context" or self._withdrawn or not self._talk.shorten():
                raise
        self._withdraw(prompt.NO_ROOM)
        self._forced += 1
        return await self._talk.ask(self._withdrawn)

    async def _answer_in(self, reply: Reply) -> Given | None:
        """The answer that a reply holds; if it holds none, its looks are made and its faults told."""
        if len(reply.calls) == 1 and reply.calls[0].name == prompt.ANSWER:
            self._say = partial(self._talk.answer, reply.calls[0])
            return self._read(reply.calls[0].arguments, read_arguments)
        if reply.calls:
            await self._serve(reply.calls)
            return None
        self._say = self._talk.tell
        return self._read(reply.text, read_answer)

    def _read(self, said: str, read: Callable[[str], Given]) -> Given | None:
        try:
            return read(said)
        except JudgingError as error:
            self._faulty += 1
            self._fault = bounded(str(error), 300)
            words = prompt.UNREADABLE_FORCED if self._withdrawn else prompt.UNREADABLE
            self._say(words.format(fault=self._fault) if said.strip() else prompt.SILENT)
            self._talk.note((), (self._fault,))
            return None

    async def _serve(self, calls: Sequence[ToolCall]) -> None:
        """Look where a call asks for it, say why not where it may not, and answer each id once."""
        distinct: dict[str, ToolCall] = {}
        for call in calls:
            distinct.setdefault(call.id, call)
        asked: dict[str, Arguments] = {}
        refused: dict[str, str] = {}
        for call in distinct.values():
            try:
                asked[call.id] = self._allowed(call, len(asked))
            except JudgingError as error:
                refused[call.id] = str(error)
        looks = dict(zip(asked, await self._looker.look(list(asked.values())), strict=True))
        for look in looks.values():
            self._used += 1
            self._report(look)
        answers = refused | {identifier: shown_look(look, self._envelope) for identifier, look in looks.items()}
        doubled = [prompt.SAME_ID] * (len(calls) - len(distinct))
        self._refused += len(refused) + len(doubled)
        self._talk.note([look.id for look in looks.values()], [*refused.values(), *doubled[:1]])
        self._answer(distinct.values(), answers, doubled[:1])

    def _allowed(self, call: ToolCall, before: int) -> Arguments:
        """What a call asks for. Raises JudgingError, in words for the model, if it may not have it."""
        if self._withdrawn:
            raise JudgingError(prompt.WITHDRAWN)
        if call.name == prompt.ANSWER:
            raise JudgingError(prompt.NOT_ALONE)
        asked = self._looker.asked(call)
        if self._used + before >= LOOKS:
            raise JudgingError(prompt.NOTHING_LEFT)
        return asked

    def _answer(self, calls: Iterable[ToolCall], answers: Mapping[str, str], more: Sequence[str]) -> None:
        left = [] if self._withdrawn else [prompt.LOOKS_LEFT.format(left=LOOKS - self._used)]
        *others, last = calls
        for call in others:
            self._talk.answer(call, answers[call.id])
        self._talk.answer(last, "\n".join([answers[last.id], *more, *left]))

    async def _settles(self, given: Given) -> bool:
        """Whether this answer is the last one: all of it stands, or it was mended as often as it may be."""
        checked = await asyncio.to_thread(check, given, self._seen, self._mask)
        self._decided = Decided(given, checked, "forced" if self._withdrawn else "freely")
        if not checked.unsupported or self._mended >= MENDS:
            return True
        self._mended += 1
        looking = "" if self._withdrawn or self._used >= LOOKS else prompt.MEND_LOOKING
        self._say(prompt.MEND.format(faults=fault_lines(checked), looks=looking))
        self._forced = min(self._forced, FORCED - 1)
        return False

    def _report(self, look: Look | None = None) -> None:
        step = len(self._talk.steps) + (look is None)
        self._on_progress(Progress(step, self._used, LOOKS, look, cost_of(self._talk.calls)))


def cost_of(calls: Sequence[Call]) -> float | None:
    """What all calls cost together; `None` if one's price is not known."""
    costs = [call.usage.cost for call in calls]
    return None if None in costs else sum(cost for cost in costs if cost is not None)
