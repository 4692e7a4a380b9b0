"""The evaluator's loop: ask, look, let the decision be checked, mend it once, and force one when the bounds are reached."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Literal

import msgspec

from adjudge.errors import JudgingError, ModelError
from adjudge.evidence import Exhibits, Look
from adjudge.judges.evaluator import prompt
from adjudge.judges.evaluator.answers import Decision, merged, read_decision
from adjudge.judges.evaluator.conversation import Conversation
from adjudge.judges.evaluator.looks import Looker, shown_look
from adjudge.judges.evaluator.tools import Arguments
from adjudge.judges.evaluator.views import Envelope
from adjudge.judges.strict import bounded, read_strictly
from adjudge.judgment import Fault, Verdict, gate
from adjudge.ports import Reply, ToolCall
from adjudge.rubric import Rubric

REFUSALS = 20
"""Calls that may be refused in one judgment before a decision is forced."""
FAULTY = 2
"""Answers that may be unreadable before a decision is forced."""
FORCED = 3
"""How often a forced decision is asked for."""

MOST_FAULTS = 100
"""Faults that are told at once."""

How = Literal["freely", "forced"]


class Progress(msgspec.Struct, frozen=True):
    """What the evaluator is at: the question's number, looks used of those it may use, and the look that it has just made.

    Without a look the model is being asked.
    """

    step: int
    used: int
    most: int
    look: Look | None = None


class Decided(msgspec.Struct, frozen=True):
    """The end of a loop: the decision, the verdicts that the gate made of it, and how it came about."""

    decision: Decision
    verdicts: tuple[Verdict, ...]
    how: How


class Loop:
    """One evaluation, from the first question to a decision. `looks` are those made so far."""

    def __init__(
        self,
        rubric: Rubric,
        exhibits: Exhibits,
        looker: Looker,
        talk: Conversation,
        envelope: Envelope,
        most: int,
        on_progress: Callable[[Progress], None],
    ) -> None:
        self._rubric, self._exhibits, self._looker = rubric, exhibits, looker
        self._talk, self._envelope, self._most, self._on_progress = talk, envelope, most, on_progress
        self._refused = self._faulty = self._forced = 0
        self._withdrawn = False
        self._fault = "no answer came"
        self._decided: Decided | None = None
        self._say = talk.tell
        self.looks: list[Look] = []

    async def run(self) -> Decided:
        """Ask until there is a decision. The conversation must already hold its first message.

        Raises:
            ModelError: the model cannot be had.
            JudgingError: it did not decide within the bounds.
        """
        while self._forced < FORCED:
            if not self._withdrawn and (why := self._bound_reached()):
                self._withdraw(why)
            decision = await self._decision_in(await self._ask())
            if decision is not None and await self._settles(decision):
                break
        if self._decided is None:
            raise JudgingError(f"The model did not decide, though it was made to {FORCED} times: {self._fault}.")
        return self._decided

    def _bound_reached(self) -> str | None:
        if len(self.looks) >= self._most:
            return prompt.NO_LOOKS
        if self._refused >= REFUSALS:
            return prompt.TOO_MANY_REFUSED
        if self._faulty >= FAULTY:
            return prompt.NO_PROPER_ANSWER
        return prompt.NO_ROOM if self._talk.full else None

    def _withdraw(self, why: str) -> None:
        self._withdrawn = True
        asked = [criterion for criterion in self._rubric.criteria if criterion.probe is None]
        self._talk.tell(prompt.FORCED.format(why=why, criteria=prompt.criteria_lines(asked)))

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

    async def _decision_in(self, reply: Reply) -> Decision | None:
        """The decision that a reply holds; if it holds none, its looks are made and its faults told."""
        if len(reply.calls) == 1 and reply.calls[0].name == prompt.DECIDE:
            self._say = partial(self._talk.answer, reply.calls[0])
            return self._read(reply.calls[0].arguments, read_arguments)
        if reply.calls:
            await self._serve(reply.calls)
            return None
        self._say = self._talk.tell
        return self._read(reply.text, read_decision)

    def _read(self, said: str, read: Callable[[str], Decision]) -> Decision | None:
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
            self.looks.append(look)
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
        if call.name == prompt.DECIDE:
            raise JudgingError(prompt.NOT_ALONE)
        asked = self._looker.asked(call)
        if len(self.looks) + before >= self._most:
            raise JudgingError(prompt.NOTHING_LEFT)
        return asked

    def _answer(self, calls: Iterable[ToolCall], answers: Mapping[str, str], more: Sequence[str]) -> None:
        left = [] if self._withdrawn else [prompt.LOOKS_LEFT.format(left=self._most - len(self.looks))]
        *others, last = calls
        for call in others:
            self._talk.answer(call, answers[call.id])
        self._talk.answer(last, "\n".join([answers[last.id], *more, *left]))

    async def _settles(self, decision: Decision) -> bool:
        """Whether this decision is the last one: nothing in it is faulty, or its faults have been told before."""
        first = self._decided
        if first is not None:
            decision = merged(first.decision, decision)
        verdicts, faults = await asyncio.to_thread(gate, self._rubric, decision.answers(), self._exhibits)
        self._decided = Decided(decision, verdicts, "forced" if self._withdrawn else "freely")
        if first is not None or not faults:
            return True
        looking = "" if self._withdrawn or len(self.looks) >= self._most else prompt.MEND_LOOKING
        self._say(prompt.MEND.format(faults=_fault_lines(faults), looks=looking))
        self._forced = min(self._forced, FORCED - 1)
        return False

    def _report(self, look: Look | None = None) -> None:
        self._on_progress(Progress(len(self._talk.steps) + (look is None), len(self.looks), self._most, look))


def read_arguments(text: str) -> Decision:
    """The decision in the arguments of a call. Raises JudgingError if there is none."""
    return read_strictly(text, Decision)


def _fault_lines(faults: Sequence[Fault]) -> str:
    return "\n".join(f"- {fault.criterion[:100]}: {bounded(fault.words, 600)}" for fault in faults[:MOST_FAULTS])
