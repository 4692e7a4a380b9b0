"""Turns as exhibits: `t7` is what the agent's seventh model response brought, `s1.t3` the third of its first sub-agent."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from adjudge.evidence.exhibits import Citation, Exhibits, Holding
from adjudge.evidence.quotes import LONGEST, SHORTEST, fold
from adjudge.record import Entry, Record

NEAR = (1, -1, 2, -2)
"""Turns around a faulty citation's in which its quote is looked for, to say so."""

HINTED = 1 << 20
"""Characters of a turn in which no quote is looked for only to say that it is there."""

SEARCHED = 200 << 20
"""Characters that are searched for the citations of one judgment. What is cited after that is not checked, and counts for
nothing: an answer must not keep its judge busy for hours."""

TELLING = 12
"""Letters and digits from which on a quote points at something by itself."""

PHRASE = 7
"""Letters and digits that two words or more must have together."""

LINE = 4
"""Letters and digits that a whole line must have."""


class Turns:
    """The turns of one record, and of its sub-agents', that may be cited in one judgment."""

    def __init__(self, exhibits: Exhibits) -> None:
        self._exhibits = exhibits
        self._places: dict[str, array[int]] = {}
        self._checked: dict[Citation, Holding] = {}
        self._left = SEARCHED

    def check(self, citation: Citation) -> Holding:
        """Whether a citation holds: its turn exists, and the quote stands in one entry of it and points at something.

        Words that were said to the agent, before its first response (turn 0) or later, accuse nobody.
        """
        if citation not in self._checked:
            self._checked[citation] = self._check(citation)
        return self._checked[citation]

    def find(self, citation: Citation) -> Holding | None:
        """Where a quote stands in its turn, whoever wrote it, turn 0 included; `None` if it does not, or says nothing."""
        if sum(map(str.isalnum, citation.quote)) < SHORTEST or len(citation.quote) > LONGEST:
            return None
        prefix, number = _read(citation.exhibit.strip(" \n[]"))
        record = self._exhibits.record if not prefix else self._exhibits.record.child(prefix)
        entries = list(self._entries(prefix, record, number))
        self._left -= sum(len(entry.text) for entry in entries)
        if self._left < 0:
            return None
        return next((held for entry in entries if (held := self._exhibits.found_in(entry, citation))), None)

    def _check(self, citation: Citation) -> Holding:
        name, quote = citation.exhibit.strip(" \n[]"), fold(citation.quote)
        prefix, number = _read(name)
        record = self._exhibits.record if not prefix else self._exhibits.record.child(prefix)
        entries = list(self._entries(prefix, record, number)) if record is not None and number else []
        if number == 0:
            return Holding(citation, fault="turn 0 is what the agent was given; cite a turn in which it did something")
        if record is None or number is None or not entries:
            return Holding(citation, fault=f"there is no turn {name[:40]!r}; there are {self._names()}")
        if not any(map(str.isalnum, quote)) or len(quote) > LONGEST:
            return self._exhibits.check(citation)  # which says what is wrong with such a quote
        self._left -= sum(len(entry.text) for entry in entries)
        if self._left < 0:
            return Holding(citation, fault="it was not checked: too much text is cited in one judgment")
        return self._in_entries(citation, quote, entries) or self._missing(citation, quote, prefix, record, number)

    def _in_entries(self, citation: Citation, quote: str, entries: Sequence[Entry]) -> Holding | None:
        fault: Holding | None = None
        for entry in entries:
            holding = self._exhibits.found_in(entry, citation)
            if holding is None:
                continue
            if not points(quote, entry):
                fault = Holding(citation, fault="the quote is too short to point at anything; quote its whole line")
            elif entry.writer == "user" or (entry.writer == "harness" and entry.kind != "event"):
                fault = Holding(citation, fault=f"{entry.id} was said to the agent; quote what it did or what came of it")
            else:
                return holding
        return fault

    def _missing(self, citation: Citation, quote: str, prefix: str, record: Record, number: int) -> Holding:
        words = f"the quote is not in turn {number}"
        for other in (number + step for step in NEAR if number + step > 0):
            entries = list(self._entries(prefix, record, other))
            if sum(len(entry.text) for entry in entries) <= HINTED and any(
                self._exhibits.stands_in(entry, quote) for entry in entries
            ):
                return Holding(citation, fault=f"{words}, but in turn {other}")
        return Holding(citation, fault=words)

    def _entries(self, prefix: str, record: Record | None, number: int | None) -> Iterator[Entry]:
        """The entries of a turn, which need not stand together: a result may come late."""
        if record is None:
            return
        places = self._places.get(prefix)
        if places is None:
            places = self._places[prefix] = array("q", (entry.turn for entry in record.entries))
        yield from (record.entries[at] for at, turn in enumerate(places) if turn == number)

    def _names(self) -> str:
        turns = len(self._exhibits.record.turns)
        return f"turns t1 to t{turns}" if turns else "no turns"


def points(quote: str, entry: Entry) -> bool:
    """Whether a folded quote that stands in an entry points at something there: the word "the" stands in every turn.

    A few words do, or a long one, or a whole line; the name of a tool in a call does not.
    """
    size = sum(map(str.isalnum, quote))
    if size >= TELLING or (size >= PHRASE and " " in quote):
        return True
    return size >= LINE and entry.kind != "call" and any(fold(line) == quote for line in entry.text.splitlines())


def _read(name: str) -> tuple[str, int | None]:
    """The sub-agent (`""` for none) and the number in a turn's name."""
    prefix, _, rest = name.rpartition(".")
    number = rest.removeprefix("turn").removeprefix("t").strip()
    known = number.isascii() and number.isdigit() and len(number) < 12
    return prefix, int(number) if known else None
