"""What lies before a reviewer: the queue, and one item of it, with the judge's side only once it may be seen."""

from __future__ import annotations

from collections import Counter

import msgspec

from adjudge.reviews.values import Order, Review
from adjudge.store.review_queue import QueueCounts, QueueItem, Scope
from adjudge.store.reviews import reviews_of
from adjudge.store.shown import note_shown, was_shown
from adjudge.store.store import Store
from adjudge.wiring.reviews import Answered, Question, answered, question, queue_counts, review_queue, scope_of

MOST = 20
"""Items of the queue that a page lists."""
MOST_SKIPPED = 1_000
"""Items that can be skipped in one sitting."""


class Sitting(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a reviewer goes through items: the order (`None`: chosen by hand), which are meant, how many are skipped."""

    order: Order | None = None
    seed: int = 0
    skip: int = 0
    rubric: str | None = None
    criterion: str | None = None
    agent: str | None = None
    judge: str | None = None
    in_pass: str | None = None
    in_judgment: str | None = None

    def scope(self, store: Store) -> Scope:
        """Which items are meant. Raises InputError if a name in it stands for nothing."""
        return scope_of(
            store, self.rubric, self.criterion, self.agent, self.judge, self.in_pass or None, self.in_judgment or None
        )


class Queue(msgspec.Struct, frozen=True):
    """The next items, and how many there are."""

    items: tuple[QueueItem, ...]
    counts: QueueCounts


class AtDesk(msgspec.Struct, frozen=True):
    """One item before a reviewer. `answered` is the judge's side, `None` as long as the reviewer must not see it.

    `shown` says that they were shown it before they had answered, so that what they say is not blind.
    """

    question: Question
    reviewer: str | None
    answered: Answered | None
    shown: bool = False

    @property
    def own(self) -> Review | None:
        """What the reviewer said of it last."""
        reviews = self.answered.reviews if self.answered else ()
        return next((review for review in reversed(reviews) if review.reviewer == self.reviewer), None)


def queue_of(store: Store, sitting: Sitting, reviewer: str | None) -> Queue:
    """What comes next for a reviewer. Raises InputError if a name in the sitting stands for nothing."""
    order, scope = sitting.order or "random", sitting.scope(store)
    items = review_queue(store, order, scope, reviewer, MOST, sitting.seed)
    return Queue(tuple(items), queue_counts(store, order, scope, reviewer))


def next_item(store: Store, sitting: Sitting, reviewer: str | None) -> QueueItem | None:
    """The item behind those that were skipped, `None` if there is none."""
    order, skip = sitting.order or "random", min(sitting.skip, MOST_SKIPPED)
    items = review_queue(store, order, sitting.scope(store), reviewer, skip + 1, sitting.seed)
    return items[skip] if len(items) > skip else None


def counts_of(store: Store, sitting: Sitting, reviewer: str | None) -> QueueCounts:
    """How many items of a sitting there are, whatever the judge said of them."""
    return queue_counts(store, "random", sitting.scope(store), reviewer)


def at_desk(store: Store, judgment: str, item: str, reviewer: str | None, seen: bool) -> AtDesk:
    """An item, with the judge's side if the reviewer has answered already, or wants to approve or deny (`seen`).

    That they are shown it is noted, and from then on it stands open before them.

    Raises:
        InputError: there is no such judgment or item.
        OutsideError: something of it is damaged, or cannot be read.
    """
    reviewer = (reviewer or "").strip() or None
    asked = question(store, judgment, item)
    has_answered = any(review.reviewer == reviewer for review in reviews_of(store, judgment, item))
    if seen and reviewer and not has_answered:
        note_shown(store, judgment, item, reviewer)
    shown = bool(reviewer) and was_shown(store, judgment, item, reviewer or "")
    is_open = seen or has_answered or shown
    return AtDesk(asked, reviewer, answered(store, judgment, item) if is_open else None, shown)


class ReviewsOf(msgspec.Struct, frozen=True):
    """Reviews of a judgment, superseded ones too, the oldest first.

    `hidden` counts, by criterion or dimension, those that the reviewer must not see before they have answered.
    """

    judgment: str
    reviews: tuple[Review, ...]
    hidden: dict[str, int]


def reviews_for(store: Store, judgment: str, reviewer: str | None, seen: bool) -> ReviewsOf:
    """What a reviewer may see of the reviews of a judgment: as at the desk, of what they answered, or all if `seen`.

    What they are shown before they have answered is noted as there. Raises InputError if there is no such judgment.
    """
    reviewer = (reviewer or "").strip() or None
    found = reviews_of(store, store.row(judgment).id)
    own = {review.item for review in found if review.reviewer == reviewer}
    others = {review.item for review in found} - own
    if seen and reviewer:
        for item in sorted(others):
            note_shown(store, judgment, item, reviewer)
    open_ = own | {item for item in others if seen or (reviewer and was_shown(store, judgment, item, reviewer))}
    hidden = Counter(review.item for review in found if review.item not in open_)
    return ReviewsOf(judgment, tuple(review for review in found if review.item in open_), dict(hidden))
