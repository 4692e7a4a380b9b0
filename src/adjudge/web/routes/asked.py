"""What an address may say of a list of runs, read strictly."""

from __future__ import annotations

import base64
from binascii import Error
from typing import Annotated, Literal

import msgspec
from litestar.di import NamedDependency, Provide
from litestar.params import FromQuery, PathParameter, QueryParameter

from adjudge.errors import InputError
from adjudge.record import Kind
from adjudge.store.listing import Filter, Graded, Judged, Place, Sort
from adjudge.store.standing import Flag
from adjudge.web.addresses import LONGEST

Words = Annotated[str | None, QueryParameter(max_length=LONGEST)]
"""A word to filter by."""
Name = Annotated[str, PathParameter(max_length=100)]
"""The id of a run, an entry, a judgment."""
Names = Annotated[str | None, QueryParameter(max_length=100)]
Position = Annotated[int, QueryParameter(ge=0, le=10**12)]
"""Where entries, characters or turns begin or end."""
Near = Annotated[int | None, QueryParameter(ge=0, le=10**12)]
"""Around which position."""
Turn = Annotated[int | None, QueryParameter(ge=0, le=10**12)]
Code = Annotated[str, QueryParameter(max_length=6_000)]
Most = Annotated[int, QueryParameter(ge=1, le=200)]
Key = Annotated[str | None, QueryParameter(max_length=600)]
"""Where a list goes on, as an earlier answer said it."""

OfOutcome = FromQuery[Graded | Literal[""] | None]
OfJudged = FromQuery[Judged | Literal[""] | None]
OfFlag = FromQuery[Flag | Literal[""] | None]
OfKind = FromQuery[Kind | Literal[""] | None]
BySort = FromQuery[Sort]


def filter_of(
    q: Words = None,
    agent: Words = None,
    model: Words = None,
    task: Words = None,
    outcome: OfOutcome = None,
    judged: OfJudged = None,
    flag: OfFlag = None,
) -> Filter:
    """Which runs an address asks for; a form sends an empty word for a field in which nothing was chosen."""
    return Filter(q or None, agent or None, model or None, task or None, outcome or None, judged or None, flag or None)


Wanted = NamedDependency[Filter]
WANTED = {"wanted": Provide(filter_of, sync_to_thread=False)}
"""How a route says that its address has all of that."""


def key_of(place: Place | None) -> str | None:
    """A place in a list as one word of an address."""
    return None if place is None else base64.urlsafe_b64encode(msgspec.json.encode(place)).decode().rstrip("=")


def place_of(key: str | None) -> Place | None:
    """The place that a key names. Raises InputError if it is none."""
    if not key:
        return None
    try:
        data = base64.urlsafe_b64decode(key + "=" * (-len(key) % 4))
        return msgspec.json.decode(data, type=Place)
    except (Error, ValueError, msgspec.DecodeError) as error:
        raise InputError("`after` is no place in this list: take the one that the page before gave") from error
