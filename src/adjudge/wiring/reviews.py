"""Reviews of a store's judgments: what comes next, what is said, and what that comes to."""

from __future__ import annotations

import getpass
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from adjudge.errors import InputError
from adjudge.judgment import Judgment, Score, Verdict
from adjudge.reviews.figures import By, Counted, Report, Trust, report_of, trust_of
from adjudge.reviews.values import Order, Picked, Review, Said
from adjudge.rubric import Criterion, Dimension, Rubric, Scale
from adjudge.run import Run

if TYPE_CHECKING:
    from adjudge.settings import Settings
    from adjudge.store.review_queue import QueueCounts, QueueItem, Scope
    from adjudge.store.store import Store


class Question(msgspec.Struct, frozen=True):
    """What a reviewer is asked, without anything that the judge or another reviewer said."""

    judgment: str
    item: str
    asked: Criterion | Dimension
    rubric: Rubric
    run: Run


class Answered(msgspec.Struct, frozen=True):
    """What the judge said of an item, the judgment that it stands in, and all reviews of it, the oldest first."""

    judged: Verdict | Score
    judgment: Judgment
    reviews: tuple[Review, ...]


def reviewer_of(settings: Settings) -> str:
    """Under which name reviews are kept.

    Raises:
        InputError: none is given, and the system knows none.
    """
    if settings.reviewer:
        return settings.reviewer
    try:
        return getpass.getuser()
    except (OSError, KeyError) as error:
        raise InputError("who reviews is not known here: give --reviewer, or set ADJUDGE_REVIEWER") from error


def scope_of(
    store: Store,
    rubric: str | None = None,
    item: str | None = None,
    harness: str | None = None,
    judge: str | None = None,
    of_pass: str | None = None,
    judgment: str | None = None,
) -> Scope:
    """Which items are meant, from names: a rubric's file, name or hash, and ids or their beginnings.

    Raises:
        InputError: there is no such rubric, pass or judgment, or there are several.
    """
    from adjudge.store.review_queue import Scope
    from adjudge.wiring.results import stored_rubric

    return Scope(
        rubric=None if rubric is None else stored_rubric(store, rubric),
        item=item,
        harness=harness,
        judge=judge,
        of_pass=None if of_pass is None else store.passes.find(of_pass),
        judgment=None if judgment is None else store.find_judgment(judgment),
    )


def review_queue(
    store: Store, order: Order, scope: Scope, reviewer: str | None = None, most: int = 20, seed: int = 0
) -> list[QueueItem]:
    """The next items to look at, without those that the reviewer has reviewed; see `store.review_queue.queued`.

    Raises:
        OutsideError: the store cannot be read, or what was judged before there were reviews cannot be taken up.
    """
    from adjudge.store.review_queue import queued
    from adjudge.store.reviews import itemise_all

    itemise_all(store)
    return queued(store, order, scope, reviewer, most, seed)


def queue_counts(store: Store, order: Order, scope: Scope, reviewer: str | None = None) -> QueueCounts:
    """How many items there are to look at, and how many are reviewed. Raises OutsideError as `review_queue` does."""
    from adjudge.store.review_queue import counts_of
    from adjudge.store.reviews import itemise_all

    itemise_all(store)
    return counts_of(store, order, scope, reviewer)


def question(store: Store, judgment: str, item: str) -> Question:
    """What to ask of an item.

    Raises:
        InputError: there is no such judgment or item, or its rubric does not have it.
        OutsideError: something of it is damaged, or cannot be read.
    """
    from adjudge.reviews.checking import judged_item, require_asked

    stored = store.judgment(judgment)
    judged_item(stored, item)
    rubric, asked = require_asked(stored, store.rubric(stored.rubric_hash) if stored.rubric_hash else None, item)
    return Question(judgment, item, asked, rubric, store.run(stored.run))


def answered(store: Store, judgment: str, item: str) -> Answered:
    """What the judge and the reviewers said of an item. Raises InputError and OutsideError as `question`."""
    from adjudge.reviews.checking import judged_item
    from adjudge.store.reviews import reviews_of

    stored = store.judgment(judgment)
    return Answered(judged_item(stored, item), stored, tuple(reviews_of(store, judgment, item)))


def note_shown(store: Store, judgment: str, item: str, reviewer: str) -> None:
    """Note that a reviewer is shown what the judge said of an item. Raises OutsideError if it cannot be written."""
    from adjudge.store.shown import note_shown as note

    note(store, judgment, item, reviewer)


def add_review(store: Store, said: Said, supersede: bool = False) -> Review:
    """Keep what a reviewer said; with `supersede` in place of their newest review of the item, if there is one.

    Of one who was shown what the judge said before, no answer is blind: it is kept as `seen`, and approves of the judge's
    if it is the same.

    Raises:
        InputError: it cannot be said of this item, or the reviewer has reviewed the item before and nothing says that this
            supersedes it; see `store.reviews.add_review`.
        OutsideError: it could not be kept.
    """
    from adjudge.store.reviews import add_review as keep
    from adjudge.store.reviews import newest_review

    newest = newest_review(store, said.judgment, said.item, said.reviewer) if supersede else None
    known = _as_seen(store, said)
    return keep(store, known if newest is None else msgspec.structs.replace(known, supersedes=newest.id))


def _as_seen(store: Store, said: Said) -> Said:
    from adjudge.reviews.checking import judged_item, review_of
    from adjudge.store.shown import was_shown

    if said.mode == "seen" or not was_shown(store, said.judgment, said.item, said.reviewer):
        return said
    judgment = store.judgment(said.judgment)
    rubric = store.rubric(judgment.rubric_hash) if judgment.rubric_hash else None
    review_of(said, judgment, rubric, "")  # refused as it was said
    judged = judged_item(judgment, said.item)
    same = said.passed == judged.passed if isinstance(judged, Verdict) else said.value == judged.value
    return msgspec.structs.replace(said, mode="seen", approved=same, passed=None, value=None)


def agreement(store: Store, by: Sequence[By], scope: Scope, picked: Picked | None = None) -> Report:
    """What reviews and judgments again come to, for the whole and by what it is split; `picked` counts only such reviews.

    Raises:
        OutsideError: the store cannot be read, or what was judged before there were reviews cannot be taken up.
    """
    return report_of(_counted(store, scope, picked), by, _scales(store, scope.rubric), picked)


def trust(store: Store, rubric: str, judge: str | None) -> Trust:
    """How far a judge, by its hash, can be trusted with a rubric, over all that is reviewed; `None` stands for all judges.

    Raises OutsideError as `agreement`.
    """
    from adjudge.store.review_queue import Scope

    return trust_of(_counted(store, Scope(rubric=rubric, judge=judge), None), _scales(store, rubric))


def _counted(store: Store, scope: Scope, picked: Picked | None) -> Counted:
    from adjudge.store import review_counts
    from adjudge.store.reviews import itemise_all

    itemise_all(store)
    return Counted(
        review_counts.endorsements(store, scope, picked),
        review_counts.blind_pairs(store, scope, picked),
        review_counts.blind_items(store, scope, picked),
        review_counts.repeated_pairs(store, scope),
    )


def _scales(store: Store, rubric: str | None) -> dict[tuple[str, str], Scale]:
    """The scale of each dimension of the rubric of this hash, or of each stored one."""
    from adjudge.store.judged import rubrics_of

    rubrics = [store.rubric(hash) for hash, _ in rubrics_of(store) if rubric in (None, hash)]
    return {(rubric.hash, each.id): each.scale for rubric in rubrics for each in rubric.dimensions}
