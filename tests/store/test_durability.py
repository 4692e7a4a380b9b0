"""What was reported as saved is there: after kill -9, on a full disk, with several processes at once."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.store.conftest import Place

from adjudge.entries import EntryWriter
from adjudge.errors import OutsideError
from adjudge.record import Entry, Record
from adjudge.run import Run
from adjudge.store.checking import verify_stored
from adjudge.store.store import Store

TRIALS = Path(__file__).with_name("trials.py")


def ran(*arguments: object, before: tuple[str, ...] = ()) -> dict[str, Any]:
    command = [*before, sys.executable, str(TRIALS), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result | {"errors": done.stderr}


def everything_is_there(place: Place, saved: list[str]) -> None:
    with place.open() as store:
        for name in saved:
            if name.startswith("r-"):
                assert [entry.id for entry in store.run(name).record.entries] == ["e1", "e2", "e3", "e4", "e5"]
            else:
                assert store.judgment(name).run == f"r-{name[2:]}"
        kept = [*(row.id for row in store.runs()), *(row.id for row in store.judgments())]
        assert len(kept) == len(set(kept)) >= len(saved)
    for path in place.blobs.glob("??/*.zst"):
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.stem
    if place.server is None:
        assert place.sql("PRAGMA quick_check") == [("ok",)]


def test_forty_writers_killed_at_random_lose_nothing_that_they_reported(bare: Place, warm: str) -> None:
    result = ran("kill", bare.store, bare.apart or "-", warm, 40, 20260301)
    assert result["killed"] == 40
    assert len(result["saved"]) >= 6 * (0 + 1 + 2 + 3 + 4 + 5) + (0 + 1 + 2 + 3)
    everything_is_there(bare, result["saved"])


@pytest.fixture
def warm(bare: Place) -> str:
    """Another store beside the bare one, to use for the first time what is slow then."""
    return f"{bare.store}-first" if bare.server is None else bare.server.url(bare.server.create())


def written_at_once(place: Place) -> None:
    result = ran("write", place.store, place.apart or "-", 6, 4)
    assert result["ends"] == [0] * 6, result["errors"]
    assert len(result["saved"]) == 6 * 4 * 2
    everything_is_there(place, result["saved"])


def test_processes_may_create_and_fill_a_store_at_once(bare: Place) -> None:
    written_at_once(bare)


def test_processes_that_find_a_new_file_busy_wait_for_it(tmp_path: Path) -> None:
    for number in range(7):  # that one of them does is rare
        written_at_once(Place(str(tmp_path / f"store{number}"), tmp_path / f"store{number}" / "blobs"))


def in_its_own_mounts() -> tuple[str, ...]:
    """A command that gives another one mounts of its own."""
    before = ("unshare", "-m") if os.geteuid() == 0 else ("unshare", "-r", "-m")
    tried = subprocess.run([*before, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"no small disk can be mounted here: {tried.stderr.strip()}")
    return before


def test_a_full_disk_loses_nothing_and_heals(tmp_path: Path) -> None:
    result = ran("fill", tmp_path, before=in_its_own_mounts())
    assert "MiB are free and 16 MiB are needed" in result["refusal"]  # what can be done again stops early
    assert result["reserved"] == 8 << 20
    assert result["saved"][1] > 100  # what was paid for landed while the reserve lasted
    assert result["released"]
    assert "full" in result["full"] or "no room" in result["full"]
    assert (result["lost"], result["check"]) == (0, "ok")


def test_a_folder_that_cannot_be_written_is_refused_in_words(tmp_path: Path) -> None:
    result = ran("readonly", tmp_path, before=in_its_own_mounts())
    assert "a store must be able to write in its folder" in result["refusal"]


@pytest.fixture
def at_most() -> Iterator[Callable[[int], None]]:
    """Limits the size of files that this process may write, until the test ends."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_run_that_does_not_fit_leaves_no_trace(
    store: Store, place: Place, run: Run, at_most: Callable[[int], None]
) -> None:
    store.add_run(run)
    writer = EntryWriter()
    for number in range(1, 40):
        writer.add(Entry(f"e{number}", "result", "tool", 1, os.urandom(20_000).hex()))
    large = msgspec.structs.replace(run, id="r-large", record=Record("chat", writer.finish()))
    at_most(500_000)
    with pytest.raises(OutsideError, match="there is no room"):
        store.add_run(large)
    at_most(1 << 30)
    assert [row.id for row in store.runs()] == [run.id]
    assert list((place.blobs / "unfinished").iterdir()) == []
    assert store.add_run(large) == "r-large"


def test_a_store_that_nobody_closed_is_sound(bare: Place, warm: str) -> None:
    result = ran("kill", bare.store, bare.apart or "-", warm, 6, 7)
    with bare.open() as store:
        for name in result["saved"]:
            if name.startswith("j-"):
                assert {found.place for found in verify_stored(store, name).findings} == set()
