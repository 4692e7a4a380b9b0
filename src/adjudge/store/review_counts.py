"""What the figures of reviews are counted from: equal answers are counted by the database, and streamed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice, pairwise
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, case, func, select

from adjudge.reviews.agreement import Pair
from adjudge.reviews.figures import Subject
from adjudge.reviews.values import Picked
from adjudge.store.items import is_current
from adjudge.store.review_queue import Scope, is_in, of_judgment
from adjudge.store.schema import judged_items, judgments, reviews, runs
from adjudge.store.store import Store

AT_A_TIME = 500
"""Rows that are held in memory."""

_ITEMS = func.count(reviews.c.judgment.distinct()).label("items")
"""Of one subject each judgment has one item."""


def counts_of_store(store: Store) -> tuple[int, int]:
    """How many reviews and judgments there are: figures of agreement stay as they are while these do."""
    query = select(*(select(func.count()).select_from(table).scalar_subquery() for table in (reviews, judgments)))
    with store.reading() as connection:
        counts = connection.execute(query).one()
    return counts[0], counts[1]


def reviews_on(store: Store, judgments_: Sequence[str]) -> dict[str, int]:
    """How many reviews that none supersedes there are of each item of these judgments."""
    query = select(reviews.c.item, func.count()).where(reviews.c.judgment.in_(judgments_), is_current())
    with store.reading() as connection:
        return {row.item: row[1] for row in connection.execute(query.group_by(reviews.c.item))}


def endorsements(store: Store, scope: Scope, picked: Picked | None) -> Iterator[tuple[Subject, int, int, int]]:
    """Of each subject: how many current reviews had seen the answer, how many of those approve, and of how many items."""
    approved = func.sum(case((reviews.c.approved, 1), else_=0)).label("approved")
    query = _about(_reviewed(scope, picked), func.count().label("total"), approved, _ITEMS)
    for row in _streamed(store, query.where(reviews.c.mode == "seen", is_current())):
        yield _subject(row), row.approved, row.total, row.items


def blind_pairs(store: Store, scope: Scope, picked: Picked | None) -> Iterator[tuple[Subject, Pair, int]]:
    """Of each subject: what a blind reviewer and the judge said, and how often just that."""
    own = func.coalesce(reviews.c.value, case((reviews.c.passed, 1.0), else_=0.0)).label("own")
    said = (own, judged_items.c.answer, reviews.c.worse, judged_items.c.worse.label("judged_worse"))
    query = _about(_reviewed(scope, picked), *said, func.count().label("times"))
    query = query.where(reviews.c.mode == "blind").group_by(*said)
    for row in _streamed(store, query):
        yield _subject(row), Pair((row.own, row.answer), (row.worse, row.judged_worse)), row.times


def blind_items(store: Store, scope: Scope, picked: Picked | None) -> Iterator[tuple[Subject, int]]:
    """Of each subject: how many different items have a blind review."""
    query = _about(_reviewed(scope, picked), _ITEMS).where(reviews.c.mode == "blind")
    for row in _streamed(store, query):
        yield _subject(row), row.items


def repeated_pairs(store: Store, scope: Scope) -> Iterator[tuple[Subject, Pair, bool]]:
    """What a judge said of an item of a run and said when it judged that run again, each time beside the time before.

    The last value is true for the first pair of an item of a run.
    """
    key = [judgments.c[name] for name in ("run", "rubric", "judge_hash")]
    query = (
        select(*_subjects(), judgments.c.run, judged_items.c.answer, judged_items.c.worse)
        .join_from(judged_items, judgments)
        .join(runs, runs.c.id == judgments.c.run)
        .where(is_in(scope), judgments.c.judge_hash.is_not(None))
        .order_by(*key, judged_items.c.item, judgments.c.sample)
    )
    again = select(judgments.c.run).where(judgments.c.sample > 0, *of_judgment(scope)).distinct()
    names = (row.run for row in _streamed(store, again))
    while some := list(islice(names, AT_A_TIME)):
        of_some = _streamed(store, query.where(judgments.c.run.in_(some)))
        of_item = groupby(of_some, key=lambda row: (row.run, row.rubric, row.judge_hash, row.item))
        for _, rows in of_item:
            yield from _repetitions(rows)


def _repetitions(rows: Iterable[Row[Any]]) -> Iterator[tuple[Subject, Pair, bool]]:
    first = True
    for before, after in pairwise(rows):
        if (pair := _repeated(before, after)) is not None:
            yield _subject(after), pair, first
            first = False


def _repeated(before: Row[Any], after: Row[Any]) -> Pair | None:
    """Two answers of a judge; if one of them gave no value, the other comes first."""
    if before.answer is None:
        before, after = after, before
    if before.answer is None:
        return None
    return Pair((before.answer, after.answer), (bool(before.worse), after.worse))


def _reviewed(scope: Scope, picked: Picked | None) -> Select[Any]:
    own = (judged_items.c.judgment == reviews.c.judgment) & (judged_items.c.item == reviews.c.item)
    query = (
        select()
        .select_from(reviews)
        .join(judged_items, own)
        .join(judgments, judgments.c.id == reviews.c.judgment)
        .join(runs, runs.c.id == judgments.c.run)
        .where(judgments.c.rubric.is_not(None), is_in(scope))
    )
    return query if picked is None else query.where(reviews.c.picked == picked)


def _about(query: Select[Any], *counted: ColumnElement[Any]) -> Select[Any]:
    return query.add_columns(*_subjects(), *counted).group_by(*_subjects())


def _subjects() -> tuple[ColumnElement[Any], ...]:
    of_judgment = [judgments.c[name] for name in ("rubric", "rubric_name")]
    of_item = [judged_items.c[name] for name in ("item", "kind")]
    return (*of_judgment, *of_item, runs.c.agent, *(judgments.c[name] for name in ("judge", "model", "judge_hash")))


def _subject(row: Row[Any]) -> Subject:
    return Subject(
        row.rubric, row.rubric_name, row.item, row.kind, row.agent or "unknown", row.judge, row.model, row.judge_hash
    )


def _streamed(store: Store, query: Select[Any]) -> Iterator[Row[Any]]:
    with store.reading() as connection:
        yield from connection.execution_options(yield_per=AT_A_TIME).execute(query)
