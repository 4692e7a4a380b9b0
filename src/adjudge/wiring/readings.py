"""The reader: reading a run, and what would be asked without asking it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from adjudge.judgment import Prepared
from adjudge.ports import Request
from adjudge.wiring.models import model_for, opened_without_key
from adjudge.wiring.stores import is_there, open_store

if TYPE_CHECKING:
    from adjudge.judges.reader.judge import Asking
    from adjudge.judges.reader.tokens import Calibration
    from adjudge.judgment import Judgment
    from adjudge.ports import Model
    from adjudge.rubric import Rubric
    from adjudge.run import Run
    from adjudge.settings import Settings
    from adjudge.store.store import Store


async def read(
    run: Run,
    rubric: Rubric,
    settings: Settings,
    exchange: Path | None = None,
    on_progress: Callable[[Asking], None] | None = None,
) -> Judgment:
    """Read a run with what the settings name, and land the run and the judgment in the store. `exchange` as in `judge`.

    Raises:
        OutsideError: the judgment could not be kept; no model has been asked then.
    """
    from adjudge.judges.reader.judge import Reader
    from adjudge.models.names import same_model

    with open_store(settings) as store:
        await asyncio.to_thread(store.require_keeping)
        store.add_run(run)
        async with model_for(True, settings, exchange) as (model, _):
            counting = _calibration(store, model)
            reader = Reader(model, settings, calibration=counting, same_model=same_model, on_progress=on_progress)
            judgment = await reader.judge(run, rubric, None)
            await store.land(judgment, rubric)  # before the exchange is written, which may fail
    return judgment


def _calibration(store: Store, model: Model | None) -> Calibration:
    """What earlier rows tell of how this model counts tokens."""
    from adjudge.judges.reader.tokens import calibrated

    return calibrated(store.calibration_pairs(model.name) if model else ())


class DryRun(msgspec.Struct, frozen=True):
    """What would be asked about a run, and what that would cost.

    `calibration` is how the tokens in `prepared` were estimated. `least` is the price of the input alone and `most` that
    with the longest answer, in US dollars; `None` where no price is known. `window` is the model's, in tokens, if known.
    """

    model: str | None
    request: Request
    prepared: Prepared
    calibration: Calibration
    least: float | None
    most: float | None
    window: int | None

    @property
    def fits(self) -> bool:
        """Whether the request and its longest answer fit into the model's window, as far as both are known."""
        return self.window is None or self.prepared.tokens + self.request.most <= self.window


async def dry_run(run: Run, rubric: Rubric, settings: Settings) -> DryRun:
    """The request that `read` would make, without making it. It needs no key, and nothing is stored."""
    from adjudge.judges.reader.judge import Reader
    from adjudge.judges.reader.tokens import calibrated
    from adjudge.record import Usage

    model = opened_without_key(settings)
    calibration = calibrated(())
    if is_there(settings):
        with open_store(settings) as store:
            calibration = _calibration(store, model)
    try:
        asked = Reader(model, settings, calibration=calibration).question(run, rubric)
        tokens, answer = asked.prepared.tokens, asked.request.most
        least = model.price(Usage(prompt=tokens, output=0)) if model else None
        most = model.price(Usage(prompt=tokens, output=answer)) if model else None
    finally:
        if model is not None:
            await model.close()
    name, window = (model.name, model.window) if model else (None, None)
    return DryRun(name, asked.request, asked.prepared, calibration, least, most, window)
