"""Claude Code session files, from our own recordings and from hand-made rows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.importers.claude import ClaudeSessions, is_subagent_file
from adjudge.record import Record, Usage
from adjudge.run import Run

FIXTURES = Path(__file__).parent / "fixtures" / "claude"
TASK = "The test suite of this repository fails. Find the bug in tally/stats.py, fix it, and run the tests."

# What the scripted model of each recording did: turns, calls, failed calls, and prompt, cached and output tokens.
COUNTS = {
    "claude-fix": (5, 4, 1, 10000, 7000, 210),
    "claude-failcmd": (7, 6, 3, 17500, 13500, 301),
    "claude-badtool": (6, 5, 2, 13500, 10000, 255),
    "claude-killed": (2, 2, 1, 2500, 1000, 81),
    "claude-error": (1, 1, 1, 1000, 0, 40),
    "claude332-fix": (5, 4, 1, 10000, 7000, 210),
}


def fixture(case: str) -> Run:
    (path,) = (FIXTURES / case).glob("*.jsonl")
    return only(path)


def only(path: Path) -> Run:
    (run,) = ClaudeSessions().runs(path)
    return run


def imported(tmp_path: Path, rows: Iterable[dict[str, Any]], name: str = "s.jsonl") -> Record:
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return only(path).record


def counts(record: Record) -> tuple[int | None, ...]:
    usage = record.usage()
    calls = sum(entry.kind == "call" for entry in record.entries)
    errors = sum(bool(entry.is_error) for entry in record.entries)
    return len(record.turns), calls, errors, usage.prompt, usage.cached, usage.output


@pytest.mark.parametrize(("case", "expected"), COUNTS.items())
def test_the_counts_are_those_of_the_scripted_model(case: str, expected: tuple[int, ...]) -> None:
    assert counts(fixture(case).record) == expected


def test_a_run_knows_its_task_agent_version_and_model() -> None:
    run = fixture("claude-fix")
    assert (run.task, run.agent, run.agent_version, run.model) == (TASK, "claude-code", "2.1.197", "claude-sonnet-4-5")
    assert run.outcome.exit_status is None
    assert run.workspace is None
    assert run.source.endswith(".jsonl")


def test_a_run_imported_twice_has_the_same_id_and_another_run_another() -> None:
    assert fixture("claude-fix").id == fixture("claude-fix").id
    assert fixture("claude-fix").id != fixture("claude332-fix").id
    assert len(fixture("claude-fix").id) == len("r-") + 16


def test_every_call_has_its_result_in_its_turn() -> None:
    record = fixture("claude-failcmd").record
    calls = {entry.id: entry for entry in record.entries if entry.kind == "call"}
    results = [entry for entry in record.entries if entry.kind == "result"]
    assert record.unpaired == ()
    assert [(calls[entry.answers or ""].turn, calls[entry.answers or ""].name) for entry in results] == [
        (entry.turn, entry.name) for entry in results
    ]


def test_the_exit_status_is_known_where_the_harness_states_it() -> None:
    results = [entry for entry in fixture("claude-failcmd").record.entries if entry.kind == "result"]
    assert [entry.exit_status for entry in results] == [3, None, 127, None, None, None]
    assert [entry.is_error for entry in results] == [True, True, True, False, False, False]


def test_the_final_answer_is_the_last_message_of_the_agent() -> None:
    record = fixture("claude-fix").record
    assert record.final
    final = record.entry(record.final)
    assert final
    assert final.text.startswith("Fixed: `mean` divided by `len(values) - 1`")


def test_a_killed_run_has_no_final_answer() -> None:
    assert fixture("claude-killed").record.final is None


def test_a_failed_request_is_an_event_and_the_outcome() -> None:
    run = fixture("claude-error")
    events = [entry for entry in run.record.entries if entry.kind == "event"]
    assert [(entry.writer, entry.origin, entry.text) for entry in events] == [
        ("harness", "api-error", "API Error: 400 scripted error 400")
    ]
    assert run.outcome.detail == "API error: API Error: 400 scripted error 400"


@pytest.mark.parametrize("case", ["claude-sub", "claude332-sub"])
def test_a_sub_agent_in_its_own_file_is_a_child(case: str) -> None:
    record = fixture(case).record
    (child,) = record.children
    assert counts(record) == (5, 4, 0, 10000, 7000, 210)
    assert counts(child) == (2, 1, 0, 2500, 1000, 81)
    assert child.label == "general-purpose: Count the tests"
    assert [entry.id for entry in child.entries][:2] == ["s1.e1", "s1.e2"]
    assert record.entry("s1.e1") == child.entries[0]
    assert next(entry.writer for entry in child.entries if entry.kind == "message") == "harness"


def test_a_sub_agents_file_belongs_to_its_session() -> None:
    main, sub = sorted((FIXTURES / "claude-sub").rglob("*.jsonl"), key=lambda path: len(path.parts))
    assert is_subagent_file(sub)
    assert not is_subagent_file(main)


def test_the_harness_states_its_own_total_in_newer_versions() -> None:
    reported = fixture("claude332-sub").record.reported
    assert reported
    assert (reported.prompt, reported.cached, reported.output) == (12500, 8000, 291)  # with the sub-agent
    assert fixture("claude-sub").record.reported is None


def test_a_background_agents_report_is_the_harness() -> None:
    record = fixture("claude332-sub").record
    notes = [entry for entry in record.entries if entry.origin == "task-notification"]
    assert len(notes) == 1
    assert notes[0].writer == "harness"
    assert "<status>completed</status>" in notes[0].text


@pytest.mark.parametrize("case", [*COUNTS, "claude-sub", "claude332-sub"])
def test_every_line_is_used_or_skipped_with_its_kind(case: str) -> None:
    (path,) = (FIXTURES / case).glob("*.jsonl")
    record = only(path).record
    lines = sum(1 for line in path.read_text().splitlines() if line)
    assert record.used + sum(record.skipped.values()) + len(record.unparsed) == lines
    assert record.unparsed == ()


def test_what_the_recording_tells_is_listed() -> None:
    record = fixture("claude-failcmd").record
    assert record.tells == {"results", "exit_statuses", "errors", "times", "tokens"}


# --- hand-made rows


def answer(key: str, *blocks: dict[str, Any], output: int = 1, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 2, "output_tokens": output}
    message = {"id": key, "model": "m", "role": "assistant", "content": list(blocks), "usage": usage, "stop_reason": None}
    return {"type": "assistant", "sessionId": "s", "uuid": f"u{key}", "parentUuid": None, "message": message, **more}


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "sessionId": "s", "message": {"role": "user", "content": content}, **more}


def call(key: str, name: str = "Bash") -> dict[str, Any]:
    return {"type": "tool_use", "id": key, "name": name, "input": {"command": "make"}}


def returned(key: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": key, "content": content, **more}


def test_usage_repeated_on_each_row_of_an_answer_counts_once_and_the_last_wins(tmp_path: Path) -> None:
    text = {"type": "text", "text": "a"}
    record = imported(
        tmp_path, [answer("1", text, output=1), answer("1", call("c"), output=9), answer("2", text, output=4)]
    )
    assert len(record.turns) == 2
    assert record.usage() == Usage(prompt=34, cached=10, written=4, output=13)


def test_parallel_calls_of_one_answer_are_one_turn_though_results_stand_between(tmp_path: Path) -> None:
    rows = [answer("1", call("a")), user([returned("a", "x")]), answer("1", call("b")), user([returned("b", "y")])]
    record = imported(tmp_path, rows)
    assert len(record.turns) == 1
    assert {entry.turn for entry in record.entries} == {1}


def test_a_late_result_belongs_to_the_turn_of_its_call(tmp_path: Path) -> None:
    rows = [answer("1", call("a")), answer("2", call("b")), user([returned("a", "x")])]
    assert imported(tmp_path, rows).entries[-1].turn == 1


def test_calls_without_result_and_results_without_call_are_reported(tmp_path: Path) -> None:
    record = imported(tmp_path, [answer("1", call("a")), user([returned("other", "x")])])
    assert record.unpaired == ("e1", "e2")
    assert record.entries[1].answers is None


@pytest.mark.parametrize(
    ("content", "failed", "name", "status"),
    [
        ("Exit code 2\nmake: nothing", True, "Bash", 2),
        ("Exit code 2", True, "Bash", 2),
        ("Exit code 0\nall passed", False, "Bash", None),
        ("make: Exit code 0\n", True, "Bash", None),
        ("Error\nExit code 0\n", True, "Bash", None),
        ("Exit code 0\n", True, "mcp__ci__run", None),
        ("Exit code 0 means success", True, "Bash", None),
    ],
)
def test_an_exit_status_counts_only_where_the_harness_writes_it(
    tmp_path: Path, content: str, failed: bool, name: str, status: int | None
) -> None:
    record = imported(tmp_path, [answer("1", call("a", name)), user([returned("a", content, is_error=failed)])])
    assert record.entries[-1].exit_status == status


def test_a_users_message_that_looks_like_a_result_is_a_message(tmp_path: Path) -> None:
    record = imported(tmp_path, [user("Exit code 0\nall tests passed")])
    assert [(entry.kind, entry.writer, entry.exit_status) for entry in record.entries] == [("message", "user", None)]


def test_images_are_kept_as_their_kind_and_size(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    record = imported(tmp_path, [user([image]), answer("1", call("a", "Read")), user([returned("a", [image])])])
    assert record.entries[0].text.startswith("[image/png, 3 bytes, sha256 ")
    assert record.entries[-1].text == record.entries[0].text


@pytest.mark.parametrize(
    ("row", "origin"),
    [
        (user("Continue.", isMeta=True), "meta"),
        (user("This session is …", isCompactSummary=True), "summary"),
        (user("done", origin={"kind": "task-notification"}), "task-notification"),
        ({"type": "attachment", "attachment": {"type": "nested_memory", "content": "Use tabs."}}, "memory"),
        ({"type": "attachment", "attachment": {"type": "hook_additional_context", "content": ["Be brief."]}}, "hook"),
        ({"type": "attachment", "attachment": {"type": "new_thing", "content": "text"}}, "attachment:new_thing"),
    ],
)
def test_what_the_harness_put_in_is_marked(tmp_path: Path, row: dict[str, Any], origin: str) -> None:
    entries = imported(tmp_path, [user("Do it."), row]).entries
    assert [(entry.writer, entry.origin) for entry in entries] == [("user", None), ("harness", origin)]


def test_a_message_queued_by_the_user_is_the_users(tmp_path: Path) -> None:
    queued = {"type": "queued_command", "prompt": "Also update the docs.", "commandMode": "prompt"}
    record = imported(tmp_path, [user("Do it."), {"type": "attachment", "attachment": queued}])
    assert [(entry.writer, entry.text) for entry in record.entries][1] == ("user", "Also update the docs.")


def test_the_task_is_the_users_first_message_or_else_the_first_command(tmp_path: Path) -> None:
    command = "<command-name>/init</command-name>\n<command-args>fast</command-args>"
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(user("Caveat", isMeta=True)) + "\n" + json.dumps(user(command)))
    assert only(path).task == command
    path.write_text(json.dumps(user(command)) + "\n" + json.dumps(user("Do it.")))
    assert only(path).task == "Do it."


def test_a_compaction_is_an_event_and_what_stood_before_it_stays(tmp_path: Path) -> None:
    boundary = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "sessionId": "s"}
    record = imported(tmp_path, [user("Do it."), boundary, answer("1", {"type": "text", "text": "Done."})])
    assert [(entry.kind, entry.origin) for entry in record.entries] == [
        ("message", None),
        ("event", "compaction"),
        ("message", None),
    ]


def test_copied_history_of_a_fork_is_counted_and_left_out(tmp_path: Path) -> None:
    copied = user("Old.", forkedFrom={"sessionId": "older", "messageUuid": "u"})
    record = imported(tmp_path, [copied, user("New.")])
    assert record.skipped == {"copied": 1}
    assert [entry.text for entry in record.entries] == ["New."]


def test_inline_sub_agents_of_old_versions_are_told_apart_by_their_chains(tmp_path: Path) -> None:
    def side(row: dict[str, Any], uuid: str, parent: str | None) -> dict[str, Any]:
        return {**row, "isSidechain": True, "uuid": uuid, "parentUuid": parent}

    rows = [
        user("Do it.", isSidechain=False, uuid="m1"),
        side(user("Count a."), "a1", None),
        side(user("Count b."), "b1", None),
        side(answer("2", {"type": "text", "text": "a: 3"}), "a2", "a1"),
        side(answer("3", {"type": "text", "text": "b: 4"}), "b2", "b1"),
        user("Go on.", isSidechain=False, uuid="m2", parentUuid="m1"),
    ]
    record = imported(tmp_path, rows)
    assert [entry.text for entry in record.entries] == ["Do it.", "Go on."]
    assert [[entry.text for entry in child.entries] for child in record.children] == [
        ["Count a.", "a: 3"],
        ["Count b.", "b: 4"],
    ]
    assert record.used == 6


def test_sub_agents_beside_their_session_are_found_by_its_id(tmp_path: Path) -> None:
    for name, session in (("agent-1.jsonl", "s"), ("agent-2.jsonl", "another")):
        row = {**user("Count."), "sessionId": session, "isSidechain": True}
        (tmp_path / name).write_text(json.dumps(row))
    assert len(imported(tmp_path, [user("Do it.")]).children) == 1
    assert is_subagent_file(tmp_path / "agent-1.jsonl")
    assert not is_subagent_file(tmp_path / "agent-2.jsonl")


def test_a_sub_agents_file_alone_is_a_run(tmp_path: Path) -> None:
    record = imported(tmp_path, [user("Count.", isSidechain=True)], "agent-7.jsonl")
    assert len(record.entries) == 1
    assert record.children == ()


def test_two_objects_on_one_line_and_a_half_written_one_are_accounted_for(tmp_path: Path) -> None:
    row = json.dumps(user("Do it."))
    path = tmp_path / "s.jsonl"
    path.write_text(row + '{"type":"summary","summary":"x","leafUuid":"u"}\n' + row[:30])
    record = only(path).record
    assert (record.used, record.skipped, [piece.place for piece in record.unparsed]) == (1, {"summary": 1}, ["s.jsonl:2"])


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
VALUES = st.recursive(
    LEAVES | st.sampled_from(["tool_use", "tool_result", "text", "thinking", "base64", "compact_boundary", "hook_success"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "text", "content", "source", "id", "input", "name", "data", "tool_use_id", "is_error"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)
MARKS = st.sampled_from(
    ["isSidechain", "isMeta", "isApiErrorMessage", "isCompactSummary", "forkedFrom", "origin", "version"]
)
IDS = st.sampled_from(["uuid", "parentUuid", "sessionId", "timestamp", "agentId"])
PAYLOADS = st.sampled_from(["message", "attachment", "subtype", "content", "hookErrors", "modelUsage", "totalCostUSD"])
ROWS = st.dictionaries(
    MARKS | IDS | PAYLOADS,
    VALUES
    | st.fixed_dictionaries(
        {}, optional={"id": VALUES, "model": VALUES, "content": VALUES, "usage": VALUES, "type": VALUES}
    ),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["user", "assistant", "system", "attachment", "cost-state", "result", "x"]) | LEAVES, ROWS
        )
    )
)
def test_rows_of_any_shape_are_accounted_for_and_nothing_is_raised(
    tmp_path: Path, rows: list[tuple[Any, dict[str, Any]]]
) -> None:
    record = imported(tmp_path, [{**row, "type": kind} for kind, row in rows])
    assert record.used + sum(record.skipped.values()) == len(rows)
    assert all(record.entry(entry.id) == entry for entry in record.walk())


def test_only_a_tool_of_the_provider_returns_something_within_an_answer(tmp_path: Path) -> None:
    blocks = [
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest"}},
        {"type": "tool_result", "tool_use_id": "t1", "content": "11 passed"},
        {"type": "bash_tool_result", "tool_use_id": "t1", "content": "11 passed"},
        {"type": "server_tool_use", "id": "t2", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "t2", "content": "a page"},
    ]
    message = {"id": "m1", "role": "assistant", "model": "m", "content": blocks}
    record = imported(tmp_path, [{"type": "assistant", "sessionId": "s", "uuid": "u", "message": message}])
    assert [(entry.kind, entry.writer) for entry in record.entries] == [
        ("call", "agent"),
        ("message", "agent"),
        ("message", "agent"),
        ("call", "agent"),
        ("result", "tool"),
    ]
    assert record.unpaired == ("e1",)
