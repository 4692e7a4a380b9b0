"""`codex exec --json`, from our own recordings and from hand-made rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.importers.codex_events import CodexEvents
from adjudge.run import Run

FIXTURES = Path(__file__).parent / "fixtures" / "codex"


def only(path: Path) -> Run:
    (run,) = CodexEvents().runs(path)
    return run


def imported(tmp_path: Path, rows: list[dict[str, Any]]) -> Run:
    path = tmp_path / "stdout"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return only(path)


def item(state: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"item.{state}", "item": {"id": "item_1", **fields}}


def test_the_counts_are_those_of_the_scripted_model() -> None:
    record = only(FIXTURES / "codex-failcmd.stdout").record
    results = [entry for entry in record.entries if entry.kind == "result"]
    assert len(record.turns) == 7
    assert sum(entry.kind == "call" for entry in record.entries) == 6
    assert [entry.exit_status for entry in results if entry.name == "command_execution"] == [3, 1, 127, 0, 0]
    assert record.reported
    assert (record.reported.prompt, record.reported.cached, record.reported.output) == (17500, 13500, 301)
    assert record.final
    assert record.unpaired == ()


def test_every_line_is_used_or_skipped_with_its_kind() -> None:
    for path in FIXTURES.glob("*.stdout"):
        record = only(path).record
        assert record.used + sum(record.skipped.values()) == len(path.read_text().splitlines())


def test_a_command_that_never_completed_is_a_call_without_result(tmp_path: Path) -> None:
    record = imported(tmp_path, [item("started", type="command_execution", command="make", status="in_progress")]).record
    assert record.unpaired == ("e1",)
    assert record.entries[0].text == "command_execution\ncommand: make"


@pytest.mark.parametrize(("status", "failed"), [("completed", False), ("failed", True), ("declined", True)])
def test_a_change_of_files_is_a_call_with_its_status(tmp_path: Path, status: str, failed: bool) -> None:
    changes = [{"path": "a.py", "kind": "update"}]
    record = imported(tmp_path, [item("completed", type="file_change", changes=changes, status=status)]).record
    assert [(entry.kind, entry.is_error) for entry in record.entries] == [("call", None), ("result", failed)]


def test_a_failed_turn_is_the_outcome(tmp_path: Path) -> None:
    run = imported(
        tmp_path, [{"type": "thread.started", "thread_id": "t"}, {"type": "turn.failed", "error": {"message": "no"}}]
    )
    assert run.outcome.detail == "turn.failed: no"
    assert [entry.origin for entry in run.record.entries] == ["api-error"]


def test_a_warning_is_no_failure(tmp_path: Path) -> None:
    run = imported(tmp_path, [item("completed", type="error", message="careful"), {"type": "turn.completed", "usage": {}}])
    assert run.outcome.detail == "turn.completed"
    assert run.record.entries[0].origin == "warning"
