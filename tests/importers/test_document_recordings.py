"""All of our own recordings of OpenCode and mini-SWE-agent, against the counts of the scripts that drove them."""

from __future__ import annotations

import csv
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from adjudge.importers.sniff import read_runs
from adjudge.record import Record, Usage

SHARED = Path(os.environ.get("ADJUDGE_SHARED") or Path(__file__).parents[3] / "shared")
INDEX = SHARED / "recordings" / "INDEX.tsv"

pytestmark = pytest.mark.skipif(not INDEX.is_file(), reason="ADJUDGE_SHARED names no folder with recordings")


def listed(*agents: str) -> list[dict[str, str]]:
    if not INDEX.is_file():
        return []
    with INDEX.open(newline="") as file:
        return [row for row in csv.DictReader(file, delimiter="\t") if row["agent"] in agents]


def counts(record: Record) -> tuple[int, int, int]:
    """Turns, calls, and results that tell of a failure."""
    entries = list(record.entries)
    failed = sum(entry.kind == "result" and bool(entry.is_error or entry.exit_status) for entry in entries)
    return len(record.turns), sum(entry.kind == "call" for entry in entries), failed


def texts(record: Record) -> list[str]:
    """What the agent said, called and got back; events leave its reasoning out."""
    return [entry.text for entry in record.entries if entry.writer in ("agent", "tool") and entry.kind != "reasoning"]


def tokens(usage: Usage) -> tuple[int | None, int | None, int | None]:
    return usage.prompt, usage.cached, usage.output


def expected(row: dict[str, str]) -> tuple[int, ...]:
    return tuple(int(row[name]) for name in ("prompt_tokens", "cached_tokens", "output_tokens"))


@pytest.mark.parametrize("row", listed("opencode", "mini"), ids=lambda row: f"{row['agent']}/{row['case']}")
def test_a_recording_counts_what_its_script_did(row: dict[str, str]) -> None:
    (run,) = read_runs(INDEX.parent / row["file"])
    parts = [run.record, *run.record.children]
    assert "+".join(str(counts(part)[0]) for part in parts) == row["turns"]
    assert "+".join(str(counts(part)[1]) for part in parts) == row["tool_calls"]
    assert sum(counts(part)[2] for part in parts) == int(row["tool_errors"])
    assert tokens(sum((part.usage() for part in parts), Usage())) == expected(row)
    assert run.record.unparsed == ()


@pytest.mark.parametrize("row", listed("opencode"), ids=lambda row: row["case"])
def test_the_event_stream_tells_the_same_of_the_main_session_as_the_store(row: dict[str, str]) -> None:
    (stored,) = read_runs(INDEX.parent / row["file"])
    path = INDEX.parent / "opencode" / row["case"] / "stdout"
    (streamed,) = read_runs(path)
    assert counts(streamed.record) == counts(stored.record)
    assert tokens(streamed.record.usage()) == tokens(stored.record.usage())
    assert texts(streamed.record) == texts(stored.record)
    lines = len(path.read_text().splitlines())
    assert streamed.record.used + sum(streamed.record.skipped.values()) == lines


@pytest.mark.parametrize("row", listed("opencode"), ids=lambda row: row["case"])
def test_every_part_of_a_store_is_accounted_for(row: dict[str, str], tmp_path: Path) -> None:
    path = INDEX.parent / row["file"]
    for file in path.parent.glob("opencode.db*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    with closing(sqlite3.connect(tmp_path / "opencode.db")) as store:
        (held,) = store.execute("select count(*) from part").fetchone()
    (run,) = read_runs(path)
    parts = [run.record, *run.record.children]
    assert sum(part.used + sum(part.skipped.values()) for part in parts) == held


@pytest.mark.parametrize("row", listed("mini"), ids=lambda row: row["case"])
def test_every_message_of_a_trajectory_is_accounted_for(row: dict[str, str]) -> None:
    path = INDEX.parent / row["file"]
    (run,) = read_runs(path)
    assert run.record.used == len(json.loads(path.read_text())["messages"])
    assert run.record.skipped == {}
