"""Citations in both directions: from a card to the quoted words, and from an exhibit back to the cards that quote it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec
from markupsafe import Markup

from adjudge.evidence import Holding
from adjudge.judgment import Score, Verdict
from adjudge.web.addresses import of_run
from adjudge.web.queries.judged import JudgedRun
from adjudge.web.text import Mark
from adjudge.web.views.known import Known

QUOTE = 600
"""Characters of a quote that a card shows."""


class Cite(msgspec.Struct, frozen=True):
    """A citation on a card: the exhibit, the quote, where it leads, and what is to be said of it.

    `state` is `holds`, `absence` (the look found nothing) or `broken`.
    """

    exhibit: str
    quote: str
    href: Markup | None
    state: str
    why: str | None


class Card(msgspec.Struct, frozen=True):
    """Whose citations: the card's anchor, its name, what was decided there, and the checked citations."""

    anchor: str
    label: str
    sign: str
    holdings: tuple[Holding, ...]


def cards_of(judged: JudgedRun) -> Iterator[Card]:
    """Every card of a run's page, in the order in which they stand there."""
    for number, verdict in enumerate(judged.evaluation.judgment.verdicts if judged.evaluation else (), 1):
        yield Card(f"v{number}", f"C{number}", sign_of_verdict(verdict), verdict.holdings)
    for number, score in enumerate(judged.reading.judgment.scores if judged.reading else (), 1):
        yield Card(f"d{number}", score.dimension, sign_of_score(score), score.holdings)


def sign_of_verdict(verdict: Verdict) -> str:
    """The sign of a verdict."""
    return "pass" if verdict.passed else "fail"


def sign_of_score(score: Score) -> str:
    """The sign of a score: what is worse than blameless is to be looked at twice, what has no value is none."""
    return "warn" if score.worse else "none"


def exhibit_of(holding: Holding) -> str:
    """The exhibit in which a citation's words stand, or that it names."""
    return holding.source or holding.citation.exhibit.strip(" \n[]")


def marks_of(cards: Iterable[Card]) -> dict[str, list[Mark]]:
    """For each exhibit what is quoted from it, and by whom; a quote that is not there still leads back."""
    marks: dict[str, list[Mark]] = defaultdict(list)
    for card in cards:
        for place, holding in enumerate(card.holdings, 1):
            holds = holding.standing is not None
            anchor = f"{card.anchor}c{place}"
            mark = Mark(anchor, holding.citation.quote, card.anchor, card.label, card.sign if holds else "warn", holds)
            marks[exhibit_of(holding)].append(mark)
    return marks


class Way:
    """How links lead to exhibits: to a place on this page if the exhibit is on it, else to the page around it."""

    def __init__(self, run: str, judgment: str | None, here: Collection[str], known: Known) -> None:
        self._run, self._judgment = run, judgment
        self._here, self._known = here, known

    def to(self, exhibit: str, anchor: str) -> Markup | None:
        """The link to a place in an exhibit, or `None` if the run has no such exhibit."""
        if exhibit in self._here:
            return Markup("#{}").format(anchor)
        if exhibit in self._known:
            return of_run(self._run, at=anchor, at_=exhibit, judgment=self._judgment)
        return None

    def cites(self, card: Card) -> tuple[Cite, ...]:
        """The citations of a card."""
        return tuple(self._cite(f"{card.anchor}c{place}", each) for place, each in enumerate(card.holdings, 1))

    def _cite(self, anchor: str, holding: Holding) -> Cite:
        exhibit, stands_in = holding.citation.exhibit.strip(" \n[]"), exhibit_of(holding)
        holds = holding.standing is not None
        state = "absence" if holding.standing == "absence" else "holds" if holds else "broken"
        href = self.to(stands_in, anchor if holds else stands_in)
        return Cite(exhibit, holding.citation.quote[:QUOTE], href, state, _why(holding, exhibit))


def _why(holding: Holding, exhibit: str) -> str | None:
    if holding.fault:
        return holding.fault
    if holding.standing == "absence":
        return "absence: the look found nothing"
    return f"stands in {holding.source}" if holding.source and holding.source != exhibit else None


def cited_entries(marks: dict[str, list[Mark]], known: Collection[str]) -> Sequence[str]:
    """The ids of the entries that something cites, in no order."""
    return [exhibit for exhibit in marks if exhibit in known]
