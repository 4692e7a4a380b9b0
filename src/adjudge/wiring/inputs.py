"""What a user names: runs by a path or an id, rubrics by a path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from adjudge.errors import InputError
from adjudge.wiring.stores import open_kept_store

if TYPE_CHECKING:
    from adjudge.importers.skipping import Skip
    from adjudge.rubric import Rubric
    from adjudge.run import Run
    from adjudge.settings import Settings
    from adjudge.store.store import Store

_HASH = re.compile(r"[0-9a-f]{8,64}", re.ASCII)

DEMO = Path(__file__).parent.parent / "demo"
"""The bundled run, its rubric and a recorded exchange with a strong model."""


def read_runs(path: Path, skip: Skip | None = None) -> Iterator[Run]:
    """The runs in a recording or a folder; `skip` is told what is none. See `importers.sniff.runs_with_entries`."""
    from adjudge.importers.skipping import ignore
    from adjudge.importers.sniff import runs_with_entries

    return runs_with_entries(path, skip=skip or ignore)


def find_run(name: str, settings: Settings, machine: str | None = None, directory: str | None = None) -> Run:
    """The one run that a path or a stored run's id (or the beginning of one) names, with a machine if one is given.

    `machine` is a folder, `docker:NAME` or `image:NAME`; `directory` is the workspace's path inside of the last two.

    Raises:
        InputError: there is no such run, the path holds several, or the machine is none of these.
    """
    run = _only_run(Path(name)) if Path(name).exists() else _stored_run(name, settings)
    if machine is not None:
        run = _on_machine(run, machine)
    if directory is not None:
        run = msgspec.structs.replace(run, directory=directory)
    return run


def _on_machine(run: Run, machine: str) -> Run:
    if Path(machine).is_dir():
        return msgspec.structs.replace(run, workspace=str(Path(machine).resolve()), machine=None)
    if machine.partition(":")[0] in ("docker", "image") and machine.partition(":")[2]:
        return msgspec.structs.replace(run, workspace=None, machine=machine)
    raise InputError(f"--machine {machine}: must be a folder that is there, docker:CONTAINER or image:NAME")


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


def find_any_rubric(name: str | None, settings: Settings) -> Rubric:
    """The criteria or dimensions in a file, or those that are stored under a hash or its beginning; without, our own.

    Raises:
        InputError: as `find_rubric`, or nothing is stored under this hash.
    """
    from adjudge.rubric.reading import read_rubric

    if name is None:
        return find_dimensions(None)
    if not _HASH.fullmatch(name) or Path(name).exists():
        return read_rubric(Path(name))
    with open_kept_store(settings) as store:
        shipped = {rubric.hash: rubric for rubric in shipped_rubrics()}
        return shipped[name] if name in shipped else store.rubric(store.find_rubric(name))


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


def shipped_rubrics() -> tuple[Rubric, ...]:
    """The rubrics that come with adjudge: its dimensions, and the criteria of the bundled run."""
    from adjudge.judges.reader.own import own_rubric
    from adjudge.rubric.reading import read_rubric

    bundled = read_rubric(DEMO / "rubric.yaml")
    return own_rubric(), msgspec.structs.replace(bundled, source="adjudge")


def known_rubric(hash: str, store: Store) -> Rubric:
    """The rubric of this hash, from the store or from those that come with adjudge.

    Raises:
        InputError: there is none.
        OutsideError: it is damaged, or cannot be read.
    """
    shipped = {rubric.hash: rubric for rubric in shipped_rubrics()}
    try:
        return store.rubric(hash)
    except InputError:
        if hash not in shipped:
            raise
        return shipped[hash]
