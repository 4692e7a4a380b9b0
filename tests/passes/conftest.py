"""A store with runs, a held lock, and work that does what a test says."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.passes.provider import JUDGE, MOST, RUBRIC, judgment
from tests.store.trials import a_run

from adjudge.judgment import Call, Judgment
from adjudge.passes.engine import Bounds, Ending, Engine, Stop
from adjudge.passes.progress import Progress
from adjudge.passes.work import Paying
from adjudge.record import Usage
from adjudge.store.pass_rows import PassItem, PassRow
from adjudge.store.passes import PassWriter
from adjudge.store.store import Store, open_store

Play = Callable[[PassItem, Paying], Awaitable[Judgment]]

NAMES = tuple(f"r-{number:02}" for number in range(40))


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store's folder, which is made once: bringing each run to the disk takes a while."""
    folder = tmp_path_factory.mktemp("filled") / "store"
    with open_store(folder) as opened:
        for name in NAMES:
            opened.add_run(a_run(name[2:], 50))
    return folder


@pytest.fixture
def store(filled: Path, tmp_path: Path) -> Iterator[Store]:
    with open_store(shutil.copytree(filled, tmp_path / "store")) as opened:
        yield opened


@pytest.fixture
def writer(store: Store) -> PassWriter:
    """The lock goes when the test does: some tests take it away, or break what would give it back."""
    return store.passes.hold("a test")


class ScriptedWork:
    """Judges with a function, and remembers which runs it was given."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self.asked: list[str] = []

    async def judge(self, item: PassItem, paying: Paying) -> Judgment:
        self.asked.append(item.run)
        return await self._play(item, paying)

    async def close(self) -> None:
        pass


async def answered(item: PassItem, paying: Paying, cost: float = MOST / 2) -> Judgment:
    """A judgment with one call, as all goes well."""
    await paying(MOST)
    return judgment("x", item.run, [Call("m", Usage(prompt=10, output=1, cost=cost), 0.1)])


async def never(item: PassItem, paying: Paying) -> Judgment:
    """A call whose answer does not come."""
    await paying(MOST)
    await asyncio.Event().wait()
    raise AssertionError


class Conducted:
    """A pass over the first runs of a store, which a test lets judge."""

    def __init__(self, store: Store, writer: PassWriter, runs: int) -> None:
        self._store, self.writer = store, writer
        self.identifier = writer.begin(JUDGE, {}, RUBRIC, NAMES[:runs])
        self.stop = Stop()
        self.told: list[Progress] = []

    @property
    def row(self) -> PassRow:
        return self._store.passes.row(self.identifier)

    async def run(self, work: ScriptedWork | Play, **bounds: Any) -> Ending:
        """Judge; what takes longer than ten seconds hangs."""
        scripted = work if isinstance(work, ScriptedWork) else ScriptedWork(work)
        async with asyncio.timeout(10):
            return await Engine(self.writer, self.row, scripted, Bounds(**bounds), self.stop, self.told.append).run()

    async def resume(self, work: ScriptedWork | Play, retry: bool = False, **bounds: Any) -> Ending:
        self.stop = Stop()
        self.writer.reopen(self.identifier, retry)
        return await self.run(work, **bounds)
