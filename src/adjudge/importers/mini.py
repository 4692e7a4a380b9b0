"""mini-SWE-agent trajectories: a bare list of messages (v0), and the formats 1.0 and 1.1 with `info` and `messages`.

With 1.1 calls and results are structure. Before, the one fenced block of the assistant's message is the call, and the
message that the harness sends next, in the user's role, is its result. Answers that the harness rejected are no messages
of their own: the complaint about them carries them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from adjudge.importers.build import main_model, run_id
from adjudge.importers.chat_messages import content_text
from adjudge.importers.documents import beginning, read_document, read_items
from adjudge.importers.documents_values import amount, mapping, text
from adjudge.importers.jsonl import opened
from adjudge.importers.mini_messages import ACTION, RESULT, MiniReader
from adjudge.record import Usage
from adjudge.run import Outcome, Run


class Mini:
    """The importer of mini-SWE-agent's trajectories."""

    name = "mini-swe-agent"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether the document names the format, or is a list in which results answer fenced commands."""
        value = beginning(head) if path.is_file() else None
        if isinstance(value, list):
            return _is_bare(value)
        info, config = mapping(mapping(value).get("info")), mapping(mapping(mapping(value).get("info")).get("config"))
        named = text(mapping(value).get("trajectory_format")).startswith("mini-swe-agent")
        return named or "mini_version" in info or text(config.get("agent_type")).startswith("minisweagent.")

    def runs(self, path: Path) -> Iterator[Run]:
        """The one run of a trajectory.

        Raises:
            InputError: it is not one JSON document of this shape.
        """
        with opened(path) as file:
            bare = isinstance(beginning(file.read(1 << 16)), list)
        held = _Trajectory(read_document(path, list[msgspec.Raw])) if bare else read_document(path, _Trajectory)
        yield _run(path, held)


def _is_bare(value: list[Any]) -> bool:
    pairs = itertools.pairwise(value)
    return any(
        mapping(call).get("role") == "assistant"
        and ACTION.search(content_text(mapping(call).get("content")))
        and mapping(result).get("role") == "user"
        and RESULT.match(content_text(mapping(result).get("content")))
        for call, result in pairs
    )


class _Trajectory(msgspec.Struct):
    """What a trajectory holds."""

    messages: list[msgspec.Raw]
    info: dict[str, Any] = {}


def _run(path: Path, held: _Trajectory) -> Run:
    reader = MiniReader(submitted=held.info.get("exit_status") == "Submitted")
    name = f"{path.name}:messages"
    for place, message in read_items(held.messages, name, reader.builder.unparsed):
        reader.add(place, message, last=place == f"{name}[{len(held.messages) - 1}]")
    cost = amount(mapping(held.info.get("model_stats")).get("instance_cost"))
    reader.builder.reported = Usage(cost=cost) if cost else None
    record = reader.builder.finish()
    configured = text(mapping(mapping(held.info.get("config")).get("model")).get("model_name"))
    model, submission = configured or main_model(record.turns), text(held.info.get("submission"))
    return Run(
        id=run_id(record, "mini-swe-agent", model),
        record=record,
        source=str(path),
        task=reader.task,
        agent="mini-swe-agent",
        agent_version=text(held.info.get("mini_version")) or None,
        model=model,
        outcome=Outcome(detail=text(held.info.get("exit_status")) or None),
        patch=submission if submission.startswith("diff --git ") else None,
    )
