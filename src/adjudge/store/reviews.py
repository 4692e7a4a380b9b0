"""Reviews in a store: added and read, never changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, select

from adjudge.errors import InputError
from adjudge.judgment import Judgment
from adjudge.reviews.checking import review_of
from adjudge.reviews.values import Review, Said
from adjudge.store.deriving import are_left, take_over, take_over_all
from adjudge.store.faults import DiskFullError, patiently
from adjudge.store.items import NOT_ITEMISED, compare_answers, itemise
from adjudge.store.judgment_blobs import judgment_in, with_data
from adjudge.store.rows import is_there, now, plain
from adjudge.store.schema import judgments, reviews
from adjudge.store.store import Store

AT_A_TIME = 500
"""Rows that are held in memory, and judgments that are itemised in one transaction."""


def add_review(store: Store, said: Said) -> Review:
    """Keep what a reviewer said, and give it as it is kept.

    Raises:
        InputError: there is no such judgment or item, the answer cannot be one to it, the reviewer has reviewed the item
            before and this does not supersede their newest review of it, or it is blind although it does.
        OutsideError: the disk is full or fails, or the database is away for long.
    """
    judgment = store.judgment(said.judgment)
    rubric = store.rubric(judgment.rubric_hash) if judgment.rubric_hash else None
    review = review_of(_as_kept(said), judgment, rubric, now())
    store.writer.land(lambda: _add(store, judgment, review)).result()
    return review


def _as_kept(said: Said) -> Said:
    texts = {name: plain(getattr(said, name)) for name in ("item", "reviewer", "reason")}
    return msgspec.structs.replace(said, **texts)


def reviews_of(store: Store, judgment: str, item: str | None = None) -> list[Review]:
    """All reviews of a judgment, or of one item of it, superseded ones too, the oldest first."""
    query = select(reviews).where(reviews.c.judgment == judgment).order_by(reviews.c.added, reviews.c.number, reviews.c.id)
    if item is not None:
        query = query.where(reviews.c.item == item)
    with store.reading() as connection:
        return [_review(row._mapping) for row in connection.execute(query)]


def all_reviews(store: Store, judgments_: Sequence[str] | None = None) -> Iterator[Review]:
    """All reviews of a store, or of these judgments, the oldest first, read as they are used."""
    query = select(reviews).order_by(reviews.c.added, reviews.c.number, reviews.c.id)
    if judgments_ is not None:
        query = query.where(reviews.c.judgment.in_(judgments_))
    with store.reading() as connection:
        for row in connection.execution_options(yield_per=AT_A_TIME).execute(query):
            yield _review(row._mapping)


def newest_review(store: Store, judgment: str, item: str, reviewer: str) -> Review | None:
    """What a reviewer said of an item last, or `None`."""
    own = (reviews.c.judgment == judgment, reviews.c.item == item, reviews.c.reviewer == reviewer)
    query = select(reviews).where(*own).order_by(reviews.c.number.desc()).limit(1)
    with store.reading() as connection:
        row = connection.execute(query).one_or_none()
    return None if row is None else _review(row._mapping)


def itemise_all(store: Store) -> int:
    """Put what is judged and not there yet among the items that can be reviewed; gives how many judgments it was.

    That is what was judged before there were reviews, once in a store's life, and what a pass has put off.

    Raises:
        InputError: a newer adjudge wrote a judgment.
        OutsideError: one is damaged, or the disk is full or fails.
    """
    done = 0
    with store.reading() as connection:
        left = are_left(connection)
    if left:
        store.writer.land(lambda: take_over_all(store)).result()
    while found := _not_itemised(store):
        store.writer.land(lambda found=found: _itemise(store, found)).result()  # type: ignore[misc]  # mypy#12557: a default
        done += len(found)
    return done


def _not_itemised(store: Store) -> list[Judgment]:
    query = with_data(select().select_from(judgments)).where(NOT_ITEMISED).order_by(judgments.c.id).limit(AT_A_TIME)
    with store.reading() as connection:
        return [judgment_in(row, store.blobs) for row in connection.execute(query)]


def _itemise(store: Store, found: Sequence[Judgment]) -> None:
    store.prepare()
    with store.writing() as connection:
        for judgment in found:
            itemise(connection, judgment)


def _review(row: Mapping[Any, Any]) -> Review:
    return Review(**{name: row[name] for name in Review.__struct_fields__})


# --- in the writer's thread


def _add(store: Store, judgment: Judgment, review: Review) -> None:
    """What a person thought out is worth the reserve, as a judgment is. Doing it twice is doing it once."""
    store.prepare()
    try:
        patiently(lambda: _try(store, judgment, review))
    except DiskFullError:
        if not store.make_room():
            raise
        _try(store, judgment, review)


def _try(store: Store, judgment: Judgment, review: Review) -> None:
    with store.writing() as connection:
        if is_there(connection, reviews, review.id):
            return
        take_over(connection, judgment.id)
        itemise(connection, judgment)
        earlier = _earlier(connection, review)
        _require_next(review, earlier)
        connection.execute(reviews.insert().values(msgspec.structs.asdict(review) | {"number": len(earlier)}))
        if judgment.rubric_hash is not None:
            compare_answers(connection, judgment.run, judgment.rubric_hash, review.item)


def _earlier(connection: Connection, review: Review) -> list[Row[Any]]:
    """The reviewer's reviews of the same item, the oldest first."""
    own = (reviews.c.judgment == review.judgment, reviews.c.item == review.item, reviews.c.reviewer == review.reviewer)
    return list(connection.execute(select(reviews.c.id, reviews.c.mode).where(*own).order_by(reviews.c.number)))


def _require_next(review: Review, earlier: Sequence[Row[Any]]) -> None:
    """Refuse a review that is not the next one of its reviewer.

    Raises:
        InputError: it supersedes nothing although it must, or what it cannot supersede, or it is blind and not the first.
    """
    what = f"{review.reviewer}'s review of {review.item} in judgment {review.judgment}"
    if not earlier:
        if review.supersedes is not None:
            raise InputError(f"{what}: supersedes {review.supersedes}, and there is none of theirs yet to supersede")
        return
    newest = earlier[-1].id
    if review.mode == "blind":
        raise InputError(
            f"{what}: there is one already ({newest}), so they know what the judge said; the next one is not blind"
        )
    if review.supersedes is None:
        raise InputError(f"{what}: there is one already ({newest}); say that this one supersedes it")
    if review.supersedes != newest:
        known = (
            "which is superseded already" if review.supersedes in [row.id for row in earlier] else "which is none of these"
        )
        raise InputError(f"{what}: supersedes {review.supersedes}, {known}; the newest is {newest}")
