"""Gemini CLI's sessions and streams. Expected counts are those of the scripts that drove the recordings."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.importers.build import media
from adjudge.importers.gemini import GeminiSessions
from adjudge.importers.gemini_outputs import gemini_exit_status, unwrapped
from adjudge.importers.gemini_stream import GeminiStreams
from adjudge.importers.sniff import read_runs
from adjudge.record import Entry, Record, Usage
from adjudge.run import Run

FIXTURES = Path(__file__).parent / "fixtures" / "gemini"
TASK = "The test suite of this repository fails. Find the bug in tally/stats.py, fix it, and run the tests."
HEADER = {"sessionId": "5e", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z", "kind": "main"}
TOKENS = {"input": 1500, "output": 40, "cached": 1000, "thoughts": 0, "tool": 0, "total": 1540}


def session(case: str) -> Path:
    (path,) = (FIXTURES / f"gemini-{case}").glob("session-*.jsonl")
    return path


def only(path: Path) -> Run:
    (run,) = read_runs(path)
    return run


def imported(tmp_path: Path, *rows: dict[str, Any]) -> Run:
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (run,) = GeminiSessions().runs(path)
    return run


def said(key: str, text: str = "Done.", **more: Any) -> dict[str, Any]:
    return {"id": key, "timestamp": "t", "type": "gemini", "content": text, "model": "m", "tokens": TOKENS, **more}


def shell(key: str, output: str, display: Any, status: str = "success") -> dict[str, Any]:
    response = {"functionResponse": {"id": key, "name": "run_shell_command", "response": {"output": output}}}
    call = {"id": key, "name": "run_shell_command", "args": {"command": "make"}, "status": status}
    return {**call, "result": [response], "resultDisplay": display}


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
        ("length", ((2, 1, 1), (2500, 1000, 81))),
    ],
)
def test_a_message_that_is_written_again_with_its_calls_counts_once(case: str, expected: Any) -> None:
    path = session(case)
    record = only(path).record
    assert (counts(record), tokens(record.usage())) == expected
    assert record.used + sum(record.skipped.values()) == rows_in(path)
    assert (record.unparsed, record.unpaired) == ((), ())


def test_a_session_tells_task_model_and_answer_and_the_context_is_the_harnesss() -> None:
    run = only(session("fix"))
    first, second = run.record.entries[0], run.record.entries[1]
    assert (run.agent, run.model, run.task) == ("gemini-cli", "gemini-2.5-pro", TASK)
    assert (first.writer, first.origin, second.writer, second.text) == ("harness", "environment", "user", TASK)
    final = run.record.entry(run.record.final or "")
    assert final
    assert final.text.startswith("Fixed: `mean` divided")
    assert [entry.text for entry in run.record.entries if entry.kind == "reasoning"] == [
        "The tests fail; see which one before touching the code."
    ]


def test_failed_commands_have_exit_statuses_and_refused_calls_are_errors() -> None:
    stated = [(entry.exit_status, entry.is_error) for entry in results(only(session("failcmd")).record)]
    assert stated == [(3, False), (None, True), (127, False), (None, False), (None, False), (0, False)]
    stated = [(entry.exit_status, entry.is_error) for entry in results(only(session("badtool")).record)]
    assert stated == [(None, True), (None, True), (None, False), (None, False), (0, False)]


def test_a_command_that_was_refused_is_an_error_though_its_status_is_success() -> None:
    (refused,) = results(only(session("blocked")).record)
    assert refused.text.startswith("Command injection detected: command substitution syntax")
    assert (refused.is_error, refused.exit_status) == (True, None)


def test_a_sub_agents_session_is_a_child_named_after_its_kind() -> None:
    run = only(session("sub"))
    (child,) = run.record.children
    assert (counts(run.record), counts(child)) == ((5, 4, 0), (2, 2, 0))
    assert (tokens(run.record.usage()), tokens(child.usage())) == ((10000, 7000, 210), (2500, 1000, 81))
    assert (child.label, child.entries[0].writer, child.entries[0].origin) == ("generalist", "harness", "parent-agent")
    assert child.entries[2].id == "s1.e3"
    (path,) = (FIXTURES / "gemini-sub").glob("*/*.jsonl")
    assert child.used + sum(child.skipped.values()) == rows_in(path)


def test_in_a_folder_a_sub_agents_session_is_no_run_of_its_own(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "gemini-sub", tmp_path / "chats")
    assert [len(run.record.children) for run in read_runs(tmp_path)] == [1]
    next((tmp_path / "chats").glob("session-*")).unlink()
    assert [len(run.record.children) for run in read_runs(tmp_path)] == [0]


def test_a_damaged_file_beside_a_session_is_no_sub_agents(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "gemini-sub", tmp_path / "chats")
    (tmp_path / "chats" / "session-x.jsonl").write_bytes(b"\x1f\x8b\x08broken")
    (folder,) = (path for path in (tmp_path / "chats").iterdir() if path.is_dir())
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(b"{" * 90_000)[:60])
    assert [len(run.record.children) for run in read_runs(tmp_path)] == [1]


def test_a_session_id_leads_to_no_other_folder(tmp_path: Path) -> None:
    (tmp_path / "chats").mkdir()
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "x.jsonl").write_text(json.dumps({**HEADER, "sessionId": "other", "kind": "subagent"}) + "\n")
    run = imported(tmp_path / "chats", {**HEADER, "sessionId": "../else"}, said("a"))
    assert run.record.children == ()


def test_sub_agents_of_sub_agents_are_children_too_and_a_ring_of_them_ends(tmp_path: Path) -> None:
    for parent, own in (("5e", "a"), ("a", "b"), ("b", "a")):
        (tmp_path / parent).mkdir(exist_ok=True)
        header = {**HEADER, "sessionId": own, "kind": "subagent"}
        (tmp_path / parent / f"{own}.jsonl").write_text(json.dumps(header) + "\n" + json.dumps(said("m", own)) + "\n")
    run = imported(tmp_path, HEADER, said("m", "main"))
    assert sorted(entry.text for entry in run.record.walk()) == ["a", "b", "main"]


def test_the_last_version_of_each_message_wins_wherever_it_stands(tmp_path: Path) -> None:
    first, second = said("a", "first"), said("b", "second")
    run = imported(tmp_path, HEADER, first, second, said("a", "first, later"), {**second, "content": "second, later"})
    assert [entry.text for entry in run.record.entries] == ["first, later", "second, later"]
    assert len(run.record.turns) == 2
    assert (run.record.used, run.record.skipped) == (3, {"message, replaced later": 2})


def test_a_shortened_conversation_does_not_take_away_what_happened(tmp_path: Path) -> None:
    call = shell("c", "Output: all of it\nProcess Group PGID: 7", "all of it")
    short = {"id": "new", "type": "user", "content": [{"text": "The story so far."}]}
    echo = {"id": "echo", "type": "gemini", "content": [{"text": "Understood."}]}
    masked = said("b", "[masked]")
    run = imported(
        tmp_path, HEADER, said("a", "", toolCalls=[call]), said("b"), {"$set": {"messages": [short, echo, masked]}}
    )
    told = [(entry.kind, entry.writer, entry.origin) for entry in run.record.entries]
    assert told == [
        ("call", "agent", None),
        ("result", "tool", None),
        ("message", "agent", None),
        ("event", "harness", "compaction"),
        ("message", "user", None),
        ("message", "harness", "history"),
    ]
    assert len(run.record.turns) == 2
    assert run.record.used == 4


def test_what_was_taken_back_stays_with_a_note(tmp_path: Path) -> None:
    run = imported(tmp_path, HEADER, said("a", "one"), said("b", "two"), {"$rewindTo": "b"}, said("c", "three"))
    assert [entry.origin for entry in run.record.entries] == [None, None, "rewind", None]
    assert "before the message b" in run.record.entries[2].text
    assert run.record.used == 5


def test_files_that_a_user_named_are_the_harnesss(tmp_path: Path) -> None:
    parts = [{"text": "Look at @a.py"}, {"text": "\n--- Content from referenced files ---"}, {"text": "x = 1"}]
    run = imported(tmp_path, HEADER, {"id": "u", "type": "user", "content": parts})
    assert [(entry.writer, entry.origin) for entry in run.record.entries] == [
        ("user", None),
        ("harness", "file"),
        ("harness", "file"),
    ]
    assert run.task == "Look at @a.py"


def test_images_become_their_size_and_hash(tmp_path: Path) -> None:
    data = "aGVsbG8gd29ybGQ="
    image = {"inlineData": {"mimeType": "image/png", "data": data}}
    response = {"functionResponse": {"id": "c", "name": "read_file", "response": {"output": "Binary content"}}}
    call = {"id": "c", "name": "read_file", "args": {}, "status": "success", "result": [response, image]}
    told = {"id": "u2", "type": "user", "content": [response, image]}
    run = imported(tmp_path, HEADER, {"id": "u", "type": "user", "content": [image]}, said("a", "", toolCalls=[call]), told)
    assert [entry.text for entry in run.record.entries if entry.kind != "call"] == [
        media("image/png", data),
        "Binary content\n" + media("image/png", data),
    ]


def test_parallel_calls_keep_their_own_results(tmp_path: Path) -> None:
    calls = [shell(key, f"Output: {key}\nProcess Group PGID: 7", key) for key in "xy"]
    both = [part for call in calls for part in call["result"]]
    run = imported(tmp_path, HEADER, said("a", "", toolCalls=[{**call, "result": both} for call in calls]))
    assert [entry.kind for entry in run.record.entries] == ["call", "call", "result", "result"]
    assert [entry.text.splitlines()[0] for entry in results(run.record)] == ["Output: x", "Output: y"]
    assert [entry.exit_status for entry in results(run.record)] == [0, 0]


def test_thoughts_count_as_output_and_a_tools_prompt_as_prompt(tmp_path: Path) -> None:
    counted = {"input": 100, "output": 10, "cached": 5, "thoughts": 7, "tool": 20, "total": 137}
    (turn,) = imported(tmp_path, HEADER, said("a", tokens=counted)).record.turns
    assert turn.usage == Usage(prompt=120, cached=5, output=17, reasoning=7)


def test_a_cancelled_call_is_an_error(tmp_path: Path) -> None:
    call = shell("c", "", None, "cancelled")
    call["result"][0]["functionResponse"]["response"] = {"error": "[Operation Cancelled] Reason: User denied."}
    (result,) = results(imported(tmp_path, HEADER, said("a", toolCalls=[call])).record)
    assert (result.text, result.is_error) == ("[Operation Cancelled] Reason: User denied.", True)


def test_notes_of_the_harness_are_events(tmp_path: Path) -> None:
    run = imported(tmp_path, HEADER, {"id": "i", "type": "info", "content": "An update is there."})
    assert [(entry.kind, entry.writer, entry.origin) for entry in run.record.entries] == [("event", "harness", "info")]


def test_a_session_of_an_older_version_is_one_document(tmp_path: Path) -> None:
    messages = [{"id": "u", "type": "user", "content": "Fix it."}, said("a"), 7]
    path = tmp_path / "x.json"
    path.write_text(json.dumps({**HEADER, "messages": messages}, indent=2))
    run = only(path)
    assert (run.record.format, run.task, len(run.record.turns)) == ("gemini-cli", "Fix it.", 1)
    assert [piece.place for piece in run.record.unparsed] == ["x.json:messages[2]"]


def test_a_session_can_be_compressed(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(gzip.compress(session("fix").read_bytes()))
    assert counts(only(tmp_path / "x").record) == (5, 4, 1)


def test_broken_and_unknown_rows_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    rows = [HEADER, {"id": "z", "type": "hologram"}, {"type": "odd"}, said("a")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"id": "b", "type": "gem')
    record = only(path).record
    assert (record.used, record.skipped, len(record.unparsed)) == (2, {"hologram": 1, "odd": 1}, 1)


# --- what a command printed, and what the harness adds


WRAPPED = "<untrusted_context>\n{}\n</untrusted_context>"


@pytest.mark.parametrize(
    ("output", "display", "status"),
    [
        ("Output: F\nExit Code: 1\nProcess Group PGID: 7", "F", 1),
        ("Output: ok\nProcess Group PGID: 7", "ok", 0),
        ("Output: (empty)\nProcess Group PGID: 7", "", 0),
        ("Output: (empty)\nExit Code: 4\nProcess Group PGID: 7", "Command exited with code: 4", 4),
        ("Output: x\nSignal: 9\nProcess Group PGID: 7", "x", None),
        ("Output: x\nError: spawn\nfailed\nProcess Group PGID: 7", "x", None),
        ("Output: x\nExit Code: 2\nBackground PIDs: 8, 9\nProcess Group PGID: 7", "x", 2),
        ("Output: x\nExit Code: 1\nProcess Group PGID: 7", None, None),
        ("Command was cancelled by user. Below is the output:\nx\nExit Code: 0\nProcess Group PGID: 7", "x", None),
    ],
)
def test_an_exit_status_is_what_the_harness_wrote_after_the_output(output: str, display: Any, status: int | None) -> None:
    assert gemini_exit_status(unwrapped(WRAPPED.format(output)), display) == status
    assert gemini_exit_status(output, display) == status  # older versions


@given(printed=st.text(st.sampled_from("aE \n:3")).map(lambda text: f"{text}\nExit Code: 3\nProcess Group PGID: 9"))
def test_what_a_command_prints_is_never_its_exit_status(printed: str) -> None:
    printed = printed.strip()
    assert gemini_exit_status(f"Output: {printed}\nProcess Group PGID: 7", printed) == 0
    assert gemini_exit_status(f"Output: {printed}\nExit Code: 5\nProcess Group PGID: 7", printed) == 5


def test_the_status_of_a_long_output_is_found_after_its_end() -> None:
    lines = "\n".join(f"line {number}" for number in range(9000)) + "\nExit Code: 0"
    whole = f"Output: {lines}\nExit Code: 6\nProcess Group PGID: 7"
    cut = f"{whole[:8000]}\n\n... [many characters omitted] ...\n\n{whole[-32000:]}"
    head = "Output too large. Showing first 8,000 and last 32,000 characters. For full output see: /x.txt\n"
    shown = unwrapped(head + WRAPPED.format(cut))
    assert shown == head + cut
    assert gemini_exit_status(shown, lines) == 6


def test_an_element_that_a_tool_printed_stays() -> None:
    printed = "<untrusted_context>\nx\n</untrusted_context> and more"
    escaped = printed.replace("</untrusted_context>", "&lt;/untrusted_context&gt;")
    assert unwrapped(WRAPPED.format(escaped)) == printed
    assert unwrapped(printed) == printed


# --- streams


@pytest.mark.parametrize(
    ("case", "expected", "total", "ending"),
    [
        ("fix", (5, 4, 0), (10000, 7000, 210), "success"),
        ("failcmd", (7, 6, 1), (17500, 13500, 301), "success"),  # only what the harness calls an error shows
        ("sub", (5, 4, 0), (12500, 8000, 291), "success"),
        ("killed", (2, 2, 0), (), None),
    ],
)
def test_a_stream_tells_turns_calls_and_the_total(case: str, expected: Any, total: Any, ending: str | None) -> None:
    path = FIXTURES / f"gemini-{case}.stdout"
    run = only(path)
    assert (counts(run.record), tokens(run.record.reported), run.outcome.detail) == (expected, total, ending)
    assert (run.record.used, run.record.format) == (rows_in(path), "gemini-stream-json")
    assert (run.task, run.model) == (TASK, "gemini-2.5-pro")


def test_a_result_that_was_not_displayed_is_told_as_unknown_not_as_empty() -> None:
    record = only(FIXTURES / "gemini-fix.stdout").record
    untold = [entry.text for entry in record.entries if entry.origin == "untold"]
    assert untold == [
        "read_file: success; what it returned is not in this recording",
        "replace: success; what it returned is not in this recording",
    ]
    assert len(record.unpaired) == 2


def test_a_failed_request_is_an_event_and_no_answer() -> None:
    run = only(FIXTURES / "gemini-error.stdout")
    last = run.record.entries[-1]
    assert (len(run.record.turns), last.writer, last.origin) == (1, "harness", "api-error")
    assert (run.outcome.detail or "").startswith("[API Error: ")


def streamed(tmp_path: Path, *rows: dict[str, Any]) -> Run:
    path = tmp_path / "stdout"
    init = {"type": "init", "timestamp": "t", "session_id": "s", "model": "m"}
    path.write_text("".join(json.dumps(row) + "\n" for row in (init, *rows)))
    (run,) = GeminiStreams().runs(path)
    return run


def test_pieces_of_a_message_are_one_message(tmp_path: Path) -> None:
    pieces = [{"type": "message", "role": "assistant", "content": text, "delta": True} for text in ("On", "e", " two")]
    run = streamed(tmp_path, *pieces, {"type": "hologram"})
    assert [entry.text for entry in run.record.entries] == ["One two"]
    assert (run.record.used, run.record.skipped) == (4, {"hologram": 1})


def test_limits_and_warnings_are_events_with_their_kind(tmp_path: Path) -> None:
    warning = {"type": "error", "severity": "warning", "message": "Loop detected, stopping execution"}
    limit = {"type": "result", "status": "error", "error": {"type": "FATAL", "message": "Reached max session turns."}}
    run = streamed(tmp_path, warning, limit)
    assert [entry.origin for entry in run.record.entries] == ["warning", "error"]
    assert run.outcome.detail == "Reached max session turns."


def test_thoughts_are_part_of_the_totals_output(tmp_path: Path) -> None:
    stats = {"total_tokens": 130, "input_tokens": 100, "output_tokens": 20, "cached": 50}
    run = streamed(tmp_path, {"type": "result", "status": "success", "stats": stats})
    assert run.record.reported == Usage(prompt=100, cached=50, output=30, reasoning=10)


# --- rows of any shape

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
NAMES = st.sampled_from(
    [
        *("id", "content", "toolCalls", "tokens", "thoughts", "model", "name", "args", "result", "status", "text"),
        *("resultDisplay", "functionResponse", "functionCall", "response", "output", "inlineData", "messages", "$set"),
        *("role", "tool_id", "tool_name", "parameters", "error", "stats", "message", "agentId", "sessionId", "projectHash"),
    ]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5), max_leaves=12
)
ROWS = st.dictionaries(NAMES, VALUES, max_size=8)
KINDS = st.sampled_from(["user", "gemini", "info", "init", "message", "tool_use", "tool_result", "error", "result", "x"])


def begun(tmp_path: Path, *rows: dict[str, Any]) -> Run:
    return imported(tmp_path, HEADER, *rows)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(KINDS, ROWS), max_size=6), st.sampled_from([begun, streamed]))
def test_rows_of_any_shape_are_accounted_for_and_nothing_is_raised(
    tmp_path: Path, rows: list[tuple[str, dict[str, Any]]], read: Callable[..., Run]
) -> None:
    record = read(tmp_path, *({**row, "type": kind} for kind, row in rows)).record
    listed = [piece for piece in record.unparsed if "messages[" not in piece.place]
    assert record.used + sum(record.skipped.values()) + len(listed) == len(rows) + 1
    assert all(record.entry(entry.id) == entry for entry in record.walk())
