"""Judged items: what each verdict and score says, as rows that the review queue and the figures are made from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, bindparam, exists, func, select, text, true

from adjudge.judgment import Judgment, Score, Verdict
from adjudge.reviews.doubts import doubts_of
from adjudge.store.rows import plain
from adjudge.store.schema import judged_items, judgments, reviews

NOT_ITEMISED = text("NOT itemised")


def add_items(connection: Connection, items: Sequence[dict[str, Any]], of_runs: Collection[str]) -> None:
    """Write the items of judgments of these runs, whose rows are there already."""
    if not items:
        return
    connection.execute(judged_items.insert(), items)
    again = select(judgments.c.run, judgments.c.rubric).where(judgments.c.run.in_(of_runs), judgments.c.rubric.is_not(None))
    again = again.group_by(judgments.c.run, judgments.c.rubric).having(func.count() > 1)
    for run, rubric in connection.execute(again).all():
        compare_answers(connection, run, rubric)


def itemise(connection: Connection, judgment: Judgment) -> None:
    """Write the items of a judgment that was stored without any; nothing if they are there."""
    own = judgments.c.id == judgment.id
    if connection.execute(judgments.update().where(own, NOT_ITEMISED).values(itemised=true())).rowcount:
        add_items(connection, items_of(judgment), [judgment.run])


def items_of(judgment: Judgment) -> list[dict[str, Any]]:
    """The rows of a judgment's items, before anyone else has answered."""
    rows = [_of_verdict(judgment, verdict) for verdict in judgment.verdicts]
    rows += [_of_score(judgment, score) for score in judgment.scores]
    return list({row["item"]: row for row in rows}.values())  # a gate gives each once; a forged blob must not stop a store


def _of_verdict(judgment: Judgment, verdict: Verdict) -> dict[str, Any]:
    doubts = len(doubts_of(judgment, verdict))
    return _row(judgment, verdict.criterion, "criterion", float(verdict.passed), not verdict.passed, doubts)


def _of_score(judgment: Judgment, score: Score) -> dict[str, Any]:
    worse = None if score.value is None and not score.worse else score.worse
    return _row(judgment, score.dimension, "dimension", score.value, worse, len(doubts_of(judgment, score)))


def _row(judgment: Judgment, item: str, *values: object) -> dict[str, Any]:
    names = ("kind", "answer", "worse", "doubts", "uncertainty", "disagreement")
    *_, doubts = values
    return {"judgment": judgment.id, "item": plain(item), **dict(zip(names, (*values, doubts, 0.0), strict=True))}


# --- how far answers are apart


class _Answer(msgspec.Struct):
    """An item as one judgment answered it, what blind reviewers answered, and whether someone denies it."""

    judgment: str
    judge: str | None
    answer: float | None
    doubts: int
    uncertainty: int
    disagreement: float
    said: list[float]
    denied: bool = False


def compare_answers(connection: Connection, run: str, rubric: str, item: str | None = None) -> None:
    """Write anew how uncertain and how disputed the items of a run are that were judged with a rubric, or one of them."""
    of_run = (judgments.c.run == run, judgments.c.rubric == rubric)
    columns = [judged_items.c[name] for name in ("judgment", "item", "answer", "doubts", "uncertainty", "disagreement")]
    query = (
        select(*columns, judgments.c.judge_hash).join(judgments, judgments.c.id == judged_items.c.judgment).where(*of_run)
    )
    if item is not None:
        query = query.where(judged_items.c.item == item)
    by_item: dict[str, dict[str, _Answer]] = {}
    for row in connection.execute(query):
        answer = _Answer(row.judgment, row.judge_hash, row.answer, row.doubts, row.uncertainty, row.disagreement, [])
        by_item.setdefault(row.item, {})[row.judgment] = answer
    _add_reviews(connection, by_item, of_run)
    changed = [change for name, answers in by_item.items() for change in _changes(name, list(answers.values()))]
    if changed:
        own = (judged_items.c.judgment == bindparam("of_judgment"), judged_items.c.item == bindparam("of_item"))
        connection.execute(judged_items.update().where(*own), changed)


def _add_reviews(
    connection: Connection, by_item: dict[str, dict[str, _Answer]], of_run: Sequence[ColumnElement[bool]]
) -> None:
    columns = [reviews.c[name] for name in ("judgment", "item", "mode", "approved", "passed", "value")]
    query = select(*columns, is_current().label("current")).join(judgments, judgments.c.id == reviews.c.judgment)
    for row in connection.execute(query.where(*of_run)):
        answer = by_item.get(row.item, {}).get(row.judgment)
        if answer is None:
            continue
        if row.mode == "blind":
            answer.said.append(row.value if row.passed is None else float(row.passed))
        elif row.current:
            answer.denied |= not row.approved


def is_current() -> ColumnElement[bool]:
    """Of a row of `reviews`: whether none supersedes it."""
    later = reviews.alias()
    return ~exists().where(later.c.supersedes == reviews.c.id)


def _changes(item: str, answers: Sequence[_Answer]) -> Iterator[dict[str, Any]]:
    between = _apart(each.answer for each in answers)
    for each in answers:
        own = _apart((each.answer, *each.said))
        disagreement = max(between, own, float(each.denied))
        by_judge = _apart(other.answer for other in answers if each.judge is not None and other.judge == each.judge)
        uncertainty = each.doubts + (by_judge > 0)
        if (uncertainty, disagreement) != (each.uncertainty, each.disagreement):
            yield {
                "of_judgment": each.judgment,
                "of_item": item,
                "uncertainty": uncertainty,
                "disagreement": disagreement,
            }


def _apart(answers: Iterable[float | None]) -> float:
    """The largest difference between any two that are given."""
    given = [each for each in answers if each is not None]
    return max(given) - min(given) if given else 0.0
