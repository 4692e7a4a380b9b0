"""The evaluator's loop: looks at one run until its decision has gone through the gate, which may send it back once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import msgspec

from adjudge.errors import JudgingError
from adjudge.evidence import Exhibits, Look
from adjudge.judges import looking
from adjudge.judges.evaluator import prompt
from adjudge.judges.evaluator.answers import Decision, merged, read_decision
from adjudge.judges.evaluator.conversation import Conversation
from adjudge.judges.evaluator.looks import Looker, shown_look
from adjudge.judges.evaluator.tools import Arguments
from adjudge.judges.evaluator.views import Envelope
from adjudge.judges.strict import bounded, read_strictly
from adjudge.judgment import Fault, Verdict, gate
from adjudge.rubric import Rubric

REFUSALS = 20
"""Calls that may be refused in one judgment before a decision is forced."""

MOST_FAULTS = 100
"""Faults that are told at once."""


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
    how: looking.How


class Loop(looking.Loop[Arguments, Look, Decision]):
    """One evaluation, from the first question to a decision."""

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
        super().__init__(prompt, prompt.DECIDE, looker, talk, looking.Bounds(most, REFUSALS))
        self._rubric, self._exhibits, self._envelope, self._on_progress = rubric, exhibits, envelope, on_progress
        self._decided: Decided | None = None

    async def run(self) -> Decided:
        """Ask until there is a decision. The conversation must already hold its first message.

        Raises:
            ModelError: the model cannot be had.
            JudgingError: it did not decide within the bounds.
        """
        await self._until_settled()
        if self._decided is None:
            raise JudgingError(f"The model did not decide, though it was made to {looking.FORCED} times: {self._fault}.")
        return self._decided

    def _read_called(self, arguments: str) -> Decision:
        return read_strictly(arguments, Decision)

    def _read_written(self, text: str) -> Decision:
        return read_decision(text)

    async def _faults_of(self, answer: Decision) -> str | None:
        """Pass a decision through the gate: faults in the first one are told, later ones are final."""
        first = self._decided
        if first is not None:
            answer = merged(first.decision, answer)
        verdicts, faults = await asyncio.to_thread(gate, self._rubric, answer.answers(), self._exhibits)
        self._decided = Decided(answer, verdicts, self._how)
        return _fault_lines(faults) if faults and first is None else None

    def _forcing(self, why: str) -> str:
        asked = [criterion for criterion in self._rubric.criteria if criterion.probe is None]
        return prompt.FORCED.format(why=why, criteria=prompt.criteria_lines(asked))

    def _shown(self, look: Look) -> str:
        return shown_look(look, self._envelope)

    def _report(self, look: Look | None = None) -> None:
        step = len(self._talk.steps) + (look is None)
        self._on_progress(Progress(step, self._used, self._bounds.looks, look))


def _fault_lines(faults: Sequence[Fault]) -> str:
    return "\n".join(f"- {fault.criterion[:100]}: {bounded(fault.words, 600)}" for fault in faults[:MOST_FAULTS])
