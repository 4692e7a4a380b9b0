"""Importing what lies on this server's machine, run by run, as the steps of a job."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
from markupsafe import Markup

from adjudge.errors import InputError
from adjudge.importers.skipping import Skipped
from adjudge.run import Run
from adjudge.store.store import Store
from adjudge.web.addresses import address, of_run
from adjudge.web.jobs import Tell
from adjudge.web.text import counted
from adjudge.wiring.inputs import read_runs

NAMED = 5
"""Unread pieces of a recording that are named."""


class Imported(msgspec.Struct, frozen=True):
    """A run that was imported, whether it is new in the store, and the pieces of its recording that were not read."""

    run: Run
    new: bool

    @property
    def words(self) -> str:
        """What is said of it."""
        run, record = self.run, self.run.record
        who = " ".join(part for part in (run.agent, run.model) if part) or record.format
        parts = [f"{run.id}, {who}", counted(len(record.turns), "turn"), counted(len(record.entries), "entry", "entries")]
        parts += [] if self.new else ["in the store already"]
        parts += [counted(len(record.unparsed), "piece not read", "pieces not read")] if record.unparsed else []
        return ", ".join(parts)

    @property
    def detail(self) -> str:
        """Where it comes from, and what was not read."""
        unread = [f"{piece.place}: {piece.reason}" for piece in self.run.record.unparsed[:NAMED]]
        return "\n".join((str(self.run.source), *unread))


def place_of(path: str) -> Path:
    """The file or folder of this machine that is meant.

    Raises:
        InputError: it is not there, or the path is not absolute.
    """
    place = Path(os.path.expanduser(path) if path.startswith("~/") else path)
    if "\0" in path or not place.is_absolute():
        raise InputError("path: must be absolute, or begin with ~/, on the machine on which `adjudge serve` runs")
    if not place.exists():
        raise InputError(f"{place}: there is no such file or folder on the machine on which `adjudge serve` runs")
    return place


async def import_from(place: Path, store: Store, tell: Tell) -> Markup:
    """Keep the runs that a recording or a folder of them holds; gives the address of what there is to see.

    All is read in one thread, as some formats are databases that want that.

    Raises:
        InputError: nothing there is a recording.
        OutsideError: the store cannot be written.
    """
    loop = asyncio.get_running_loop()
    ids: dict[str, bool] = {}
    skipped = Skipped()
    with ThreadPoolExecutor(1) as thread:
        found = read_runs(place, skipped)
        try:
            while (each := await loop.run_in_executor(thread, _next, found, store)) is not None:
                ids.setdefault(each.run.id, each.new)
                tell(each.words, each.detail)
        finally:
            thread.submit(_close, found)
    if skipped.count:
        tell(f"{skipped.words}, as no recordings", "\n".join(skipped.lines))
    new = sum(ids.values())
    tell(f"{counted(len(ids), 'run')}: {new:,} new, {len(ids) - new:,} in the store before", "")
    return of_run(next(iter(ids))) if len(ids) == 1 else address("runs")


def _next(found: Iterator[Run], store: Store) -> Imported | None:
    run = next(found, None)
    if run is None:
        return None
    new = not _is_there(store, run.id)
    store.add_run(run)
    return Imported(run, new)


def _is_there(store: Store, run: str) -> bool:
    try:
        return store.find_run(run) == run
    except InputError:
        return False


def _close(found: Iterator[Run]) -> None:
    if hasattr(found, "close"):
        found.close()
