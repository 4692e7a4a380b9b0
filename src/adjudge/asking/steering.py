"""Attempts to steer whoever answers: found by code in what was shown, and told by the model where its words hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from adjudge.asking.answers import Given
from adjudge.asking.seen import Seen
from adjudge.asking.values import Cited, Look
from adjudge.judges import steering
from adjudge.judges.strict import bounded
from adjudge.judgment import Steering
from adjudge.untrusted import shown

LONGEST_EXCERPT = 300


def attempts(looks: Iterable[Look], given: Given | None, seen: Seen) -> tuple[Steering, ...]:
    """Every attempt once, those found by code first."""
    return steering.attempts(_found(looks), _told(given, seen))


def _found(looks: Iterable[Look]) -> Iterator[Steering]:
    for look in looks:
        yield from steering.in_text(look.id, look.text)


def _told(given: Given | None, seen: Seen) -> Iterator[Steering]:
    """What the model tells of, if it really stands where it says."""
    for told in given.steering if given else ():
        exhibit = told.exhibit.strip(" \n[]`")
        if seen.shows(Cited(exhibit, told.excerpt)):
            yield Steering(exhibit, "told", bounded(shown(told.excerpt), LONGEST_EXCERPT), "model")
