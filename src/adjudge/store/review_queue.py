"""The review queue: which judged items to look at next, read no further than needed."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from hashlib import blake2b
from itertools import groupby, islice
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, Select, TextClause, and_, exists, func, literal, or_, select, text

from adjudge.reviews.values import Order
from adjudge.store.schema import judged_items, judgments, pass_runs, reviews, runs
from adjudge.store.store import Store

AT_A_TIME = 200
"""Rows that are fetched at once."""
MOST_COUNTED = 10_000
"""Items that are counted; more are as many as this and one."""


class Scope(msgspec.Struct, frozen=True):
    """Which judged items are meant: those for which all that is given is so.

    `rubric` is a hash, `judge` a model or the beginning of a judge's hash, `harness` an agent's name or `unknown`.
    """

    rubric: str | None = None
    item: str | None = None
    harness: str | None = None
    judge: str | None = None
    of_pass: str | None = None
    judgment: str | None = None


class QueueItem(msgspec.Struct, frozen=True):
    """A judged item to look at, and nothing of what the judge said of it.

    `disagreement` is how far answers to this item of this run are apart, `uncertainty` counts what makes it doubtful:
    whoever is to judge blind should be told neither.
    """

    judgment: str
    item: str
    kind: str
    run: str
    rubric: str | None
    rubric_hash: str
    harness: str
    judge: str
    model: str | None
    judge_hash: str | None
    uncertainty: int
    disagreement: float


class QueueCounts(msgspec.Struct, frozen=True):
    """How many items a reviewer has before them, how many they have reviewed, and how many somebody else has."""

    open: int
    mine: int
    others: int


def queued(store: Store, order: Order, scope: Scope, reviewer: str | None, most: int, seed: int = 0) -> list[QueueItem]:
    """The next items, at most so many, without those that the reviewer has reviewed.

    By `disagreement` and `uncertainty` come only items that have any, the most first. At `random` the seed says where in
    the store to begin, and which item of each judgment comes first: one of each of them, then a second one, and so on.
    """
    if order == "random":
        return _drawn(store, scope, reviewer, most, seed)
    query = _items(scope).where(_some(order), ~_reviewed(reviewer))
    query = query.order_by(*(judged_items.c[name].desc() for name in (order, "judgment", "item"))).limit(most)
    with store.reading() as connection:
        return [_queue_item(row) for row in connection.execute(query)]


def counts_of(store: Store, order: Order, scope: Scope, reviewer: str | None) -> QueueCounts:
    """How many items `queued` would give if it were asked for all of them, and how many of the scope are reviewed."""
    some = () if order == "random" else (_some(order),)
    own, others = reviews.c.reviewer == reviewer, reviews.c.reviewer.is_distinct_from(reviewer)
    queries = (_items(scope).where(*some, ~_reviewed(reviewer)), _of_reviews(scope, own), _of_reviews(scope, others))
    with store.reading() as connection:
        return QueueCounts(*(_counted(connection, query) for query in queries))


def _of_reviews(scope: Scope, who: ColumnElement[bool]) -> Select[Any]:
    """The reviewed items of a scope, each once."""
    return _items(scope).where(
        exists().where(reviews.c.judgment == judged_items.c.judgment, reviews.c.item == judged_items.c.item, who)
    )


def _counted(connection: Connection, query: Select[Any]) -> int:
    some = query.with_only_columns(judged_items.c.item, maintain_column_froms=True).limit(MOST_COUNTED + 1)
    return connection.scalar(select(func.count()).select_from(some.subquery())) or 0


def _some(order: Order) -> TextClause:
    """In the words of the indices, which hold nothing else."""
    return text("disagreement > 0") if order == "disagreement" else text("uncertainty > 0")


def _drawn(store: Store, scope: Scope, reviewer: str | None, most: int, seed: int) -> list[QueueItem]:
    """A judgment's id is random, so that to begin anywhere in their order and go on is to draw at random."""
    rounds: list[list[QueueItem]] = [[]]
    with closing(_by_judgment(store, scope, reviewer, seed)) as judged:
        for rows in judged:
            for at, row in enumerate(sorted(rows, key=lambda row: _place(seed, row.judgment, row.item))):
                if at == len(rounds):
                    rounds.append([])
                if not row.reviewed and len(rounds[at]) < most:
                    rounds[at].append(_queue_item(row))
            if len(rounds[0]) == most:
                break
    return [item for each in rounds for item in each][:most]


