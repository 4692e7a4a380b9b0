"""The evaluator as a judge: what it judges with, and who it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

import msgspec

from adjudge.judges import looking
from adjudge.judges.cautions import SameModel, same_name
from adjudge.judges.evaluator import loop, prompt
from adjudge.judges.evaluator.answers import decide_tool
from adjudge.judges.evaluator.evaluation import Evaluation, Means
from adjudge.judges.evaluator.loop import Progress
from adjudge.judges.evaluator.tools import ON_MACHINE, ON_PATCH, ON_RECORD, look_tools
from adjudge.judges.evaluator.views import PAGE
from adjudge.judges.process import ProcessJudge
from adjudge.judges.rows import VERSION, Clock, Row, utc_now
from adjudge.judgment import Judge, Judgment
from adjudge.ports import Machine, Model
from adjudge.rubric import Rubric
from adjudge.run import Run
from adjudge.settings import Settings


class Evaluator:
    """Answers a rubric's criteria on a run by looking at its record and its machine.

    `model` may be `None` if every criterion has a probe. `nonce` fixes the envelope's token, for a recorded exchange;
    left out, each judgment draws one by lot. `same_model` tells whether two names stand for one model. `on_progress` is
    called in the event loop and must not block.
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
        given = settings or Settings()
        self._means = Means(model, given, nonce, same_model, on_progress or _keep_silent)
        self._clock = clock
        self.identity = Judge("evaluator", model.name if model else None, fingerprint(), limits(given), VERSION)

    async def judge(self, run: Run, rubric: Rubric | None, machine: Machine | None) -> Judgment:
        """Judge a run; without a rubric only by its process."""
        if rubric is None:
            return await ProcessJudge(self._clock).judge(run, None, machine)
        row = Row(self.identity, run, rubric, self._clock)
        return await Evaluation(self._means, row, run, rubric, machine).judgment()


def _keep_silent(_: Progress) -> None:
    """Report to nobody."""


def limits(settings: Settings) -> dict[str, float | int | bool | str]:
    """The bounds under which an evaluator judges; a part of its identity."""
    bounds: dict[str, float | int | bool | str] = {"looks": settings.looks, "mask": settings.mask, "page": PAGE}
    bounds |= {"refusals": loop.REFUSALS, "faulty": looking.FAULTY, "forced": looking.FORCED}
    bounds |= {"deadline": settings.deadline, "expose": os.pathsep.join(settings.expose)}
    bounds |= {f"machine_{name}": value for name, value in msgspec.structs.asdict(settings.machine).items()}
    return bounds if settings.budget is None else bounds | {"budget": settings.budget}


@cache
def fingerprint() -> str:
    """A SHA-256 over every word that the model may be told and every tool it may be offered."""
    return prompt.fingerprint([*look_tools({**ON_RECORD, **ON_PATCH, **ON_MACHINE}), decide_tool()])
