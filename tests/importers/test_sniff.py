"""From a path to runs."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest
import zstandard

from adjudge.errors import InputError
from adjudge.importers.skipping import Skipped
from adjudge.importers.sniff import IMPORTERS, first_bytes, read_runs, runs_with_entries

FIXTURES = Path(__file__).parent / "fixtures"

FORMATS = {
    "claude/claude-fix/cb7f73c6-380c-476e-8be9-7198a1e14293.jsonl": "claude-code",
    "claude/claude-fix.stdout": "claude-stream-json",
    "codex/codex-fix/rollout-2026-11-29T20-09-27-01a228ed-4261-7b03-b3c5-3704189fef25.jsonl": "codex-rollout",
    "codex/codex-failcmd.stdout": "codex-exec-json",
    "gemini/gemini-fix/session-2026-11-29T20-10-9e013e28.jsonl": "gemini-cli",
    "gemini/gemini-fix.stdout": "gemini-stream-json",
    "qwen/qwen-fix/20ae3681-9879-4525-823b-328e0a67e38b.jsonl": "qwen-code",
    "qwen/qwen-fix.stdout": "qwen-stream-json",
}


@pytest.mark.parametrize(("name", "format"), FORMATS.items())
def test_a_format_is_recognised_from_content_whatever_the_name(name: str, format: str, tmp_path: Path) -> None:
    shutil.copy(FIXTURES / name, tmp_path / "wrong.png")
    (run,) = read_runs(tmp_path / "wrong.png")
    assert run.record.format == format


@pytest.mark.parametrize(("name", "format"), FORMATS.items())
def test_only_one_importer_recognises_a_file(name: str, format: str) -> None:
    path = FIXTURES / name
    assert [importer.name for importer in IMPORTERS if importer.recognises(path, first_bytes(path))] == [format]


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_compressed_files_are_recognised(compress: object, tmp_path: Path) -> None:
    assert callable(compress)
    (tmp_path / "x").write_bytes(compress((FIXTURES / "claude/claude-fix.stdout").read_bytes()))
    (run,) = read_runs(tmp_path / "x")
    assert run.record.format == "claude-stream-json"


def test_a_folder_of_sessions_gives_one_run_each_and_sub_agents_none(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "claude" / "claude-sub", tmp_path / "a")
    shutil.copytree(FIXTURES / "codex" / "codexjs-sub", tmp_path / "b" / "2026")
    shutil.copytree(FIXTURES / "codex" / "codex-fix", tmp_path / "b" / "2027")
    (tmp_path / "b" / "notes.txt").write_text("nothing")
    (tmp_path / "b" / "broken.gz").write_bytes(b"\x1f\x8b\x08broken")
    runs = list(read_runs(tmp_path))
    assert [(run.record.format, len(run.record.children)) for run in runs] == [
        ("claude-code", 1),
        ("codex-rollout", 1),
        ("codex-rollout", 0),
    ]


def test_what_is_passed_over_in_a_folder_is_told_with_why_and_sub_agents_are_not(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "claude" / "claude-sub", tmp_path / "a")
    (tmp_path / "notes.txt").write_text("Buy milk.\n")
    (tmp_path / "empty").touch()
    (tmp_path / "broken.gz").write_bytes(b"\x1f\x8b\x08broken")
    told: list[tuple[str, str]] = []
    assert len(list(read_runs(tmp_path, skip=lambda path, why: told.append((path.name, why))))) == 1
    assert [name for name, _ in told] == ["broken.gz", "empty", "notes.txt", "agent-ad08182566ce7c08b.meta.json"]
    assert told[0][1].startswith("cannot be read: ")
    assert [why for _, why in told[1:3]] == ["it is empty", "its first line is 'Buy milk.'"]


def test_an_unknown_file_is_refused_with_what_was_seen_and_what_is_known(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("Starting up…\nmore\n")
    with pytest.raises(InputError) as refusal:
        list(read_runs(tmp_path / "log"))
    assert "log: not a recording of a known format: its first line is 'Starting up…'" in str(refusal.value)
    assert all(importer.name in str(refusal.value) for importer in IMPORTERS)


@pytest.mark.parametrize("name", ["missing", "empty", "folder"])
def test_nothing_to_read_is_the_users_error(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=name):
        list(read_runs(tmp_path / name))


def test_a_first_line_longer_than_the_head_is_seen_whole(tmp_path: Path) -> None:
    meta = {"type": "session_meta", "payload": {"id": "a", "base_instructions": "x" * 200_000}}
    (tmp_path / "x").write_text(json.dumps(meta) + "\n")
    (run,) = read_runs(tmp_path / "x")
    assert run.record.format == "codex-rollout"


def test_a_similar_format_of_another_agent_is_not_taken_for_claudes(tmp_path: Path) -> None:
    row: dict[str, object] = {
        "type": "user",
        "uuid": "u",
        "parentUuid": None,
        "sessionId": "s",
        "message": {"role": "user", "parts": [{"text": "hi"}]},
    }
    (tmp_path / "x").write_text(json.dumps(row))
    found = [importer.name for importer in IMPORTERS if importer.recognises(tmp_path / "x", json.dumps(row).encode())]
    assert found == ["qwen-code"]


def test_a_session_of_qwen_code_that_begins_with_its_own_rows_is_recognised(tmp_path: Path) -> None:
    head: dict[str, object] = {"uuid": "u", "parentUuid": None, "sessionId": "s", "version": "0.18.1"}
    row = {**head, "type": "system", "subtype": "ui_telemetry", "systemPayload": {"uiEvent": {}}}
    (tmp_path / "x").write_text(json.dumps(row) + "\n")
    (run,) = read_runs(tmp_path / "x")
    assert (run.record.format, run.record.skipped) == ("qwen-code", {"ui_telemetry:": 1})


def metadata_only(path: Path) -> Path:
    row = {"type": "queue-operation", "operation": "enqueue", "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z"}
    path.write_text(json.dumps(row) + "\n")
    return path


def test_a_recording_without_any_entry_is_refused_with_what_it_holds(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x: was taken for claude-code, .* 0 rows .*, 1 of 'queue-operation'; nothing is"):
        list(runs_with_entries(metadata_only(tmp_path / "x")))
    with pytest.raises(InputError, match="was taken for claude-code"):
        list(runs_with_entries(tmp_path))


def test_among_other_recordings_one_without_any_entry_is_passed_over(tmp_path: Path) -> None:
    metadata_only(tmp_path / "a")
    shutil.copy(FIXTURES / "claude/claude-fix.stdout", tmp_path / "b")
    assert [run.record.format for run in runs_with_entries(tmp_path)] == ["claude-stream-json"]


def test_a_folder_with_the_work_but_without_a_recording_is_a_run(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "run.yaml").write_text("task: Fix it.\nworkspace: workspace\n")
    (run,) = runs_with_entries(tmp_path)
    assert (run.task, run.record.format) == ("Fix it.", "none")


def test_a_damaged_file_in_a_folder_is_skipped_and_named(tmp_path: Path) -> None:
    (tmp_path / "h.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfdbroken")
    skipped = Skipped()
    with pytest.raises(InputError, match="no file below this folder is a recording"):
        list(read_runs(tmp_path, skip=skipped))
    assert [(path.name, why.partition(":")[0]) for path, why in skipped.first] == [("h.jsonl.zst", "cannot be read")]
