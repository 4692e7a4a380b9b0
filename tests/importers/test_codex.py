"""Codex rollouts, from our own recordings and from hand-made rows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.importers.codex import CodexSessions, is_subagent_file
from adjudge.record import Record, Usage
from adjudge.run import Run

FIXTURES = Path(__file__).parent / "fixtures" / "codex"
TASK = "The test suite of this repository fails. Find the bug in tally/stats.py, fix it, and run the tests."

# What the scripted model of each recording did: turns, calls, failed calls, and prompt, cached and output tokens.
COUNTS = {
    "codex-fix": (5, 4, 1, 10000, 7000, 210),
    "codex-failcmd": (7, 6, 3, 17500, 13500, 301),
    "codex-badtool": (6, 5, 2, 13500, 10000, 255),
    "codex-killed": (2, 2, 1, 2500, 1000, 81),
    "codexjs-failcmd": (7, 6, 3, 17500, 13500, 301),
    "codexjs-badtool": (6, 5, 2, 13500, 10000, 255),
}


def paths(case: str) -> list[Path]:
    """The main rollout first; its name says that it was started first."""
    return sorted((FIXTURES / case).glob("*.jsonl"))


def only(path: Path) -> Run:
    (run,) = CodexSessions().runs(path)
    return run


def counts(record: Record) -> tuple[int | None, ...]:
    usage = record.usage()
    calls = sum(entry.kind == "call" for entry in record.entries)
    errors = {entry.answers for entry in record.entries if entry.is_error or entry.exit_status}
    return len(record.turns), calls, len(errors), usage.prompt, usage.cached, usage.output


@pytest.mark.parametrize(("case", "expected"), COUNTS.items())
def test_the_counts_are_those_of_the_scripted_model(case: str, expected: tuple[int, ...]) -> None:
    assert counts(only(paths(case)[0]).record) == expected


def test_a_run_knows_its_task_agent_version_model_and_ending() -> None:
    run = only(paths("codex-fix")[0])
    assert (run.task, run.agent, run.agent_version, run.model) == (TASK, "codex", "0.171.0", "gpt-5.5")
    assert run.outcome.detail == "task_complete"
    assert only(paths("codex-killed")[0]).outcome.detail is None


def test_what_is_told_twice_is_one_entry() -> None:
    record = only(paths("codex-fix")[0]).record
    texts = [entry.text for entry in record.entries if entry.kind == "message" and entry.writer in ("user", "agent")]
    assert texts[0] == TASK
    assert len(texts) == len(set(texts)) == 6


def test_exit_statuses_come_from_the_harness() -> None:
    for case in ("codex-failcmd", "codexjs-failcmd"):
        record = only(paths(case)[0]).record
        results = [entry for entry in record.entries if entry.kind == "result"]
        assert [entry.exit_status for entry in results][:3] == [3, 1, 127]
        assert results[-1].exit_status == 0
        assert {entry.answers for entry in results} == {entry.id for entry in record.entries if entry.kind == "call"}


@pytest.mark.parametrize("case", ["codex-sub", "codexjs-sub"])
def test_a_sub_agent_in_its_own_rollout_is_a_child_without_its_parents_history(case: str) -> None:
    main, sub = paths(case)
    record = only(main).record
    (child,) = record.children
    assert counts(record) == (5, 4, 0, 10000, 7000, 210)
    assert counts(child) == (2, 1, 0, 2500, 1000, 81)
    assert child.entries[0].id == "s1.e1"
    assert not any("hand the counting" in entry.text for entry in child.entries)
    assert is_subagent_file(sub)
    assert not is_subagent_file(main)


def test_copied_history_is_counted_as_copied() -> None:
    child = only(paths("codexjs-sub")[1]).record
    assert child.skipped["copied"] > 5
    assert child.reported is None or child.reported.output == 81


@pytest.mark.parametrize("case", [*COUNTS, "codex-sub", "codexjs-sub"])
def test_every_line_is_used_or_skipped_with_its_kind(case: str) -> None:
    for path in paths(case):
        record = only(path).record
        lines = sum(1 for line in path.read_text().splitlines() if line)
        assert record.used + sum(record.skipped.values()) == lines
        assert record.unparsed == ()


def test_developer_messages_and_context_are_the_harness() -> None:
    entries = only(paths("codexjs-failcmd")[0]).record.entries
    users = [entry for entry in entries if entry.writer == "user"]
    assert [entry.text for entry in users] == [TASK]
    assert [entry.text[:21] for entry in entries if entry.origin == "environment"] == ["<environment_context>"]
    assert all(entry.origin for entry in entries if entry.writer == "harness")


def test_a_compressed_rollout_is_the_same_run(tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl.zst"
    path.write_bytes(zstandard.compress(paths("codex-fix")[0].read_bytes()))
    assert only(path).id == only(paths("codex-fix")[0]).id


# --- hand-made rows


def imported(tmp_path: Path, rows: Iterable[dict[str, Any]]) -> Run:
    path = tmp_path / "rollout.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return only(path)


def item(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-02T03:04:05Z", "type": "response_item", "payload": {"type": kind, **payload}}


def event(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-02T03:04:05Z", "type": "event_msg", "payload": {"type": kind, **payload}}


def said(text: str, role: str = "assistant") -> dict[str, Any]:
    return item("message", role=role, content=[{"type": "output_text", "text": text}])


def called(key: str, name: str = "exec_command", arguments: str = '{"cmd":"make"}') -> dict[str, Any]:
    return item("function_call", name=name, arguments=arguments, call_id=key)


def back(key: str, output: Any = "Wall time: 1 seconds\nProcess exited with code 0\nOutput:\n") -> dict[str, Any]:
    return item("function_call_output", call_id=key, output=output)


def total(prompt: int, output: int, last: int = 0) -> dict[str, Any]:
    def usage(tokens: int) -> dict[str, int]:
        return {"input_tokens": tokens, "cached_input_tokens": 0, "output_tokens": output}

    return event("token_count", info={"total_token_usage": usage(prompt), "last_token_usage": usage(last or prompt)})


def test_cumulative_totals_are_never_summed(tmp_path: Path) -> None:
    rows = [said("a"), called("1"), total(100, 10), back("1"), total(100, 10), said("b"), total(250, 30, last=150)]
    record = imported(tmp_path, rows).record
    assert [turn.usage and turn.usage.prompt for turn in record.turns] == [100, 150]
    assert record.usage() == Usage(prompt=250, cached=0, output=30)
    assert record.reported == Usage(prompt=250, cached=0, output=30)


def test_a_total_that_went_down_counts_its_last_answer(tmp_path: Path) -> None:
    rows = [said("a"), total(1000, 10), back("1"), said("b"), total(400, 5, last=40)]
    assert [turn.usage and turn.usage.prompt for turn in imported(tmp_path, rows).record.turns] == [1000, 40]


def test_a_count_without_information_is_skipped(tmp_path: Path) -> None:
    record = imported(tmp_path, [said("a"), event("token_count", info=None)]).record
    assert record.usage() == Usage()
    assert "tokens" not in record.tells


def test_parallel_calls_of_one_answer_are_one_turn(tmp_path: Path) -> None:
    rows = [item("reasoning", summary=[], encrypted_content="x"), said("a"), called("1"), called("2"), back("1"), back("2")]
    record = imported(tmp_path, [*rows, said("b")]).record
    assert len(record.turns) == 2
    assert record.unpaired == ()


def test_each_text_is_taken_once_whichever_source_comes_first(tmp_path: Path) -> None:
    rows = [
        said("Do it.", "user"),
        event("user_message", message="Do it."),
        event("agent_message", message="Yes."),
        said("Yes."),
        event("agent_reasoning", text="Hm."),
        item("reasoning", summary=[{"type": "summary_text", "text": "Hm."}]),
        said("Yes."),
        event("agent_message", message="Yes."),
        event("user_message", message="Only shown."),
    ]
    run = imported(tmp_path, rows)
    assert [entry.text for entry in run.record.entries] == ["Do it.", "Yes.", "Hm.", "Yes.", "Only shown."]
    assert run.record.skipped == {"told twice": 4}
    assert run.task == "Do it."


@pytest.mark.parametrize("patch", ["*** Begin Patch\n*** End Patch", ""])
def test_apply_patch_as_a_custom_tool_keeps_its_text(tmp_path: Path, patch: str) -> None:
    rows = [
        item("custom_tool_call", name="apply_patch", input=patch, call_id="1"),
        event("patch_apply_end", call_id="1", success=False, stdout="", stderr="no such file"),
        item("custom_tool_call_output", call_id="1", output="Exit code: 1\nWall time: 0 seconds\nOutput:\nno such file"),
    ]
    call, result = imported(tmp_path, rows).record.entries
    assert call.text == f"apply_patch\n{patch}"
    assert (result.exit_status, result.is_error) == (1, True)


def test_a_structured_exit_status_wins_over_the_text(tmp_path: Path) -> None:
    forged = "Wall time: 1 seconds\nProcess exited with code 0\nOutput:\n"
    rows = [called("1", "shell"), event("exec_command_end", call_id="1", exit_code=2, stdout=""), back("1", forged)]
    assert imported(tmp_path, rows).record.entries[-1].exit_status == 2


def test_a_running_command_has_no_exit_status_until_it_ends(tmp_path: Path) -> None:
    running = (
        "Chunk ID: a1\nWall time: 10.0 seconds\nProcess running with session ID 7\nOutput:\nProcess exited with code 0\n"
    )
    ended = "Chunk ID: a2\nWall time: 3.0 seconds\nProcess exited with code 1\nOutput:\nFAIL"
    rows = [called("1"), back("1", running), called("2", "write_stdin", '{"session_id":7}'), back("2", ended)]
    results = [entry for entry in imported(tmp_path, rows).record.entries if entry.kind == "result"]
    assert [entry.exit_status for entry in results] == [None, 1]


def test_a_command_that_ended_after_its_call_returned_is_a_second_result(tmp_path: Path) -> None:
    rows = [called("1"), back("1", "later"), event("exec_command_end", call_id="1", exit_code=9, aggregated_output="out")]
    call, first, second = imported(tmp_path, rows).record.entries
    assert (first.exit_status, second.exit_status, second.text) == (None, 9, "out")
    assert second.answers == call.id


def script(key: str, code: str) -> dict[str, Any]:
    return item("custom_tool_call", name="exec", input=code, call_id=key)


def printed(key: str, text: str) -> dict[str, Any]:
    parts = [{"type": "input_text", "text": "Script completed\nWall time 0.1 seconds\nOutput:\n"}]
    return item("custom_tool_call_output", call_id=key, output=[*parts, {"type": "input_text", "text": text}])


def ran(output: str, status: int, number: int = 1) -> dict[str, Any]:
    command = {"type": "CommandExecution", "id": f"exec-{number}", "aggregated_output": output, "exit_code": status}
    return event("item_completed", item=command)


def test_in_code_mode_a_script_cannot_state_an_exit_status(tmp_path: Path) -> None:
    rows = [script("1", "text('{\"exit_code\":0}')"), printed("1", '{"exit_code":0,"output":"all passed"}')]
    assert imported(tmp_path, rows).record.entries[-1].exit_status is None


def test_in_code_mode_output_that_the_script_hid_is_kept_as_a_result(tmp_path: Path) -> None:
    rows = [script("1", "…"), ran("2 failed\n", 1), printed("1", "all passed")]
    _, hidden, shown = imported(tmp_path, rows).record.entries
    assert (hidden.text, hidden.exit_status, hidden.writer) == ("2 failed\n", 1, "tool")
    assert shown.exit_status is None


def test_in_code_mode_each_of_several_commands_keeps_its_exit_status(tmp_path: Path) -> None:
    rows = [script("1", "…"), ran("a\n", 0, 1), ran("b\n", 5, 2), printed("1", "a\nb\n")]
    results = [entry for entry in imported(tmp_path, rows).record.entries if entry.kind == "result"]
    assert [entry.exit_status for entry in results] == [0, 5, None]
    assert len({entry.answers for entry in results}) == 1


def test_the_old_shape_without_types_and_times_is_read(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "5973b6c0", "timestamp": "2025-09-10T10:00:00Z", "instructions": "Run make.", "git": {}},
        {"record_type": "state"},
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "<environment_context>x</environment_context>"}],
        },
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it."}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look."}], "encrypted_content": "x"},
        {"type": "function_call", "name": "shell", "arguments": '{"command":["bash","-lc","ls"]}', "call_id": "1"},
        {
            "type": "function_call_output",
            "call_id": "1",
            "output": '{"output":"a","metadata":{"exit_code":0,"duration_seconds":0.1}}',
        },
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
    ]
    run = imported(tmp_path, rows)
    head = "\n".join(json.dumps(row) for row in rows).encode()
    assert CodexSessions().recognises(tmp_path / "rollout.jsonl", head)
    assert run.task == "Fix it."
    assert [(entry.kind, entry.writer, entry.origin) for entry in run.record.entries] == [
        ("message", "harness", "memory"),
        ("message", "harness", "environment"),
        ("message", "user", None),
        ("reasoning", "agent", None),
        ("call", "agent", None),
        ("result", "tool", None),
        ("message", "agent", None),
    ]
    assert run.record.entries[5].exit_status == 0
    assert run.record.tells == {"results", "exit_statuses", "reasoning"}
    assert len(run.record.turns) == 2


def test_an_aborted_turn_is_an_event_and_the_ending(tmp_path: Path) -> None:
    run = imported(tmp_path, [said("a"), event("turn_aborted", reason="interrupted")])
    assert run.outcome.detail == "turn_aborted: interrupted"
    assert run.record.entries[-1].origin == "interrupted"


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
VALUES = st.recursive(
    LEAVES | st.sampled_from(["user", "assistant", "input_text", "CommandExecution", "AgentMessage", "exec", "x1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "content", "id", "usage", "message", "image_url"]), inner, max_size=4
        )
    ),
    max_leaves=10,
)
FIELDS = st.dictionaries(
    st.sampled_from(
        [
            "role",
            "content",
            "summary",
            "name",
            "namespace",
            "arguments",
            "input",
            "call_id",
            "id",
            "output",
            "info",
            "usage",
        ]
    )
    | st.sampled_from(
        ["item", "error", "message", "text", "exit_code", "status", "turn_id", "forked_from_id", "source", "model"]
    ),
    VALUES,
)
KINDS = st.sampled_from(
    ["message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "agent_message", "token_count"]
) | st.sampled_from(
    ["item_completed", "exec_command_end", "task_complete", "user_message", "task_started", "error", "warning"]
)
TYPES = st.sampled_from(["response_item", "event_msg", "session_meta", "turn_context", "token_usage_record", "compacted"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(TYPES | LEAVES, KINDS | LEAVES, FIELDS, st.booleans())))
def test_rows_of_any_shape_are_accounted_for_and_nothing_is_raised(
    tmp_path: Path, rows: list[tuple[Any, Any, dict[str, Any], bool]]
) -> None:
    made = [
        {"type": kind, "payload": {**fields, "type": inner}} if wrapped else {**fields, "type": inner}
        for kind, inner, fields, wrapped in rows
    ]
    record = imported(tmp_path, made).record
    assert record.used + sum(record.skipped.values()) == len(rows)
    assert all(record.entry(entry.id) == entry for entry in record.walk())
