"""A search over the whole record, which counts all that matches and shows it in pages."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import chain, islice

import msgspec
import regex

from adjudge.evidence import Look
from adjudge.judges.evaluator.patterns import literal, stated
from adjudge.judges.evaluator.record_looks import count, description, failed, no_such_entry, record_look, untold
from adjudge.judges.evaluator.tools import SearchRecord
from adjudge.judges.evaluator.views import PAGE, line_start
from adjudge.record import Entry, Record

SEARCH_SECONDS = 20.0
CONTEXT = 160
"""Characters that a search shows on each side of a match."""
MATCHES_SHOWN = 3
"""Matches of one entry that a search shows."""

Span = tuple[int, int]


def search_record(identifier: str, record: Record, asked: SearchRecord) -> Look:
    """All entries whose text matches are counted; those after `offset` are shown until the page is full.

    A range that holds no entry at all is a failed look, since a search that read nothing shows no absence. Nor does one
    of a recording with pieces that could not be read: `found` is then `None` instead of 0.
    """
    ends = [name for name in (asked.first_entry, asked.last_entry) if name is not None]
    if not all(record.entry(name) for name in ends):
        return failed(identifier, "search_record", asked, no_such_entry(record))
    if not asked.regex and not asked.pattern.strip():
        return failed(identifier, "search_record", asked, "the pattern is nothing but white space")
    try:
        search = Search(asked, time.monotonic() + SEARCH_SECONDS)
        search.over(record)
    except regex.error as error:
        return failed(identifier, "search_record", asked, f"the pattern is no regular expression: {error}")
    except TimeoutError:
        return failed(identifier, "search_record", asked, f"stopped after {SEARCH_SECONDS:.0f} s: nothing is established")
    if not search.within and count(record):
        return failed(identifier, "search_record", asked, "no entry lies between those ends, so nothing was searched")
    look = record_look(identifier, "search_record", asked, "\n".join(search.blocks), search.facts(record), search.shows)
    return msgspec.structs.replace(look, found=search.found or (None if has_unread(record) else 0))


def has_unread(record: Record) -> bool:
    """Whether pieces of a recording, or of a sub-agent's, became no entry."""
    return bool(record.unparsed) or any(has_unread(child) for child in record.children)


class Search:
    """One search over a record: what it has found so far, and how many entries lie between its ends (`within`)."""

    def __init__(self, asked: SearchRecord, deadline: float) -> None:
        self._asked, self._deadline = asked, deadline
        self._words = () if asked.regex else tuple(asked.pattern.lower().split())
        self._longest = max(self._words, key=len, default="")
        flags = 0 if self._words else regex.IGNORECASE | regex.MULTILINE
        self._find = regex.compile(literal(self._words) if self._words else asked.pattern, flags)
        self.blocks: list[str] = []
        self.shows: list[str] = []
        self.found = self.within = self._searched = self._size = 0

    def over(self, record: Record) -> None:
        """Search every entry that is asked for. Raises TimeoutError at the deadline."""
        for entry in between(record, self._asked.first_entry, self._asked.last_entry):
            if not self._in_turns(entry):
                continue
            self.within += 1
            if self._asked.kind not in (None, entry.kind):
                continue
            self._searched += 1
            if spans := self._spans(entry.text):
                self.found += 1
                if self.found > self._asked.offset:
                    self._show(entry, spans)

    def facts(self, record: Record) -> list[str]:
        """What adjudge states of the search, no word of what was searched.

        Only nothing found is stated with what was looked for. That is the model's own text, and a statement of a search
        that found something counts as a finding.
        """
        asked = self._asked
        scope = f"{self._searched} of {count(record)} entries{self._bounds()}"
        if not self.found:
            facts = [f"matches: 0 for {stated(asked.pattern, asked.regex)}, case ignored, in {scope}", *untold(record)]
            return (
                [*facts, "it may stand in what could not be read, so no absence is shown"] if has_unread(record) else facts
            )
        facts = [f"matches: {self.found}", f"searched: {scope}"]
        end = asked.offset + len(self.shows)
        if self.shows and end < self.found:
            facts.append(f"shown: {asked.offset + 1} to {end}; to go on: offset {end}")
        return facts + untold(record)

    def _bounds(self) -> str:
        """What narrows the search down; the ids exist, so they are no free text."""
        asked = self._asked
        bounds = {
            "kind": asked.kind,
            "from": asked.first_entry,
            "up to": asked.last_entry,
            "from turn": asked.first_turn,
            "up to turn": asked.last_turn,
        }
        given = ", ".join(f"{word} {value}" for word, value in bounds.items() if value is not None)
        return f" ({given})" if given else ""

    def _in_turns(self, entry: Entry) -> bool:
        asked = self._asked
        first, last = asked.first_turn, asked.last_turn
        return (first is None or entry.turn >= first) and (last is None or entry.turn <= last)

    def _spans(self, text: str) -> list[Span]:
        """Where the first few matches stand."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if not self._words:
            matches = self._find.finditer(text, timeout=left, concurrent=True)
        elif self._longest in (text := text.lower()):  # far faster than the expression, and most entries end here
            matches = self._find.finditer(text)  # of words alone, which takes no more than linear time
        else:
            return []
        return [match.span() for match in islice(matches, MATCHES_SHOWN + 1)]

    def _show(self, entry: Entry, spans: list[Span]) -> None:
        if len(self.shows) + self._asked.offset + 1 < self.found:
            return  # the page is full: nothing after the first entry that did not fit
        snippets = [snippet(entry.text, span) for span in apart(spans[:MATCHES_SHOWN])]
        more = ["    (more in this entry)"] if len(spans) > MATCHES_SHOWN else []
        block = "\n".join(chain([description(entry)], (f"    | {words}" for words in snippets), more))
        self._size += len(block)
        if self._size <= PAGE or not self.blocks:
            self.blocks.append(block)
            self.shows.append(entry.id)


def between(record: Record, first: str | None, last: str | None) -> Iterator[Entry]:
    """The entries from one id up to another, both included, in the order of `Record.walk`."""
    begin, end = (record.entry(name) if name is not None else None for name in (first, last))
    begun = begin is None
    for entry in record.walk():
        begun = begun or (begin is not None and entry.id == begin.id)
        if begun:
            yield entry
        if end is not None and entry.id == end.id:
            return


def apart(spans: Iterable[Span]) -> Iterator[Span]:
    """The spans without those that stand in what is shown around the one before."""
    end = -1
    for span in spans:
        if span[1] > end:
            yield span
            end = span[1] + CONTEXT


def snippet(text: str, span: Span) -> str:
    """A match in one line, with what stands around it."""
    start = line_start(text, max(0, span[0] - CONTEXT), 2 * CONTEXT)
    end = min(len(text), span[1] + CONTEXT, span[0] + 4 * CONTEXT)
    line = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{line}{'…' if end < len(text) else ''}"
