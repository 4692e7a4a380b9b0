"""Our own recordings of Claude Code, Codex, Gemini CLI and Qwen Code, against the counts of the scripts that drove them."""

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

AGENTS = ("claude", "claude332", "codex", "codexjs", "gemini", "qwen")


def listed() -> list[dict[str, str]]:
    if not INDEX.is_file():
        return []
    with INDEX.open(newline="") as file:
        return [row for row in csv.DictReader(file, delimiter="\t") if row["agent"] in AGENTS]


def errors(record: Record) -> int:
    return len({entry.answers for entry in record.entries if entry.is_error or entry.exit_status})


def expected(row: dict[str, str], name: str) -> int:
    """What the main record must count; of Qwen Code the index counts sub-agents with it, which have no file."""
    if (row["agent"], row["case"], name) == ("qwen", "probe", "turns"):
        return 1  # the second answer was asked for by the harness's own memory agent, a child here
    return int(row[name].partition("+")[0])


@pytest.mark.parametrize(
    "row", listed(), ids=lambda row: "/".join((row["agent"], row["case"], Path(row["file"]).name[-10:-6]))
)
def test_a_recording_counts_what_its_script_did(row: dict[str, str]) -> None:
    (run,) = read_runs(INDEX.parent / row["file"])
    record = run.record
    assert len(record.turns) == expected(row, "turns")
    assert sum(entry.kind == "call" for entry in record.entries) == expected(row, "tool_calls")
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


@pytest.mark.parametrize(
    ("agent", "case", "turns", "calls"),
    [("qwen", "sub", 2, 1), ("qwen", "probe", 1, 0), ("gemini", "sub", 2, 2)],  # as the scripts had it
)
def test_a_sub_agent_counts_what_its_script_did(agent: str, case: str, turns: int, calls: int) -> None:
    row = next(row for row in listed() if (row["agent"], row["case"]) == (agent, case))
    (run,) = read_runs(INDEX.parent / row["file"])
    (child,) = run.record.children
    assert (len(child.turns), sum(entry.kind == "call" for entry in child.entries)) == (turns, calls)


@pytest.mark.parametrize(
    "row", [row for row in listed() if row["agent"] in ("gemini", "qwen")], ids=lambda row: f"{row['agent']}/{row['case']}"
)
def test_a_stream_counts_the_same_but_for_what_it_does_not_show(row: dict[str, str]) -> None:
    path = INDEX.parent / row["agent"] / row["case"] / "stdout"
    (run,) = read_runs(path)
    record, tries = run.record, row["agent"] == "qwen" and row["case"] == "length"
    if "sub-agent's file" in row["what"]:
        return  # its row is that of another file of the same case
    assert len(record.turns) == (2 if tries else expected(row, "turns"))  # five tries at one answer are printed as one
    assert sum(entry.kind == "call" for entry in record.entries) == expected(row, "tool_calls")
    if row["case"] != "killed":  # the total comes at the end
        assert record.reported
        assert (record.reported.prompt, record.reported.cached, record.reported.output) == tuple(
            int(row[name]) for name in ("prompt_tokens", "cached_tokens", "output_tokens")
        )
    lines = sum(1 for line in path.read_bytes().splitlines() if line.strip())
    assert record.used + sum(record.skipped.values()) == lines
    assert record.unparsed == ()


def test_a_whole_folder_of_recordings_gives_each_run_once() -> None:
    sources = [run.source for run in read_runs(INDEX.parent / "claude332")]
    main = [row for row in listed() if row["agent"] == "claude332" and "sub-agent's file" not in row["what"]]
    assert len(sources) == len(set(sources))
    assert sum(source.endswith(".jsonl") for source in sources) == len(main)
    assert sum(source.endswith("stdout") for source in sources) == len(main)
