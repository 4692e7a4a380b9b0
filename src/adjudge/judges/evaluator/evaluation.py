"""One judgment in the making: probes first, then the model with its looks, and a row whatever comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

from adjudge import untrusted
from adjudge.errors import JudgingError, ModelError
from adjudge.evidence import Exhibits
from adjudge.judges.cautions import SameModel, cautions
from adjudge.judges.evaluator.answers import LONGEST_SUMMARY, Decision, decide_tool
from adjudge.judges.evaluator.conversation import Conversation, clean
from adjudge.judges.evaluator.looks import Looker
from adjudge.judges.evaluator.loop import Decided, Loop, Progress
from adjudge.judges.evaluator.opening import LONGEST_OVERVIEW, opening, system_text
from adjudge.judges.evaluator.record_looks import closing, outline
from adjudge.judges.evaluator.steering import attempts
from adjudge.judges.evaluator.tools import Outline, schema_of
from adjudge.judges.evaluator.views import Envelope, one_line
from adjudge.judges.probes import run_probes
from adjudge.judges.rows import Row, failure_of
from adjudge.judges.strict import bounded
from adjudge.judges.tampering import tampering_on
from adjudge.judgment import Failure, Judgment, Verdict, score
from adjudge.ports import Machine, Model
from adjudge.rubric import Rubric
from adjudge.run import Run
from adjudge.settings import Settings

NO_MODEL = (
    "No model to judge with: {count} of the rubric's criteria have no probe. Name one with --model or "
    "ADJUDGE_MODEL and set its provider's key, or give each criterion a probe."
)
BY_PROBES = "Every criterion was decided by a probe; nothing else was looked at."

ENDED = {
    "timeout": "The model did not answer in time",
    "budget": "The budget for this judgment is used up",
    "context": "The conversation is too long for the model",
    "filtered": "The model or its provider refused to answer",
}
"""How a judgment ends for which the model could not be had, by `ModelError.kind`."""

LONGEST_REASON = 500


@dataclass(frozen=True)
class Means:
    """What an evaluator judges with, the same for all its judgments."""

    model: Model | None
    settings: Settings
    nonce: str | None
    same_model: SameModel
    on_progress: Callable[[Progress], None]


class Evaluation:
    """The evaluation of one run by one rubric."""

    def __init__(self, means: Means, row: Row, run: Run, rubric: Rubric, machine: Machine | None) -> None:
        self._means, self._row, self._run, self._rubric, self._machine = means, row, run, rubric, machine
        self._exhibits = Exhibits(run.record)

    async def judgment(self) -> Judgment:
        """Decide the probes, then ask the model for the rest, if there is a rest."""
        probed = await run_probes(self._rubric, self._machine, self._exhibits)
        asked = sum(criterion.probe is None for criterion in self._rubric.criteria)
        if not asked:
            return self._row.judged(
                verdicts=probed, score=score(probed), decided="probes", summary=BY_PROBES, **self._surroundings()
            )
        if self._means.model is None:
            reason = NO_MODEL.format(count=asked)
            return self._row.errored(reason, failure="refused", verdicts=probed, **self._surroundings())
        return await self._by_model(self._means.model, probed)

    async def _by_model(self, model: Model, probed: tuple[Verdict, ...]) -> Judgment:
        settings, run = self._means.settings, self._run
        envelope = Envelope(self._means.nonce or token_hex(8), settings.mask)
        looker = Looker(run, self._machine, self._exhibits)
        talk = Conversation(model, system_text(self._machine), (*looker.tools, decide_tool()), schema_of(Decision))
        overview = await asyncio.to_thread(outline, "overview", run.record, Outline(), LONGEST_OVERVIEW)
        talk.tell(await asyncio.to_thread(opening, run, self._rubric, self._machine, overview, settings.looks, envelope))
        loop = Loop(self._rubric, self._exhibits, looker, talk, envelope, settings.looks, self._means.on_progress)
        decided, failure, reason = await _outcome(loop)
        decision = decided.decision if decided else None
        read = (overview, *closing(run.record), *self._exhibits.looks.values())
        found: dict[str, Any] = {
            "steps": tuple(talk.steps),
            "calls": tuple(talk.calls),
            "steering": await asyncio.to_thread(attempts, run, read, decision, self._exhibits),
            "masked": len(envelope.masked),
            **self._surroundings(),
        }
        if decided is None:
            return self._row.errored(reason, failure=failure, verdicts=probed, **found)
        return self._decided(decided, probed, found)

    def _decided(self, decided: Decided, probed: tuple[Verdict, ...], found: dict[str, Any]) -> Judgment:
        verdicts = in_order(self._rubric, (*probed, *decided.verdicts))
        summary = bounded(decided.decision.summary.strip(), LONGEST_SUMMARY)
        return self._row.judged(verdicts=verdicts, score=score(verdicts), summary=summary, decided=decided.how, **found)

    def _surroundings(self) -> dict[str, Any]:
        """What a judgment says of its looks and its machine, whatever came of it."""
        facts = dict(self._machine.facts) if self._machine else {}
        model = self._means.model.name if self._means.model else None
        looks = tuple(self._exhibits.looks.values())
        tampering = tampering_on(self._machine, looks) if self._machine else ()
        warnings = tuple(cautions(self._run, model, facts, self._means.same_model, tampering))
        return {"looks": looks, "machine": facts, "warnings": warnings, "tampering": tampering}


async def _outcome(loop: Loop) -> tuple[Decided | None, Failure | None, str]:
    """What was decided, or nothing, the sort of failure, and one sentence why."""
    try:
        return await loop.run(), None, ""
    except ModelError as error:
        return None, failure_of(error), f"{ENDED.get(error.kind, 'The model could not be had')}: {_brief(error)}"
    except JudgingError as error:
        return None, "judge_parse_failed", _brief(error)


def _brief(error: Exception) -> str:
    return clean(one_line(untrusted.shown(str(error)), LONGEST_REASON))


def in_order(rubric: Rubric, verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """The verdicts in the order of the rubric's criteria."""
    positions = {criterion.id: position for position, criterion in enumerate(rubric.criteria)}
    return tuple(sorted(verdicts, key=lambda verdict: positions[verdict.criterion]))
