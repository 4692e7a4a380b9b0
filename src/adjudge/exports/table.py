"""Judgments as a table: a row for each verdict or score, with all that it can be grouped and filtered by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from adjudge.judgment import Judgment, Omitted, Prepared, Score, Verdict
from adjudge.passes.results import OMISSIONS, outcome_of
from adjudge.passes.said import cost_of, unpriced
from adjudge.store.judged import JudgedRun, RunFacts


class Row(msgspec.Struct, frozen=True):
    """One verdict or score; a judgment that has none is one row without an `item`.

    What is said of the run and of the judgment stands on each of its rows: sum `cost` and `run_cost` over those whose
    `number`, which counts from 0 within a judgment, is 0. `note` is a verdict's note or a score's reasoning.
    """

    of_pass: str = msgspec.field(name="pass")
    judgment: str
    sample: int | None
    run: str
    harness: str
    agent_version: str | None
    model: str | None
    outcome: str
    grade: str | None
    exit_status: int | None
    task_name: str | None
    task: str | None
    turns: int
    run_seconds: float | None
    run_cost: float | None
    judge: str
    judge_model: str | None
    judge_hash: str
    rubric: str | None
    rubric_hash: str | None
    status: str
    failure: str | None
    reason: str | None
    decided: str | None
    started: str
    seconds: float
    cost: float | None
    unpriced: bool
    calls: int
    prompt_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    masked: int
    empty: bool
    prune: str | None
    input_characters: int | None
    input_truncated: int | None
    input_truncated_characters: int | None
    tool_output_pruned: int | None
    tool_output_pruned_characters: int | None
    events_elided: int | None
    events_elided_characters: int | None
    boilerplate: int | None
    boilerplate_characters: int | None
    number: int
    kind: str | None
    item: str | None
    passed: bool | None
    value: float | None
    worse: bool | None
    cause: str | None
    fault: str | None
    probe: bool | None
    share: float | None
    causes: tuple[str, ...]
    citations: int
    citations_hold: int
    note: str | None


def rows_of(of_pass: str, judged: Iterable[JudgedRun]) -> Iterator[Row]:
    """The rows of a pass's judgments, in their order."""
    for each in judged:
        judgment = each.judgment
        common = _of_run(each.run) | _of_judgment(judgment) | _of_input(judgment.prepared)
        common |= {"of_pass": of_pass, "sample": each.sample}
        items = [*map(_of_verdict, judgment.verdicts), *map(_of_score, judgment.scores)] or [NO_ITEM]
        for number, item in enumerate(items):
            yield Row(number=number, **common, **item)


def _of_run(run: RunFacts) -> dict[str, Any]:
    return {
        "run": run.id,
        "harness": run.agent or "unknown",
        "agent_version": run.agent_version,
        "model": run.model,
        "outcome": outcome_of(run.outcome),
        "grade": run.outcome.grade,
        "exit_status": run.outcome.exit_status,
        "task_name": run.task_name,
        "task": run.task,
        "turns": run.turns,
        "run_seconds": run.seconds,
        "run_cost": run.cost,
    }


def _of_judgment(judgment: Judgment) -> dict[str, Any]:
    usage = judgment.usage()
    return {
        "judgment": judgment.id,
        "judge": judgment.judge.kind,
        "judge_model": judgment.judge.model,
        "judge_hash": judgment.judge.hash,
        "rubric": judgment.rubric,
        "rubric_hash": judgment.rubric_hash,
        "status": judgment.status,
        "failure": judgment.failure,
        "reason": judgment.reason,
        "decided": judgment.decided,
        "started": judgment.started,
        "seconds": judgment.seconds,
        "cost": cost_of(judgment),
        "unpriced": unpriced(judgment),
        "calls": len(judgment.calls),
        "prompt_tokens": _countable(usage.prompt),
        "cached_tokens": _countable(usage.cached),
        "output_tokens": _countable(usage.output),
        "masked": judgment.masked,
        "empty": judgment.empty,
    }


def _countable(tokens: int | None) -> int | None:
    """What a provider counted, if a table can hold it: nothing keeps one from counting beyond 64 bits."""
    return tokens if tokens is not None and 0 <= tokens < 2**63 else None


def _of_input(prepared: Prepared | None) -> dict[str, Any]:
    told: dict[str, Any] = {"prune": None, "input_characters": None}
    if prepared is not None:
        told = {"prune": prepared.mode, "input_characters": prepared.characters}
    for name in OMISSIONS:
        omitted: Omitted | None = getattr(prepared, name, None)
        told[name] = None if omitted is None else omitted.pieces
        told[f"{name}_characters"] = None if omitted is None else omitted.characters
    return told


NO_ITEM: dict[str, Any] = {
    **dict.fromkeys(("kind", "item", "passed", "value", "worse", "cause", "fault", "probe", "share", "note")),
    "causes": (),
    "citations": 0,
    "citations_hold": 0,
}
"""The row of a judgment without verdicts and scores."""


def _of_verdict(verdict: Verdict) -> dict[str, Any]:
    return NO_ITEM | {
        "kind": "criterion",
        "item": verdict.criterion,
        "passed": verdict.passed,
        "cause": verdict.cause,
        "fault": verdict.fault,
        "probe": verdict.probe,
        "citations": len(verdict.holdings),
        "citations_hold": sum(holding.standing is not None for holding in verdict.holdings),
        "note": verdict.note,
    }


def _of_score(score: Score) -> dict[str, Any]:
    return NO_ITEM | {
        "kind": "dimension",
        "item": score.dimension,
        "value": score.value,
        "worse": score.worse,
        "fault": score.fault,
        "share": score.share,
        "causes": tuple(cause.cause for cause in score.causes),
        "citations": len(score.holdings),
        "citations_hold": sum(holding.standing is not None for holding in score.holdings),
        "note": score.reasoning,
    }
