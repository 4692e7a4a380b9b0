"""Every command that uses a store, with one in a PostgreSQL database."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.store.postgres_server import Server

from adjudge import wiring

from .conftest import Command, Script
from .test_commands import FAILING, written
from .test_reading import ACCUSES, CHAT, RUBRIC, Reads

SECRET = "s3cret"


@pytest.fixture
def url(adjudge: Command, postgres: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of an empty database, with a password in it that the server does not ask for."""
    name = postgres.create()
    monkeypatch.setenv("ADJUDGE_BLOBS", "kept")
    yield postgres.url(name, password=SECRET)
    postgres.drop(name)


def of_store(found: str) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in json.loads(found) if check["name"] in ("store", "blobs")}


def test_a_run_is_imported_listed_and_shown(adjudge: Command, url: str) -> None:
    ended = adjudge("import", wiring.DEMO, "--store", url, "--json")
    assert ended.status == 0, ended.err
    run = json.loads(ended.out)[0]["run"]
    assert run in adjudge("list", "--store", url).out
    assert adjudge("show", run[:6], "--store", url).status == 0
    assert "is in the store already" not in adjudge("import", wiring.DEMO, "--store", url).err
    assert len(json.loads(adjudge("list", "--store", url, "--json").out)) == 1


def test_a_run_is_judged_verified_and_exported(adjudge: Command, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADJUDGE_STORE", url)
    ended = adjudge("judge", wiring.DEMO, "--rubric", written(FAILING), "--json")
    assert ended.status == 1, ended.err
    judgment = json.loads(ended.out)["id"]
    assert "FAIL  large" in adjudge("show", judgment[:6]).out
    assert f"{judgment}  sound" in adjudge("verify").out
    assert json.loads(adjudge("export", "--as", "jsonl").out)["id"] == judgment
    assert adjudge("export", judgment, "--as", "html", "-o", "page.html").status == 0
    assert not Path(".adjudge").exists()


def test_a_run_is_read(adjudge: Command, url: str, serve: Callable[[Script], str]) -> None:
    Path("rubric.yaml").write_text(RUBRIC)
    Path("one.json").write_text(json.dumps(CHAT))
    model = serve(Reads(ACCUSES))
    assert adjudge("read", "one.json", "-r", "rubric.yaml", "-m", model, "--store", url, "--dry-run").status == 0
    ended = adjudge("read", "one.json", "-r", "rubric.yaml", "-m", model, "--store", url)
    assert ended.status == 1, ended.err
    assert "1 worse" in adjudge("list", "--store", url).out


def test_an_agent_is_started_and_its_workspace_kept_in_a_closed_folder(adjudge: Command, url: str) -> None:
    Path("files").mkdir()
    written(json.dumps({"instructions": "Write a.txt.", "machine": {"folder": "files"}}), "task.yaml")
    rubric = written("criteria:\n  - {id: a, text: a.txt is there., probe: {file: a.txt, exists: true}}\n")
    command = ("--agent", "command", "--json", "--", "sh", "-c", "echo x > a.txt; echo done")
    ended = adjudge("run", "task.yaml", "-r", rubric, "--store", url, *command)
    assert ended.status == 0, ended.out + ended.err
    (result,) = json.loads(ended.out)
    assert (Path(result["workspace"]) / "a.txt").read_text() == "x\n"
    assert Path(result["workspace"]).is_relative_to(Path(".adjudge").absolute())
    assert stat.S_IMODE(Path(".adjudge").stat().st_mode) == 0o700
    assert adjudge("show", result["judgment"], "--store", url).status == 0


def test_reading_makes_no_store(adjudge: Command, url: str, postgres: Server) -> None:
    ended = adjudge("list", "--store", url)
    assert ended.status == 2
    assert "there is no store here yet; `adjudge import PATH`" in ended.err
    assert SECRET not in ended.err
    database = url.partition("?")[0].rpartition("/")[2]
    assert postgres.run("SELECT * FROM pg_tables WHERE schemaname = 'public'", database=database) == []
    assert not Path("kept").exists()


def test_where_the_blobs_are_must_be_said(adjudge: Command, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ADJUDGE_BLOBS")
    ended = adjudge("import", wiring.DEMO, "--store", url)
    assert ended.status == 2
    assert "say in ADJUDGE_BLOBS" in ended.err
    assert SECRET not in ended.err


def test_doctor_names_the_database_and_the_blobs(adjudge: Command, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADJUDGE_STORE", url)
    checks = of_store(adjudge("doctor", "--json").out)
    assert checks["store"]["works"]
    assert "postgresql://adjudge:***@/store" in checks["store"]["why"]
    assert "can be written (PostgreSQL 1" in checks["store"]["why"]
    assert checks["blobs"] == {"name": "blobs", "works": True, "why": "kept can be written and read"}


def test_doctor_tells_blobs_from_the_database(adjudge: Command, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADJUDGE_STORE", url)
    monkeypatch.setenv("ADJUDGE_BLOBS", "ftp://u:s3cret@127.0.0.1:1/blobs")
    printed = adjudge("doctor", "--json").out
    checks = of_store(printed)
    assert not checks["store"]["works"]
    assert "ftp://u:***@127.0.0.1:1/blobs" in checks["store"]["why"]
    assert SECRET not in printed
    monkeypatch.setenv("ADJUDGE_BLOBS", "/proc/nothing/can/be/made/here")
    found = of_store(adjudge("doctor", "--json").out)["store"]
    assert "/proc/nothing" in found["why"]
    assert "in ADJUDGE_BLOBS" in found["help"]


def test_doctor_says_that_a_database_cannot_be_reached(adjudge: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADJUDGE_STORE", "postgresql://u:s3cret@127.0.0.1:1/d")
    monkeypatch.setenv("ADJUDGE_BLOBS", "kept")
    checks = of_store(adjudge("doctor", "--json").out)
    assert not checks["store"]["works"]
    assert "postgresql://u:***@127.0.0.1:1/d: the database cannot be reached" in checks["store"]["why"]
    assert "ADJUDGE_STORE" in checks["store"]["help"]


def test_a_server_that_is_gone_is_exit_status_3_in_one_line(adjudge: Command) -> None:
    ended = adjudge("list", "--store", "postgresql://u:s3cret@127.0.0.1:1/d")
    assert ended.status == 3
    assert "the database cannot be reached" in ended.err
    assert SECRET not in ended.err


def test_no_key_is_connected_to_a_database(adjudge: Command, url: str) -> None:
    assert json.loads(adjudge("connect", "--store", url, "--json").out) == []
    assert "no key was connected in postgresql://adjudge:***@" in adjudge("disconnect", "openrouter", "--store", url).err
