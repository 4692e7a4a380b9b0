"""Turns as exhibits: `t7` is what the agent's seventh model response brought, `s1.t3` the third of its first sub-agent."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import msgspec

from adjudge.evidence.exhibits import Citation, Exhibits, Holding
from adjudge.evidence.quotes import LONGEST, SHORTEST, fold
from adjudge.record import Entry, Record

NEAR = (1, -1, 2, -2)
"""Turns around a faulty citation's in which its quote is looked for, to say so."""


class Turns:
    """The turns of one record, and of its sub-agents', that may be cited."""

    def __init__(self, exhibits: Exhibits) -> None:
        self._exhibits = exhibits
        self._places: dict[str, array[int]] = {}

    def check(self, citation: Citation) -> Holding:
        """Whether a citation holds: its turn exists, and the quote stands in one entry of it.

        Turn 0, which stood there before the agent did anything, accuses nobody.
        """
        name, quote = citation.exhibit.strip(" \n[]"), fold(citation.quote)
        prefix, number = _read(name)
        record = self._exhibits.record if not prefix else self._exhibits.record.child(prefix)
        if record is None or number is None:
            return Holding(citation, fault=f"there is no turn {name[:40]!r}; there are {self._names()}")
        if number == 0:
            return Holding(citation, fault="turn 0 is what the agent was given; cite a turn in which it did something")
        if sum(map(str.isalnum, quote)) < SHORTEST or len(quote) > LONGEST:
            return self._exhibits.check(citation)  # which says what is wrong with such a quote
        entries = list(self._entries(prefix, record, number))
        if not entries:
            return Holding(citation, fault=f"there is no turn {name[:40]!r}; there are {self._names()}")
        return self._in_entries(citation, entries) or self._missing(citation, quote, prefix, record, number)

    def _in_entries(self, citation: Citation, entries: list[Entry]) -> Holding | None:
        for entry in entries:
            holding = self._exhibits.check_entry(citation, entry)
            if holding.standing:
                return msgspec.structs.replace(holding, citation=citation)
        return None

    def _missing(self, citation: Citation, quote: str, prefix: str, record: Record, number: int) -> Holding:
        words = f"the quote is not in turn {number}"
        for other in (number + step for step in NEAR):
            if any(self._exhibits.stands_in(entry, quote) for entry in self._entries(prefix, record, other)):
                return Holding(citation, fault=f"{words}, but in turn {other}")
        return Holding(citation, fault=words)

    def _entries(self, prefix: str, record: Record, number: int) -> Iterator[Entry]:
        """The entries of a turn, which need not stand together: a result may come late."""
        places = self._places.get(prefix)
        if places is None:
            places = self._places[prefix] = array("q", (entry.turn for entry in record.entries))
        yield from (record.entries[at] for at, turn in enumerate(places) if turn == number)

    def _names(self) -> str:
        turns = len(self._exhibits.record.turns)
        return f"turns t1 to t{turns}" if turns else "no turns"


def _read(name: str) -> tuple[str, int | None]:
    """The sub-agent (`""` for none) and the number in a turn's name."""
    prefix, _, rest = name.rpartition(".")
    number = rest.removeprefix("turn").removeprefix("t").strip()
    known = number.isascii() and number.isdigit() and len(number) < 12
    return prefix, int(number) if known else None
