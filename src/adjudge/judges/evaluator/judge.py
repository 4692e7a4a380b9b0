"""The evaluator as a judge: probes first, then the model with its looks, and a judgment whatever comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from secrets import token_hex
from typing import Any

from adjudge import untrusted
from adjudge.errors import JudgingError, ModelError
from adjudge.evidence import Exhibits
from adjudge.judges.evaluator import loop, prompt
from adjudge.judges.evaluator.answers import LONGEST_SUMMARY, Decision, decide_tool
from adjudge.judges.evaluator.cautions import SameModel, cautions, same_name
from adjudge.judges.evaluator.conversation import Conversation, clean
from adjudge.judges.evaluator.looks import Looker
from adjudge.judges.evaluator.loop import Decided, Loop, Progress
from adjudge.judges.evaluator.opening import LONGEST_OVERVIEW, opening
from adjudge.judges.evaluator.record_looks import outline
from adjudge.judges.evaluator.steering import attempts
from adjudge.judges.evaluator.tools import ON_MACHINE, ON_RECORD, Outline, look_tools, schema_of
from adjudge.judges.evaluator.views import PAGE, Envelope, bounded, one_line
from adjudge.judges.probes import run_probes
from adjudge.judges.process import ProcessJudge
from adjudge.judges.rows import VERSION, Clock, Row, utc_now
from adjudge.judgment import Judge, Judgment, Verdict, score
from adjudge.ports import Machine, Model
from adjudge.rubric import Rubric
from adjudge.run import Run
from adjudge.settings import Settings

NO_MODEL = (
    "No model to judge with: {count} of the rubric's criteria have no probe. Set a key such as OPENROUTER_API_KEY, name a "
    "model that needs none, or give each criterion a probe."
)
BY_PROBES = "Every criterion was decided by a probe; nothing else was looked at."

LONGEST_REASON = 500

ENDED = {
    "timeout": "The model did not answer in time",
    "budget": "The budget for this judgment is used up",
    "context": "The conversation is too long for the model",
    "filtered": "The model or its provider refused to answer",
}
"""How a judgment ends for which the model could not be had, by `ModelError.kind`."""


class Evaluator:
    """Answers a rubric's criteria on a run by looking at its record and its machine.

    `model` may be `None` if every criterion has a probe. `nonce` fixes the envelope's token, for a recorded exchange;
    left out, each judgment draws one by lot. `on_progress` is called in the event loop and must not block.
    """

    def __init__(
        self,
        model: Model | None,
        settings: Settings | None = None,
        *,
        nonce: str | None = None,
        clock: Clock = utc_now,
        same_model: SameModel = same_name,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self._model, self._settings, self._nonce, self._clock = model, settings or Settings(), nonce, clock
        self._same_model, self._on_progress = same_model, on_progress or (lambda _: None)
        self.identity = Judge("evaluator", model.name if model else None, fingerprint(), self._limits(), VERSION)

    def _limits(self) -> dict[str, float | int | bool]:
        settings = self._settings
        limits: dict[str, float | int | bool] = {"looks": settings.looks, "mask": settings.mask, "page": PAGE}
        limits |= {"refusals": loop.REFUSALS, "faulty": loop.FAULTY, "forced": loop.FORCED}
        return limits if settings.budget is None else limits | {"budget": settings.budget}

    async def judge(self, run: Run, rubric: Rubric | None, machine: Machine | None) -> Judgment:
        """Judge a run; without a rubric only by its process."""
        if rubric is None:
            return await ProcessJudge(self._clock).judge(run, None, machine)
        row = Row(self.identity, run, rubric, self._clock)
        exhibits = Exhibits(run.record)
        probed = await run_probes(rubric, machine, exhibits)
        asked = sum(criterion.probe is None for criterion in rubric.criteria)
        if asked and self._model:
            return await self._by_model(self._model, row, run, rubric, machine, exhibits, probed)
        found: dict[str, Any] = {"verdicts": probed, **self._surroundings(run, machine, exhibits)}
        if asked:
            return row.errored(NO_MODEL.format(count=asked), **found)
        return row.judged(score=score(probed), decided="probes", summary=BY_PROBES, **found)

    async def _by_model(
        self,
        model: Model,
        row: Row,
        run: Run,
        rubric: Rubric,
        machine: Machine | None,
        exhibits: Exhibits,
        probed: tuple[Verdict, ...],
    ) -> Judgment:
        envelope = Envelope(self._nonce or token_hex(8), self._settings.mask)
        looker = Looker(run.record, machine, exhibits)
        talk = Conversation(model, (*looker.tools, decide_tool()), schema_of(Decision))
        overview = await asyncio.to_thread(outline, "overview", run.record, Outline(), LONGEST_OVERVIEW)
        talk.tell(opening(run, rubric, machine, overview, self._settings.looks, envelope))
        loop = Loop(rubric, exhibits, looker, talk, envelope, self._settings.looks, self._on_progress)
        decided, reason = await _outcome(loop)
        looks = (overview, *exhibits.looks.values())
        decision = decided.decision if decided else None
        steering = await asyncio.to_thread(attempts, run, looks, decision, exhibits)
        found: dict[str, Any] = {
            "steps": tuple(talk.steps),
            "calls": tuple(talk.calls),
            "steering": steering,
            "masked": len(envelope.masked),
            **self._surroundings(run, machine, exhibits),
        }
        if decided is None:
            return row.errored(reason, verdicts=probed, **found)
        verdicts = in_order(rubric, (*probed, *decided.verdicts))
        summary = clean(bounded(decided.decision.summary, LONGEST_SUMMARY))
        return row.judged(verdicts=verdicts, score=score(verdicts), summary=summary, decided=decided.how, **found)

    def _surroundings(self, run: Run, machine: Machine | None, exhibits: Exhibits) -> dict[str, Any]:
        """What a judgment says of its looks and its machine, whatever came of it."""
        facts = dict(machine.facts) if machine else {}
        model = self._model.name if self._model else None
        warnings = tuple(cautions(run, model, facts, self._same_model))
        return {"looks": tuple(exhibits.looks.values()), "machine": facts, "warnings": warnings}


async def _outcome(loop: Loop) -> tuple[Decided | None, str]:
    """What was decided, or nothing and one sentence why."""
    try:
        return await loop.run(), ""
    except ModelError as error:
        told = bounded(one_line(untrusted.shown(str(error)), LONGEST_REASON), LONGEST_REASON)
        return None, f"{ENDED.get(error.kind, 'The model could not be had')}: {told}"
    except JudgingError as error:
        return None, bounded(untrusted.shown(str(error)), LONGEST_REASON)


def in_order(rubric: Rubric, verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """The verdicts in the order of the rubric's criteria."""
    positions = {criterion.id: position for position, criterion in enumerate(rubric.criteria)}
    return tuple(sorted(verdicts, key=lambda verdict: positions[verdict.criterion]))


def fingerprint() -> str:
    """A SHA-256 over every word that the model may be told and every tool it may be offered."""
    return prompt.fingerprint([*look_tools(ON_RECORD), *look_tools(ON_MACHINE), decide_tool()])
