"""The page of the review queue: what is open, what is done, and what comes next, without anything that the judge said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from markupsafe import Markup

from adjudge.reviews.values import Order
from adjudge.store.review_queue import MOST_COUNTED, QueueItem
from adjudge.web.addresses import address
from adjudge.web.queries.reviewing import Queue, Sitting
from adjudge.web.views.review import query_of

ORDERS: dict[Order, str] = {
    "random": "at random",
    "disagreement": "by disagreement",
    "uncertainty": "by uncertainty",
}


class Option(msgspec.Struct, frozen=True):
    """A choice of a field."""

    value: str
    words: str
    chosen: bool


class QueueLine(msgspec.Struct, frozen=True):
    """An item of the queue and its page."""

    item: str
    href: Markup
    kind: str
    rubric: str
    agent: str
    judge: str
    run: str


class QueuePage(msgspec.Struct, frozen=True):
    """The page. `begin` opens the first item, `nothing` says why there is none."""

    reviewer: str | None
    suggested: str
    sentence: str
    counts: tuple[tuple[str, str], ...]
    orders: tuple[Option, ...]
    rubrics: tuple[Option, ...]
    agents: tuple[Option, ...]
    criterion: str
    judge: str
    in_pass: str
    hidden: tuple[tuple[str, str], ...]
    seed: int
    narrowed: bool
    lines: tuple[QueueLine, ...]
    begin: Markup | None
    nothing: str | None


def queue_page(
    queue: Queue, sitting: Sitting, reviewer: str | None, suggested: str,
    rubrics: Sequence[tuple[str, str]], agents: Sequence[str],
) -> QueuePage:  # fmt: skip
    """The queue, and what it can be narrowed by: rubrics with hash and name, and agents."""
    order = sitting.order or "random"
    sitting = msgspec.structs.replace(sitting, order=order, skip=0)
    counts, more = queue.counts, sum(value is not None for value in _narrowing(sitting))
    return QueuePage(
        reviewer=reviewer,
        suggested=suggested,
        sentence=f"{_many(counts.open)} open {ORDERS[order]}" + (" of what is chosen." if more else "."),
        counts=(
            ("open", _many(counts.open)),
            ("reviewed by you", _many(counts.mine) if reviewer else "not known"),
            ("reviewed by others", _many(counts.others)),
        ),
        orders=tuple(Option(value, words, value == order) for value, words in ORDERS.items()),
        rubrics=tuple(Option(hash, f"{name} {hash[:8]}", sitting.rubric in (hash, name)) for hash, name in rubrics),
        agents=tuple(Option(name, name, name == sitting.agent) for name in agents),
        criterion=sitting.criterion or "",
        judge=sitting.judge or "",
        in_pass=sitting.in_pass or "",
        hidden=(("in_judgment", sitting.in_judgment),) if sitting.in_judgment else (),
        seed=sitting.seed,
        narrowed=more > 0,
        lines=tuple(_lines(queue.items, sitting)),
        begin=address("review", "next", **query_of(sitting)) if queue.items else None,
        nothing=None if queue.items else _nothing(order, more > 0),
    )


def _narrowing(sitting: Sitting) -> tuple[str | None, ...]:
    return (*(sitting.rubric, sitting.criterion, sitting.agent, sitting.judge, sitting.in_pass, sitting.in_judgment),)


def _many(number: int) -> str:
    return f"over {MOST_COUNTED:,}" if number > MOST_COUNTED else f"{number:,}"


def _lines(items: Sequence[QueueItem], sitting: Sitting) -> Iterator[QueueLine]:
    for skip, item in enumerate(items):
        query = query_of(msgspec.structs.replace(sitting, skip=skip))
        yield QueueLine(
            item=item.item,
            href=address("review", item.judgment, item.item, **query),
            kind=item.kind,
            rubric=item.rubric or item.rubric_hash[:8],
            agent=item.harness,
            judge=item.model or item.judge,
            run=item.run,
        )


def _nothing(order: Order, narrowed: bool) -> str:
    if order != "random":
        return f"Nothing that is open has any {order}. At random, everything that is open comes."
    if narrowed:
        return "Nothing of what is chosen is open: you have reviewed it, or nothing of it is judged."
    return "Everything that is judged is reviewed by you, or nothing is judged yet."
