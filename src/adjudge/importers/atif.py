"""ATIF trajectories: `trajectory.json`, the files that it is continued in, and its sub-agents' trajectories.

Other files are read only from the trajectory's own folder and what lies below it.
"""

from __future__ import annotations

import glob
import itertools
import json
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from adjudge.errors import InputError
from adjudge.importers.atif_steps import StepReader, total_of
from adjudge.importers.build import RecordBuilder, main_model, run_id
from adjudge.importers.documents import beginning, read_document, read_items
from adjudge.importers.documents_values import listing, mapping, text
from adjudge.record import Record, Unparsed
from adjudge.run import Run

CONTINUATIONS = 1000
"""Files that one trajectory may be continued in."""

SUBAGENTS = 1000
"""Trajectories of sub-agents that are read for one run."""


DEPTH = 20
"""Levels of sub-agents of sub-agents."""


class Atif:
    """The importer of ATIF trajectories."""

    name = "atif"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether the document states the schema, or has steps as it demands them."""
        value = mapping(beginning(head)) if path.is_file() else {}
        first = mapping(next(iter(listing(value.get("steps"))), None))
        return text(value.get("schema_version")).startswith("ATIF-") or {"step_id", "source"} <= set(first)

    def runs(self, path: Path) -> Iterator[Run]:
        """The one run of a trajectory.

        Raises:
            InputError: it is not one JSON document of this shape.
        """
        held = read_document(path, _Trajectory)
        reader = _Reader(path)
        main = reader.read(held)
        for piece in reader.lost:
            main.builder.unparsed(piece)
        main.builder.children += reader.children
        record = main.builder.finish()
        agent, version = text(held.agent.get("name")) or None, text(held.agent.get("version")) or None
        model = main_model(record.turns) or text(held.agent.get("model_name")) or None
        yield Run(
            id=run_id(record, agent, model),
            record=record,
            source=str(path),
            task=main.task,
            agent=agent,
            agent_version=version,
            model=model,
        )


def is_part(path: Path) -> bool:
    """Whether a file continues a trajectory beside it, or is a sub-agent's: another trajectory there names it.

    Harbor names such files after the trajectory: `trajectory.cont-1.json` belongs to `trajectory.json`.
    """
    stem, _, rest = path.name.partition(".")
    if rest in ("", "json") or not rest.endswith(".json") or not _begins_as_trajectory(path):
        return False
    siblings = itertools.islice(path.parent.glob(f"{glob.escape(stem)}.*json"), CONTINUATIONS)
    return any(file != path and _begins_as_trajectory(file) and _names(file, path.name) for file in siblings)


def _begins_as_trajectory(path: Path) -> bool:
    with path.open("rb") as file:
        return Atif().recognises(path, file.read(1 << 16))


def _names(path: Path, name: str) -> bool:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(json.dumps(name).encode()) >= 0


class _Trajectory(msgspec.Struct):
    """A trajectory; its steps and its sub-agents' trajectories stay raw."""

    steps: list[msgspec.Raw]
    agent: dict[str, Any] = {}
    final_metrics: Any = None
    trajectory_id: Any = None
    session_id: Any = None
    continued_trajectory_ref: Any = None
    subagent_trajectories: list[msgspec.Raw] | None = None


class _Reader:
    """Reads a trajectory with all that belongs to it; sub-agents of sub-agents are children of the run as well."""

    def __init__(self, path: Path) -> None:
        self.children: list[Record] = []
        self.lost: list[Unparsed] = []
        self._path = path
        self._seen = {path.resolve()}
        self._embedded: set[str] = set()
        self._depth = 0

    def read(self, held: _Trajectory, prefix: str = "", label: str | None = None) -> StepReader:
        """A trajectory's steps and those of its continuations."""
        builder = RecordBuilder("atif", prefix, label)
        steps = StepReader(builder, text(held.agent.get("model_name")) or None)
        last = held
        for place, part in self._parts(held):
            last = part
            for where, step in read_items(part.steps, f"{place}:steps", builder.unparsed):
                steps.add(where, step)
            for number, raw in enumerate(part.subagent_trajectories or ()):
                self._embed(raw, f"{place}:subagent_trajectories[{number}]")
        builder.reported = total_of(last.final_metrics)
        for where, reference in steps.references:
            self._follow(where, reference)
        return steps

    def _parts(self, held: _Trajectory) -> Iterator[tuple[str, _Trajectory]]:
        yield self._path.name, held
        for _ in range(CONTINUATIONS):
            name = text(held.continued_trajectory_ref)
            if not name:
                return
            found = self._beside(name, f"{self._path.name}:continued_trajectory_ref")
            if found is None:
                return
            held = found
            yield name, held

    def _beside(self, name: str, place: str) -> _Trajectory | None:
        """The trajectory in another file; what is wrong with it is reported in the place that names it."""
        root = self._path.parent.resolve()
        path = (root / name).resolve()
        reason = None
        if not path.is_relative_to(root):
            reason = f"names {name!r}, which lies outside of the trajectory's folder"
        elif path in self._seen:
            reason = f"names {name!r}, which was read already"
        elif not path.is_file():
            reason = f"names {name!r}, which is not there"
        if reason is None:
            self._seen.add(path)
            try:
                return read_document(path, _Trajectory)
            except InputError as error:
                reason = str(error)
        self.lost.append(Unparsed(place, reason))
        return None

    def _embed(self, raw: msgspec.Raw, place: str) -> None:
        try:
            held = msgspec.json.decode(raw, type=_Trajectory)
        except (msgspec.MsgspecError, RecursionError) as error:
            self.lost.append(Unparsed(place, f"no trajectory: {error}", len(bytes(raw))))
            return
        self._embedded |= {name for name in (text(held.trajectory_id), text(held.session_id)) if name}
        self._child(held, place)

    def _follow(self, place: str, reference: dict[str, Any]) -> None:
        if self._embedded & {text(reference.get(key)) for key in ("trajectory_id", "session_id")}:
            return
        name = text(reference.get("trajectory_path"))
        if not name:
            self.lost.append(Unparsed(place, "names a sub-agent's trajectory that is not in here"))
        elif held := self._beside(name, place):
            self._child(held, place)

    def _child(self, held: _Trajectory, place: str) -> None:
        if len(self.children) >= SUBAGENTS or self._depth >= DEPTH:
            self.lost.append(Unparsed(place, f"more than {SUBAGENTS} sub-agents, or more than {DEPTH} below each other"))
            return
        label = text(held.agent.get("name")) or text(held.trajectory_id) or None
        number = len(self.children)
        self.children.append(Record("atif", ()))
        self._depth += 1
        self.children[number] = self.read(held, f"s{number + 1}.", label).builder.finish()
        self._depth -= 1
