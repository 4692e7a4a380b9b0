"""A run with the judgments that a page shows of it: one that gives verdicts, one that gives scores."""

from __future__ import annotations

import msgspec

from adjudge.errors import InputError
from adjudge.exports.judged import Judged
from adjudge.store.rows import JudgmentRow
from adjudge.store.store import Store
from adjudge.web.queries.kept import OpenRun


class JudgedRun(msgspec.Struct, frozen=True):
    """A run, the rows of all its judgments (the latest first), and the two that are shown, if there are such."""

    opened: OpenRun
    rows: tuple[JudgmentRow, ...]
    evaluation: Judged | None = None
    reading: Judged | None = None


def judged_run(store: Store, opened: OpenRun, chosen: str | None = None) -> JudgedRun:
    """A run with the judgments that count, or with the chosen one in place of the one of its kind.

    Raises:
        InputError: the chosen judgment is none of this run.
        OutsideError: a judgment is damaged, or cannot be read.
    """
    rows = tuple(store.judgments(opened.run.id))
    if chosen is not None and chosen not in {row.id for row in rows}:
        raise InputError(f"there is no judgment {chosen[:40]!r} of run {opened.run.id}")
    evaluation = _standing([row for row in rows if row.judge != "reader"], chosen)
    reading = _standing([row for row in rows if row.judge == "reader"], chosen)
    return JudgedRun(opened, rows, _judged(store, opened, evaluation), _judged(store, opened, reading))


def _standing(rows: list[JudgmentRow], chosen: str | None) -> JudgmentRow | None:
    """The chosen one; else, of the latest, one with an answer, and rather by a rubric than by the exit status alone."""
    named = next((row for row in rows if row.id == chosen), None)
    return named or max(rows, key=lambda row: (row.status == "judged", row.judge != "process"), default=None)


def _judged(store: Store, opened: OpenRun, row: JudgmentRow | None) -> Judged | None:
    if row is None:
        return None
    rubric = store.rubric(row.rubric_hash) if row.rubric_hash else None
    return Judged(store.judgment(row.id), opened.run, rubric)
