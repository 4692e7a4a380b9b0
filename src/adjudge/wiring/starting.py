"""Starting agents: tasks × agents × attempts, each on a machine of its own, judged there, and compared."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Literal

import msgspec

from adjudge.agents.attempt import Assignment, Means, OpenLive, Stage, attempted
from adjudge.agents.comparison import Result
from adjudge.errors import AdjudgeError
from adjudge.store.blobs import make_closed_folder
from adjudge.store.faults import of_file
from adjudge.wiring.folders import owned, remove_left, temporary_folder
from adjudge.wiring.models import model_for, needs_model
from adjudge.wiring.planning import Asked, Started, plan, workspaces
from adjudge.wiring.stores import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from adjudge.agents.endpoints import AgentEndpoint
    from adjudge.judges.evaluator.judge import Evaluator
    from adjudge.judges.evaluator.loop import Progress
    from adjudge.judgment import Judgment
    from adjudge.ports import LiveMachine, Machine
    from adjudge.record import Usage
    from adjudge.run import Run
    from adjudge.settings import AgentLimits, Settings
    from adjudge.store.store import Store

Doing = Stage | Literal["judging"]


class Watch(msgspec.Struct, frozen=True):
    """Who is told how it goes; all are called in the event loop and must not block."""

    on_stage: Callable[[Assignment, Doing], None]
    on_output: Callable[[Assignment, bytes], None]
    on_progress: Callable[[Assignment, Progress], None]
    on_result: Callable[[Assignment, Result, Run | None, Judgment | None], None]


# --- starting it


async def start(asked: Asked, settings: Settings, watch: Watch) -> tuple[Result, ...]:
    """Start everything, judge it, and land each run and judgment in the store as soon as it is there.

    What goes wrong with one attempt ends that attempt alone, and its result says so.

    Raises:
        AdjudgeError: as `plan`, or nothing could be kept in the store; nothing has been started then.
    """
    with temporary_folder() as scratch, open_store(settings) as store:
        await asyncio.to_thread(store.require_keeping)
        await asyncio.to_thread(remove_left, settings, store)
        planned = await plan(asked, settings, scratch)
        needed = any(each.rubric is not None and needs_model(each.rubric) for each in planned)
        async with _evaluators(needed, settings, watch) as evaluator_of:
            starting = _Starting(asked, settings, watch, store, evaluator_of, scratch)
            return await starting.all(planned)


@asynccontextmanager
async def _evaluators(needed: bool, settings: Settings, watch: Watch) -> AsyncIterator[Callable[[Assignment], Evaluator]]:
    """Who judges an attempt, each with the same model, and tells how that goes."""
    from adjudge.judges.evaluator.judge import Evaluator
    from adjudge.models.names import same_model

    async with model_for(needed, settings, None) as (model, nonce):

        def evaluator_of(assignment: Assignment) -> Evaluator:
            on_progress = partial(watch.on_progress, assignment)
            return Evaluator(model, settings, nonce=nonce, same_model=same_model, on_progress=on_progress)

        yield evaluator_of


class _Starting:
    """All attempts of one command, so many at a time."""

    def __init__(
        self,
        asked: Asked,
        settings: Settings,
        watch: Watch,
        store: Store,
        evaluator_of: Callable[[Assignment], Evaluator],
        scratch: Path,
    ) -> None:
        self._asked, self._settings, self._watch = asked, settings, watch
        self._store, self._evaluator_of, self._scratch = store, evaluator_of, scratch
        self._free = asyncio.Semaphore(asked.jobs)

    async def all(self, planned: Sequence[Started]) -> tuple[Result, ...]:
        """The results in the order in which they were planned."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._one(each)) for each in planned]
        return tuple(task.result() for task in tasks)

    async def _one(self, started: Started) -> Result:
        async with self._free:
            run = judgment = None
            try:
                run, judgment = await self._made(started)
                result = _result(started.assignment, run, judgment)
            except AdjudgeError as error:
                result = msgspec.structs.replace(_result(started.assignment, None, None), error=str(error))
            self._watch.on_result(started.assignment, result, run, judgment)
            return result

    async def _made(self, started: Started) -> tuple[Run, Judgment]:
        assignment, watch = started.assignment, self._watch
        await asyncio.to_thread(self._store.require_keeping)  # an attempt before this one may have filled the disk
        means = Means(self._open_live(assignment), self._open_still, self._price, watch.on_stage, watch.on_output)
        with tempfile.TemporaryDirectory(dir=self._scratch) as scratch, self._workspace(assignment) as kept:
            async with attempted(assignment, means, Path(scratch), kept) as attempt:
                run: Run = attempt.run if self._asked.keep else msgspec.structs.replace(attempt.run, workspace=None)
                await asyncio.to_thread(self._store.add_run, run)
                watch.on_stage(assignment, "judging")
                judgment = await self._evaluator_of(assignment).judge(run, started.rubric, attempt.machine)
            await self._store.land(judgment, started.rubric)
        return run, judgment

    @contextmanager
    def _workspace(self, assignment: Assignment) -> Iterator[Path]:
        """An empty folder for the workspace as the agent leaves it: one in the store, or one that is gone afterwards."""
        if not self._asked.keep:
            with tempfile.TemporaryDirectory(dir=self._scratch) as folder:
                yield Path(folder)
            return
        with owned(lambda: self._new_workspace(assignment)) as kept:
            try:
                yield kept
            except BaseException:
                if not any(kept.iterdir()):
                    kept.rmdir()
                raise

    def _new_workspace(self, assignment: Assignment) -> Path:
        """A folder of its own. Raises OutsideError if it cannot be made."""
        name = re.sub(r"[^A-Za-z0-9.]+", "-", f"{assignment.task.name} {assignment.connection.name} {assignment.number}")
        kept = workspaces(self._settings) / f"{name.strip('-.')[:80]}-{token_hex(4)}"
        make_closed_folder(kept.parent.parent)
        try:
            kept.mkdir(parents=True)
        except OSError as error:
            raise of_file(error, kept) from error
        return kept

    def _open_live(self, assignment: Assignment) -> OpenLive:
        """How the machine is opened on which the agent works: a container if the task names an image, else a sandbox."""
        image, commands = assignment.task.machine.image, self._settings.machine

        async def open_live(folder: Path | None, limits: AgentLimits, expose: Sequence[str]) -> LiveMachine:
            if image is None:
                from adjudge.machines.live import LiveLocalMachine

                return await LiveLocalMachine.open(folder, limits, commands, (*expose, *self._settings.expose))
            from adjudge.wiring.docker import start_container

            return await start_container(image, folder, limits, self._settings, expose)

        return open_live

    def _price(self, endpoint: AgentEndpoint, usage: Usage) -> float | None:
        from adjudge.models.names import read_name
        from adjudge.models.prices import price

        return price(read_name(endpoint.name, self._settings), usage)

    def _open_still(self, folder: Path, places: Mapping[str, Path], output: int) -> Machine:
        from adjudge.machines.local import LocalMachine

        limits = msgspec.structs.replace(self._settings.machine, output=output)
        return LocalMachine(folder, limits, placed=places)


def _result(assignment: Assignment, run: Run | None, judgment: Judgment | None) -> Result:
    endpoint = assignment.endpoint
    result = Result(
        assignment.task.name,
        assignment.connection.name,
        endpoint.name if endpoint else None,
        assignment.number,
    )
    if run is None or judgment is None:
        return result
    return msgspec.structs.replace(
        result,
        run=run.id,
        judgment=judgment.id,
        status=judgment.status,
        outcome=run.outcome,
        score=judgment.score,
        passed=sum(verdict.passed for verdict in judgment.verdicts),
        criteria=len(judgment.verdicts),
        usage=run.record.consumed(),
        cost=run.cost,
        judging_cost=judgment.usage().cost,
        seconds=run.seconds,
        workspace=run.workspace,
        notes=run.notes,
        error=judgment.reason if judgment.status == "errored" else None,
    )
