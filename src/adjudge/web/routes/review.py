"""Reviewing: the queue, one item at a time, blind until the reviewer's own answer is in, and how an answer is kept."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from litestar import Response, get, post, put
from litestar.di import NamedDependency, Provide
from litestar.params import FromQuery, JSONBody, PathParameter, QueryParameter
from litestar.response import Redirect

from adjudge.judgment import Score, Verdict
from adjudge.reviews.checking import LONGEST_NAME, LONGEST_REASON
from adjudge.reviews.values import Order, Review, Said
from adjudge.rubric import Criterion, Dimension
from adjudge.store.judged import rubrics_of
from adjudge.store.listing import choices_of
from adjudge.store.review_queue import QueueCounts, QueueItem
from adjudge.web.addresses import address, of_run
from adjudge.web.queries.reviewing import AtDesk, ReviewsOf, Sitting, at_desk, counts_of, next_item, queue_of, reviews_for
from adjudge.web.queries.search import search
from adjudge.web.rendering import page
from adjudge.web.reviewer import cookie_for, reviewer_here
from adjudge.web.routes.asked import Name, Names, Near, Position, Words
from adjudge.web.site import Here
from adjudge.web.views.finding import found_view
from adjudge.web.views.review import desk_of, leads_of, next_of, query_of, shown_record
from adjudge.web.views.review_queue import queue_page
from adjudge.wiring.reviews import Answered, add_review, reviewer_of

Item = Annotated[str, PathParameter(max_length=400)]
"""The id of a criterion or a dimension."""
Seed = Annotated[int, QueryParameter(ge=0, le=2**32)]
Skip = Annotated[int, QueryParameter(ge=0, le=1_000)]
Reviewer = NamedDependency[str | None]
Sat = NamedDependency[Sitting]


def sitting_of(
    order: FromQuery[Order | None] = None,
    seed: Seed = 0,
    skip: Skip = 0,
    rubric: Names = None,
    criterion: Names = None,
    agent: Words = None,
    judge: Words = None,
    in_pass: Names = None,
    in_judgment: Names = None,
) -> Sitting:
    """What the address says of a sitting; a form sends an empty word for a field in which nothing was chosen."""
    names = (rubric, criterion, agent, judge, in_pass, in_judgment)
    return Sitting(order, seed, skip, *(name or None for name in names))


SHOWN = "the reviewer had been shown what the judge said, so that this answer approves or denies it and is not blind"
SITTING = {"sitting": Provide(sitting_of, sync_to_thread=False)}
AT_DESK = {**SITTING, "reviewer": Provide(reviewer_here, sync_to_thread=False)}


# --- pages


@get("/review", include_in_schema=False, sync_to_thread=True, dependencies=AT_DESK)
def show_queue(site: Here, sitting: Sat, reviewer: Reviewer) -> Response[bytes]:
    """What is to be reviewed, and by whom."""
    queue = queue_of(site.store, sitting, reviewer)
    choices = choices_of(site.store)
    suggested = "" if reviewer else reviewer_of(site.settings)
    shown = queue_page(queue, sitting, reviewer, suggested, rubrics_of(site.store), (*choices.agents, "unknown"))
    return page("review_queue.html", here="Review", page=shown)


@get("/review/next", include_in_schema=False, sync_to_thread=True, dependencies=AT_DESK)
def go_on(site: Here, sitting: Sat, reviewer: Reviewer) -> Redirect:
    """To the next item, or to the queue, which says why there is none."""
    found = next_item(site.store, sitting, reviewer)
    path = ("review", found.judgment, found.item) if found else ("review",)
    return Redirect(address(*path, **query_of(sitting)).unescape())


@get("/review/{judgment:str}/{item:str}", include_in_schema=False, sync_to_thread=True, dependencies=AT_DESK)
def show_item(
    site: Here,
    sitting: Sat,
    reviewer: Reviewer,
    judgment: Name,
    item: Item,
    seen: FromQuery[bool] = False,
    at: Names = None,
    q: Words = None,
    after: Names = None,
) -> Response[bytes]:
    """An item to answer: blind, or with the judge's side once the reviewer's answer is in, or if they want to see it."""
    desk = at_desk(site.store, judgment, item, reviewer, seen)
    opened = site.runs.open(desk.question.run.id)
    counts = counts_of(site.store, sitting, reviewer) if sitting.order and reviewer else None
    shown = desk_of(desk, opened, sitting, seen, counts, at)
    leads = leads_of(judgment, item, sitting, seen)
    found = found_view(search(opened, q, None, after or None), q, None, leads) if q else None
    return page("review.html", here="Review", page=shown, found=found, q=q or "")


@get("/review/{judgment:str}/{item:str}/entries", include_in_schema=False, sync_to_thread=True, dependencies=AT_DESK)
def show_item_entries(
    site: Here,
    sitting: Sat,
    reviewer: Reviewer,
    judgment: Name,
    item: Item,
    start: Position,
    end: Position,
    seen: FromQuery[bool] = False,
    of: Names = None,
    near: Near = None,
) -> Response[bytes]:
    """Entries that take a gap's place: nothing is marked in them either while the reviewer is blind."""
    desk = at_desk(site.store, judgment, item, reviewer, seen)
    record = shown_record(desk, site.runs.open(desk.question.run.id), leads_of(judgment, item, sitting, seen))
    return page("entries.html", entries=record.between(of or "", start, end, near))


# --- the API


class Waiting(msgspec.Struct, frozen=True):
    """An item of the queue, and nothing of what the judge said of it."""

    judgment: str
    item: str
    kind: str
    run: str
    rubric: str | None
    rubric_hash: str
    harness: str
    judge: str
    model: str | None


