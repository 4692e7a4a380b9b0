"""Checking a judgment's items and reviews again: against the judgment, and each review against its own id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import select

from adjudge.errors import InputError
from adjudge.judgment import Judgment
from adjudge.reviews.checking import review_of
from adjudge.reviews.values import Review, Said, review_id
from adjudge.rubric import Rubric
from adjudge.store.items import items_of
from adjudge.store.schema import judged_items, judgments, underived
from adjudge.store.store import Store
from adjudge.verifying import Finding

OWN = ("item", "kind", "answer", "worse")
"""Columns of an item that say what its judgment says, whatever others do, and whatever a later adjudge doubts."""


def of_items(store: Store, judgment: Judgment) -> Iterator[Finding]:
    """Where the rows of a judgment's items do not say what the judgment says."""
    columns = [judged_items.c[name] for name in OWN]
    with store.reading() as connection:
        there = select(judgments.c.itemised, underived.c.number).outerjoin_from(judgments, underived)
        itemised, put_off = connection.execute(there.where(judgments.c.id == judgment.id)).one()
        if not itemised or put_off is not None:
            return
        rows = connection.execute(select(*columns).where(judged_items.c.judgment == judgment.id))
        stored = {row.item: tuple(row) for row in rows}
    expected = {row["item"]: tuple(row[name] for name in OWN) for row in items_of(judgment)}
    for item in sorted(stored.keys() | expected.keys()):
        if stored.get(item) != expected.get(item):
            yield Finding("row", f"the row of {item} is {stored.get(item)}, the judgment gives {expected.get(item)}")


def of_reviews(judgment: Judgment, rubric: Rubric | None, reviews: Sequence[Review]) -> Iterator[Finding]:
    """Reviews that were changed, that cannot have been said of this judgment, or that do not follow one another."""
    newest: dict[tuple[str, str], str] = {}
    for review in reviews:
        said = Said(**{name: getattr(review, name) for name in Said.__struct_fields__})
        try:
            if review_id(review) != review.id or review_of(said, judgment, rubric, review.added) != review:
                yield Finding(f"review {review.id}", "its content is not what its id was made from: it was changed")
        except InputError as error:
            yield Finding(f"review {review.id}", str(error))
        key = (review.item, review.reviewer)
        if review.supersedes != newest.get(key):
            yield Finding(f"review {review.id}", f"supersedes {review.supersedes}, the one before it is {newest.get(key)}")
        newest[key] = review.id
