"""Every recording that there is, opened: its page, and what the API says of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from litestar.testing import TestClient

from adjudge.errors import AdjudgeError
from adjudge.importers.sniff import read_runs
from adjudge.settings import Settings
from adjudge.store.store import Store, open_store
from adjudge.web.app import create_app
from adjudge.web.guard import Access, Doors

from .conftest import BASE

OURS = Path(__file__).parents[1] / "importers" / "fixtures"
SHARED = Path(os.environ.get("ADJUDGE_SHARED") or Path(__file__).parents[3] / "shared")


def keep_all(store: Store, folder: Path) -> Iterator[str]:
    """Store each recording in a folder; gives the runs' ids."""
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        try:
            yield from [store.add_run(run) for run in read_runs(path)]
        except AdjudgeError:  # a file that is no recording
            continue


@pytest.mark.parametrize("folder", [OURS, SHARED / "samples", SHARED / "recordings"], ids=lambda path: path.name)
def test_the_page_of_every_recording_opens(folder: Path, tmp_path: Path) -> None:
    if not folder.is_dir():
        pytest.skip("ADJUDGE_SHARED names no folder with recordings")
    with open_store(tmp_path / "store") as store:
        runs = set(keep_all(store, folder))
        client = TestClient(create_app(store, Settings(), Access(frozenset({"127.0.0.1"})), Doors()), base_url=BASE)
        answers = {path: client.get(path).status_code for run in runs for path in (f"/runs/{run}", f"/api/runs/{run}")}
    assert len(runs) >= 20
    assert {path: status for path, status in answers.items() if status != 200} == {}
