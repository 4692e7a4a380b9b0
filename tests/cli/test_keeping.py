"""A model is paid only for what can be kept, and what it was paid for is kept whatever fails beside it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.store.conftest import refuse_blobs

from adjudge.store.store import open_store

from .conftest import Command, Script
from .test_reading import CHAT, RUBRIC, Reads, answer

CRITERIA = "criteria:\n  - The lines were counted.\n"
WAYS = [pytest.param("judge", CRITERIA, id="judge"), pytest.param("read", RUBRIC, id="read")]


@pytest.fixture
def store(adjudge: Command) -> Iterator[Path]:
    """A store that knows the run in `one.json`, and is open: SQLite opens no file without its log on a read-only disk."""
    Path("one.json").write_text(json.dumps(CHAT))
    assert adjudge("import", "one.json").status == 0
    with open_store(Path(".adjudge")) as opened:
        opened.runs()
        yield Path(".adjudge").absolute()


def words(way: str, rubric: str, model: str) -> list[str]:
    Path("rubric.yaml").write_text(rubric)
    return [way, "one.json", "--rubric", "rubric.yaml", "--model", model]


@pytest.mark.parametrize(("way", "rubric"), WAYS)
@pytest.mark.parametrize("reserve", [True, False])
def test_on_a_read_only_disk_no_model_is_asked(
    store: Path, serve: Callable[[Script], str], way: str, rubric: str, reserve: bool
) -> None:
    model = Reads(answer())
    if not reserve:
        (store / "reserve").unlink()
    within = ("bwrap", "--dev-bind", "/", "/", "--ro-bind", str(store), str(store))
    command = [*within, sys.executable, "-m", "adjudge", *words(way, rubric, serve(model))]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, model.asked) == (3, "", [])
    assert "bug of adjudge" not in ended.stderr
    assert ("must be able to write in its folder" if reserve else "Read-only file system") in ended.stderr


@pytest.mark.parametrize(("way", "rubric"), WAYS)
def test_on_a_small_disk_no_model_is_asked(store: Path, serve: Callable[[Script], str], way: str, rubric: str) -> None:
    model = Reads(answer())
    (store / "reserve").unlink()
    copied = 'cp -r "$0"/. "$1" && shift && exec "$@"'
    within = (
        "bwrap",
        "--dev-bind",
        "/",
        "/",
        "--size",
        str(8 << 20),
        "--tmpfs",
        "/mnt",
        "sh",
        "-c",
        copied,
        str(store),
        "/mnt",
    )
    command = [*within, sys.executable, "-m", "adjudge", *words(way, rubric, serve(model)), "--store", "/mnt"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, model.asked) == (3, "", [])
    assert "MiB are free and 16 MiB are needed" in ended.stderr


@pytest.mark.parametrize(("way", "rubric"), WAYS)
def test_where_blobs_cannot_be_written_no_model_is_asked(
    adjudge: Command, store: Path, serve: Callable[[Script], str], way: str, rubric: str
) -> None:
    model = Reads(answer())
    refuse_blobs(store / "blobs")
    ended = adjudge(*words(way, rubric, serve(model)))
    assert (ended.status, ended.out, model.asked) == (3, "", [])
    assert "blobs" in ended.err


def test_where_blobs_cannot_be_written_no_pass_is_resumed(
    adjudge: Command, store: Path, serve: Callable[[Script], str]
) -> None:
    model = Reads("no JSON")
    adjudge("pass", "start", "--yes", "--model", serve(model))
    (begun,) = json.loads(adjudge("pass", "list", "--json").out)
    model.asked.clear()
    refuse_blobs(store / "blobs")
    ended = adjudge("pass", "resume", begun["id"], "--retry-no-verdict")
    assert (ended.status, model.asked) == (3, [])
    assert "blobs" in ended.err


@pytest.mark.parametrize(("way", "rubric"), WAYS)
def test_where_the_exchange_cannot_be_written_the_judgment_is_kept(
    adjudge: Command, store: Path, serve: Callable[[Script], str], way: str, rubric: str
) -> None:
    ended = adjudge(*words(way, rubric, serve(Reads(answer()))), "--exchange", "gone/exchange.json")
    assert ended.status == 3
    assert "gone/exchange.json: the exchange cannot be written: No such file or directory" in ended.err
    with open_store(store) as opened:
        assert len(opened.judgments()) == 1
