"""Harbor's trial folders: how the trial ended, and the agent's recording in them.

A trial has `config.json`, `result.json` once it is over, `agent/` and `verifier/`. The agent's own log is preferred to
`agent/trajectory.json`, which Harbor converted from it, and which may have lost something. A job is a folder of trials.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from adjudge.errors import InputError
from adjudge.importers.build import count_of, run_id
from adjudge.importers.documents import read_document
from adjudge.importers.documents_values import amount, count, mapping, number, text
from adjudge.importers.jsonl import LFS
from adjudge.ports import Importer
from adjudge.record import Record, Unparsed, Usage
from adjudge.run import Grade, Outcome, Run

Recognise = Callable[[Path], Importer | None]
"""Tells which importer reads a file, if it is a recording that stands for a run."""

MOST = 10_000
"""Files below `agent/` that are looked at."""


class HarborTrials:
    """The importer of trial folders; it is given the means to recognise the agent's recording in one."""

    name = "harbor"

    def __init__(self, recognise: Recognise) -> None:
        self._recognise = recognise

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether this is the folder of a trial: a result or a configuration in it names the trial."""
        if head or not path.is_dir():
            return False
        return any("trial_name" in _held(path / name, []) for name in ("result.json", "config.json"))

    def runs(self, path: Path) -> Iterator[Run]:
        """The one run of a trial. Without a recording of the agent its record is empty, and says so.

        Raises:
            InputError: the folder is not that of a trial.
        """
        lost: list[Unparsed] = []
        result, config = _held(path / "result.json", lost), _held(path / "config.json", lost)
        if not {"trial_name"} & {*result, *config}:
            raise InputError(f"{path}: is no trial of Harbor: neither result.json nor config.json names one")
        agent = mapping(result.get("agent_info")) or mapping(config.get("agent"))
        recorded = self._recordings(path, lost)
        best = max(recorded, key=_completeness, default=None)
        task = next((run.task for run in (*([best] if best else []), *recorded) if run.task), None)
        record = _with(best.record if best else Record("harbor", ()), lost, result)
        configured = text(mapping(config.get("agent")).get("model_name")) or None
        name = text(agent.get("name")) or (best.agent if best else None) or None
        model = (best.model if best else None) or configured
        yield Run(
            id=run_id(record, name if best else text(result.get("id")) or path.name, model),
            record=record,
            source=str(path),
            task=task,
            agent=name,
            agent_version=text(agent.get("version")) or (best.agent_version if best else None),
            model=model,
            outcome=_outcome(path, result, config),
            patch=best.patch if best else None,
        )

    def _recordings(self, path: Path, lost: list[Unparsed]) -> list[Run]:
        found: list[Run] = []
        for file in itertools.islice(sorted((path / "agent").rglob("*")), MOST):
            place = str(file.relative_to(path))
            if not file.is_file() or not file.resolve().is_relative_to(path.resolve()):
                continue
            if _is_pointer(file):
                lost.append(Unparsed(place, "is a Git LFS pointer in place of the file", file.stat().st_size))
            elif importer := self._recognise(file):
                try:
                    found += importer.runs(file)
                except InputError as error:
                    lost.append(Unparsed(place, str(error)))
        if not found:
            lost.append(Unparsed("agent", "no recording of a known format is in it"))
        return found


def _completeness(run: Run) -> tuple[bool, bool, int]:
    """What makes one recording of the same run better than another: that it has turns, is the agent's own, and is long."""
    return bool(run.record.turns), run.record.format != "atif", len(run.record.entries)


def _is_pointer(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(LFS)) == LFS
    except OSError:
        return False


def _held(path: Path, lost: list[Unparsed]) -> dict[str, Any]:
    """A JSON file of a trial as an object; what cannot be read is noted."""
    if not path.is_file():
        return {}
    try:
        return read_document(path, dict[str, Any])
    except InputError as error:
        lost.append(Unparsed(path.name, str(error)))
        return {}


def _with(record: Record, lost: list[Unparsed], result: dict[str, Any]) -> Record:
    """The record with what could not be read of the trial, and with the totals that Harbor states."""
    stated = mapping(result.get("agent_result"))
    total = Usage(
        prompt=count(stated.get("n_input_tokens")),
        cached=count(stated.get("n_cache_tokens")),
        output=count(stated.get("n_output_tokens")),
        cost=amount(stated.get("cost_usd")),
    )
    reported = record.reported or (None if total == Usage() else total)
    return msgspec.structs.replace(record, unparsed=(*record.unparsed, *lost), reported=reported)


# --- how the trial ended


def _outcome(path: Path, result: dict[str, Any], config: dict[str, Any]) -> Outcome:
    """A reward that the grader wrote but the trial did not accept is given, without a grade from it."""
    exception = _exception(path, result)
    accepted = _reward(mapping(mapping(result.get("verifier_result")).get("rewards")))
    reward = _written_reward(path / "verifier") if accepted is None else accepted
    grade: Grade | None = None
    if reward is not None and (accepted is not None or not exception):
        grade = "resolved" if reward >= 1 else "unresolved"
    elif exception and mapping(config.get("verifier")).get("disable") is not True:
        grade = "error"
    return Outcome(_exit_status(path / "agent"), grade, reward, exception)


def _reward(rewards: dict[str, Any]) -> float | None:
    """The reward among a grader's numbers: the one of that name, or the only one."""
    numbers = [found for value in rewards.values() if (found := number(value)) is not None]
    return numbers[0] if len(numbers) == 1 else number(rewards.get("reward"))


def _written_reward(folder: Path) -> float | None:
    """What the grader wrote, where the result does not have it."""
    if (folder / "reward.json").is_file():
        return _reward(_held(folder / "reward.json", []))
    return _number(folder / "reward.txt")


def _number(path: Path) -> float | None:
    if not path.is_file():
        return None
    try:
        with path.open() as file:
            return number(float(file.read(64)))
    except (OSError, ValueError):
        return None


def _exception(path: Path, result: dict[str, Any]) -> str | None:
    """The name of the exception that ended the trial, from the result, else from the last line of its traceback."""
    if result:
        return text(mapping(result.get("exception_info")).get("exception_type")) or None
    trace = path / "exception.txt"
    if not trace.is_file():
        return None
    try:
        with trace.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 10_000))
            lines = file.read().decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return None
    return lines[-1].partition(":")[0].rpartition(".")[2].strip() or None if lines else None


def _exit_status(agent: Path) -> int | None:
    """The exit status of the last command that Harbor ran for the agent, where it kept it."""
    numbers = [int(name) for folder in agent.glob("command-*") if (name := folder.name[8:]).isdecimal()]
    status = _number(agent / f"command-{max(numbers)}" / "return-code.txt") if numbers else None
    return count_of(int(status)) if status is not None and status.is_integer() else None
