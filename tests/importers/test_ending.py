"""How a run ended, from its record: every agent's recordings of a case end alike, but for what they cannot tell."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from adjudge.importers.ending import ending_of
from adjudge.importers.output import record_of_output
from adjudge.importers.sniff import read_runs
from adjudge.record import Entry, Record, Turn
from adjudge.run import Run

FIXTURES = Path(__file__).parent / "fixtures"
SHARED = Path(os.environ.get("ADJUDGE_SHARED") or Path(__file__).parents[3] / "shared")
INDEX = SHARED / "recordings" / "INDEX.tsv"

ENDINGS = {"error": "model", "length": "cut"}
"""Of every other case the record ends with no failure, of a killed run too: its exit status tells."""

UNTOLD = {
    ("gemini", "session", "error"): "a session has no failed requests; the stream of the same run has",
    ("gemini", "session", "length"): "no recording of Gemini CLI says why a response stopped",
    ("gemini", "stdout", "length"): "no recording of Gemini CLI says why a response stopped",
    ("qwen", "session", "length"): "no recording of Qwen Code says why a response stopped",
    ("qwen", "stdout", "length"): "no recording of Qwen Code says why a response stopped",
}


def expected(agent: str, kind: str, case: str) -> str | None:
    return None if (agent, kind, case) in UNTOLD else ENDINGS.get(case)


BUNDLED = [
    (agent, "stdout" if path.name.endswith((".stdout", ".events.jsonl")) else "session", case, path)
    for folder in ("claude", "codex", "gemini", "qwen")
    for path in [*FIXTURES.glob(f"{folder}/*.stdout"), *FIXTURES.glob(f"{folder}/*/*.jsonl")]
    for agent, _, case in [
        (path.name.removesuffix(".stdout") if path.suffix == ".stdout" else path.parent.name).partition("-")
    ]
] + [
    (agent, "stdout" if path.name.endswith(".events.jsonl") else "session", path.name.split(".")[0], path)
    for agent in ("opencode", "mini")
    for path in FIXTURES.glob(f"{agent}/*.json*")
]


def test_there_is_a_bundled_recording_of_each_agents_failures() -> None:
    agents = ("claude", "claude332", "codex", "codexjs", "opencode", "mini", "gemini", "qwen")
    held = {(agent, case) for agent, _, case, _ in BUNDLED}
    assert {(agent, "length") for agent in agents} <= held
    assert {(agent, "error") for agent in agents if agent != "claude332"} <= held


@pytest.mark.parametrize(
    ("agent", "kind", "case", "path"), BUNDLED, ids=[f"{agent}/{case}/{kind}" for agent, kind, case, _ in BUNDLED]
)
def test_a_bundled_recording_ends_as_its_script_made_it_end(agent: str, kind: str, case: str, path: Path) -> None:
    (run,) = read_runs(path)
    assert ending_of(run) == expected(agent, kind, case)


def listed() -> list[tuple[str, str, str, Path]]:
    if not INDEX.is_file():
        return []
    with INDEX.open(newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if "sub-agent's file" not in row["what"]]
    agents = ("claude", "claude332", "codex", "codexjs", "opencode", "mini", "gemini", "qwen")
    rows = [row for row in rows if row["agent"] in agents]
    found = [(row["agent"], "session", row["case"], INDEX.parent / row["file"]) for row in rows]
    streams = [row for row in rows if row["agent"] != "mini"]
    return found + [
        (row["agent"], "stdout", row["case"], INDEX.parent / row["agent"] / row["case"] / "stdout") for row in streams
    ]


@pytest.mark.skipif(not INDEX.is_file(), reason="ADJUDGE_SHARED names no folder with recordings")
@pytest.mark.parametrize(
    ("agent", "kind", "case", "path"), listed(), ids=lambda part: part if isinstance(part, str) else ""
)
def test_every_recording_ends_as_its_script_made_it_end(agent: str, kind: str, case: str, path: Path) -> None:
    (run,) = read_runs(path)
    assert ending_of(run) == expected(agent, kind, case)


# --- by hand


def ended(*entries: Entry, stop: str | None = None, format: str = "chat") -> Run:
    numbers = sorted({entry.turn for entry in entries} - {0})
    turns = tuple(Turn(number, "e1", stop=stop if number == numbers[-1] else None) for number in numbers)
    return Run("r-1", Record(format, entries, turns), "x")


SAID = Entry("e1", "message", "agent", 1, "The answer is cut he")
CALLED = Entry("e2", "call", "agent", 1, "bash")
RETURNED = Entry("e3", "result", "tool", 1, "F..")
FAILED = Entry("e4", "event", "harness", 1, "503", origin="api-error")
NOTE = Entry("e5", "event", "harness", 1, "bye", origin="exit")


@pytest.mark.parametrize("stop", ["length", "max_tokens", "max_output_tokens", "MAX_TOKENS"])
def test_a_last_response_that_was_cut_is_cut_whatever_the_harness_added(stop: str) -> None:
    assert ending_of(ended(SAID, stop=stop)) == "cut"
    assert ending_of(ended(SAID, CALLED, NOTE, stop=stop)) == "cut"


def test_a_cut_response_whose_call_was_answered_did_not_end_the_run() -> None:
    assert ending_of(ended(SAID, CALLED, RETURNED, stop="length")) is None


def test_a_failed_request_before_an_answer_did_not_end_the_run() -> None:
    assert ending_of(ended(FAILED, Entry("e6", "message", "agent", 2, "Done."))) is None
    assert ending_of(ended(SAID, FAILED, NOTE, stop="length")) == "model"


def test_a_run_without_any_response_has_done_nothing() -> None:
    task = Entry("e1", "message", "user", 0, "Fix it.")
    assert ending_of(ended(task)) == "nothing"
    assert ending_of(ended()) == "nothing"
    assert ending_of(ended(task, Entry("e2", "event", "harness", 0, "401", origin="api-error"))) == "model"


def test_what_tells_of_no_response_does_not_say_that_there_was_none(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    assert ending_of(Run("r-1", record_of_output("Go.", tmp_path / "empty", tmp_path / "empty"), "x")) is None
    assert ending_of(ended(format="none")) is None


def test_what_an_agent_says_of_an_error_is_not_one() -> None:
    assert ending_of(ended(Entry("e1", "message", "agent", 1, "API Error: 400", origin="api-error"))) is None
