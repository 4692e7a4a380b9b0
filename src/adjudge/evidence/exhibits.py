"""Exhibits, citations, and the check of one citation against what was stored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import islice
from typing import Literal

import msgspec

from adjudge.evidence.printed import commands, stated_exit_status, typed
from adjudge.evidence.quotes import LONGEST, SHORTEST, contains, fold, reason, stands_everywhere
from adjudge.record import Entry, Record
from adjudge.untrusted import shown

Standing = Literal["observed", "done", "said", "absence", "given"]
"""What an exhibit can prove: that something is so, that the agent did it, that the agent said it, that a search found
nothing, or (the task, a harness's note) nothing of the agent's work at all."""

Place = Literal["record", "files", "command"]


class Look(msgspec.Struct, frozen=True, omit_defaults=True):
    """One use of a tool by the evaluator, with all that came back.

    `text` is what was found: a command's output, a file, a listing. `facts` are statements of adjudge's own about it
    (`exit status: 0`), which nothing judged can write. `shows` lists the entries that a look into the record displayed.
    `found` counts a search's matches. `changed` is true from the first command on: the machine may no longer be as the
    agent left it.
    """

    id: str
    tool: str
    place: Place
    arguments: dict[str, str | int | bool | None]
    text: str
    facts: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    exit_status: int | None = None
    found: int | None = None
    failed: bool = False
    changed: bool = False
    seconds: float = 0.0


class Citation(msgspec.Struct, frozen=True):
    """An exhibit's id and a quote from it."""

    exhibit: str
    quote: str


class Holding(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of checking one citation: it holds with this standing, or `fault` says why it does not.

    `source` is the entry or look in which the quote stands, `place` where that was seen, and `exit_status` how the
    command ended that is quoted, if that is known from outside of it. `final` is true in the agent's last message.
    """

    citation: Citation
    standing: Standing | None = None
    fault: str | None = None
    source: str | None = None
    place: Place | None = None
    exit_status: int | None = None
    final: bool = False


KEPT = 64 << 20
"""Characters of views that are kept while a judgment's citations are checked."""

SEARCHED = 200
"""Entries that are tried one by one when a citation names a look into the record."""


class Exhibits:
    """Everything that may be cited in one judgment: a record's entries and the looks made so far."""

    def __init__(self, record: Record, looks: Iterable[Look] = ()) -> None:
        self.record = record
        self.looks: dict[str, Look] = {look.id: look for look in looks}
        self._views: dict[str, str] = {}

    def add(self, look: Look) -> None:
        """Make a look citable."""
        self.looks[look.id] = look

    def check(self, citation: Citation) -> Holding:
        """Whether a citation holds: its exhibit exists and the quote stands in it, white space folded, nothing else."""
        quote, name = fold(citation.quote), citation.exhibit.strip(" \n[]")
        if sum(map(str.isalnum, quote)) < SHORTEST:
            return _fault(citation, f"the quote {quote!r} is too short to point at anything; quote its whole line")
        if len(quote) > LONGEST:
            return _fault(citation, f"the quote has {len(quote)} characters; quote the line that shows it")
        if look := self.looks.get(name):
            return self._in_look(citation, quote, look)
        if entry := self.record.entry(name):
            return self._in_entry(citation, quote, entry)
        return _fault(citation, f"there is no exhibit {name[:40]!r}; there are {self._names()}")

    def found_in(self, entry: Entry, citation: Citation) -> Holding | None:
        """The citation as it holds in this entry, whatever exhibit it names, or `None`.

        What an entry prints about an exit status counts as what it prints: it need not be how the command ended.
        """
        quote = fold(citation.quote)
        known = entry.exit_status is not None and stated_exit_status(quote) == entry.exit_status
        if not known and (stands_everywhere(entry.text, quote) or not self.stands_in(entry, quote)):
            return None
        standing, final = self._standing(entry, quote), self._is_final(entry)
        return Holding(citation, standing, None, entry.id, "record", entry.exit_status, final)

    def stands_in(self, entry: Entry, quote: str) -> bool:
        """Whether a folded quote stands in an entry, as it was stored or as it is shown."""
        return self._stands_in(entry.id, entry.text, quote) or contains(entry.arguments or "", quote)

    def _names(self) -> str:
        entries = f"entries e1 to e{len(self.record.entries)}" if self.record.entries else "no entries"
        return f"{entries} and looks {', '.join(islice(self.looks, 50))}" if self.looks else f"{entries} and no looks"

    # --- looks

    def _in_look(self, citation: Citation, quote: str, look: Look) -> Holding:
        if look.failed:
            return _fault(citation, f"{look.id} failed, so it shows nothing; look in another way")
        if holding := self._in_facts(citation, quote, look):
            return holding
        if look.place == "record":
            return self._in_shown_entries(citation, quote, look)
        return self._in_text_of_look(citation, _without_facts(quote, look), look)

    def _in_facts(self, citation: Citation, quote: str, look: Look) -> Holding | None:
        """What adjudge itself states of a look: quoted with its number, if it has one, since the rest says nothing."""
        facts = [fact for fact in look.facts if contains(fold(fact), quote)]
        status = stated_exit_status(quote)
        if status != look.exit_status if status is not None else not facts:
            return None
        if not any(_says_the_number(fact, quote) for fact in facts) and status is None:
            return _fault(citation, f"the quote leaves out the number; quote {facts[0]!r}")
        if look.found == 0:
            return Holding(citation, "absence", None, look.id, look.place)
        if look.place == "record":
            return self._weakest_shown(citation, look)
        return Holding(citation, "observed", None, look.id, look.place, look.exit_status)

    def _weakest_shown(self, citation: Citation, look: Look) -> Holding:
        """A count proves no more than the least of what was counted."""
        entries = [entry for name in look.shows[:SEARCHED] if (entry := self.record.entry(name))]
        if not entries:
            return _fault(citation, f"{look.id} shows no entry that could prove it")
        weakest = max((self._standing(entry, "") for entry in entries), key=lambda standing: _STRENGTH[standing])
        return Holding(citation, weakest, None, look.id, "record")

    def _in_text_of_look(self, citation: Citation, quote: str, look: Look) -> Holding:
        status = stated_exit_status(quote)
        if look.place == "command" and status is not None:
            known = "none" if look.exit_status is None else str(look.exit_status)
            return _fault(citation, f"{look.id} ended with exit status {known}; what it printed about one does not count")
        if stands_everywhere(look.text, quote):
            return _fault(citation, f"the quote stands all over {look.id}; quote its whole line")
        if not self._stands_in(look.id, look.text, quote):
            return _fault(citation, self._missing(look.text, quote, look.id))
        if look.place == "command" and typed(str(look.arguments.get("command", "")), quote):
            return _fault(
                citation,
                f"{look.id} prints this because its own command says so; quote what the command found, or its exit status",
            )
        return Holding(citation, "observed", None, look.id, look.place, look.exit_status)

    def _in_shown_entries(self, citation: Citation, quote: str, look: Look) -> Holding:
        """A look into the record proves what the entry proves in which the quote stands, the strongest of several."""
        entries = [entry for name in look.shows[:SEARCHED] if (entry := self.record.entry(name))]
        holdings = [self._in_entry(citation, quote, entry) for entry in entries]
        standing = [holding for holding in holdings if holding.standing]
        if standing:
            return min(standing, key=lambda holding: _STRENGTH[holding.standing or "given"])
        if len(entries) == 1:
            return holdings[0]
        return _fault(citation, f"the quote is in no entry that {look.id} shows; open the entry and quote from it")

    # --- entries

    def _in_entry(self, citation: Citation, quote: str, entry: Entry) -> Holding:
        status = stated_exit_status(quote) if entry.kind == "result" else None
        if status is not None and status == entry.exit_status:
            return Holding(citation, "observed", None, entry.id, "record", status)
        if status is not None:
            known = "no exit status" if entry.exit_status is None else f"exit status {entry.exit_status}"
            return _fault(citation, f"the recording states {known} for {entry.id}; printed text does not count")
        if stands_everywhere(entry.text, quote):
            return _fault(citation, f"the quote stands all over {entry.id}; quote its whole line")
        if not self.stands_in(entry, quote):
            return _fault(citation, self._missing(entry.text, quote, entry.id))
        standing, final = self._standing(entry, quote), self._is_final(entry)
        return Holding(citation, standing, None, entry.id, "record", entry.exit_status, final)

    def _standing(self, entry: Entry, quote: str) -> Standing:
        """What an entry can prove; of a result, only what is not its call's or another agent's words."""
        standing = standing_of(entry)
        if standing != "observed":
            return standing
        call = self.record.entry(entry.answers) if entry.answers else None
        name = (call.name if call else None) or entry.name or ""
        if name.rpartition("__")[2].casefold() in _SPEAKERS:
            return "said"
        if call and quote and any(typed(command, quote) for command in commands(call)):
            return "done"
        return standing

    def _is_final(self, entry: Entry) -> bool:
        """Whether this is of the agent's last message, which may have several pieces, whatever calls came after it."""
        if entry.writer != "agent" or entry.kind != "message" or "." in entry.id:
            return False
        return entry.turn == self._last_turn_with_a_message

    @cached_property
    def _last_turn_with_a_message(self) -> int | None:
        if final := self.record.entry(self.record.final) if self.record.final else None:
            return final.turn
        return next((e.turn for e in reversed(self.record.entries) if e.writer == "agent" and e.kind == "message"), None)

    # --- texts

    def _stands_in(self, name: str, stored: str, quote: str) -> bool:
        """In the text as stored, or as the one view of untrusted text shows it (secrets masked, invisible marked)."""
        if contains(stored, quote):
            return True
        view = self._view(name, stored)
        return view != stored and contains(view, quote)

    def _view(self, name: str, stored: str) -> str:
        if name not in self._views:
            if sum(map(len, self._views.values())) > KEPT:
                self._views.clear()
            self._views[name] = shown(stored)
        return self._views[name]

    def _missing(self, text: str, quote: str, name: str) -> str:
        """That a quote is not in an exhibit, with the reason or the place where it is, if there is one."""
        words = f"the quote is not in {name}"
        if why := reason(self._view(name, text), quote):
            return f"{words}: {why}"
        if other := self._elsewhere(quote, name):
            return f"{words}, but in {other}"
        return words

    def _elsewhere(self, quote: str, name: str) -> str | None:
        for look in self.looks.values():
            if look.place != "record" and look.id != name and contains(look.text, quote):
                return look.id
        prefix, number = re.fullmatch(r"(.*?)(\d*)", name, re.S).groups()  # type: ignore[union-attr]  # matches anything
        near = (f"{prefix}{int(number) + step}" for step in (1, -1, 2, -2)) if number else ()
        return next((other for other in near if (e := self.record.entry(other)) and contains(e.text, quote)), None)


_STRENGTH: Mapping[Standing, int] = {"observed": 0, "done": 1, "absence": 2, "said": 3, "given": 4}

_SPEAKERS = frozenset(
    (
        *(
            "task",
            "agent",
            "dispatch_agent",
            "spawn_agent",
            "wait_agent",
            "send_input",
            "delegate",
            "delegate_task",
            "subagent",
        ),
        *("think", "sequentialthinking", "todowrite", "todo_write", "write_todos", "update_plan", "manage_todo_list"),
        *("exitplanmode", "exit_plan_mode", "attempt_completion", "finish", "report_intent", "send_message"),
    )
)
"""Tools whose results are the words of an agent: of one it asked, or its own given back."""


def standing_of(entry: Entry) -> Standing:
    """What an entry can prove, by who wrote it and what it is."""
    if entry.writer == "agent":
        return "done" if entry.kind == "call" else "said"
    return "observed" if entry.kind == "result" and entry.writer == "tool" else "given"


def _fault(citation: Citation, words: str) -> Holding:
    return Holding(citation, fault=words)


def _says_the_number(fact: str, quote: str) -> bool:
    numbers = re.findall(r"\d+", fact)
    return not numbers or any(number in re.findall(r"\d+", quote) for number in numbers)


def _without_facts(quote: str, look: Look) -> str:
    """What is left of a quote that goes over from adjudge's own lines into the text below them."""
    for fact in map(fold, look.facts):
        if quote.startswith(fact) and len(quote) > len(fact):
            quote = quote.removeprefix(fact).strip()
    return quote
