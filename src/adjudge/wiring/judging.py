"""The evaluator: judging a run with what the settings name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.connected import require_apart
from adjudge.wiring.models import model_for
from adjudge.wiring.stores import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from adjudge.judges.evaluator.loop import Progress
    from adjudge.judgment import Judgment
    from adjudge.ports import Machine
    from adjudge.rubric import Rubric
    from adjudge.run import Run
    from adjudge.settings import Settings


async def judge(
    run: Run,
    rubric: Rubric | None,
    settings: Settings,
    on_progress: Callable[[Progress], None] | None = None,
    exchange: Path | None = None,
) -> Judgment:
    """Judge a run with what the settings name, and land the run and the judgment in the store.

    `exchange` is a file that keeps what was said with the model, so that `recorded/FILE` can play it again.

    Raises:
        InputError: the workspace holds connected keys, among other things that cannot be used.
        OutsideError: the judgment could not be kept; no model has been asked then.
    """
    from adjudge.judges.evaluator.judge import Evaluator
    from adjudge.models.names import same_model

    if run.workspace is not None:
        require_apart(settings, (run.workspace, *settings.expose))
    needed = rubric is not None and any(criterion.probe is None for criterion in rubric.criteria)
    with open_store(settings) as store:
        await asyncio.to_thread(store.require_keeping)
        store.add_run(run)
        async with model_for(needed, settings, exchange) as (model, nonce), machine_of(run, settings) as machine:
            evaluator = Evaluator(model, settings, nonce=nonce, same_model=same_model, on_progress=on_progress)
            judgment = await evaluator.judge(run, rubric, machine)
            await store.land(judgment, rubric)  # before the exchange is written, which may fail
    return judgment


@asynccontextmanager
async def machine_of(run: Run, settings: Settings) -> AsyncIterator[Machine | None]:
    """A machine on what the run's agent left, if anything is known of it."""
    machine = await _opened(run, settings)
    try:
        yield machine
    finally:
        if machine is not None:
            await machine.close()


async def _opened(run: Run, settings: Settings) -> Machine | None:
    if run.machine is not None:
        from adjudge.wiring.docker import open_container

        return await open_container(run.machine, settings, run.directory)
    if run.workspace is None:
        return None
    from adjudge.machines.local import LocalMachine

    return await LocalMachine.open(Path(run.workspace), settings.machine, settings.expose)
