"""From settings and names to objects: the only place that chooses implementations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

import msgspec

from adjudge.errors import AdjudgeError, InputError, ModelError, OutsideError
from adjudge.judgment import Prepared
from adjudge.ports import Request
from adjudge.settings import KEYS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from adjudge.judges.evaluator.loop import Progress
    from adjudge.judges.reader.tokens import Calibration
    from adjudge.judgment import Judgment
    from adjudge.machines.selftest import Check
    from adjudge.ports import Machine, Model
    from adjudge.rubric import Rubric
    from adjudge.run import Run
    from adjudge.settings import Settings
    from adjudge.store.store import Store
    from adjudge.verifying import Verification

DEMO = Path(__file__).parent / "demo"
"""The bundled run, its rubric and a recorded exchange with a strong model."""


def open_store(settings: Settings) -> Store:
    """The store that the settings name.

    Raises:
        InputError: it cannot be a store, or a newer adjudge made it.
        OutsideError: the disk does not let it be opened.
    """
    from adjudge.store.store import open_store as open_folder

    return open_folder(settings.store)


def open_kept_store(settings: Settings) -> Store:
    """The store that the settings name, if it is there already; reading makes none.

    Raises:
        InputError: there is none, or as `open_store`.
    """
    if not _is_there(settings):
        raise InputError(
            f"{settings.store}: there is no store here yet; `adjudge import PATH` and `adjudge judge PATH` make one, "
            "--store or ADJUDGE_STORE name another"
        )
    return open_store(settings)


def _is_there(settings: Settings) -> bool:
    return "://" in settings.store or Path(settings.store).is_dir()


def read_runs(path: Path) -> Iterator[Run]:
    """The runs in a recording or a folder; see `importers.sniff.runs_with_entries`."""
    from adjudge.importers.sniff import runs_with_entries

    return runs_with_entries(path)


def find_run(name: str, settings: Settings, workspace: Path | None = None) -> Run:
    """The one run that a path or a stored run's id (or the beginning of one) names, with a workspace if one is given.

    Raises:
        InputError: there is no such run, or the path holds several.
    """
    run = _only_run(Path(name)) if Path(name).exists() else _stored_run(name, settings)
    return msgspec.structs.replace(run, workspace=str(workspace.resolve())) if workspace else run


def find_runs(name: str, settings: Settings) -> Iterator[Run]:
    """All runs that a path holds, or the one that a stored run's id (or the beginning of one) names.

    Raises:
        InputError: there is no such run, or a recording cannot be read.
    """
    if Path(name).exists():
        yield from read_runs(Path(name))
    else:
        yield _stored_run(name, settings)


def _only_run(path: Path) -> Run:
    runs = read_runs(path)
    run = next(runs)
    others = sum(1 for _ in runs)
    if others:
        raise InputError(
            f"{path}: holds {others + 1} runs; `adjudge import {path}` keeps them all, then name one by its id"
        )
    return run


def _stored_run(name: str, settings: Settings) -> Run:
    if not name.startswith("r-"):
        raise InputError(f"{name}: there is no such file or folder; a stored run's id begins with r-")
    with open_kept_store(settings) as store:
        return store.run(store.find_run(name))


def find_rubric(path: str) -> Rubric:
    """The criteria in a file, for the evaluator.

    Raises:
        InputError: as `rubric.reading.read_rubric`, or they are dimensions.
    """
    from adjudge.rubric.reading import read_rubric

    rubric = read_rubric(Path(path))
    if rubric.dimensions:
        raise InputError(f"{path}: is a rubric of dimensions; `adjudge read` judges with it")
    return rubric


def find_dimensions(path: str | None) -> Rubric:
    """The dimensions in a file, for the reader; adjudge's own without one.

    Raises:
        InputError: as `rubric.reading.read_rubric`, or they are criteria.
    """
    from adjudge.judges.reader.own import own_rubric
    from adjudge.rubric.reading import read_rubric

    if path is None:
        return own_rubric()
    rubric = read_rubric(Path(path))
    if not rubric.dimensions:
        raise InputError(f"{path}: is a rubric of criteria; `adjudge judge` judges with it")
    return rubric


async def judge(
    run: Run,
    rubric: Rubric | None,
    settings: Settings,
    on_progress: Callable[[Progress], None] | None = None,
    exchange: Path | None = None,
) -> Judgment:
    """Judge a run with what the settings name, and land the run and the judgment in the store.

    `exchange` is a file that keeps what was said with the model, so that `recorded/FILE` can play it again.
    """
    from adjudge.judges.evaluator.judge import Evaluator
    from adjudge.models.names import same_model

    needed = rubric is not None and any(criterion.probe is None for criterion in rubric.criteria)
    with open_store(settings) as store:
        store.add_run(run)
        async with _model(needed, settings, exchange) as (model, nonce), _machine(run, settings) as machine:
            evaluator = Evaluator(model, settings, nonce=nonce, same_model=same_model, on_progress=on_progress)
            judgment = await evaluator.judge(run, rubric, machine)
        await store.land(judgment, rubric)
    return judgment


async def read(run: Run, rubric: Rubric, settings: Settings, exchange: Path | None = None) -> Judgment:
    """Read a run with what the settings name, and land the run and the judgment in the store. `exchange` as in `judge`."""
    from adjudge.judges.reader.judge import Reader
    from adjudge.models.names import same_model

    with open_store(settings) as store:
        store.add_run(run)
        async with _model(True, settings, exchange) as (model, _):
            reader = Reader(model, settings, calibration=_calibration(store, model), same_model=same_model)
            judgment = await reader.judge(run, rubric, None)
        await store.land(judgment, rubric)
    return judgment


def _calibration(store: Store, model: Model | None) -> Calibration:
    """What earlier rows tell of how this model counts tokens."""
    from adjudge.judges.reader.tokens import calibrated

    return calibrated(store.calibration_pairs(model.name) if model else ())


async def require_model(settings: Settings) -> None:
    """Open the model that the settings name, with its budget, and close it again: `read` would store what is wrong.

    Raises:
        InputError: none is named, the name stands for nothing, or no budget can be kept for it.
        ModelError: its provider's key is missing.
    """
    from adjudge.models.opening import UnavailableModel

    if settings.model is None:
        raise InputError(
            "no model is named: give --model PROVIDER/MODEL or set ADJUDGE_MODEL, and set its provider's key; "
            "--dry-run shows the request without one"
        )
    model = _limited(_opened(settings), settings)
    if model is None:
        return
    await model.close()
    if isinstance(model, UnavailableModel):
        raise model.error


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

    model = _opened(msgspec.structs.replace(settings, keys=dict.fromkeys(KEYS, "none") | dict(settings.keys)))
    calibration = calibrated(())
    if _is_there(settings):
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


@asynccontextmanager
async def _model(needed: bool, settings: Settings, exchange: Path | None) -> AsyncIterator[tuple[Model | None, str | None]]:
    """The model that judges, if one is needed and can be had, and the envelopes' token if it must be a certain one."""
    from adjudge.models.recorded import RecordedModel, Recorder

    model = _opened(settings) if needed else None
    nonce = model.nonce if isinstance(model, RecordedModel) else None
    model = _limited(model, settings)
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


