"""Others' recordings: each imports, each item is accounted for, and counts equal those of a few lines of plain JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from adjudge.importers.sniff import read_runs
from adjudge.record import Record
from adjudge.run import Outcome, Run

SHARED = Path(os.environ.get("ADJUDGE_SHARED") or Path(__file__).parents[3] / "shared")
SAMPLES = SHARED / "samples"

pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="ADJUDGE_SHARED names no folder with samples")

Counts = tuple[int, int, int, int, int | None, int | None, int | None]
"""Turns, calls, results, results that are errors, tokens sent, of them cached, tokens received."""


def samples(folder: str, pattern: str = "*.json") -> list[Path]:
    return sorted((SAMPLES / folder).glob(pattern)) if SAMPLES.is_dir() else []


def read(path: Path) -> Run:
    (run,) = read_runs(path)
    return run


def imported(record: Record) -> Counts:
    entries, usage = list(record.entries), record.usage()
    results = [entry for entry in entries if entry.kind == "result"]
    failed = sum(bool(entry.is_error or entry.exit_status) for entry in results)
    calls = sum(entry.kind == "call" for entry in entries)
    return len(record.turns), calls, len(results), failed, usage.prompt, usage.cached, usage.output


def items(record: Record) -> int:
    return record.used + sum(record.skipped.values()) + len(record.unparsed)


# --- OpenCode


def opencode(parts: Iterable[dict[str, Any]]) -> Counts:
    """By the parts alone: a step is a response, a tool part a call."""
    parts = list(parts)
    tools = [part for part in parts if part["type"] == "tool"]
    done = [part for part in tools if part["state"]["status"] in ("completed", "error")]
    wrong = [
        part
        for part in done
        if part["state"]["status"] == "error" or part["tool"] == "invalid" or part["state"]["metadata"].get("exit")
    ]
    tokens = [part["tokens"] for part in parts if part["type"] == "step-finish"]
    cached = sum(count["cache"]["read"] for count in tokens)
    sent = sum(count["input"] + count["cache"]["read"] + count["cache"]["write"] for count in tokens)
    steps = sum(part["type"] == "step-start" for part in parts)
    received = sum(count["output"] + count["reasoning"] for count in tokens)
    assert all(count.get("total", 0) in (0, total_of(count)) for count in tokens)
    return steps, len(tools), len(done), len(wrong), sent, cached, received


def total_of(count: dict[str, Any]) -> int:
    cache: dict[str, int] = count["cache"]
    return int(count["input"] + count["output"] + count["reasoning"] + cache["read"] + cache["write"])


@pytest.mark.parametrize("path", samples("opencode_export"), ids=lambda path: path.stem)
def test_an_export_of_opencode(path: Path) -> None:
    messages = json.loads(path.read_text())["messages"]
    parts = [part for message in messages for part in message["parts"]]
    record = read(path).record
    assert imported(record) == opencode(parts)
    assert items(record) == len(parts)
    assert record.unparsed == ()


@pytest.mark.parametrize("path", samples("opencode_events", "*.jsonl"), ids=lambda path: path.stem[-6:])
def test_a_stream_of_a_plugin_of_opencode(path: Path) -> None:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    updated = [row[1]["event"]["properties"]["part"] for row in rows if str(row).find("message.part.updated") > 0]
    record = read(path).record
    assert imported(record) == opencode({part["id"]: part for part in updated}.values())
    assert items(record) == len(rows)
    assert record.unparsed == ()


# --- mini-SWE-agent


@pytest.mark.parametrize("path", samples("mini_swe_traj"), ids=lambda path: path.stem[-20:])
def test_a_trajectory_of_mini(path: Path) -> None:
    held = json.loads(path.read_text())
    messages = held if isinstance(held, list) else held["messages"]
    record = read(path).record
    assert items(record) == len(messages)
    assert imported(record) == (mini_bare(messages) if isinstance(held, list) else mini(messages))


def mini(messages: list[dict[str, Any]]) -> Counts:
    answers = [message for message in messages if message["role"] == "assistant"]
    results = [message["extra"] for message in messages if message["role"] == "tool"]
    usages = [answer["extra"]["response"]["usage"] for answer in answers]
    return (
        len(answers),
        sum(len(answer["tool_calls"]) for answer in answers),
        len(results),
        sum(result["returncode"] != 0 for result in results),
        sum(usage["prompt_tokens"] for usage in usages),
        sum(usage["prompt_tokens_details"]["cached_tokens"] for usage in usages),
        sum(usage["completion_tokens"] for usage in usages),
    )


def mini_bare(messages: list[dict[str, Any]]) -> Counts:
    answers = [message["content"] for message in messages if message["role"] == "assistant"]
    results = [message["content"] for message in messages[3:] if message["role"] == "user"]
    failed = sum("<returncode>" in text and "<returncode>0<" not in text for text in results)
    return len(answers), sum(answer.count("```") // 2 for answer in answers), len(results), failed, None, None, None


# --- ATIF


@pytest.mark.parametrize("path", samples("atif"), ids=lambda path: path.stem[:40])
def test_a_trajectory_of_atif(path: Path) -> None:
    steps = json.loads(path.read_text())["steps"]
    record = read(path).record
    known = [step for step in steps if step["source"] in ("agent", "user", "system") and not step.get("is_copied_context")]
    assert imported(record) == atif(known)
    assert record.used == len(known)
    assert record.skipped.get("copied", 0) == sum(bool(step.get("is_copied_context")) for step in steps)
    lost = [piece for piece in record.unparsed if "names '" not in piece.reason]
    assert items(record) - len(record.unparsed) + len(lost) == len(steps)


def atif(steps: list[dict[str, Any]]) -> Counts:
    agents = [step for step in steps if step["source"] == "agent"]
    metrics = [step["metrics"] for step in agents if step.get("metrics")]
    found = [(step, result) for step in steps for result in (step.get("observation") or {}).get("results", [])]
    results = [(step, result) for step, result in found if result.get("content") is not None]
    cached = [metric["cached_tokens"] for metric in metrics if "cached_tokens" in metric]
    return (
        len(agents),
        sum(len(step.get("tool_calls") or ()) for step in agents),
        len(results),
        sum((step.get("extra") or {}).get("tool_result_is_error", False) for step, _ in results),
        sum(metric["prompt_tokens"] for metric in metrics) if metrics else None,
        sum(cached) if cached else None,
        sum(metric["completion_tokens"] for metric in metrics) if metrics else None,
    )


def test_another_format_among_the_trajectories_is_not_taken_for_one() -> None:
    sources = [Path(run.source) for run in read_runs(SAMPLES / "atif")]
    assert sources == samples("atif")


# --- Harbor


HARBOR = {
    "code-from-image": Outcome(None, "unresolved", 0.0),
    "feal-linear-cryptanalysis": Outcome(None, "unresolved", 0.0),
    "financial-document-processor": Outcome(None, "unresolved", 0.0, "AgentTimeoutError"),
    "fix-code-vulnerability": Outcome(None, "unresolved", 0.0, "AgentTimeoutError"),
    "query-optimize": Outcome(None, "error", 1.0, "VerifierTimeoutError"),
}
"""Read off result.json and verifier/reward.txt by eye."""


@pytest.mark.parametrize("name", HARBOR)
def test_a_trial_of_harbor(name: str) -> None:
    (path,) = (SAMPLES / "harbor_trial").glob(f"{name}__*")
    run = read(path)
    assert run.outcome == HARBOR[name]
    assert run.record.format == "claude-stream-json"
    calls = set()
    for line in (path / "agent" / "claude-code.txt").read_text().splitlines():
        content = json.loads(line).get("message", {}).get("content") if line.startswith('{"type":"assistant"') else None
        calls |= {block["id"] for block in content or () if block["type"] == "tool_use"}
    assert (
        sum(entry.kind == "call" for part in (run.record, *run.record.children) for entry in part.entries) >= len(calls) > 0
    )
    assert run.agent == "claude-code"
    assert run.model == "kimi-k2.5"


# --- chat


@pytest.mark.parametrize("path", samples("openai_chat_jsonl"), ids=lambda path: path.stem[:20])
def test_a_plain_conversation(path: Path) -> None:
    held = json.loads(path.read_text())
    messages, usage = list(held.get("traj") or held["messages"]), None
    if response := held.get("response"):
        usage = response["usage"]
        messages.append(response["choices"][0]["message"])
    answers = [message for message in messages if message["role"] == "assistant"]
    record = read(path).record
    assert items(record) == len(messages)
    assert imported(record) == (
        len(answers),
        sum(len(answer.get("tool_calls") or ()) for answer in answers),
        sum(message["role"] == "tool" for message in messages),
        0,
        usage and usage["prompt_tokens"],
        usage and usage["prompt_tokens_details"]["cached_tokens"],
        usage and usage["completion_tokens"],
    )
