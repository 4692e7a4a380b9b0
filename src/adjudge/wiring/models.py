"""The model that judges, its budget, and a record of what is said with it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

import msgspec

from adjudge.errors import InputError, ModelError
from adjudge.settings import KEYS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from adjudge.ports import Model
    from adjudge.rubric import Rubric
    from adjudge.settings import Settings


async def require_model(settings: Settings, instead: str = "--dry-run shows the request without one") -> None:
    """Open the model that the settings name, with its budget, and close it again: `read` would store what is wrong.

    `instead` says what can be had without a model.

    Raises:
        InputError: none is named, the name stands for nothing, or no budget can be kept for it.
        ModelError: its provider's key is missing.
    """
    from adjudge.models.opening import UnavailableModel

    if settings.model is None:
        raise InputError(
            f"no model is named: give --model PROVIDER/MODEL or set ADJUDGE_MODEL, and set its provider's key; {instead}"
        )
    model = limited(opened(settings), settings)
    if model is None:
        return
    await model.close()
    if isinstance(model, UnavailableModel):
        raise model.error


def needs_model(rubric: Rubric) -> bool:
    """Whether something in a rubric needs a model: probes decide themselves."""
    return bool(rubric.dimensions) or any(criterion.probe is None for criterion in rubric.criteria)


def require_model_for(rubric: Rubric, settings: Settings) -> None:
    """As `require_model`, if something in the rubric needs one."""
    import asyncio

    if needs_model(rubric):
        asyncio.run(require_model(settings, "`adjudge pass plan` shows what there is to judge"))


@asynccontextmanager
async def model_for(
    needed: bool, settings: Settings, exchange: Path | None
) -> AsyncIterator[tuple[Model | None, str | None]]:
    """The model that judges, if one is needed and can be had, and the envelopes' token if it must be a certain one."""
    from adjudge.models.recorded import RecordedModel, Recorder

    model = opened(settings) if needed else None
    nonce = model.nonce if isinstance(model, RecordedModel) else None
    model = limited(model, settings)
    recorder = None
    if model is not None and exchange is not None:
        nonce = nonce or token_hex(8)
        model = recorder = Recorder(model, f"adjudge, judging with {model.name}", nonce)
    try:
        yield model, nonce
    finally:
        if model is not None:
            await model.close()
        if recorder is not None and exchange is not None:
            recorder.write(exchange)


def opened(settings: Settings) -> Model | None:
    """The model of the settings; `None` if none is named."""
    from adjudge.models.opening import UnavailableModel, open_model

    if settings.model is None:
        return None
    try:
        return open_model(settings.model, settings)
    except ModelError as error:  # the judgment says so, in the store as well
        return UnavailableModel(settings.model, error)


def opened_without_key(settings: Settings) -> Model | None:
    """As `opened`, to be told its prices and its window: it need not be asked, so it needs no key."""
    return opened(msgspec.structs.replace(settings, keys=dict.fromkeys(KEYS, "none") | dict(settings.keys)))


def limited(model: Model | None, settings: Settings) -> Model | None:
    """The model with the settings' budget; one that cannot be asked needs none, and says why it cannot.

    Raises:
        InputError: no price is known for the model.
    """
    from adjudge.models.budget import BudgetedModel
    from adjudge.models.opening import UnavailableModel

    if model is None or settings.budget is None or isinstance(model, UnavailableModel):
        return model
    return BudgetedModel(model, settings.budget)
