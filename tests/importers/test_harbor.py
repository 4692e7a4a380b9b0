"""Harbor's trial folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import InputError
from adjudge.importers.sniff import read_runs
from adjudge.record import Usage
from adjudge.run import Outcome, Run

ATIF = {
    "schema_version": "ATIF-v1.7",
    "agent": {"name": "claude-code", "model_name": "tern"},
    "steps": [
        {"step_id": 1, "source": "user", "message": "Fix it."},
        {"step_id": 2, "source": "agent", "message": "Done."},
    ],
}
STREAM = [
    {"type": "system", "subtype": "init", "session_id": "s", "model": "tern", "cwd": "/app", "tools": []},
    {
        "type": "assistant",
        "session_id": "s",
        "message": {"id": "m", "role": "assistant", "model": "tern", "content": [{"type": "text", "text": "Really done."}]},
    },
]


def put(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))


def trial(path: Path, result: dict[str, Any] | None = None, **files: Any) -> Path:
    """A trial folder; `result` is added to a plain one, `files` are named with `__` for `/` and `_` for `.`."""
    put(path / "config.json", {"trial_name": path.name, "agent": {"name": "claude-code", "model_name": "tern"}})
    if result is not None:
        put(path / "result.json", {"id": "i", "trial_name": path.name, **result})
    for name, value in files.items():
        put(path / name.replace("__", "/").replace("_", "."), value)
    return path


def read(path: Path) -> Run:
    (run,) = read_runs(path)
    return run


def graded(reward: float | None, exception: str | None = None) -> dict[str, Any]:
    return {
        "verifier_result": None if reward is None else {"rewards": {"reward": reward}},
        "exception_info": {"exception_type": exception} if exception else None,
    }


@pytest.mark.parametrize(
    ("result", "written", "expected"),
    [
        (graded(1.0), "1", Outcome(None, "resolved", 1.0)),
        (graded(0.0), "0", Outcome(None, "unresolved", 0.0)),
        (graded(0.4), None, Outcome(None, "unresolved", 0.4)),
        (graded(0.0, "AgentTimeoutError"), "0", Outcome(None, "unresolved", 0.0, "AgentTimeoutError")),
        (graded(None, "VerifierTimeoutError"), "1", Outcome(None, "error", 1.0, "VerifierTimeoutError")),
        (graded(None, "AgentSetupTimeoutError"), None, Outcome(None, "error", None, "AgentSetupTimeoutError")),
        (graded(None), None, Outcome()),
        (None, "1", Outcome(None, "resolved", 1.0)),
    ],
    ids=["solved", "not", "partly", "late agent", "late grader", "no start", "ungraded", "no result yet"],
)
def test_how_a_trial_ended(tmp_path: Path, result: dict[str, Any] | None, written: str | None, expected: Outcome) -> None:
    path = trial(tmp_path / "t", result, agent__trajectory_json=ATIF)
    if written:
        put(path / "verifier" / "reward.txt", written + "\n")
    assert read(path).outcome == expected


def test_the_exception_is_read_from_its_traceback_while_there_is_no_result(tmp_path: Path) -> None:
    words = (
        "Traceback (most recent call last):\n  …\nharbor.trial.trial.AgentTimeoutError: timed out after 1200.0 seconds\n"
    )
    path = trial(tmp_path / "t", None, agent__trajectory_json=ATIF, exception_txt=words)
    assert read(path).outcome == Outcome(None, "error", None, "AgentTimeoutError")


def test_the_exit_status_is_that_of_the_agents_last_command(tmp_path: Path) -> None:
    path = trial(tmp_path / "t", graded(1.0), agent__trajectory_json=ATIF)
    for number, status in ((0, "0"), (2, "1"), (10, "124")):
        put(path / "agent" / f"command-{number}" / "return-code.txt", status)
    assert read(path).outcome.exit_status == 124


def test_the_agents_own_log_is_preferred_and_the_task_taken_from_where_it_is(tmp_path: Path) -> None:
    stream = "\n".join(map(json.dumps, STREAM))
    run = read(trial(tmp_path / "t", graded(1.0), agent__trajectory_json=ATIF, **{"agent__claude-code_txt": stream}))
    assert run.record.format == "claude-stream-json"
    assert [entry.text for entry in run.record.entries if entry.writer == "agent"] == ["Really done."]
    assert run.task == "Fix it."
    assert (run.agent, run.model) == ("claude-code", "tern")


def test_without_a_log_of_its_own_the_trajectory_is_read(tmp_path: Path) -> None:
    total = {"n_input_tokens": 9, "n_cache_tokens": 4, "n_output_tokens": 2, "cost_usd": None}
    run = read(trial(tmp_path / "t", {"agent_result": total}, agent__trajectory_json=ATIF, agent__log_txt="hello"))
    assert run.record.format == "atif"
    assert run.record.reported == Usage(9, 4, None, 2)


def test_a_trial_without_a_recording_is_a_run_that_says_so(tmp_path: Path) -> None:
    run = read(trial(tmp_path / "t", graded(0.0, "AgentTimeoutError"), agent__log_txt="hello"))
    assert len(run.record.entries) == 0
    assert [(piece.place, piece.reason) for piece in run.record.unparsed] == [
        ("agent", "no recording of a known format is in it")
    ]
    assert run.outcome.grade == "unresolved"


def test_a_file_left_to_git_lfs_is_reported(tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    path = trial(tmp_path / "t", graded(1.0), agent__trajectory_json=pointer)
    put(path / "result.json", pointer)
    record = read(path).record
    assert [piece.place for piece in record.unparsed] == ["result.json", "agent/trajectory.json", "agent"]
    assert all("Git LFS pointer" in piece.reason for piece in record.unparsed[:2])


def test_a_link_out_of_the_trial_is_not_followed(tmp_path: Path) -> None:
    put(tmp_path / "outside.json", ATIF)
    path = trial(tmp_path / "t", graded(1.0), agent__log_txt="hello")
    (path / "agent" / "trajectory.json").symlink_to(tmp_path / "outside.json")
    assert len(read(path).record.entries) == 0


def test_a_job_gives_a_run_for_each_trial(tmp_path: Path) -> None:
    put(tmp_path / "config.json", {"job_name": "j", "agents": []})
    put(tmp_path / "result.json", {"id": "j", "n_total_trials": 2})
    for name in ("a__1", "b__2"):
        trial(tmp_path / name, graded(1.0), agent__trajectory_json=ATIF)
    trial(tmp_path / "c__3", {"id": "3"}, agent__log_txt="")
    trial(tmp_path / "d__4", {"id": "4"}, agent__log_txt="")
    runs = list(read_runs(tmp_path))
    assert [Path(run.source).name for run in runs] == ["a__1", "b__2", "c__3", "d__4"]
    assert runs[2].id != runs[3].id


def test_a_folder_of_something_else_is_no_trial(tmp_path: Path) -> None:
    put(tmp_path / "config.json", {"name": "x"})
    with pytest.raises(InputError, match="no file below this folder"):
        list(read_runs(tmp_path))
