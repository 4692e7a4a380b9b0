"""The work of a pass in this process: each run with a judge of the settings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from adjudge.connected import require_apart
from adjudge.errors import InputError, MachineError
from adjudge.passes.under_way import Said, UnderWay
from adjudge.wiring.judging import machine_of
from adjudge.wiring.models import limited, needs_model, opened

if TYPE_CHECKING:
    from adjudge.judges.reader.tokens import Calibration
    from adjudge.judgment import Judge, Judgment
    from adjudge.passes.work import Paying
    from adjudge.ports import Model
    from adjudge.rubric import Rubric
    from adjudge.run import Run
    from adjudge.settings import Settings
    from adjudge.store.pass_rows import PassItem

Load = Callable[[str], "Run"]
"""Gives the run in the blob of this name."""


class LocalWork:
    """Judges runs with a rubric: dimensions are read, criteria evaluated. One model, with its connections, serves all."""

    def __init__(
        self,
        rubric: Rubric,
        settings: Settings,
        calibration: Calibration,
        load: Load,
        under_way: UnderWay | None = None,
    ) -> None:
        """Open the model, if one is needed. `under_way` takes note of what is being judged.

        Raises:
            InputError: the model's name stands for nothing.
        """
        self._rubric, self._settings, self._calibration, self._load = rubric, settings, calibration, load
        self._under_way = under_way or UnderWay()
        self._model = opened(settings) if needs_model(rubric) else None

    async def judge(self, item: PassItem, paying: Paying) -> Judgment:
        """Judge one run. Raises as `Work.judge` does."""
        from adjudge.models.paid import PaidModel

        with self._under_way.judging(item.run) as tell:
            run = await asyncio.to_thread(self._load, item.blob)
            model = self._model and limited(PaidModel(self._model, paying), self._settings)
            return await (self._read if self._rubric.dimensions else self._evaluated)(run, model, tell)

    async def close(self) -> None:
        """Let go of the model."""
        if self._model is not None:
            await self._model.close()

    async def _read(self, run: Run, model: Model | None, tell: Callable[[Said], None]) -> Judgment:
        from adjudge.judges.reader.judge import Reader
        from adjudge.models.names import same_model

        counting = self._calibration
        reader = Reader(model, self._settings, calibration=counting, same_model=same_model, on_progress=tell)
        return await reader.judge(run, self._rubric, None)

    async def _evaluated(self, run: Run, model: Model | None, tell: Callable[[Said], None]) -> Judgment:
        from adjudge.judges.evaluator.judge import Evaluator
        from adjudge.judges.rows import Row
        from adjudge.models.names import same_model

        evaluator = Evaluator(model, self._settings, same_model=same_model, on_progress=tell)
        row = Row(evaluator.identity, run, self._rubric)
        try:
            if run.workspace is not None:
                require_apart(self._settings, (run.workspace, *self._settings.expose))
            async with machine_of(run, self._settings) as machine:
                return await evaluator.judge(run, self._rubric, machine)
        except (InputError, MachineError) as error:  # of this run alone: the others go on
            return row.errored(f"The run's machine cannot be had: {error}")


def identity_of(rubric: Rubric, settings: Settings, model: Model | None) -> Judge:
    """Who judges with this rubric, these settings and this model."""
    from adjudge.judges.evaluator.judge import Evaluator
    from adjudge.judges.reader.judge import Reader

    return (Reader(model, settings) if rubric.dimensions else Evaluator(model, settings)).identity
