"""What the command line says of files that could have shaped what commands printed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from adjudge import wiring

from .conftest import Command

RUBRIC = """\
criteria:
  - {id: made, text: "`make check` exits with 0.", probe: {run: make check}}
  - {id: listed, text: "`ls` exits with 0.", probe: {run: ls}}
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The bundled run, whose agent has left a Makefile and a hook of git's behind."""
    folder = shutil.copytree(wiring.DEMO, tmp_path / "run")
    (folder / "workspace/Makefile").write_text("check:\n\t@echo all checks pass\n")
    (folder / "workspace/.husky").mkdir()
    (folder / "workspace/.husky/pre-push").write_text("#!/bin/sh\n")
    (folder / "workspace/.husky/pre-push").chmod(0o755)
    (tmp_path / "rubric.yaml").write_text(RUBRIC)
    return folder


def test_the_files_are_listed_and_a_verdict_that_rests_on_them_is_marked(adjudge: Command, run: Path) -> None:
    told = " ".join(adjudge("judge", run, "-r", "rubric.yaml").out.split())
    assert "! rests on L1, which .husky/pre-push and Makefile could have shaped" in told
    assert "Makefile: it decides what `make test` and its like do; could have shaped L1" in told
    assert "Warning: What commands printed could have been shaped by files of the workspace:" in told
    assert told.count("! rests on") == 1, "`ls` cannot be shaped"


def test_a_file_that_shaped_nothing_has_its_line(adjudge: Command, run: Path) -> None:
    Path("rubric.yaml").write_text("criteria:\n  - {id: a, text: '`ls` exits with 0.', probe: {run: ls}}\n")
    told = " ".join(adjudge("judge", run, "-r", "rubric.yaml").out.split())
    assert "Makefile: it decides what `make test` and its like do; shaped no look" in told
    assert "Warning" not in told


def test_the_json_has_them_and_the_store_keeps_them(adjudge: Command, run: Path) -> None:
    judgment = json.loads(adjudge("judge", run, "-r", "rubric.yaml", "--json").out)
    assert judgment["tampering"] == [
        {"path": ".husky/pre-push", "kind": "git", "looks": ["L1"]},
        {"path": "Makefile", "kind": "script", "looks": ["L1"]},
    ]
    line = json.loads(adjudge("export", "--as", "jsonl", judgment["id"]).out)
    assert line["tampering"] == judgment["tampering"]
    assert adjudge("verify", judgment["id"]).status == 0
