"""The loop of an asking: looks into a store until all of an answer stands, or it was mended as often as it may be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import msgspec

from adjudge.asking import prompt
from adjudge.asking.answers import Given, read_answer, read_arguments
from adjudge.asking.checking import Checked, check, fault_lines
from adjudge.asking.looks import Looker, shown_look
from adjudge.asking.seen import Seen
from adjudge.asking.tools import Arguments
from adjudge.asking.values import Look, Progress
from adjudge.errors import JudgingError
from adjudge.judges import looking
from adjudge.judges.evaluator.conversation import Conversation
from adjudge.judges.evaluator.views import Envelope
from adjudge.judgment import Call

LOOKS = 20
"""Looks that one question may take."""
MENDS = 2
"""How often an answer of which something does not stand may be mended."""
REFUSALS = 10
"""Calls that may be refused before an answer is forced."""


class Decided(msgspec.Struct, frozen=True):
    """The end of a loop: the answer, what the check made of it, and how it came about."""

    given: Given
    checked: Checked
    how: looking.How


class Loop(looking.Loop[Arguments, Look, Given]):
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
        super().__init__(prompt, prompt.ANSWER, looker, talk, looking.Bounds(LOOKS, REFUSALS))
        self._question, self._seen, self._envelope, self._mask = question, seen, envelope, mask
        self._on_progress = on_progress
        self._mended = 0
        self._decided: Decided | None = None

    async def run(self) -> Decided:
        """Ask until there is an answer. The conversation must already hold its first message.

        Raises:
            ModelError: the model cannot be had.
            JudgingError: it did not answer within the bounds.
            OutsideError: the store cannot be read.
        """
        await self._until_settled()
        if self._decided is None:
            raise JudgingError(f"The model did not answer, though it was made to {looking.FORCED} times: {self._fault}.")
        return self._decided

    def _read_called(self, arguments: str) -> Given:
        return read_arguments(arguments)

    def _read_written(self, text: str) -> Given:
        return read_answer(text)

    async def _faults_of(self, answer: Given) -> str | None:
        checked = await asyncio.to_thread(check, answer, self._seen, self._mask)
        self._decided = Decided(answer, checked, self._how)
        if not checked.unsupported or self._mended >= MENDS:
            return None
        self._mended += 1
        return fault_lines(checked)

    def _forcing(self, why: str) -> str:
        return prompt.FORCED.format(why=why, question=self._question)

    def _shown(self, look: Look) -> str:
        return shown_look(look, self._envelope)

    def _report(self, look: Look | None = None) -> None:
        step = len(self._talk.steps) + (look is None)
        self._on_progress(Progress(step, self._used, LOOKS, look, cost_of(self._talk.calls)))


def cost_of(calls: Sequence[Call]) -> float | None:
    """What all calls cost together; `None` if one's price is not known."""
    costs = [call.usage.cost for call in calls]
    return None if None in costs else sum(cost for cost in costs if cost is not None)
