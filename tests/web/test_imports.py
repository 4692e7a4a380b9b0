"""Recordings of the server's machine are imported as a job that counts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from adjudge import wiring
from adjudge.store.store import Store, open_store
from adjudge.web.guard import Access

from .conftest import ACCESS
from .doing import ended, guard_of, inside, page, said, working


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store") as store:
        yield store


async def test_a_folder_is_imported_run_by_run_and_again_changes_nothing(store: Store) -> None:
    content = msgspec.json.encode({"path": str(wiring.DEMO)})
    async with working(store) as (client, guard):
        job = await ended(guard, await client.post("/api/import", content=content))
        (row,) = store.runs()
        assert job.facts.href == f"/runs/{row.id}"
        assert job.steps[-1].words == "1 run: 1 new, 0 in the store before"
        again = await ended(guard, await client.post("/api/import", content=content))
    assert again.steps[-1].words == "1 run: 0 new, 1 in the store before"
    assert "in the store already" in again.steps[0].words
    assert len(store.runs()) == 1


async def test_what_lies_between_recordings_is_counted_and_the_first_of_it_named(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    shutil.copytree(wiring.DEMO, folder / "run")
    for number in range(6):
        (folder / f"note-{number}.txt").write_text("" if number == 0 else "<b>Buy milk.</b>\n")
    async with working(store) as (client, guard):
        answer = await client.post("/api/import", content=msgspec.json.encode({"path": str(folder)}))
        job = await ended(guard, answer)
        shown = (await client.get(f"/live/{job.facts.id}")).text
    *_, skipped, last = job.steps
    assert last.words == "1 run: 1 new, 0 in the store before"
    assert skipped.words == "6 files were skipped, as no recordings"
    assert skipped.detail.splitlines()[0] == f"{folder / 'note-0.txt'}: it is empty"
    assert "note-1.txt: its first line is '<b>Buy milk.</b>'" in skipped.detail
    assert skipped.detail.splitlines()[-1] == "and 1 more"
    assert "&lt;b&gt;Buy milk.&lt;/b&gt;" in shown


async def test_what_is_no_recording_fails_the_job_with_a_sentence(store: Store, tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"\0\1\2")
    async with working(store) as (client, guard):
        job = await ended(
            guard, await client.post("/api/import", content=msgspec.json.encode({"path": str(tmp_path / "x.bin")}))
        )
    assert job.facts.state == "failed"
    assert "x.bin" in (job.facts.failure or "")


@pytest.mark.parametrize("path", ["relative", "/no/such/thing", "../etc", "\0", "/etc\0/x", "~nobody/x"])
def test_a_path_that_is_not_there_or_not_absolute_is_refused_at_once(store: Store, path: str) -> None:
    client = inside(guard_of(store))
    status, found = said(client, "/api/import", path=path)
    assert status == 400
    assert "adjudge serve" in found["detail"]
    assert client.get("/api/live").json() == []


def test_without_a_token_no_file_is_read(store: Store) -> None:
    client = inside(guard_of(store, access=Access(ACCESS.names, None, port=8710)))
    status, found = said(client, "/api/import", path=str(wiring.DEMO))
    assert status == 400
    assert "--no-token" in found["detail"]
    assert 'name="path"' not in page(client, "/import")


def test_an_empty_store_leads_to_importing_and_building(store: Store) -> None:
    html = page(inside(guard_of(store)), "/runs")
    assert 'href="/import"' in html
    assert 'href="/build"' in html
    assert 'name="path"' in page(inside(guard_of(store)), "/import")
