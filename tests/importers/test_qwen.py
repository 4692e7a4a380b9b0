"""Qwen Code's sessions and streams. Expected counts are those of the scripts that drove the recordings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.importers.gemini_outputs import qwen_exit_status
from adjudge.importers.qwen import QwenSessions
from adjudge.importers.qwen_stream import QwenStreams
from adjudge.importers.sniff import read_runs
from adjudge.record import Entry, Record, Usage
from adjudge.run import Run

FIXTURES = Path(__file__).parent / "fixtures" / "qwen"
TASK = "The test suite of this repository fails. Find the bug in tally/stats.py, fix it, and run the tests."


def session(case: str) -> Path:
    (path,) = (FIXTURES / f"qwen-{case}").glob("*.jsonl")
    return path


def only(path: Path) -> Run:
    (run,) = read_runs(path)
    return run


def row(kind: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"uuid": "u", "sessionId": "s", "timestamp": "t", "type": kind, "message": {"parts": list(parts)}, **more}


def event(name: str, **facts: Any) -> dict[str, Any]:
    payload = {"uiEvent": {"event.name": f"qwen-code.{name}", **facts}}
    return {"uuid": "u", "sessionId": "s", "type": "system", "subtype": "ui_telemetry", "systemPayload": payload}


def imported(tmp_path: Path, *rows: dict[str, Any]) -> Run:
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps({**item, "uuid": str(number)}) + "\n" for number, item in enumerate(rows)))
    (run,) = QwenSessions().runs(path)
    return run


def counts(record: Record) -> tuple[int, int, int]:
    """Turns, calls, and calls that failed."""
    entries = list(record.entries)
    failed = sum(entry.kind == "result" and bool(entry.is_error or entry.exit_status) for entry in entries)
    return len(record.turns), sum(entry.kind == "call" for entry in entries), failed


def tokens(usage: Usage | None) -> tuple[int | None, ...]:
    return (usage.prompt, usage.cached, usage.output) if usage else ()


def results(record: Record) -> Iterator[Entry]:
    return (entry for entry in record.entries if entry.kind == "result")


def rows_in(path: Path) -> int:
    return sum(1 for line in path.read_text().splitlines() if line.strip())


# --- sessions


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("fix", ((5, 4, 1), (10000, 7000, 210))),
        ("failcmd", ((7, 6, 3), (17500, 13500, 301))),
        ("badtool", ((6, 5, 2), (13500, 10000, 255))),
        ("killed", ((2, 2, 1), (2500, 1000, 81))),
        ("error", ((1, 1, 1), (1000, 0, 40))),
        ("length", ((6, 1, 1), (8500, 5000, 245))),
    ],
)
def test_a_session_counts_what_its_script_did(case: str, expected: Any) -> None:
    path = session(case)
    record = only(path).record
    assert (counts(record), tokens(record.usage())) == expected
    assert record.used + sum(record.skipped.values()) == rows_in(path)
    assert (record.unparsed, record.unpaired, record.children) == ((), (), ())


def test_a_session_tells_task_model_version_and_reasoning() -> None:
    run = only(session("fix"))
    assert (run.agent, run.agent_version, run.model, run.task) == ("qwen-code", "0.15.10", "scripted", TASK)
    assert [entry.text for entry in run.record.entries if entry.kind == "reasoning"] == [
        "The tests fail; see which one before touching the code."
    ]


def test_failed_commands_have_exit_statuses_and_refused_calls_are_errors() -> None:
    stated = [(entry.exit_status, entry.is_error) for entry in results(only(session("failcmd")).record)]
    assert stated == [(3, False), (None, True), (127, False), (None, False), (None, False), (0, False)]


def test_of_a_sub_agent_there_is_what_telemetry_tells_and_what_it_does_not_is_said() -> None:
    run = only(session("sub"))
    (child,) = run.record.children
    assert (counts(run.record), counts(child)) == ((5, 4, 0), (2, 1, 0))
    assert (tokens(run.record.usage()), tokens(child.usage())) == ((10000, 7000, 210), (2500, 1000, 81))
    assert child.label == "general-purpose"
    assert [(entry.kind, entry.origin) for entry in child.entries] == [
        ("message", None),
        ("call", None),
        ("event", "untold"),
        ("message", None),
    ]
    assert child.entries[2].text == "run_shell_command: success; what it returned is not in this recording"
    assert (child.unpaired, "results" in child.tells) == (("s1.e2",), False)


def test_a_failed_request_is_an_event_and_an_answer_after_it_clears_the_ending(tmp_path: Path) -> None:
    run = only(session("error"))
    assert run.outcome.detail == "API error: 400 scripted error 400"
    assert run.record.entries[-1].origin == "api-error"
    failed = event("api_error", error_type="X", error_message="503 busy", prompt_id="p")
    answered = imported(tmp_path, failed, row("assistant", {"text": "Done."}))
    assert answered.outcome.detail is None
    assert [entry.origin for entry in answered.record.entries] == ["api-error", None]


def test_a_request_that_was_given_up_because_the_run_was_ended_is_no_failed_one() -> None:
    run = only(session("killed"))
    assert (run.outcome.detail, run.record.entries[-1].origin) == (None, "interrupted")


def test_a_sub_agents_failed_request_is_the_sub_agents(tmp_path: Path) -> None:
    run = imported(tmp_path, event("api_error", error_type="X", error_message="no", prompt_id="s#Explore-x#0"))
    assert (run.outcome.detail, len(run.record.entries), run.record.children[0].label) == (None, 0, "Explore-x")


def test_what_is_in_a_users_place_but_is_not_the_users_is_marked(tmp_path: Path) -> None:
    run = imported(
        tmp_path,
        row("user", {"text": "a task ended"}, subtype="notification"),
        row("user", {"text": "Go on."}),
        {**row("system"), "subtype": "chat_compression", "systemPayload": {"info": {"originalTokenCount": 9}}},
        {**row("system"), "subtype": "slash_command", "systemPayload": {"rawCommand": "/compress"}},
        {**row("system"), "subtype": "custom_title", "systemPayload": {}},
        row("hologram"),
    )
    assert [(entry.kind, entry.writer, entry.origin) for entry in run.record.entries] == [
        ("message", "harness", "notification"),
        ("message", "user", None),
        ("event", "harness", "compaction"),
        ("event", "harness", "slash-command"),
    ]
    assert (run.task, run.record.used, run.record.skipped) == ("Go on.", 4, {"system:custom_title": 1, "hologram": 1})


# --- what a command printed, and what the harness adds


def stated(printed: str, code: str, signal: str = "0") -> str:
    return (
        f"Command: make\nDirectory: (root)\nOutput: {printed}\nError: (none)\n"
        f"Exit Code: {code}\nSignal: {signal}\nProcess Group PGID: 7"
    )


@pytest.mark.parametrize(
    ("output", "status"),
    [
        (stated("x", "3"), 3),
        (stated("x", "0"), 0),
        (stated("x", "(none)", "SIGKILL"), None),
        (stated("x", "2") + "\n\nNote: this foreground command ran for 90s. Next time …", 2),
        (stated("x", "2") + "\nmore", None),
        ("Command timed out after 9ms … before it timed out:\n" + stated("x", "0"), None),
        ("", None),
    ],
)
def test_an_exit_status_is_what_the_harness_wrote_last(output: str, status: int | None) -> None:
    assert qwen_exit_status(output) == status


@given(st.text(max_size=30), st.sampled_from(["", "\n\nNote: this foreground command ran for 9s."]))
def test_what_a_command_prints_is_never_its_exit_status(text: str, hint: str) -> None:
    assert qwen_exit_status(stated(text + stated("x", "0") + hint, "5")) == 5


def test_the_status_of_a_long_output_is_at_its_end() -> None:
    head = "Tool output was too large and has been truncated.\nSaved to: /x\nRead it.\nIt is short.\n\n"
    head += "Truncated part of the output:\n"
    assert qwen_exit_status(head + stated("a\n\n---\n... [CONTENT TRUNCATED] ...\n---\n\n...b", "4")) == 4
    assert qwen_exit_status(head + "Command timed out:\n" + stated("b", "0")) is None


# --- streams


@pytest.mark.parametrize(
    ("case", "expected", "own", "total", "ending"),
    [
        ("fix", (5, 4, 0), (10000, 7000, 210), (10000, 7000, 210), "success"),
        ("error", (1, 1, 0), (1000, 0, 40), (1000, 0, 40), "[API Error: 400 scripted error 400]"),
        # five tries at one answer are printed as one, with the usage of the last
        ("length", (2, 1, 0), (2500, 1000, 81), (8500, 5000, 245), "success"),
        ("sub", (5, 4, 0), (10000, 7000, 210), (12500, 8000, 291), "success"),
    ],
)
def test_a_stream_counts_what_it_shows(case: str, expected: Any, own: Any, total: Any, ending: str) -> None:
    path = FIXTURES / f"qwen-{case}.stdout"
    run = only(path)
    assert (counts(run.record), tokens(run.record.usage()), tokens(run.record.reported)) == (expected, own, total)
    assert (run.record.format, run.record.used, run.outcome.detail) == ("qwen-stream-json", rows_in(path), ending)
    assert (run.agent_version, run.model, run.task) == ("0.15.10", "scripted", None)


def test_a_sub_agents_calls_and_whole_results_are_in_the_stream() -> None:
    (child,) = only(FIXTURES / "qwen-sub.stdout").record.children
    assert [(entry.kind, entry.exit_status, entry.origin) for entry in child.entries] == [
        ("message", None, "parent-agent"),
        ("call", None, None),
        ("result", 0, None),
    ]


def streamed(tmp_path: Path, *rows: dict[str, Any]) -> Run:
    path = tmp_path / "stdout"
    init = {"type": "system", "subtype": "init", "session_id": "s", "qwen_code_version": "0.15.10", "model": "m"}
    path.write_text("".join(json.dumps(row) + "\n" for row in (init, *rows)))
    (run,) = QwenStreams().runs(path)
    return run


def said(text: str, output: int = 0) -> dict[str, Any]:
    usage = {"input_tokens": output, "output_tokens": output}
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": text}], "usage": usage}}


WORDS = "[API Error: that is what I found in the log]"


@pytest.mark.parametrize(
    "rows",
    [
        [said(WORDS, 9), {"type": "result", "subtype": "success", "result": WORDS}],
        [said(WORDS), {"type": "result", "subtype": "success", "result": "Done."}],
        [said(WORDS), said("Done.", 9), {"type": "result", "subtype": "success", "result": WORDS}],
        [said("Look:"), said(WORDS), {"type": "result", "subtype": "success", "result": WORDS}],
        [said(WORDS)],
    ],
    ids=["a response with usage", "another result", "something followed", "within a response", "no end"],
)
def test_an_agent_that_speaks_of_an_error_has_said_it(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    run = streamed(tmp_path, *rows)
    assert all(entry.writer == "agent" for entry in run.record.entries)
    assert WORDS in [entry.text for entry in run.record.entries]


def test_an_error_that_the_result_states_is_an_event(tmp_path: Path) -> None:
    ended = {"type": "result", "subtype": "error_during_execution", "is_error": True, "error": {"message": "Out of turns"}}
    run = streamed(tmp_path, said("x", 9), ended)
    assert (run.record.entries[-1].origin, run.outcome.detail) == ("error", "Out of turns")


# --- rows of any shape

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
NAMES = st.sampled_from(
    [
        *("message", "parts", "usageMetadata", "toolCallResult", "callId", "status", "subtype", "systemPayload", "uiEvent"),
        *("event.name", "prompt_id", "function_name", "text", "functionCall", "functionResponse", "response", "output"),
        *("content", "type", "id", "input", "usage", "is_error", "result", "error", "parent_tool_use_id", "stop_reason"),
    ]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5), max_leaves=12
)
ROWS = st.dictionaries(NAMES, VALUES, max_size=8)
KINDS = st.sampled_from(["user", "assistant", "tool_result", "system", "result", "x"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(KINDS, ROWS), max_size=6), st.sampled_from([imported, streamed]))
def test_rows_of_any_shape_are_accounted_for_and_nothing_is_raised(
    tmp_path: Path, rows: list[tuple[str, dict[str, Any]]], read: Callable[..., Run]
) -> None:
    record = read(tmp_path, *({**row, "type": kind} for kind, row in rows)).record
    listed = [piece for piece in record.unparsed if "messages[" not in piece.place]
    assert record.used + sum(record.skipped.values()) + len(listed) == len(rows) + (read is streamed)
    assert all(record.entry(entry.id) == entry for entry in record.walk())
