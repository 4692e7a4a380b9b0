"""A search over the records of many runs, one entry in memory at a time, for a bounded time."""

from __future__ import annotations

import time

import msgspec
import regex

from adjudge.asking.lines import Line, counted, joined, look, part, theirs
from adjudge.asking.run_looks import meant, named
from adjudge.asking.source import SECONDS, Source, asked_for
from adjudge.asking.tools import SearchRuns
from adjudge.asking.values import Look
from adjudge.errors import InputError, OutsideError
from adjudge.judges.evaluator.patterns import literal, stated
from adjudge.judges.evaluator.record_search import Span, has_unread, snippet
from adjudge.record import Entry
from adjudge.run import Run
from adjudge.store.found import each_run, find_runs
from adjudge.store.judged import RunFacts
from adjudge.store.records import read_run

MOST_LISTED = 2_000
"""Runs with a match that are kept to be listed; all are counted."""
LONGEST_SNIPPET = 400


class Pattern:
    """What is looked for in texts, white space folded and case ignored unless it is an expression of its own."""

    def __init__(self, pattern: str, expression: bool) -> None:
        self._words = () if expression else tuple(pattern.lower().split())
        self._longest = max(self._words, key=len, default="")
        if not expression and not self._words:
            raise InputError("the pattern is nothing but white space")
        try:
            flags = regex.IGNORECASE | regex.MULTILINE if expression else 0
            self._find = regex.compile(pattern if expression else literal(self._words), flags)
        except regex.error as error:
            raise InputError(f"the pattern is no regular expression: {error}") from error

    def first(self, text: str, seconds: float) -> Span | None:
        """Where the first match stands. Raises TimeoutError when the seconds are over."""
        if seconds <= 0:
            raise TimeoutError
        if self._words:  # words alone, which takes no more than linear time
            text = text.lower()
            match = self._find.search(text) if self._longest in text else None
        else:
            match = self._find.search(text, timeout=seconds, concurrent=True)
        return match.span() if match else None


class Across:
    """One search over runs: what it has found so far."""

    def __init__(self, source: Source, asked: SearchRuns) -> None:
        self._source, self._asked = source, asked
        self._pattern = Pattern(asked.pattern, asked.regex)
        self._over, self._end = source.patience(), time.monotonic() + SECONDS
        self.lines: list[Line] = []
        self.found = self.searched = self.entries = self.unread = self.damaged = 0
        self.whole = True

    def go(self) -> None:
        """Search every run that is meant, until the time is over."""
        for facts, blob in each_run(self._source.store, meant(self._asked)):
            try:
                self._run(facts, read_run(self._source.store.blobs, blob))
            except TimeoutError:
                self.whole = False
                return
            except (InputError, OutsideError):  # one damaged run must not hide the others
                self.damaged += 1

    def _run(self, facts: RunFacts, run: Run) -> None:
        number, first = 0, None
        for entry in run.record.walk():
            if self._over():
                raise TimeoutError
            if self._asked.kind not in (None, entry.kind):
                continue
            self.entries += 1
            if (span := self._pattern.first(entry.text, self._end - time.monotonic())) is not None:
                number += 1
                first = first or (entry, span)
        self.searched += 1
        self.unread += has_unread(run.record)
        if first is not None:
            self.found += 1
            self._keep(facts, number, *first)

    def _keep(self, facts: RunFacts, number: int, entry: Entry, span: Span) -> None:
        if len(self.lines) >= MOST_LISTED:
            return
        words = theirs(snippet(entry.text, span), LONGEST_SNIPPET)
        matching = counted(number, "matching entry", "matching entries")
        line = joined(facts.id, named(facts), matching, f"the first is {entry.id}: {words}")
        self.lines.append(((facts.id, f"{facts.id}/{entry.id}"), line))


def search_runs(source: Source, asked: SearchRuns) -> Look:
    """The runs in whose records something matches, with how many entries, and the first of them."""
    _, total = find_runs(source.store, meant(asked), 0, 1)
    if not total:
        raise InputError(
            f"there are no such runs, so nothing was searched ({asked_for(meant(asked)) or 'the store is empty'})"
        )
    search = Across(source, asked)
    search.go()
    made = part(search.lines, asked.offset, "runs with a match", *_facts(search, asked, total))
    if search.found:
        found = "runs with a match" if search.whole else "runs with a match so far"
        facts = (f"{found}: {search.found}", *made.facts[1:])
        return msgspec.structs.replace(made, facts=facts, found=search.found)
    return look(_facts(search, asked, total), found=0 if _complete(search) else None)


def _complete(search: Across) -> bool:
    return search.whole and not search.unread and not search.damaged


def _facts(search: Across, asked: SearchRuns, total: int) -> tuple[str, ...]:
    kind = f" of kind {asked.kind}" if asked.kind else ""
    scope = f"{search.searched} of {counted(total, 'run')}, {search.entries} entries{kind}"
    if search.found or not _complete(search):
        facts = [f"searched: {scope}"]
    else:
        facts = [f"matches: 0 for {stated(asked.pattern, asked.regex)}, case ignored, in {scope}"]
    facts += [asked_for(meant(asked))]
    facts += [] if search.whole else ["stopped: the time for one look was over, so the other runs are not established"]
    facts += [f"runs that could not be read: {search.damaged}"] if search.damaged else []
    facts += [f"runs with pieces that could not be read: {search.unread}"] if search.unread else []
    if not search.found and not _complete(search):
        facts.append("nothing found so far, but no absence is shown")
    return tuple(facts)
