"""Other people's sessions and streams: all of them import, and counts equal those of another program.

The other program reads with plain `json` and counts by what the formats' descriptions say.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adjudge.importers.sniff import read_runs
from adjudge.record import Record

SHARED = Path(os.environ.get("ADJUDGE_SHARED") or Path(__file__).parents[3] / "shared")
SAMPLES = SHARED / "samples"

pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="ADJUDGE_SHARED names no folder with samples")

FOLDERS = (
    "claude_code",
    "claude_code_lines",
    "claude_stream_json",
    "codex_rollout",
    "codex_lines",
    "codex_exec_json",
    "qwen_code",
)
FILES = sorted(path for folder in FOLDERS for path in (SAMPLES / folder).glob("*.json*")) + sorted(
    (SAMPLES / "claude_stream_json").glob("*.txt")
)


def values(path: Path) -> tuple[list[dict[str, Any]], int]:
    """The objects of a file, and the number of places where there is none."""
    text, found, bad = path.read_text(errors="replace"), [], 0
    try:
        whole = json.loads(text)
        return (whole if isinstance(whole, list) else [whole]), 0
    except ValueError:
        pass
    for line in text.split("\n"):
        rest = line.strip()
        while rest:
            try:
                value, end = json.JSONDecoder().raw_decode(rest)
            except ValueError:
                bad += 1
                break
            found.append(value)
            rest = rest[end:].strip()
    return found, bad


def record_of(path: Path) -> Record:
    (run,) = read_runs(path)
    return run.record


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_sample_imports_with_every_row_accounted_for(path: Path) -> None:
    record = record_of(path)
    found, bad = values(path)
    assert record.used + sum(record.skipped.values()) == len(found)
    assert len(record.unparsed) == bad
    assert [entry.id for entry in record.walk()] == [entry.id for entry in record.walk() if record.entry(entry.id) == entry]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_sample_states_what_its_user_did_not_write_as_the_users(path: Path) -> None:
    for entry in record_of(path).entries:
        if entry.writer == "user":
            assert not entry.text.lstrip().startswith(
                ("<system-reminder>", "<environment_context>", "# AGENTS.md", "<command-")
            )


def count(record: Record) -> dict[str, int | None]:
    usage, kinds = record.usage(), Counter(entry.kind for entry in record.entries)
    return {
        "turns": len(record.turns),
        "calls": kinds["call"],
        "results": kinds["result"],
        "errors": sum(bool(entry.is_error) for entry in record.entries),
        "prompt": usage.prompt,
        "output": usage.output,
    }


def blocks(rows: list[dict[str, Any]], kind: str) -> Iterator[dict[str, Any]]:
    for row in rows:
        content = row.get("message", {}).get("content") if row.get("type") in ("user", "assistant") else None
        for block in content if isinstance(content, list) else []:
            if block["type"] == kind:
                yield block


def claude_count(rows: list[dict[str, Any]]) -> dict[str, int | None]:
    main = [row for row in rows if not row.get("isSidechain") and not row.get("parent_tool_use_id")]
    usages = {
        row["message"]["id"]: row["message"]["usage"]
        for row in main
        if row["type"] == "assistant" and row["message"]["model"] != "<synthetic>"
    }
    parts = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return {
        "turns": len(usages),
        "calls": len(list(blocks(main, "tool_use"))),
        "results": len(list(blocks(main, "tool_result"))),
        "errors": sum(block.get("is_error") is True for block in blocks(main, "tool_result")),
        "prompt": sum(usage.get(part) or 0 for usage in usages.values() for part in parts),
        "output": sum(usage["output_tokens"] for usage in usages.values()),
    }


@pytest.mark.parametrize("path", [path for path in FILES if path.parent.name == "claude_code"], ids=lambda path: path.name)
def test_claude_sessions_count_as_another_program_counts(path: Path) -> None:
    assert count(record_of(path)) == claude_count(values(path)[0])


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.parent.name == "claude_stream_json"], ids=lambda path: path.name
)
def test_claude_streams_count_as_another_program_counts(path: Path) -> None:
    ours, theirs = count(record_of(path)), claude_count(values(path)[0])
    if ours["output"] != theirs["output"]:  # rows without a stop reason hold only the beginning of the output
        assert any(not row["message"].get("stop_reason") for row in values(path)[0] if row["type"] == "assistant")
        ours["output"] = theirs["output"]
    assert ours == theirs


def codex_count(rows: list[dict[str, Any]]) -> dict[str, int | None]:
    payloads = [(row["type"], row["payload"]) for row in rows]
    items = [payload for kind, payload in payloads if kind == "response_item"]
    totals = [
        payload["info"]["total_token_usage"]
        for kind, payload in payloads
        if kind == "event_msg" and payload["type"] == "token_count" and payload["info"]
    ]
    return {
        "turns": len({json.dumps(total) for total in totals}),
        "calls": sum(item["type"] in ("function_call", "custom_tool_call") for item in items),
        "results": sum(item["type"].endswith("_call_output") for item in items),
        "prompt": totals[-1]["input_tokens"],
        "output": totals[-1]["output_tokens"],
    }


ALONE = (
    "agentv_0.142.2_spark",
    "entire-graph_0.133a1",
    "entire-graph_0.145a30",
    "git-sync_0.139.0",
    "session-bridge_0.118a2",
)


@pytest.mark.parametrize("name", ALONE)
def test_codex_rollouts_count_as_another_program_counts(name: str) -> None:
    (path,) = (SAMPLES / "codex_rollout").glob(f"{name}*")
    ours = count(record_of(path))
    del ours["errors"]  # Codex states none but in words
    patches = sum(entry.kind == "result" and entry.name == "apply_patch" for entry in record_of(path).entries)
    theirs = codex_count(values(path)[0])
    if name == "entire-graph_0.145a30":  # code mode: what a script's patch printed is a result of its own
        theirs["results"] = (theirs["results"] or 0) + patches
    assert ours == theirs


def test_copied_history_ends_where_the_sub_agents_own_task_begins() -> None:
    path = SAMPLES / "codex_rollout" / "sub_thread_spawn_ed_ee273e9e3.jsonl"
    rows, _ = values(path)
    started = [number for number, row in enumerate(rows) if row["payload"].get("type") == "task_started"]
    own = rows[started[-1] :]
    record = record_of(path)
    assert record.skipped["copied"] == started[-1] - 2  # but for two rows that describe the sessions
    assert sum(entry.kind == "call" for entry in record.entries) == codex_count(own)["calls"]


def test_the_qwen_session_counts_as_another_program_counts() -> None:
    (path,) = (SAMPLES / "qwen_code").glob("*.jsonl")
    rows = values(path)[0]
    usages = [row["usageMetadata"] for row in rows if row["type"] == "assistant"]
    results = [row["toolCallResult"] for row in rows if row["type"] == "tool_result"]
    assert count(record_of(path)) == {
        "turns": len(usages),
        "calls": sum("functionCall" in part for row in rows if "message" in row for part in row["message"]["parts"]),
        "results": len(results),
        "errors": sum(result["status"] == "error" for result in results),
        "prompt": sum(usage["promptTokenCount"] for usage in usages),
        "output": sum(usage["candidatesTokenCount"] for usage in usages),
    }


@pytest.mark.parametrize("name", ["small", "large"])
def test_sessions_of_gemini_cli_count_as_another_program_counts(name: str) -> None:
    path = SAMPLES / "gemini_cli_session" / f"session-bridge_{name}.json"
    messages = values(path)[0][0]["messages"]
    answers = [message for message in messages if message["type"] == "gemini"]
    calls = [call for answer in answers for call in answer.get("toolCalls", [])]
    tokens = [answer["tokens"] for answer in answers if "tokens" in answer]
    record = record_of(path)
    assert count(record) == {
        "turns": len(answers),
        "calls": len(calls),
        "results": sum("result" in call for call in calls),
        "errors": sum(call["status"] in ("error", "cancelled") for call in calls),
        "prompt": sum(used["input"] + used["tool"] for used in tokens),
        "output": sum(used["output"] + used["thoughts"] for used in tokens),
    }
    shells = [call for call in calls if call["name"] == "run_shell_command" and call["status"] == "success"]
    assert sum(entry.exit_status == 0 for entry in record.entries) == len(shells)  # none of them failed
    assert record.used == len(messages)