def _opened(settings: Settings) -> Model | None:
    """The model of the settings; `None` if none is named."""
    from adjudge.models.opening import UnavailableModel, open_model

    if settings.model is None:
        return None
    try:
        return open_model(settings.model, settings)
    except ModelError as error:  # the judgment says so, in the store as well
        return UnavailableModel(settings.model, error)


def _limited(model: Model | None, settings: Settings) -> Model | None:
    """The model with the settings' budget; one that cannot be asked needs none, and says why it cannot.

    Raises:
        InputError: no price is known for the model.
    """
    from adjudge.models.budget import BudgetedModel
    from adjudge.models.opening import UnavailableModel

    if model is None or settings.budget is None or isinstance(model, UnavailableModel):
        return model
    return BudgetedModel(model, settings.budget)


@asynccontextmanager
async def _machine(run: Run, settings: Settings) -> AsyncIterator[Machine | None]:
    """A machine on the run's workspace, if it has one."""
    if run.workspace is None:
        yield None
        return
    from adjudge.machines.local import LocalMachine

    machine = await LocalMachine.open(Path(run.workspace), settings.machine, settings.expose)
    try:
        yield machine
    finally:
        await machine.close()


def verify(store: Store, judgment: str) -> Verification:
    """Check a stored judgment again; see `store.checking.verify_stored`. Scores are held against the transcript too."""
    from adjudge.judges.reader.again import against_transcript
    from adjudge.store.checking import verify_stored

    checked = verify_stored(store, judgment)
    try:
        stored = store.judgment(judgment)
        rubric = store.rubric(stored.rubric_hash) if stored.rubric_hash else None
        found = against_transcript(stored, store.run(stored.run).record, rubric) if rubric else ()
    except OutsideError:  # it is damaged where it lies, which has been found
        return checked
    known = {finding.place for finding in checked.findings}
    new = tuple(finding for finding in found if finding.place not in known)
    return msgspec.structs.replace(checked, findings=(*checked.findings, *new))


async def diagnose(settings: Settings) -> tuple[Check, ...]:
    """What works here: the machine, the store, and access to models."""
    from adjudge.machines.diagnosis import diagnose as diagnose_machine

    return (*await diagnose_machine(), _check_of_store(settings), _check_of_keys(settings))


def _check_of_store(settings: Settings) -> Check:
    from adjudge.machines.selftest import Check

    try:
        with open_store(settings) as store:
            store.require_room()
    except AdjudgeError as error:
        return Check("store", False, str(error), "name another folder in ADJUDGE_STORE")
    return Check("store", True, f"{settings.store} can be written")


def _check_of_keys(settings: Settings) -> Check:
    from adjudge.machines.selftest import Check

    named = f"ADJUDGE_MODEL is {settings.model}" if settings.model else "no ADJUDGE_MODEL is set"
    if settings.keys:
        return Check("models", True, f"{named}; keys: {', '.join(sorted(settings.keys))}")
    help = f"set one of {', '.join(KEYS)}, or judge with a server of your own: --model http://HOST:PORT/v1#MODEL"
    return Check("models", settings.model is not None, f"{named}; no key is set", help)
