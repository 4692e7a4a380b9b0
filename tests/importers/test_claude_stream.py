"""Claude Code's standard output, from our own recordings and from hand-made rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.importers.claude_stream import ClaudeStreams
from adjudge.run import Run

FIXTURES = Path(__file__).parent / "fixtures" / "claude"

INIT = {"type": "system", "subtype": "init", "session_id": "s", "model": "m", "claude_code_version": "2.0.1"}


def only(path: Path) -> Run:
    (run,) = ClaudeStreams().runs(path)
    return run


def imported(tmp_path: Path, text: str) -> Run:
    path = tmp_path / "stdout"
    path.write_text(text)
    return only(path)


def answer(key: str, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 10, "output_tokens": 1}
    message = {"id": key, "model": "m", "content": list(blocks), "usage": usage, "stop_reason": None}
    return {"type": "assistant", "session_id": "s", "message": message, **more}


TEXT = {"type": "text", "text": "Done."}


def test_the_counts_are_those_of_the_scripted_model() -> None:
    run = only(FIXTURES / "claude-fix.stdout")
    record, usage = run.record, run.record.usage()
    assert len(record.turns) == 5
    assert sum(entry.kind == "call" for entry in record.entries) == 4
    assert sum(bool(entry.is_error) for entry in record.entries) == 1
    assert (usage.prompt, usage.cached) == (10000, 7000)
    assert record.reported
    assert (record.reported.prompt, record.reported.cached, record.reported.output) == (10000, 7000, 210)
    assert (run.agent_version, run.model, run.outcome.detail) == ("2.1.197", "claude-sonnet-4-5", "success")


def test_an_answers_output_is_unknown_when_only_its_beginning_was_counted(tmp_path: Path) -> None:
    run = imported(tmp_path, json.dumps(answer("1", TEXT)))
    assert run.record.usage().output is None


def test_sub_agents_are_told_apart_by_the_call_that_started_them() -> None:
    record = only(FIXTURES / "claude332-sub.stdout").record
    (child,) = record.children
    assert (len(record.turns), len(child.turns)) == (5, 2)
    assert child.label == "general-purpose: Count the tests"
    assert sum(entry.kind == "call" for entry in child.entries) == 1
    assert record.reported
    assert record.reported.output == 291  # sub-agent included


def test_a_failed_run_says_so_though_the_harness_calls_it_success() -> None:
    run = only(FIXTURES / "claude-error.stdout")
    assert run.outcome.detail == "API Error: 400 scripted error 400"
    assert len(run.record.turns) == 1
    assert [entry.origin for entry in run.record.entries if entry.kind == "event"] == ["api-error"]


def test_an_error_subtype_is_the_outcome(tmp_path: Path) -> None:
    result = {"type": "result", "subtype": "error_max_turns", "session_id": "s", "is_error": True, "num_turns": 3}
    assert imported(tmp_path, json.dumps(answer("1", TEXT)) + "\n" + json.dumps(result)).outcome.detail == "error_max_turns"


def test_a_stream_that_was_cut_off_has_no_outcome(tmp_path: Path) -> None:
    assert imported(tmp_path, json.dumps(INIT) + "\n" + json.dumps(answer("1", TEXT))).outcome.detail is None


def test_other_lines_of_standard_output_are_counted_as_unparsed(tmp_path: Path) -> None:
    record = imported(
        tmp_path, f"Installing…\n{json.dumps(INIT)}\n$ claude -p\n{json.dumps(answer('1', TEXT))}\nbye\n"
    ).record
    assert record.used == 2
    assert [piece.place for piece in record.unparsed] == ["stdout:1", "stdout:3", "stdout:5"]


@pytest.mark.parametrize("indent", [None, 2])
def test_one_array_of_all_events_is_read_like_lines(tmp_path: Path, indent: int | None) -> None:
    result = {"type": "result", "subtype": "success", "session_id": "s", "result": "Done."}
    run = imported(tmp_path, json.dumps([INIT, answer("1", TEXT), result], indent=indent))
    assert (run.record.used, run.record.unparsed, run.outcome.detail) == (3, (), "success")
    assert [entry.text for entry in run.record.entries] == ["Done."]


def test_a_result_alone_is_the_agents_answer(tmp_path: Path) -> None:
    result = {
        "type": "result",
        "subtype": "success",
        "session_id": "s",
        "is_error": False,
        "result": "It is 4.",
        "num_turns": 1,
    }
    record = imported(tmp_path, json.dumps(result)).record
    assert [(entry.writer, entry.text) for entry in record.entries] == [("agent", "It is 4.")]
    assert record.final == "e1"


def test_the_models_sum_is_preferred_to_the_results_own_usage(tmp_path: Path) -> None:
    result = {
        "type": "result",
        "subtype": "success",
        "session_id": "s",
        "total_cost_usd": 0.5,
        "usage": {"input_tokens": 1, "output_tokens": 1},
        "modelUsage": {
            "big": {"inputTokens": 100, "cacheReadInputTokens": 40, "cacheCreationInputTokens": 2, "outputTokens": 7},
            "small": {"inputTokens": 10, "outputTokens": 3},
        },
    }
    reported = imported(tmp_path, json.dumps(result)).record.reported
    assert reported
    assert (reported.prompt, reported.cached, reported.written, reported.output, reported.cost) == (152, 40, 2, 10, 0.5)


def test_partial_messages_are_counted_and_left_out(tmp_path: Path) -> None:
    event = {"type": "stream_event", "session_id": "s", "event": {"type": "content_block_delta"}}
    record = imported(tmp_path, json.dumps(event) + "\n" + json.dumps(answer("1", TEXT))).record
    assert record.skipped == {"stream_event": 1}
    assert len(record.entries) == 1