def _by_judgment(store: Store, scope: Scope, reviewer: str | None, seed: int) -> Generator[list[Row[Any]], None, None]:
    """The items of each judgment, from a judgment that the seed names round to the one before it."""
    query = _items(scope).add_columns(_reviewed(reviewer).label("reviewed"))
    query = query.order_by(judged_items.c.judgment, judged_items.c.item)
    with store.reading() as connection, closing(_around(connection, scope, f"j-{_place(seed).hex()}")) as judged:
        while names := list(islice(judged, AT_A_TIME)):
            rows = {name: list(of_one) for name, of_one in _grouped(connection, query, names)}
            yield from (rows[name] for name in names if name in rows)


def _grouped(connection: Connection, query: Select[Any], names: Sequence[str]) -> Iterator[tuple[str, Iterator[Row[Any]]]]:
    found = connection.execute(query.where(judged_items.c.judgment.in_(names))).all()
    return groupby(found, key=lambda row: str(row.judgment))


def _around(connection: Connection, scope: Scope, start: str) -> Generator[str, None, None]:
    """The judgments that are meant, in the order of their ids, from one on and then up to it."""
    query = select(judgments.c.id).where(judgments.c.rubric.is_not(None), *of_judgment(scope)).order_by(judgments.c.id)
    for half in (judgments.c.id >= start, judgments.c.id < start):
        with connection.execution_options(yield_per=AT_A_TIME).execute(query.where(half)) as rows:
            yield from (row.id for row in rows)


def _place(seed: int, *names: str) -> bytes:
    return blake2b(
        "\0".join((str(seed), *names)).encode("utf-8", "surrogatepass"), digest_size=8, person=b"review"
    ).digest()


def _items(scope: Scope) -> Select[Any]:
    of_item = [judged_items.c[name] for name in ("judgment", "item", "kind", "uncertainty", "disagreement")]
    of_judgment = [judgments.c[name] for name in ("run", "rubric", "rubric_name", "judge", "model", "judge_hash")]
    query = (
        select(*of_item, *of_judgment, runs.c.agent)
        .join_from(judged_items, judgments)
        .join(runs, runs.c.id == judgments.c.run)
    )
    return query.where(judgments.c.rubric.is_not(None), is_in(scope))


def is_in(scope: Scope) -> ColumnElement[bool]:
    """Of a judged item with its judgment: whether it is meant."""
    of_item = () if scope.item is None else (judged_items.c.item == scope.item,)
    return and_(literal(True), *of_item, *of_judgment(scope))


def of_judgment(scope: Scope) -> Iterator[ColumnElement[bool]]:
    """Of a judgment: what must be so for it to be meant."""
    if scope.rubric is not None:
        yield judgments.c.rubric == scope.rubric
    if scope.judgment is not None:
        yield judgments.c.id == scope.judgment
    if scope.harness is not None:
        is_its = runs.c.agent.is_(None) if scope.harness == "unknown" else runs.c.agent == scope.harness
        yield judgments.c.run.in_(select(runs.c.id).where(is_its))
    if scope.judge is not None:
        starts = judgments.c.judge_hash.startswith(scope.judge, autoescape=True)
        yield or_(judgments.c.model == scope.judge, starts)
    if scope.of_pass is not None:
        yield judgments.c.id.in_(select(pass_runs.c.judgment).where(pass_runs.c["pass"] == scope.of_pass))


def _reviewed(reviewer: str | None) -> ColumnElement[bool]:
    """Whether the reviewer has reviewed the item."""
    own = (reviews.c.judgment == judged_items.c.judgment, reviews.c.item == judged_items.c.item)
    return exists().where(*own, reviews.c.reviewer == reviewer)


def _queue_item(row: Row[Any]) -> QueueItem:
    return QueueItem(
        row.judgment,
        row.item,
        row.kind,
        row.run,
        row.rubric_name,
        row.rubric,
        row.agent or "unknown",
        row.judge,
        row.model,
        row.judge_hash,
        row.uncertainty,
        row.disagreement,
    )
