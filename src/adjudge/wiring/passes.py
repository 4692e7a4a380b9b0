"""Passes with what the settings name: what one would take and cost, and starting or resuming it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from adjudge.errors import InputError
from adjudge.judgment import Judge
from adjudge.passes.engine import Bounds, Ending, Engine, Stop
from adjudge.passes.estimate import PreparedInput, estimate_from_inputs, estimate_from_rows, free
from adjudge.passes.progress import Progress
from adjudge.passes.results import outcome_of
from adjudge.passes.selection import select
from adjudge.passes.values import Candidate, Estimate, Sampling, Selection, Stratum
from adjudge.record import Usage
from adjudge.rubric import Rubric
from adjudge.settings import PruneMode, Settings
from adjudge.wiring.models import needs_model, opened, opened_without_key
from adjudge.wiring.work import LocalWork, identity_of

if TYPE_CHECKING:
    from adjudge.judges.reader.tokens import Calibration
    from adjudge.passes.ray_cluster import RayCluster
    from adjudge.passes.under_way import UnderWay
    from adjudge.passes.work import Work
    from adjudge.ports import Model
    from adjudge.store.codec import StoredPass
    from adjudge.store.pass_rows import CandidateRow, PassRow
    from adjudge.store.passes import PassWriter
    from adjudge.store.store import Store

MEASURED = 200
"""Earlier judgments whose consumption an estimate rests on, the latest."""
PREPARED = 20
"""Inputs that are prepared for an estimate where no earlier judgment tells."""


class Judging(msgspec.Struct, frozen=True):
    """What a pass was started with, so far as it makes its judge; all else may be another when it is resumed."""

    model: str | None
    looks: int
    budget: float | None
    deadline: float
    mask: bool
    prune: PruneMode


class Plan(msgspec.Struct, frozen=True):
    """A pass that has not begun: who would judge which runs, and what that may cost.

    `again` says that runs are taken which this judge has judged with this rubric.
    """

    rubric: Rubric
    judge: Judge
    sampling: Sampling
    selection: Selection
    estimate: Estimate
    again: bool = False


class StartedWith(msgspec.Struct, frozen=True):
    """What is kept of how a pass was started; `max_cost` is in US dollars."""

    sampling: Sampling
    strata: tuple[Stratum, ...]
    estimate: Estimate
    again: bool = False
    max_cost: float | None = None


class Ended(msgspec.Struct, frozen=True):
    """A pass that has ended for now: its row, and how it ended."""

    row: PassRow
    ending: Ending


def plan(rubric: Rubric, sampling: Sampling, settings: Settings, store: Store, again: bool = False) -> Plan:
    """What a pass with these settings would do. `again` takes runs too that this judge has judged with this rubric.

    Raises:
        InputError: the model's name stands for nothing.
    """
    model = opened_without_key(settings) if needs_model(rubric) else None
    try:
        judge = identity_of(rubric, settings, model)
        selection = select(_candidates(store, rubric, judge), sampling, again)
        return Plan(rubric, judge, sampling, selection, _estimate(rubric, settings, store, selection, model), again)
    finally:
        if model is not None:
            asyncio.run(model.close())


def fingerprint_of(planned: Plan) -> str:
    """A hash over all that a pass would do, but not what that may cost: the same rubric, judge, sampling, runs, order."""
    sampling = msgspec.json.encode(planned.sampling, order="sorted")
    parts = (planned.rubric.hash, planned.judge.hash, str(planned.again), *planned.selection.runs)
    return sha256(b"\0".join([sampling, *map(str.encode, parts)])).hexdigest()[:16]


def require_unchanged(planned: Plan, fingerprint: str) -> None:
    """Do nothing if this is the plan that has the fingerprint.

    Raises:
        InputError: it is another now.
    """
    if fingerprint_of(planned) != fingerprint:
        number = len(planned.selection.runs)
        raise InputError(
            f"the plan is another than {fingerprint[:40]} now, as runs, judgments, the judge or what was asked for have "
            f"changed since; {number} {'run' if number == 1 else 'runs'} would be judged: look at the plan again"
        )


async def start(
    planned: Plan,
    settings: Settings,
    store: Store,
    bounds: Bounds,
    stop: Stop,
    on_progress: Callable[[Progress], None],
    on_begin: Callable[[str], None],
    cluster: RayCluster | None = None,
    under_way: UnderWay | None = None,
) -> Ended:
    """Begin a pass and judge until it ends, here or on a cluster. `on_begin` is told its id.

    `under_way` takes note of what is being judged here.

    Raises:
        InputError: nothing is selected.
        LockHeldError: another pass is under way.
        OutsideError: the store failed.
    """
    if not planned.selection.runs:
        raise InputError("no run is selected, so there is nothing to judge; `adjudge pass plan` shows what there is")
    await _require_judge(planned.judge, planned.rubric, settings, bounds, "a new pass")
    writer = await asyncio.to_thread(store.passes.hold, "a new pass")
    try:
        runs = await asyncio.to_thread(_still_open, planned, store)
        async with _work(planned.rubric, settings, store, cluster, bounds.at_once, under_way) as work:
            told = _told(planned, settings, bounds)
            identifier = await asyncio.to_thread(writer.begin, planned.judge, told, planned.rubric, runs)
            on_begin(identifier)
            return await _conducted(writer, identifier, work, store, bounds, stop, on_progress)
    finally:
        await asyncio.to_thread(writer.release)


def _still_open(planned: Plan, store: Store) -> tuple[str, ...]:
    """The runs that were selected, without those that another pass has judged since.

    Raises:
        InputError: none is left.
    """
    if planned.again:
        return planned.selection.runs
    candidates = store.passes.candidates(planned.rubric.hash, planned.judge.hash)
    judged = {row.run for row in candidates if row.judged}
    runs = tuple(run for run in planned.selection.runs if run not in judged)
    if not runs:
        raise InputError("every run that was selected has been judged by another pass since; there is nothing to judge")
    return runs


def _told(planned: Plan, settings: Settings, bounds: Bounds) -> dict[str, Any]:
    """What is kept of how a pass was started, as JSON."""
    kept = {
        "judging": _judging(settings),
        "sampling": planned.sampling,
        "strata": planned.selection.strata,
        "estimate": planned.estimate,
        "again": planned.again,
        "max_cost": bounds.cost,
    }
    told: dict[str, Any] = msgspec.to_builtins(kept)
    return told


async def resume(
    identifier: str,
    settings: Settings,
    store: Store,
    bounds: Bounds,
    stop: Stop,
    on_progress: Callable[[Progress], None],
    retry: bool = False,
    cluster: RayCluster | None = None,
    under_way: UnderWay | None = None,
) -> Ended:
    """Take a pass up again with the judge that it was started with. Raises as `start`, and InputError for another judge."""
    stored = store.passes.plan(identifier)
    rubric, settings = judging_of(identifier, settings, store)
    if bounds.cost is None:
        bounds = msgspec.structs.replace(bounds, cost=stored.plan.get("max_cost"))
    await _require_judge(stored.judge, rubric, settings, bounds, identifier)
    writer = await asyncio.to_thread(store.passes.hold, identifier)
    try:
        async with _work(rubric, settings, store, cluster, bounds.at_once, under_way) as work:
            await asyncio.to_thread(store.require_blobs)  # beginning a pass writes one, resuming it does not
            again = bool(stored.plan.get("again"))
            await asyncio.to_thread(writer.reopen, identifier, retry, again)
            return await _conducted(writer, identifier, work, store, bounds, stop, on_progress)
    finally:
        await asyncio.to_thread(writer.release)


def judging_of(identifier: str, settings: Settings, store: Store) -> tuple[Rubric, Settings]:
    """The rubric of a pass, and these settings as its judge needs them."""
    return store.rubric(store.passes.row(identifier).rubric_hash or ""), settings_of(identifier, settings, store)


def settings_of(identifier: str, settings: Settings, store: Store) -> Settings:
    """These settings with all that makes the judge as it was when the pass began."""
    judging = msgspec.convert(store.passes.plan(identifier).plan["judging"], Judging)
    return msgspec.structs.replace(settings, **msgspec.structs.asdict(judging))


def started_with(stored: StoredPass) -> StartedWith:
    """How a stored pass was selected, and what it was estimated to cost."""
    return msgspec.convert(stored.plan, StartedWith)


def _judging(settings: Settings) -> Judging:
    return Judging(**{name: getattr(settings, name) for name in Judging.__struct_fields__})


async def _conducted(
    writer: PassWriter,
    identifier: str,
    work: Work,
    store: Store,
    bounds: Bounds,
    stop: Stop,
    on_progress: Callable[[Progress], None],
) -> Ended:
    ending = await Engine(writer, store.passes.row(identifier), work, bounds, stop, on_progress).run()
    return Ended(store.passes.row(identifier), ending)


async def _require_judge(begun: Judge, rubric: Rubric, settings: Settings, bounds: Bounds, what: str) -> None:
    """Do nothing if the judge would be the one that is expected, and what it costs can be limited if it has to be.

    Raises:
        InputError: it would be another, or no price is known for its model.
    """
    model = opened(settings) if needs_model(rubric) else None
    try:
        _require_same(begun, identity_of(rubric, settings, model), what)
        if bounds.cost is not None and model is not None and model.price(Usage(prompt=1, output=1)) is None:
            raise InputError(
                f"{model.name}: no price is known, so --max-cost {bounds.cost:g} cannot be kept; leave it out, or choose a "
                "model whose price is known"
            )
    finally:
        if model is not None:
            await model.close()


@asynccontextmanager
async def _work(
    rubric: Rubric,
    settings: Settings,
    store: Store,
    cluster: RayCluster | None,
    at_once: int,
    under_way: UnderWay | None,
) -> AsyncIterator[Work]:
    """What judges: this process, or as many workers as the cluster has room for."""
    calibration = _calibration(store, settings)
    work: Work
    if cluster is None:
        from adjudge.store.records import read_run

        work = LocalWork(rubric, settings, calibration, lambda blob: read_run(store.blobs, blob), under_way)
    else:
        from adjudge.passes.ray_work import RayWork
        from adjudge.wiring.elsewhere import work_elsewhere

        blobs = settings.blobs or str(Path(settings.store) / "blobs")
        workers = max(1, min(cluster.cpus, at_once))
        work = await RayWork.open(work_elsewhere(rubric, settings, calibration, blobs), workers, -(-at_once // workers))
    try:
        yield work
    finally:
        await work.close()


def _require_same(begun: Judge, now: Judge, identifier: str) -> None:
    """Do nothing if the judge is the one with whom a pass began.

    Raises:
        InputError: it is another; the message says in what.
    """
    if begun == now:
        return
    names = [name for name in Judge.__struct_fields__ if getattr(begun, name) != getattr(now, name)]
    told = ", ".join("its prompts" if name == "prompt" else f"its {name}" for name in names)
    raise InputError(
        f"pass {identifier} was begun by another judge than there would be now ({told} differ): a pass has one judge; "
        f"start a new one, or use adjudge {begun.version}"
    )


# --- what there is to judge


def _candidates(store: Store, rubric: Rubric, judge: Judge) -> Iterable[Candidate]:
    return map(_candidate, store.passes.candidates(rubric.hash, judge.hash))


def _candidate(row: CandidateRow) -> Candidate:
    return Candidate(row.run, row.agent or "unknown", outcome_of(row.outcome), row.turns, row.judged, row.entries > 0)


# --- what it may cost


def _estimate(rubric: Rubric, settings: Settings, store: Store, selection: Selection, model: Model | None) -> Estimate:
    """From what earlier judgments consumed; for a reader without any, from the inputs of the first runs selected."""
    number, prune = len(selection.runs), settings.prune if rubric.dimensions else None
    if not needs_model(rubric):
        return free(number)
    price = model.price if model is not None else lambda _: None
    kind = "reader" if rubric.dimensions else "evaluator"
    consumed = store.passes.consumed(kind, model.name if model else None, prune, MEASURED)
    rows = [usage for usage in consumed if usage.prompt]
    if not rubric.dimensions:
        return estimate_from_rows(number, rows, price)
    if rows:
        from adjudge.judges.reader.request import ROOM

        return estimate_from_rows(number, rows, price, ROOM)
    inputs = [_prepared(run, rubric, settings, store, model) for run in islice(selection.runs, PREPARED)]
    return estimate_from_inputs(number, inputs, price, _calibration(store, settings).error)


def _prepared(run: str, rubric: Rubric, settings: Settings, store: Store, model: Model | None) -> PreparedInput:
    from adjudge.judges.reader.judge import Reader

    asked = Reader(model, settings, calibration=_calibration(store, settings)).question(store.run(run), rubric)
    return PreparedInput(asked.prepared.tokens, asked.request.most)


def _calibration(store: Store, settings: Settings) -> Calibration:
    """What earlier rows tell of how this model counts tokens."""
    from adjudge.judges.reader.tokens import calibrated

    return calibrated(store.calibration_pairs(settings.model) if settings.model else ())
