"""A question over a store, asked with what the settings name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING

from adjudge.errors import InputError
from adjudge.wiring.models import model_for, require_model

if TYPE_CHECKING:
    from adjudge.asking.values import Asking, Progress
    from adjudge.settings import Settings
    from adjudge.store.store import Store


async def require_asker(settings: Settings) -> None:
    """Do nothing if a question could be asked with the model that the settings name.

    Raises:
        InputError: none is named, the name stands for nothing, or no budget can be kept for it.
        ModelError: its provider's key is missing.
    """
    if settings.model is None:
        raise InputError(
            "no model is named to answer with: give --model PROVIDER/MODEL or set ADJUDGE_MODEL, and set its provider's key"
        )
    await require_model(settings)


async def ask(
    question: str, store: Store, settings: Settings, on_progress: Callable[[Progress], None] | None = None
) -> Asking:
    """Answer a question over an open store, within the settings' budget; see `asking.asking.ask`.

    Raises:
        InputError: as `require_asker`, or there is no question, or it is too long.
        ModelError: the provider's key is missing.
        OutsideError: the store cannot be read.
    """
    from adjudge.asking.asking import ask as answered

    await require_asker(settings)
    async with model_for(True, settings, None) as (model, nonce):
        assert model is not None
        return await answered(question, store, model, mask=settings.mask, nonce=nonce, on_progress=on_progress)


async def follow(question: str, store: Store, settings: Settings) -> AsyncGenerator[Progress | Asking, None]:
    """As `ask`, step by step: what it is at, with each look as it is made, and in the end the asking.

    Closing it early cancels the asking. Raises as `ask` does.
    """
    told: asyncio.Queue[Progress | None] = asyncio.Queue()
    task = asyncio.create_task(ask(question, store, settings, told.put_nowait))
    task.add_done_callback(lambda _: told.put_nowait(None))
    try:
        while (progress := await told.get()) is not None:
            yield progress
        yield await task
    finally:
        task.cancel()
        await asyncio.wait([task])
