"""Going to a place of a run that someone names: a turn, an entry or a look; where there is none, what lies nearest."""

from __future__ import annotations

import re

import msgspec
from markupsafe import Markup

from adjudge.untrusted import one_line
from adjudge.web.addresses import of_run
from adjudge.web.queries.judged import JudgedRun
from adjudge.web.queries.kept import OpenRun
from adjudge.web.views.record import Leads

_PLACE = re.compile(r"((?:s\d{1,6}\.)*)([et])(\d{1,12})")


class Missing(msgspec.Struct, frozen=True):
    """A place that is not there, in words, and what lies nearest, if anything does."""

    words: str
    nearest: str | None
    href: Markup | None


def going_to(judged: JudgedRun, asked: str, leads: Leads) -> Markup | Missing:
    """Where a place is, by its name as a page writes it (`t12`, `s1.e3`, `L4`) or, of a turn, by its number."""
    name = asked.strip()
    place = f"t{name}" if name.isascii() and name.isdigit() else name
    looks = {look.id for look in judged.evaluation.judgment.looks} if judged.evaluation else set()
    if judged.evaluation and place in looks:
        return of_run(judged.opened.run.id, at=place, judgment=judged.evaluation.judgment.id)
    if judged.opened.place_of(place):
        return leads.to(place, at_=place)
    nearest = _nearest(judged.opened, place)
    words = f"There is no turn, entry or look “{one_line(name, 40)}” in this run."
    return Missing(words, nearest, leads.to(nearest, at_=nearest) if nearest else None)


def _nearest(opened: OpenRun, place: str) -> str | None:
    """The first or the last turn or entry of the record that is meant."""
    found = _PLACE.fullmatch(place)
    record = opened.records.get(found[1].removesuffix(".")) if found else None
    if not found or record is None:
        return None
    numbers = [turn.number for turn in record.turns] if found[2] == "t" else range(1, len(record.entries) + 1)
    if not numbers:
        return None
    return f"{found[1]}{found[2]}{min((numbers[0], numbers[-1]), key=lambda number: abs(number - int(found[3])))}"
