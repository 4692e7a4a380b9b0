"""What travels to workers: enough to judge there, and no key in what might be logged."""

from __future__ import annotations

import asyncio
import pickle
from pathlib import Path

import msgspec
import pytest

from adjudge.judges.reader.tokens import calibrated
from adjudge.rubric import Criterion, FileProbe
from adjudge.settings import Settings
from adjudge.store.blobs import open_blobs
from adjudge.store.pass_rows import PassItem
from adjudge.store.records import write_run
from adjudge.testing import make_rubric, make_run
from adjudge.wiring.elsewhere import WorkElsewhere, with_own_keys, work_elsewhere

KEY = "sk-0123456789abcdef"
SETTINGS = Settings(model="openai/gpt-5", keys={"OPENAI_API_KEY": KEY})


def test_it_judges_where_it_arrives_with_nothing_but_the_blobs(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "a.txt").write_text("done")
    run = make_run(workspace=str(workspace))
    blob = write_run(open_blobs(tmp_path / "blobs"), run)
    rubric = make_rubric(Criterion("a", "It is there", FileProbe("a.txt", equals="done")))
    sent = WorkElsewhere(rubric, Settings(store=str(tmp_path / "none")), calibrated(()), str(tmp_path / "blobs"))
    arrived = pickle.loads(pickle.dumps(sent))
    assert arrived == sent

    async def judge() -> float | None:
        async def paying(most: float | None) -> None:
            raise AssertionError("probes cost nothing")

        work = arrived()
        try:
            return (await work.judge(PassItem(0, run.id, blob), paying)).score  # type: ignore[no-any-return]  # pickled
        finally:
            await work.close()

    assert asyncio.run(judge()) == 1.0


def test_its_words_do_not_tell_the_key() -> None:
    sent = WorkElsewhere(make_rubric("It works"), SETTINGS, calibrated(()), "s3://bucket/blobs")
    assert KEY not in f"{sent!r} {sent!s}"
    assert "s3://bucket/blobs" in repr(sent)


def test_a_worker_that_is_sent_no_key_uses_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-worker")
    assert with_own_keys(Settings()).keys["OPENAI_API_KEY"] == "sk-of-the-worker"
    assert with_own_keys(SETTINGS).keys == {"OPENAI_API_KEY": KEY}


def test_a_databases_url_is_not_sent_as_it_holds_a_password(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(SETTINGS, store="postgresql://adjudge:secret@db/runs")
    sent = work_elsewhere(make_rubric("It works"), settings, calibrated(()), str(tmp_path / ".." / tmp_path.name))
    assert b"secret" not in pickle.dumps(sent)
    assert sent.blobs == str(tmp_path)
    assert sent.settings.model == SETTINGS.model