class Waitings(msgspec.Struct, frozen=True):
    """The next items of the queue, and how many there are."""

    items: tuple[Waiting, ...]
    counts: QueueCounts


class JudgeSaid(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the judge said of an item, a verdict or a score, and all reviews of it, the oldest first."""

    verdict: Verdict | None = None
    score: Score | None = None
    reviews: tuple[Review, ...] = ()


class AskedItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """A criterion or a dimension to answer. `answered` is left out as long as the reviewer must not see it.

    `shown` says that the reviewer was shown it before they had answered: whatever they answer is kept as `seen`.
    """

    judgment: str
    item: str
    run: str
    rubric: str
    rubric_hash: str
    criterion: Criterion | None = None
    dimension: Dimension | None = None
    answered: JudgeSaid | None = None
    shown: bool = False


class GivenReview(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A review: a blind `verdict` or `value`, or an `approval` by who has seen the judge's. Exactly one of the three.

    `supersedes` is the id of the reviewer's newest review of the item, if there is one.
    """

    reviewer: Annotated[str, msgspec.Meta(max_length=LONGEST_NAME)]
    reason: Annotated[str, msgspec.Meta(max_length=LONGEST_REASON)] | None = None
    verdict: Literal["pass", "fail"] | None = None
    value: float | None = None
    approval: Literal["approve", "deny"] | None = None
    supersedes: Annotated[str, msgspec.Meta(max_length=100)] | None = None

    def said(self, judgment: str, item: str, order: Order | None) -> Said:
        """As it is kept."""
        return Said(
            judgment=judgment,
            item=item,
            reviewer=self.reviewer.strip(),
            mode="seen" if self.approval else "blind",
            reason=self.reason or "",
            approved=self.approval == "approve" if self.approval else None,
            passed=self.verdict == "pass" if self.verdict else None,
            value=self.value,
            supersedes=self.supersedes,
            picked=order or "chosen",
        )


class KeptReview(msgspec.Struct, frozen=True):
    """A review as it is kept, and the page where the reviewer goes on.

    `why` says why an answer that was given as blind is kept as `seen`.
    """

    review: Review
    href: str
    why: str | None = None


class ReviewerName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who reviews in this browser."""

    name: Annotated[str, msgspec.Meta(max_length=LONGEST_NAME)] | None = None


@get("/review", sync_to_thread=True, dependencies=SITTING)
def api_queue(site: Here, sitting: Sat, reviewer: Names = None) -> Waitings:
    """The next items for a reviewer, at most twenty."""
    queue = queue_of(site.store, sitting, reviewer or None)
    return Waitings(tuple(map(_waiting, queue.items)), queue.counts)


def _waiting(item: QueueItem) -> Waiting:
    return Waiting(**{name: getattr(item, name) for name in Waiting.__struct_fields__})


@get("/review/{judgment:str}/{item:str}", sync_to_thread=True)
def api_item(site: Here, judgment: Name, item: Item, reviewer: Names = None, seen: FromQuery[bool] = False) -> AskedItem:
    """What is asked, and what the judge said if the reviewer has answered, or with `seen`."""
    return _asked(at_desk(site.store, judgment, item, reviewer or None, seen))


@get("/judgments/{judgment:str}/reviews", sync_to_thread=True)
def api_reviews(site: Here, judgment: Name, reviewer: Names = None, seen: FromQuery[bool] = False) -> ReviewsOf:
    """Reviews of a judgment: of what this `reviewer` has answered, or with `seen` all of them."""
    return reviews_for(site.store, judgment, reviewer or None, seen)


def _asked(desk: AtDesk) -> AskedItem:
    asked, rubric = desk.question, desk.question.rubric
    return AskedItem(
        judgment=asked.judgment,
        item=asked.item,
        run=asked.run.id,
        rubric=rubric.name,
        rubric_hash=rubric.hash,
        criterion=asked.asked if isinstance(asked.asked, Criterion) else None,
        dimension=asked.asked if isinstance(asked.asked, Dimension) else None,
        answered=_answered(desk.answered) if desk.answered else None,
        shown=desk.shown,
    )


def _answered(answered: Answered) -> JudgeSaid:
    judged = answered.judged
    if isinstance(judged, Verdict):
        return JudgeSaid(verdict=judged, reviews=answered.reviews)
    return JudgeSaid(score=judged, reviews=answered.reviews)


@post("/review/{judgment:str}/{item:str}", status_code=201, sync_to_thread=True, dependencies=SITTING)
def api_add(site: Here, judgment: Name, item: Item, sitting: Sat, data: JSONBody[GivenReview]) -> KeptReview:
    """Keep a review; with an `order` it says that the item was come by in this way."""
    said = data.said(judgment, item, sitting.order)
    review = add_review(site.store, said)
    if review.mode == "blind":
        href = leads_of(judgment, item, sitting, seen=False).to()
    elif sitting.order:
        href = next_of(sitting, skipped=0)
    else:
        href = of_run(site.store.row(judgment).run, judgment=judgment)
    return KeptReview(review, href.unescape(), SHOWN if said.mode != review.mode else None)


@put("/reviewer", sync_to_thread=False)
def api_reviewer(site: Here, data: JSONBody[ReviewerName]) -> Response[ReviewerName]:
    """Keep in this browser who reviews."""
    return Response(data, cookies=[cookie_for(data.name or "", site.access)])


PAGES = (show_queue, go_on, show_item, show_item_entries)
API = (api_queue, api_item, api_reviews, api_add, api_reviewer)
