"""Citations, as they were found to hold and as they are found today."""

from __future__ import annotations

from collections.abc import Iterator

from adjudge.evidence import Holding


def moved(stored: Holding, now: Holding) -> Iterator[str]:
    """What is to be said of a citation that does not hold as it did."""
    if (now.standing, now.source) != (stored.standing, stored.source):
        yield f"the citation of {stored.citation.exhibit} was {_words(stored)}, now it is {_words(now)}"


def _words(holding: Holding) -> str:
    if holding.standing is None:
        return f"faulty ({holding.fault})"
    return f"{holding.standing} in {holding.source}" if holding.source else holding.standing
