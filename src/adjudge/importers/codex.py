"""Codex sessions: `rollout-<time>-<id>.jsonl`, plain or compressed, each sub-agent in a file of its own beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adjudge.importers.build import main_model, run_id, text_of
from adjudge.importers.codex_rollout import CALLS, FORMAT, OUTPUTS, RolloutReader
from adjudge.importers.jsonl import head_rows, opened
from adjudge.record import Record
from adjudge.run import Outcome, Run

ROWS = frozenset(
    {
        "compacted",
        "event_msg",
        "inter_agent_communication_metadata",
        "response_item",
        "session_meta",
        "token_usage_record",
        "turn_context",
        "world_state",
    }
)


class CodexSessions:
    """The importer of Codex rollouts."""

    name = FORMAT

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether the first rows are those of a rollout, new or old."""
        found = head_rows(head)
        new = any(row.get("type") in ROWS and isinstance(row.get("payload"), dict) for row in found)
        return path.is_file() and (new or _is_old(found))

    def runs(self, path: Path) -> Iterator[Run]:
        """The one run of a rollout, sub-agents in other files included."""
        reader = RolloutReader()
        reader.read(path)
        children = reader.builder.children
        for file, label in descendants(path, text_of(reader.meta.get("id"))):
            children.append(_child(file, label, len(children) + 1))
        record = reader.builder.finish()
        model = main_model(record.turns)
        yield Run(
            id=run_id(record, "codex", model),
            record=record,
            source=str(path),
            task=reader.task,
            agent="codex",
            agent_version=text_of(reader.meta.get("cli_version")) or None,
            model=model,
            outcome=Outcome(detail=reader.ending),
        )


def _is_old(found: list[dict[str, Any]]) -> bool:
    """A first row that describes the session without a type, then bare items."""
    if not found or "type" in found[0] or not {"id", "timestamp"} <= set(found[0]):
        return False
    kinds = {"message", "reasoning", *CALLS, *OUTPUTS}
    return any("record_type" in row or row.get("type") in kinds for row in found[1:])


def _child(path: Path, label: str, number: int) -> Record:
    reader = RolloutReader(f"s{number}.", label)
    reader.read(path)
    return reader.builder.finish()


def descendants(path: Path, session: str) -> list[tuple[Path, str]]:
    """The rollouts in the same folder of all sub-agents below a session, with a label, oldest first."""
    beside = [file for file in sorted(path.parent.glob("*.jsonl*")) if file != path and file.is_file()] if session else []
    metas = [(file, meta) for file in beside if (meta := _meta(file))]
    found: list[tuple[Path, str]] = []
    parents = {session}
    for _ in metas:  # each round finds at least one more generation
        more = [
            (file, meta) for file, meta in metas if parent_of(meta) in parents and text_of(meta.get("id")) not in parents
        ]
        if not more:
            break
        parents |= {text_of(meta.get("id")) for _, meta in more}
        found += [(file, _label(meta)) for file, meta in more]
    return sorted(found, key=lambda pair: pair[0].name)


def is_subagent_file(path: Path) -> bool:
    """Whether the rollout is a sub-agent's and its parent's lies in the same folder."""
    meta = _meta(path)
    parent = parent_of(meta)
    return bool(parent) and any(_meta(file).get("id") == parent for file in path.parent.glob("*.jsonl*") if file.is_file())


def parent_of(meta: dict[str, Any]) -> str:
    """The id of the session that started this one as a sub-agent, empty if none did."""
    source = meta.get("source")
    below = source.get("subagent") if isinstance(source, dict) else None
    spawn = below.get("thread_spawn") if isinstance(below, dict) else None
    return text_of(meta.get("parent_thread_id")) or (
        text_of(spawn.get("parent_thread_id")) if isinstance(spawn, dict) else ""
    )


def _label(meta: dict[str, Any]) -> str:
    names = (text_of(meta.get(name)) for name in ("agent_role", "agent_nickname", "agent_path"))
    return " ".join(filter(None, names)) or text_of(meta.get("id"))


def _meta(path: Path) -> dict[str, Any]:
    """What the first row says of the session; empty if it is no rollout."""
    with opened(path) as file:
        found = head_rows(file.readline(1 << 20), 1)
    payload = found[0].get("payload") if found and found[0].get("type") == "session_meta" else None
    return payload if isinstance(payload, dict) else {}
