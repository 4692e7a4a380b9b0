"""mini-SWE-agent's trajectories. Expected counts are those of the scripts that drove the recordings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.importers.mini import Mini
from adjudge.run import Run

FIXTURES = Path(__file__).parent / "fixtures" / "mini"


def read(path: Path) -> Run:
    assert Mini().recognises(path, path.read_bytes()[: 1 << 16])
    (run,) = Mini().runs(path)
    return run


@pytest.mark.parametrize(
    ("case", "turns", "calls", "failed", "tokens"),
    [
        ("fix", 5, 5, 1, (10000, 7000, 210)),
        ("failcmd", 7, 7, 3, (17500, 13500, 301)),
        ("badtool", 3, 3, 3, (3000, 0, 120)),
        ("length", 4, 1, 1, (5500, 3000, 163)),
    ],
)
def test_a_trajectory_counts_what_its_script_did(
    case: str, turns: int, calls: int, failed: int, tokens: tuple[int, int, int]
) -> None:
    path = FIXTURES / f"{case}.traj.json"
    record = read(path).record
    usage = record.usage()
    assert (usage.prompt, usage.cached, usage.output) == tokens
    assert len(record.turns) == turns
    assert sum(entry.kind == "call" for entry in record.entries) == calls
    assert sum(bool(entry.is_error or entry.exit_status) for entry in record.entries) == failed
    assert record.used == len(json.loads(path.read_text())["messages"])


def test_a_run_tells_its_task_model_version_and_ending() -> None:
    run = read(FIXTURES / "fix.traj.json")
    assert run.task
    assert run.task.startswith("Please solve this issue: The test suite")
    assert (run.agent, run.agent_version, run.model) == ("mini-swe-agent", "2.4.6", "openai/scripted")
    assert run.outcome.detail == "Submitted"
    assert run.record.tells == {"results", "exit_statuses", "times", "tokens", "reasoning"}


def test_the_action_that_submits_was_not_executed_and_has_no_exit_status() -> None:
    results = [entry for entry in read(FIXTURES / "fix.traj.json").record.entries if entry.kind == "result"]
    assert [entry.exit_status for entry in results] == [1, 0, 0, 0, None]
    assert results[-1].text == "action was not executed"
    assert results[-1].is_error is None


def test_a_result_is_the_whole_output_not_what_the_agent_was_shown(tmp_path: Path) -> None:
    extra = {"raw_output": "all of it", "returncode": 0, "exception_info": ""}
    call = {"id": "c", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    run = trajectory(
        tmp_path / "t.json",
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "some", "extra": extra},
    )
    assert [entry.text for entry in run.record.entries] == ["bash\ncommand: ls", "all of it"]


def test_a_rejected_answer_is_a_turn_and_the_complaint_is_the_harnesss() -> None:
    record = read(FIXTURES / "length.traj.json").record
    last = [entry for entry in record.entries if entry.turn == 4]
    assert [(entry.kind, entry.writer, entry.origin) for entry in last] == [
        ("message", "agent", None),
        ("message", "harness", "complaint"),
        ("event", "harness", "exit"),
    ]
    assert record.turns[3].stop == "length"


def trajectory(path: Path, *messages: dict[str, Any], **info: Any) -> Run:
    path.write_text(json.dumps({"info": {"mini_version": "2", **info}, "messages": messages}))
    return read(path)


def test_a_time_out_is_an_error_without_an_exit_status(tmp_path: Path) -> None:
    extra = {"raw_output": "half", "returncode": -1, "exception_info": "timed out after 30 s"}
    run = trajectory(
        tmp_path / "t.json",
        {"role": "assistant", "content": "", "extra": {"actions": [{"command": "sleep 99"}]}},
        {"role": "user", "content": "…", "extra": extra},
    )
    result = run.record.entries[-1]
    assert (result.text, result.exit_status, result.is_error) == ("timed out after 30 s\nhalf", None, True)
    assert result.answers == "e1"


def bare(path: Path, *contents: str) -> Run:
    """A v0 trajectory: system, task, then the agent and what answered it in turns."""
    roles = ["system", "user", *["assistant", "user"] * len(contents)]
    path.write_text(json.dumps([{"role": role, "content": text} for role, text in zip(roles, contents, strict=False)]))
    return read(path)


COMMAND = "Look.\n\n```bash\nls -la\n```"
OUTPUT = "<returncode>2</returncode>\n<output>\nno such file\n</output>"


def test_a_fenced_command_is_a_call_and_what_answers_it_a_result(tmp_path: Path) -> None:
    run = bare(tmp_path / "t.json", "Be good.", "Fix it.", COMMAND, OUTPUT)
    entries = [(entry.kind, entry.writer, entry.exit_status) for entry in run.record.entries[2:]]
    assert entries == [("message", "agent", None), ("call", "agent", None), ("result", "tool", 2)]
    assert run.record.entries[4].answers == "e4"
    assert run.task == "Fix it."


def test_a_task_that_looks_like_a_result_is_the_users_word(tmp_path: Path) -> None:
    run = bare(tmp_path / "t.json", "Be good.", OUTPUT, COMMAND, OUTPUT)
    assert run.record.entries[1].writer == "user"
    assert run.record.entries[1].kind == "message"


def test_a_result_without_a_command_before_it_is_no_result(tmp_path: Path) -> None:
    run = bare(tmp_path / "t.json", "", "Fix it.", COMMAND, OUTPUT, "I ran nothing.", OUTPUT)
    last = run.record.entries[-1]
    assert (last.kind, last.writer, last.origin) == ("message", "harness", "complaint")


def test_two_commands_in_one_answer_are_no_call(tmp_path: Path) -> None:
    run = bare(tmp_path / "t.json", "", "Fix it.", COMMAND, OUTPUT, f"{COMMAND}\n{COMMAND}", "Give exactly one.")
    assert sum(entry.kind == "call" for entry in run.record.entries) == 1


def test_what_a_submission_printed_is_the_last_result(tmp_path: Path) -> None:
    submit = "```bash\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff\n```"
    run = bare(tmp_path / "t.json", "", "Fix it.", COMMAND, OUTPUT, submit, "diff --git a/x b/x")
    assert (run.record.entries[-1].kind, run.record.entries[-1].text) == ("result", "diff --git a/x b/x")
    assert run.record.unpaired == ()


def test_an_answer_of_the_responses_interface_is_read(tmp_path: Path) -> None:
    usage = {"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 2}
    call = {"type": "function_call", "call_id": "c", "name": "bash", "arguments": '{"command": "ls"}'}
    said = {"type": "message", "content": [{"type": "output_text", "text": "Look."}]}
    run = trajectory(
        tmp_path / "t.json",
        {"object": "response", "model": "m", "output": [said, call], "usage": usage},
        {"type": "function_call_output", "call_id": "c", "output": "x", "extra": {"returncode": 0, "raw_output": "x"}},
    )
    assert [entry.kind for entry in run.record.entries] == ["message", "call", "result"]
    assert run.record.entries[2].exit_status == 0
    assert (run.record.usage().prompt, run.record.usage().cached) == (9, 4)


def test_a_submitted_diff_is_the_runs_patch(tmp_path: Path) -> None:
    run = trajectory(tmp_path / "t.json", submission="diff --git a/x b/x\n", model_stats={"instance_cost": 0.25})
    assert run.patch == "diff --git a/x b/x\n"
    assert run.record.reported
    assert run.record.reported.cost == 0.25


def test_a_plain_chat_is_no_trajectory(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]))
    assert not Mini().recognises(path, path.read_bytes())
