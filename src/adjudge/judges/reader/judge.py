"""The reader as a judge: one question about one run, its answer through the gate, and a row whatever comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import msgspec

from adjudge.evidence import Citation, Exhibits
from adjudge.evidence.turns import Turns
from adjudge.judges import steering
from adjudge.judges.cautions import SameModel, cautions, same_name
from adjudge.judges.process import ProcessJudge
from adjudge.judges.reader import prompt
from adjudge.judges.reader.answers import ReaderAnswer, answer_schema, object_in_prose, read_answer
from adjudge.judges.reader.cascade import Climbed, Questions, climb
from adjudge.judges.reader.input import seen_of
from adjudge.judges.reader.own import own_rubric
from adjudge.judges.reader.request import ROOM, Bounds, Question, question
from adjudge.judges.reader.tokens import Calibration, calibrated
from adjudge.judges.reader.walk import held
from adjudge.judges.rows import VERSION, Clock, Row, utc_now
from adjudge.judgment import Judge, Judgment, Prepared, Rung, Steering, gate_scores
from adjudge.ports import Machine, Model
from adjudge.rubric import Rubric
from adjudge.run import Run
from adjudge.settings import Settings

NO_MODEL = "No model to read with. Name one with --model or ADJUDGE_MODEL, and set its provider's key."
NO_RECORD = "The run has no record, so there is nothing to read."


class Asking(msgspec.Struct, frozen=True):
    """A call that is about to be made: on which rung, about what input, and what was wrong with the reply before."""

    rung: Rung
    prepared: Prepared
    fault: str = ""


class Reader:
    """Scores a rubric's dimensions on a run by reading its trajectory once.

    `calibration` says how the model counts tokens; without one a careful guess does. `same_model` tells whether two names
    stand for one model. `on_progress` is called in the event loop and must not block.
    """

    def __init__(
        self,
        model: Model | None,
        settings: Settings | None = None,
        *,
        calibration: Calibration | None = None,
        clock: Clock = utc_now,
        same_model: SameModel = same_name,
        on_progress: Callable[[Asking], None] | None = None,
    ) -> None:
        self._model, self._settings = model, settings or Settings()
        self._on_progress = on_progress or _keep_silent
        self._calibration = calibration or calibrated(())
        self._clock, self._same_model = clock, same_model
        self.identity = Judge(
            "reader",
            model.name if model else None,
            _fingerprint(),
            limits(self._settings),
            VERSION,
        )

    async def judge(self, run: Run, rubric: Rubric | None, machine: Machine | None) -> Judgment:
        """Read a run; without a rubric judge it by its process alone. A machine is of no use here."""
        if rubric is None:
            return await ProcessJudge(self._clock).judge(run, None, machine)
        row = Row(self.identity, run, rubric, self._clock)
        if self._model is None:
            return row.errored(NO_MODEL, failure="refused")
        if not any(len(record.entries) for record in (run.record, *run.record.children)):
            return row.errored(NO_RECORD, failure="broken")
        return await self._read(self._model, row, run, rubric)

    async def _read(self, model: Model, row: Row, run: Run, rubric: Rubric) -> Judgment:
        asked = await asyncio.to_thread(self.question, run, rubric)
        smaller: list[Question] = []

        def shrunk() -> Questions:
            smaller.append(self.question(run, rubric, asked.prepared.characters // 2))
            return _questions(smaller[-1], rubric)

        questions = msgspec.structs.replace(_questions(asked, rubric), shrunk=shrunk)

        def tell(rung: Rung, fault: str) -> None:
            self._on_progress(Asking(rung, [asked, *smaller][-1].prepared, fault))

        climbed = await climb(model, questions, partial(_answer, rubric), self._settings.deadline, tell)
        used = smaller[-1] if climbed.shrunk else asked
        return await asyncio.to_thread(self._judgment, row, run, rubric, used, climbed)

    def question(self, run: Run, rubric: Rubric, characters: int | None = None) -> Question:
        """The question that is asked about this run; the same every time. `characters` bounds the trajectory."""
        window = self._model.window if self._model else None
        bounds = Bounds(window, self._calibration, self._settings.mask)
        mode = self._settings.prune if characters is None else "pruned"
        return question(rubric, seen_of(run), mode, bounds, characters)

    def _judgment(self, row: Row, run: Run, rubric: Rubric, asked: Question, climbed: Climbed[ReaderAnswer]) -> Judgment:
        answer = climbed.answer
        exhibits = Exhibits(held(run.record) if answer and answer.cites else run.record)
        found: dict[str, Any] = {
            "steps": climbed.steps,
            "calls": climbed.calls,
            "prepared": asked.prepared,
            "masked": asked.masked,
            "steering": steering.attempts((*steering.in_statements(run), *asked.signs), _told(answer, exhibits)),
            "warnings": tuple(cautions(run, self.identity.model, {}, self._same_model)),
        }
        if answer is None:
            return row.errored(climbed.reason, failure=climbed.failure, **found)
        scores = gate_scores(rubric, answer.answers, exhibits)
        return row.judged(scores=scores, summary=answer.summary, decided=climbed.rung, **found)


def _keep_silent(_: Asking) -> None:
    """Report to nobody."""


@cache
def _fingerprint() -> str:
    """A SHA-256 over every word that the model may be told and the schema of its answer."""
    return prompt.fingerprint(answer_schema(own_rubric()))


def _questions(asked: Question, rubric: Rubric) -> Questions:
    return Questions(asked.request, lambda reasoning: asked.transcribing(reasoning, rubric), asked.in_prose)


def _answer(rubric: Rubric, text: str, prose: bool) -> ReaderAnswer:
    return read_answer(object_in_prose(text) if prose else text, rubric)


def limits(settings: Settings) -> dict[str, float | int | bool | str]:
    """The bounds under which a reader judges; a part of its identity."""
    bounds: dict[str, float | int | bool | str] = {"prune": settings.prune, "mask": settings.mask, "room": ROOM}
    bounds |= {"deadline": settings.deadline}
    return bounds if settings.budget is None else bounds | {"budget": settings.budget}


def _told(answer: ReaderAnswer | None, exhibits: Exhibits) -> Iterator[Steering]:
    turns = Turns(exhibits)
    for told in answer.steering if answer else ():
        if holding := turns.find(Citation(told.turn, told.excerpt)):
            yield from steering.told_by_model(told.excerpt, holding)
