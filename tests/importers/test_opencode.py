"""OpenCode's exports, streams and store. Expected counts are those of the scripts that drove the recordings."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import InputError
from adjudge.importers.opencode import OpenCode
from adjudge.importers.opencode_session import unquoted, usage_of
from adjudge.record import Record, Usage
from adjudge.run import Run

FIXTURES = Path(__file__).parent / "fixtures" / "opencode"
TASK = "The test suite of this repository fails. Find the bug in tally/stats.py, fix it, and run the tests."


def read(path: Path) -> Run:
    assert OpenCode().recognises(path, path.read_bytes()[: 1 << 16])
    (run,) = OpenCode().runs(path)
    return run


def counts(record: Record) -> tuple[int, int, int]:
    """Turns, calls, and calls that failed."""
    entries = list(record.entries)
    failed = sum(entry.kind == "result" and bool(entry.is_error or entry.exit_status) for entry in entries)
    return len(record.turns), sum(entry.kind == "call" for entry in entries), failed


def tokens(record: Record) -> tuple[int | None, int | None, int | None]:
    usage = record.usage()
    return usage.prompt, usage.cached, usage.output


@pytest.mark.parametrize(
    ("case", "expected", "used"),
    [
        ("badtool", ((6, 5, 2), (13500, 10000, 255)), 17),
        ("failcmd", ((7, 6, 3), (17500, 13500, 301)), 20),
        ("sub", ((5, 4, 0), (10000, 7000, 210)), 14),
        ("error", ((1, 1, 1), (1000, 0, 40)), 4),
    ],
)
def test_an_event_stream_counts_what_its_script_did(case: str, expected: Any, used: int) -> None:
    path = FIXTURES / f"{case}.events.jsonl"
    record = read(path).record
    assert (counts(record), tokens(record)) == expected
    lines = len(path.read_text().splitlines())
    assert record.used == used
    assert record.used + sum(record.skipped.values()) == lines


def test_an_export_tells_task_model_and_version() -> None:
    run = read(FIXTURES / "sub.export.json")
    assert (run.task, run.model, run.agent, run.agent_version) == (TASK, "local/scripted", "opencode", "1.18.33")
    assert (counts(run.record), tokens(run.record)) == ((5, 4, 0), (10000, 7000, 210))
    final = run.record.entry(run.record.final or "")
    assert final
    assert final.text.startswith("Fixed: `mean` divided by")
    assert run.record.tells == {"results", "exit_statuses", "errors", "times", "tokens"}
    assert run.outcome.detail == "stop"


def test_a_command_that_failed_has_its_exit_status_and_a_tool_that_failed_is_an_error() -> None:
    record = read(FIXTURES / "failcmd.events.jsonl").record
    results = [(entry.name, entry.exit_status, entry.is_error) for entry in record.entries if entry.kind == "result"]
    assert results[:3] == [("bash", 3, False), ("read", None, True), ("bash", 127, False)]


def test_parts_of_a_message_stand_in_the_order_in_which_they_began() -> None:
    record = read(FIXTURES / "badtool.events.jsonl").record
    assert [entry.kind for entry in record.entries[:3]] == ["message", "call", "result"]


def test_an_error_of_the_provider_is_an_event_and_how_the_run_ended() -> None:
    run = read(FIXTURES / "error.events.jsonl")
    assert run.record.entries[-1].text == "APIError: scripted error 400"
    assert run.record.entries[-1].writer == "harness"
    assert run.outcome.detail == "APIError: scripted error 400"
    assert run.record.final is None


def export(path: Path, *messages: dict[str, Any]) -> Run:
    path.write_text(json.dumps({"info": {"id": "ses_1"}, "messages": messages}))
    return read(path)


def assistant(*parts: dict[str, Any], **info: Any) -> dict[str, Any]:
    return {"info": {"role": "assistant", "id": "msg_2", **info}, "parts": [{"id": "prt", **part} for part in parts]}


def user(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"info": {"role": "user", "id": "msg_1"}, "parts": list(parts)}


def test_what_the_harness_put_into_the_users_message_is_its_own(tmp_path: Path) -> None:
    run = export(
        tmp_path / "e.json",
        user({"type": "text", "text": "Called the Read tool", "synthetic": True}, {"type": "text", "text": "Do it."}),
    )
    assert [(entry.writer, entry.origin) for entry in run.record.entries] == [("harness", "synthetic"), ("user", None)]
    assert run.task == "Do it."


def test_a_summary_of_a_compaction_is_not_the_agents_word(tmp_path: Path) -> None:
    run = export(tmp_path / "e.json", assistant({"type": "text", "text": "All tests pass."}, summary=True))
    assert [(entry.writer, entry.origin) for entry in run.record.entries] == [("harness", "summary")]
    assert run.record.final is None


def test_a_call_that_never_ended_has_no_result(tmp_path: Path) -> None:
    state = {"status": "running", "input": {"command": "sleep 9"}}
    run = export(tmp_path / "e.json", assistant({"type": "tool", "tool": "bash", "callID": "c", "state": state}))
    assert run.record.unpaired == ("e1",)


def test_an_attached_image_is_kept_as_its_size_and_hash(tmp_path: Path) -> None:
    image = {"type": "file", "mime": "image/png", "filename": "a.png", "url": "data:image/png;base64,AAAA"}
    run = export(tmp_path / "e.json", user(image))
    assert run.record.entries[0].text.startswith("a.png [image/png, 3 bytes, sha256 ")


@pytest.mark.parametrize("kind", ["hologram", None, ["text"], {"a": 1}])
def test_a_part_of_an_unknown_type_is_unparsed_with_its_place(tmp_path: Path, kind: Any) -> None:
    run = export(tmp_path / "e.json", assistant({"type": kind}))
    assert [piece.place for piece in run.record.unparsed] == ["e.json:messages[0].parts[0]"]


def test_a_message_with_two_steps_is_two_turns(tmp_path: Path) -> None:
    finish = {"type": "step-finish", "tokens": {"input": 5, "output": 2, "cache": {"read": 3, "write": 1}}, "cost": 0}
    step = ({"type": "step-start"}, {"type": "text", "text": "a"}, finish)
    record = export(tmp_path / "e.json", assistant(*step, *step, tokens=finish["tokens"])).record
    assert [turn.usage for turn in record.turns] == [Usage(9, 3, 1, 2)] * 2


def test_reasoning_is_counted_once_whether_or_not_the_output_includes_it() -> None:
    apart = {"total": 35373, "input": 10965, "output": 160, "reasoning": 184, "cache": {"read": 24064, "write": 0}}
    assert usage_of(apart, 0) == Usage(35029, 24064, 0, 344, 184)
    assert usage_of({"total": 15, "input": 10, "output": 5, "reasoning": 2}, 0.5) == Usage(10, None, None, 5, 2, 0.5)


@pytest.mark.parametrize(
    ("stored", "meant"),
    [
        ('"fix the bug"', "fix the bug"),
        ('"say \\"hi\\" twice"\n', 'say "hi" twice'),
        ("fix the bug", "fix the bug"),
        ('"a" or "b"', '"a" or "b"'),
        ('"fix"', '"fix"'),
    ],
)
def test_the_quotes_that_run_adds_are_taken_off_the_task(stored: str, meant: str) -> None:
    assert unquoted(stored) == meant


# --- the plugin's stream


def test_a_part_that_grows_counts_once(tmp_path: Path) -> None:
    def part(**rest: Any) -> list[Any]:
        body = {"id": "prt_1", "messageID": "msg_1", "sessionID": "ses_1", "type": "text", **rest}
        return ["event", {"event": {"type": "message.part.updated", "properties": {"sessionID": "ses_1", "part": body}}}]

    info = {"id": "ses_1", "version": "1.14.20"}
    created = ["event", {"event": {"type": "session.created", "properties": {"sessionID": "ses_1", "info": info}}}]
    rows = [created, part(text="Al"), part(text="All done."), ["tool.definition", {"toolID": "bash"}, {}], "broken"]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, rows)))
    run = read(tmp_path / "s.jsonl")
    assert [entry.text for entry in run.record.entries] == ["All done."]
    assert run.record.skipped == {"session.created": 1, "superseded": 1, "tool.definition": 1}
    assert [piece.place for piece in run.record.unparsed] == ["s.jsonl:5"]
    assert run.agent_version == "1.14.20"


# --- the store


@contextlib.contextmanager
def store(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    """A store with the recorded session and its sub-agent's; still open when it is given."""
    with contextlib.closing(sqlite3.connect(path)) as made:
        made.execute(f"pragma journal_mode={mode}")
        made.execute("create table session (id, parent_id, title, version, time_created)")
        made.execute("create table message (id, session_id, time_created, data)")
        made.execute("create table part (id, message_id, data)")
        for name in ("sub", "sub.child"):
            held = json.loads((FIXTURES / f"{name}.export.json").read_text())
            info = held["info"]
            row = (info["id"], info.get("parentID"), info["title"], info["version"], info["time"]["created"])
            made.execute("insert into session values (?,?,?,?,?)", row)
            for message in held["messages"]:
                key, created = message["info"].pop("id"), message["info"]["time"]["created"]
                made.execute(
                    "insert into message values (?,?,?,?)", (key, info["id"], created, json.dumps(message["info"]))
                )
                for part in message["parts"]:
                    made.execute("insert into part values (?,?,?)", (part.pop("id"), key, json.dumps(part)))
        made.commit()
        yield made


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_store_gives_a_run_with_its_sub_agent_as_a_child_and_is_not_changed(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "opencode.db"
    with store(path, mode):
        before = {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.endswith("-shm")}
        run = read(path)
        assert {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.endswith("-shm")} == before
    assert (counts(run.record), tokens(run.record)) == ((5, 4, 0), (10000, 7000, 210))
    (child,) = run.record.children
    assert (counts(child), tokens(child)) == ((2, 1, 0), (2500, 1000, 81))
    assert child.label == "Count the tests (@general subagent)"
    found = run.record.entry("s1.e4")
    assert found
    assert (found.kind, found.text, found.exit_status) == ("result", "3\n", 0)
    assert run.task == TASK


def test_another_sqlite_file_is_not_taken_for_a_store(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("create table session (id)")
        other.execute("create view message as select 1")
        other.execute("create view part as select 1")
    assert not OpenCode().recognises(path, path.read_bytes()[:100])
    with pytest.raises(InputError, match="no tables session, message and part"):
        list(OpenCode().runs(path))


def test_a_store_whose_columns_are_computed_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("create table session (id, parent_id, title, version, time_created)")
        other.execute("create table message (id, session_id, time_created)")
        other.execute("create table part (id, message_id, data)")
        other.execute("alter table message add data generated always as (hex(zeroblob(400000000))) virtual")
    assert not OpenCode().recognises(path, path.read_bytes()[:100])


def test_a_damaged_store_is_an_input_error(tmp_path: Path) -> None:
    path = tmp_path / "bad.db"
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    assert not OpenCode().recognises(path, path.read_bytes()[:100])
    with pytest.raises(InputError, match="cannot be read as a SQLite store"):
        list(OpenCode().runs(path))
