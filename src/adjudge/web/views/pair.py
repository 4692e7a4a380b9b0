"""The page of two agents' runs at one task: which of how many such pairs it is, and the way to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from markupsafe import Markup

from adjudge.web.addresses import address
from adjudge.web.queries.beside import Pairing, sort_of
from adjudge.web.views.beside import BesidePage

Query = Mapping[str, str | Sequence[str]]

_SORTS = {
    "passed": {
        "second": "where A fails and B passes",
        "first": "where A passes and B fails",
        "neither": "where both fail",
        "both": "where both pass",
    },
    "worse": {
        "second": "where B alone is worse than blameless",
        "first": "where A alone is worse than blameless",
        "neither": "where neither is worse than blameless",
        "both": "where both are worse than blameless",
    },
}


def pair_page(shown: BesidePage, found: Sequence[Pairing], place: int, item: str, query: Query) -> BesidePage:
    """The page of the pair at this place of all."""
    scored = shown.opened is not None and any(side.scale for side in shown.opened.sides)
    sorts = _SORTS["worse" if scored else "passed"]
    sort = sort_of(found[place])
    alike = [at for at, each in enumerate(found) if sort_of(each) == sort]
    tasks = "task" if len(alike) == 1 else "tasks"
    words = f"{alike.index(place) + 1} of {len(alike)} {tasks} {sorts.get(sort, 'where one says nothing')}"
    if not found[place].same_task:
        words = "The two agents have no task in common"
    return msgspec.structs.replace(
        shown,
        title=f"{item} on one task, side by side" if found[place].same_task else f"{item}, side by side",
        sentence=f"{words}. {shown.sentence}",
        rubrics=(),
        hidden=(),
        before=_address(found, place - 1, item, query),
        after=_address(found, place + 1, item, query),
        back=address("compare", at="", **query),
    )


def _address(found: Sequence[Pairing], place: int, item: str, query: Query) -> Markup | None:
    if not 0 <= place < len(found):
        return None
    agents = {"first": found[place].first.who, "second": found[place].second.who}
    of_pair: dict[str, str | Sequence[str]] = {**query, "item": item, **agents, "at_": str(place)}
    return address("compare", "pair", at="", **of_pair)
