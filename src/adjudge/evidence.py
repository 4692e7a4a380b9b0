"""What may be cited, and which citations hold.

An exhibit is an entry of the record or a look of the evaluator. A citation names one and quotes from it. Whether it holds
is decided here, by code, from what was stored: never from what a model says about it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from adjudge.record import Entry, Kind, Record
from adjudge.rubric import About, Criterion
from adjudge.untrusted import shown

Standing = Literal["observed", "done", "said", "absence", "given"]
"""What an exhibit can prove: that something is so, that the agent did it, that the agent said it, that a search found
nothing, or (the task, a harness's note) nothing of the agent's work at all."""

Place = Literal["record", "files", "command"]

SHORTEST = 3
"""Letters and digits that a quote must have; fewer are found everywhere."""

WORD_LIKE = 8
"""A quote shorter than this must stand as a word of its own: `240` is not found in `12400`."""


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

    `source` is the entry in which the quote stands, where the citation named a look into the record.
    """

    citation: Citation
    standing: Standing | None = None
    fault: str | None = None
    source: str | None = None


class Exhibits:
    """Everything that may be cited in one judgment: a record's entries and the looks made so far."""

    def __init__(self, record: Record, looks: Iterable[Look] = ()) -> None:
        self.record = record
        self.looks: dict[str, Look] = {look.id: look for look in looks}

    def add(self, look: Look) -> None:
        """Make a look citable."""
        self.looks[look.id] = look

    def check(self, citation: Citation) -> Holding:
        """Whether a citation holds: its exhibit exists and the quote stands in it, white space folded, nothing else."""
        quote = fold(citation.quote)
        if sum(map(str.isalnum, quote)) < SHORTEST:
            return _fault(citation, f"the quote {quote!r} is too short to point at anything")
        if look := self.looks.get(citation.exhibit):
            return self._in_look(citation, quote, look)
        if entry := self.record.entry(citation.exhibit):
            return _in_entry(citation, quote, entry)
        return _fault(citation, f"there is no exhibit {citation.exhibit!r}")

    def _in_look(self, citation: Citation, quote: str, look: Look) -> Holding:
        if any(contains(fact, quote) for fact in look.facts):
            return Holding(citation, None if look.failed else _standing_of_fact(look, quote), _failed(look), look.id)
        if status := stated_exit_status(quote):
            return _fault(
                citation, f"{look.id} does not state {status}: only its own exit status counts, not what it printed"
            )
        if look.failed:
            return _fault(citation, f"{look.id} found nothing to quote: {'; '.join(look.facts)}")
        if look.place == "record":
            return self._in_shown_entries(citation, quote, look)
        if not _stands_in(look.text, quote):
            return _fault(citation, f"the quote is not in {look.id}")
        if look.place == "command" and typed(str(look.arguments.get("command", "")), quote):
            return _fault(citation, f"{look.id} only echoes what its own command was told to print")
        return Holding(citation, "observed", None, look.id)

    def _in_shown_entries(self, citation: Citation, quote: str, look: Look) -> Holding:
        """A look into the record proves what the entry proves in which the quote stands."""
        entries = [entry for name in look.shows if (entry := self.record.entry(name))]
        holdings = [holding for entry in entries if (holding := _in_entry(citation, quote, entry)).standing]
        if not holdings:
            return _fault(citation, f"the quote is in no entry that {look.id} shows")
        return min(holdings, key=lambda holding: _STRENGTH[holding.standing or "given"])


_STRENGTH: Mapping[Standing, int] = {"observed": 0, "done": 1, "absence": 2, "said": 3, "given": 4}


def _fault(citation: Citation, words: str) -> Holding:
    return Holding(citation, fault=words)


def _standing_of_fact(look: Look, quote: str) -> Standing:
    """What adjudge's own statement about a look proves.

    Of a look into the record that is only an exit status, or that nothing was found: `message of agent` or `matches: 3`
    state no more than that the agent's words are there.
    """
    if look.found == 0:
        return "absence"
    return "observed" if look.place != "record" or stated_exit_status(quote) else "given"


def _failed(look: Look) -> str | None:
    return f"{look.id} failed, so it shows nothing" if look.failed else None


def _in_entry(citation: Citation, quote: str, entry: Entry) -> Holding:
    if stated_exit_status(quote):
        if entry.exit_status is not None and stated_exit_status(quote) == f"exit status: {entry.exit_status}":
            return Holding(citation, "observed", None, entry.id)
        known = "no exit status" if entry.exit_status is None else f"exit status {entry.exit_status}"
        return _fault(citation, f"the recording states {known} for {entry.id}; printed text does not count")
    if not _stands_in(entry.text, quote) and not (entry.arguments and _stands_in(entry.arguments, quote)):
        return _fault(citation, f"the quote is not in {entry.id}")
    return Holding(citation, standing_of(entry), None, entry.id)


def standing_of(entry: Entry) -> Standing:
    """What an entry can prove, by who wrote it and what it is."""
    if entry.writer == "agent":
        return "done" if entry.kind == "call" else "said"
    return "observed" if entry.kind == "result" and entry.writer == "tool" else "given"


def _stands_in(stored: str, quote: str) -> bool:
    """In the text as stored, or as the one view of untrusted text shows it (secrets masked, invisible marked)."""
    return contains(stored, quote) or contains(shown(stored), quote)


def contains(text: str, quote: str) -> bool:
    """Whether a folded quote stands in a text, as a word of its own if it is short."""
    folded = fold(text)
    if len(quote) >= WORD_LIKE:
        return quote in folded
    return re.search(rf"(?<![^\W_]){re.escape(quote)}(?![^\W_])", folded) is not None


def fold(text: str) -> str:
    """The text with every run of white space as one space, and none at its ends."""
    return " ".join(text.split())


_EXIT_STATUS = re.compile(r"\W*(?:(?:process )?exit(?:ed)?(?: with)?(?: status| code)?|return ?code|rc)\W*(-?\d+)\W*", re.I)


def stated_exit_status(quote: str) -> str | None:
    """`exit status: N` if the whole quote says nothing else, in whatever words."""
    match = _EXIT_STATUS.fullmatch(quote)
    return f"exit status: {int(match[1])}" if match else None


_ECHOES = frozenset({"echo", "printf", "print"})


def typed(command: str, quote: str) -> bool:
    """Whether the quote only repeats words that the command itself was told to print with `echo` or `printf`."""
    for part in re.split(r"[;\n|&]+", command):
        words = _words(part)
        if words and words[0] in _ECHOES and "$" not in part and "`" not in part and quote in fold(" ".join(words[1:])):
            return True
    return False


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.replace('"', " ").replace("'", " ").split()


_SAYS = re.compile(
    r"\b(?:final (?:message|answer|report|summary)|last message|(?:message|answer|report|summary|agent|it) (?:also )?"
    r"(?:says?|said|states?|stated|mentions?|mentioned|reports?|reported|claims?|claimed|tells?|told|explains?|explained|"
    r"admits?|admitted|announces?|announced|asks?|asked|names?|warns?|warned|lists?)|says? that|told the user)\b",
    re.I,
)
_COMPARES = re.compile(
    r"\b(?:equals?|same as|match(?:es)?|agrees? with|is the one|as (?:reported|printed|shown)|consistent with|"
    r"corresponds? to|contradicts?|true)\b",
    re.I,
)
_DID = re.compile(
    r"\b(?:the agent|the record|the run|agent's|during the run|it) (?:itself |also |never |first |did not |has )*"
    r"(?:shows?|ran|runs?|execut\w+|call\w*|us(?:ed|es)|open\w*|read|reads|edit\w*|wrote|writes?|creat\w+|check\w*|look\w*|"
    r"search\w*|install\w*|start\w*|commit\w*|delet\w+|remov\w+|chang\w+|modif\w+|test\w*|verif\w+|tri(?:ed|es)|made|makes)\b"
    r"|\b(?:of|by) the agent\b",
    re.I,
)
_DENIES = re.compile(
    r"\b(?:no|not|never|none|nothing|nowhere|neither|without|only|absent|missing|unchanged|n't)\b|n't\b", re.I
)


def about(criterion: Criterion) -> About:
    """What a criterion speaks of, from the rubric if it says so, else from the criterion's text; in doubt, of a result.

    `result`: how things are. `process`: what the agent did. `answer`: what it said. `account`: whether what it said
    agrees with what is.
    """
    if criterion.about:
        return criterion.about
    if _SAYS.search(criterion.text):
        return "account" if _COMPARES.search(criterion.text) else "answer"
    return "process" if _DID.search(criterion.text) else "result"


def denies(criterion: Criterion) -> bool:
    """Whether a criterion states that something is not there, so that an empty search can show it."""
    return _DENIES.search(criterion.text) is not None


def suffices(criterion: Criterion, holdings: Sequence[Holding]) -> str | None:
    """`None` if these holdings can prove the criterion, else what is missing, in words for the evaluator."""
    standings = {holding.standing for holding in holdings if holding.standing}
    if not standings:
        return "no citation holds"
    seen = "observed" in standings or ("absence" in standings and denies(criterion))
    match about(criterion):
        case "result":
            return None if seen else _needs("a result", "a tool's result, a file or a command's output", standings)
        case "process":
            return None if seen or "done" in standings else _needs("what was done", "a call or its result", standings)
        case "answer":
            return None if seen or standings & {"said", "done"} else _needs("the agent's words", "its message", standings)
        case "account":
            if seen and "said" in standings:
                return None
            return "it compares words with facts, so it needs a quote of the agent's message and one of what was observed"


def _needs(subject: str, wanted: str, standings: set[Standing]) -> str:
    names = {
        "said": "the agent's own words",
        "done": "a call without its result",
        "given": "the task or a harness's note",
        "absence": "a search that found nothing",
        "observed": "an observation",
    }
    return f"it is about {subject} and needs {wanted}; cited is only {' and '.join(sorted(names[s] for s in standings))}"


def kinds_shown(entries: Iterable[Entry]) -> set[Kind]:
    """The kinds among some entries."""
    return {entry.kind for entry in entries}
