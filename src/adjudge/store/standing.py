"""Where a run stands: what its judgments came to, kept in a narrow row of its own beside the run.

Of each family of judges (those that give verdicts, and the reader, which gives scores) the latest judgment with an answer
counts, else the latest without; what the exit status alone decides counts where there is nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import reduce
from operator import attrgetter, or_
from typing import Any, Literal

from sqlalchemy import Connection, Row, bindparam, select

from adjudge.judgment import Judgment, Score, Verdict, suspected
from adjudge.store.schema import judgments, runs, standings

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

TASK = 200
"""Characters of what a task is called that a list is sorted by."""


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


# --- in a transaction of the writer's


def add_runs(connection: Connection, values: Sequence[dict[str, Any]]) -> None:
    """Write the rows of runs that are not there; nobody has judged them."""
    connection.execute(runs.insert(), values)
    connection.execute(standings.insert(), [standing_of(each) for each in values])


def standing_of(run: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a standing that repeat those of a run."""
    same = {name: run[name] for name in ("added", "turns", "cost", "agent", "model", "grade")}
    return {"run": run["id"], "task": (run["task_name"] or run["task"] or "")[:TASK] or None, **same}


def stand(connection: Connection, of: Collection[str]) -> None:
    """Write where these runs stand, after judgments of them were kept."""
    found: dict[str, list[Row[Any]]] = {run: [] for run in of}
    for row in connection.execute(_KEPT, {"of": list(found)}):
        found[row.run].append(row)
    values = [{"of_run": run, **_values(rows)} for run, rows in found.items()]
    if values:
        connection.execute(_UPDATE, values)


_KEPT = select(
    *(judgments.c[name] for name in ("id", "run", "judge", "status", "added", "empty", "cost", "flags", "score", "worse"))
).where(judgments.c.run.in_(bindparam("of", expanding=True)))

_UPDATE = standings.update().where(standings.c.run == bindparam("of_run"))


def _values(rows: Sequence[Row[Any]]) -> dict[str, Any]:
    evaluation = _counting(row for row in rows if row.judge != "reader")
    reading = _counting(row for row in rows if row.judge == "reader")
    found = [each for each in (evaluation, reading) if each is not None]
    costs = [row.cost for row in rows if row.cost is not None]
    verdicts = evaluation if evaluation is not None and evaluation.status == "judged" else None
    scores = reading if reading is not None and reading.status == "judged" and not reading.empty else None
    return {
        "evaluation": evaluation and evaluation.id,
        "reading": reading and reading.id,
        "state": _state(found),
        "score": None if verdicts is None else verdicts.score,
        "worse": None if scores is None else scores.worse,
        "judging": sum(costs) if costs else None,
        "flags": reduce(or_, (each.flags for each in found), 0),
    }


def _counting(family: Iterable[Row[Any]]) -> Row[Any] | None:
    """The latest with an answer, else the latest; of two of one moment the one whose id comes first.

    An answer by a rubric counts before one by the exit status alone.
    """
    return max(sorted(family, key=_id), key=_weight, default=None)


_id = attrgetter("id")


def _weight(row: Row[Any]) -> tuple[bool, bool, str]:
    return row.status == "judged", row.judge != "process", row.added


def _state(found: Sequence[Row[Any]]) -> State | None:
    judged = [row for row in found if row.status == "judged"]
    if any(not row.empty for row in judged):
        return "judged"
    return "empty" if judged else "errored" if found else None
