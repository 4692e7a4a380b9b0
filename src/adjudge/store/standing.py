"""Where a run stands: what a list shows of its judgments, kept in the run's own row.

Of each family of judges (those that give verdicts, and the reader, which gives scores) the latest judgment with an answer
counts, else the latest without.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from sqlalchemy import Connection, RowMapping, func, select

from adjudge.judgment import Judgment, Score, Verdict, suspected
from adjudge.store.schema import judgments, runs

State = Literal["judged", "empty", "errored"]
"""Whether a run has a verdict or a value, only a reader's answer without any value, or only failed attempts to judge it."""

Flag = Literal["steer", "gate", "pruned", "elided", "truncated", "masked", "tampering"]

FLAGS: Mapping[Flag, int] = {
    "steer": 1,
    "gate": 2,
    "pruned": 4,
    "elided": 8,
    "truncated": 16,
    "masked": 32,
    "tampering": 64,
}
"""What a list says of a judgment besides its result, as bits."""

CELLS = 500
"""Criteria of one judgment that a list shows."""


def shown_of(judgment: Judgment) -> dict[str, Any]:
    """The columns of a judgment that only lists need."""
    return {
        "cells": "".join(map(cell, judgment.verdicts[:CELLS])) or None,
        "worst": _worst(judgment.scores),
        "flags": sum(FLAGS[flag] for flag in _flags(judgment)),
    }


def cell(verdict: Verdict) -> str:
    """A verdict as one letter: `p` pass, `f` fail, `g` a pass that the gate took back, `s` skipped by the evaluator."""
    if verdict.passed:
        return "p"
    if verdict.answer is not None and verdict.answer.passed:
        return "g"
    return "s" if verdict.cause == "skipped" else "f"


def flags_of(bits: int) -> tuple[Flag, ...]:
    """The flags that are set."""
    return tuple(flag for flag, bit in FLAGS.items() if bits & bit)


def _flags(judgment: Judgment) -> Iterable[Flag]:
    prepared = judgment.prepared
    demoted = any(score.fault == "evidence_missing" for score in judgment.scores)
    found: dict[Flag, object] = {
        "steer": judgment.steering,
        "gate": demoted or any(cell(verdict) == "g" for verdict in judgment.verdicts),
        "pruned": prepared and prepared.tool_output_pruned.pieces,
        "elided": prepared and prepared.events_elided.pieces,
        "truncated": prepared and prepared.input_truncated.pieces,
        "masked": judgment.masked,
        "tampering": suspected(judgment.tampering),
    }
    return (flag for flag, there in found.items() if there)


def _worst(scores: Iterable[Score]) -> str | None:
    """The dimension that is farthest from blameless, with its value, such as `loop 2`."""
    worse = [score for score in scores if score.worse]
    if not worse:
        return None
    worst = max(worse, key=_distance)
    return f"{worst.dimension[:80]} {'–' if worst.value is None else format(worst.value, 'g')}"


def _distance(score: Score) -> float:
    """How far a worse value is from blameless, in severities; a value below 1 is a ratio, of which 1 is blameless."""
    value = score.value
    if value is None:
        return 3 * (score.share or 0)
    return value if value >= 1 else 3 * (1 - value)


# --- in the transaction that keeps a judgment


def stand(connection: Connection, run: str) -> None:
    """Write where a run stands, after a judgment of it was kept."""
    evaluation = _standing(connection, run, of_reader=False)
    reading = _standing(connection, run, of_reader=True)
    judging = connection.scalar(select(func.sum(judgments.c.cost)).where(judgments.c.run == run))
    found = [each for each in (evaluation, reading) if each is not None]
    values: dict[str, Any] = {
        "evaluation": evaluation and evaluation["id"],
        "reading": reading and reading["id"],
        "state": _state(found),
        **_verdicts(evaluation),
        **_scores(reading),
        "judging": judging,
        "flags": _all_flags(found),
    }
    connection.execute(runs.update().where(runs.c.id == run).values(values))


def _standing(connection: Connection, run: str, of_reader: bool) -> RowMapping | None:
    family = judgments.c.judge == "reader" if of_reader else judgments.c.judge != "reader"
    order = ((judgments.c.status == "judged").desc(), judgments.c.added.desc(), judgments.c.id)
    query = select(judgments).where(judgments.c.run == run, family).order_by(*order).limit(1)
    row = connection.execute(query).one_or_none()
    return None if row is None else row._mapping


def _state(found: list[RowMapping]) -> State | None:
    judged = [row for row in found if row["status"] == "judged"]
    if any(not row["empty"] for row in judged):
        return "judged"
    return "empty" if judged else "errored" if found else None


def _verdicts(row: RowMapping | None) -> dict[str, Any]:
    names = ("score", "passed", "criteria", "cells")
    counts = row is not None and row["status"] == "judged"
    return {name: row[name] if counts and row is not None else None for name in names}


def _scores(row: RowMapping | None) -> dict[str, Any]:
    counts = row is not None and row["status"] == "judged" and not row["empty"]
    return {name: row[name] if counts and row is not None else None for name in ("worst", "worse")}


def _all_flags(found: list[RowMapping]) -> int:
    flags = 0
    for row in found:
        flags |= row["flags"]
    return flags
