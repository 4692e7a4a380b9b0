"""All of our own recordings of Claude Code and Codex, against the counts of the scripts that drove them."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from adjudge.importers.sniff import read_runs
from adjudge.record import Record, Usage

SHARED = Path(os.environ.get("ADJUDGE_SHARED") or Path(__file__).parents[3] / "shared")
INDEX = SHARED / "recordings" / "INDEX.tsv"

pytestmark = pytest.mark.skipif(not INDEX.is_file(), reason="ADJUDGE_SHARED names no folder with recordings")

AGENTS = ("claude", "claude332", "codex", "codexjs")


def listed() -> list[dict[str, str]]:
    if not INDEX.is_file():
        return []
    with INDEX.open(newline="") as file:
        return [row for row in csv.DictReader(file, delimiter="\t") if row["agent"] in AGENTS]


def errors(record: Record) -> int:
    return len({entry.answers for entry in record.entries if entry.is_error or entry.exit_status})


@pytest.mark.parametrize(
    "row", listed(), ids=lambda row: "/".join((row["agent"], row["case"], Path(row["file"]).name[-10:-6]))
)
def test_a_recording_counts_what_its_script_did(row: dict[str, str]) -> None:
    (run,) = read_runs(INDEX.parent / row["file"])
    record = run.record
    assert len(record.turns) == int(row["turns"])
    assert sum(entry.kind == "call" for entry in record.entries) == int(row["tool_calls"])
    assert errors(record) == int(row["tool_errors"])
    if "sub-agent's file" in row["what"]:
        return  # its row repeats the tokens of the whole case
    usage = sum((part.usage() for part in (record, *record.children)), Usage())
    assert (usage.prompt, usage.cached, usage.output) == tuple(
        int(row[name]) for name in ("prompt_tokens", "cached_tokens", "output_tokens")
    )


@pytest.mark.parametrize(
    "row", listed(), ids=lambda row: "/".join((row["agent"], row["case"], Path(row["file"]).name[-10:-6]))
)
def test_every_line_of_a_recording_is_accounted_for(row: dict[str, str]) -> None:
    path = INDEX.parent / row["file"]
    (run,) = read_runs(path)
    lines = sum(1 for line in path.read_bytes().splitlines() if line.strip())
    assert run.record.used + sum(run.record.skipped.values()) == lines
    assert run.record.unparsed == ()


def test_a_whole_folder_of_recordings_gives_each_run_once() -> None:
    sources = [run.source for run in read_runs(INDEX.parent / "claude332")]
    main = [row for row in listed() if row["agent"] == "claude332" and "sub-agent's file" not in row["what"]]
    assert len(sources) == len(set(sources))
    assert sum(source.endswith(".jsonl") for source in sources) == len(main)
    assert sum(source.endswith("stdout") for source in sources) == len(main)
