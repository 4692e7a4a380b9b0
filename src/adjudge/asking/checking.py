"""From what a model answered to statements that stand, and those that do not: decided by code alone.

What is checked of a statement: each of its citations holds; each number in it stands in one of its quotes (or in the line
about a run, judgment or verdict that is cited without a quote), or counts the different runs, entries or judgments that
it cites; each run, judgment or pass that it names by an id is cited or stands in a cited look. What is not checked is
whether the sentence follows from what it cites: that is for the reader, to whom both are shown side by side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from adjudge.asking.answers import Given, NotTold, Pointed, Said, cited
from adjudge.asking.lines import own
from adjudge.asking.numbers import missing
from adjudge.asking.seen import Seen
from adjudge.asking.values import Holding, Look, Statement, Untold
from adjudge.evidence import fold, says_something
from adjudge.judges.strict import bounded
from adjudge.untrusted import shown

SHORTEST_ID = 6
"""Characters of an id that may stand for all of it."""
_ID = re.compile(r"\b[rjp]-[0-9a-f]{4,}")


class Checked(msgspec.Struct, frozen=True):
    """An answer after the check: what stands of it and what does not."""

    statements: tuple[Statement, ...]
    untold: tuple[Untold, ...]
    unsupported: tuple[Statement | Untold, ...]


def check(given: Given, seen: Seen, mask: bool) -> Checked:
    """Check every statement, and that what the store is said not to tell was looked for.

    Raises:
        OutsideError: something that is cited is damaged in the store, or cannot be read.
    """
    statements = [_statement(said, seen, mask) for said in given.statements]
    untold = [_untold(each, seen, mask) for each in given.untold]
    wrong: tuple[Statement | Untold, ...] = (*(s for s in statements if s.fault), *(u for u in untold if u.fault))
    return Checked(tuple(s for s in statements if not s.fault), tuple(u for u in untold if not u.fault), wrong)


def _statement(said: Said, seen: Seen, mask: bool) -> Statement:
    text = shown(said.text.strip(), mask)
    holdings = tuple(_checked(pointed, seen, mask) for pointed in said.citations)
    return Statement(text, holdings, _fault(text, holdings, seen))


def _checked(pointed: Pointed, seen: Seen, mask: bool) -> Holding:
    holding = seen.check(cited(pointed))
    seeable = msgspec.structs.replace(holding.citation, quote=shown(holding.citation.quote, mask))
    return msgspec.structs.replace(holding, citation=seeable)


def _fault(text: str, holdings: Sequence[Holding], seen: Seen) -> str | None:
    if not says_something(text):
        return "it says nothing"
    if not holdings:
        return "it cites nothing"
    if wrong := [f"{holding.citation.exhibit[:80]}: {holding.fault}" for holding in holdings if holding.fault]:
        return "; ".join(wrong)
    if unknown := [name for name in _ID.findall(text) if not _is_cited(name, holdings, seen)]:
        return f"it names {', '.join(dict.fromkeys(unknown))}, which it does not cite"
    if numbers := missing(text, _cited_words(holdings), _counts(holdings)):
        return f"{', '.join(numbers)}: in none of its quotes; quote the figure, or look so that it stands somewhere"
    return None


def _is_cited(name: str, holdings: Sequence[Holding], seen: Seen) -> bool:
    exhibits = [holding.citation.exhibit for holding in holdings]
    if len(name) >= SHORTEST_ID and any(exhibit.startswith(name) for exhibit in exhibits):
        return True
    looks = (seen.looks[exhibit] for exhibit in exhibits if exhibit in seen.looks)
    words = (*(holding.citation.quote + holding.shown for holding in holdings), *(look.text for look in looks))
    return any(name in each for each in words)


def _cited_words(holdings: Sequence[Holding]) -> Iterator[str]:
    """The quotes, and of what is cited without one the words of adjudge's own: others' are not what was meant."""
    for holding in holdings:
        quote = fold(holding.citation.quote)
        yield quote or own(holding.shown)
        yield holding.what


def _counts(holdings: Sequence[Holding]) -> Iterator[int]:
    """How many different runs, entries and judgments are cited."""
    for kind in ("entry", "judgment"):
        yield len({holding.citation.exhibit for holding in holdings if holding.kind == kind})
    owners = [holding.citation.exhibit.partition("/")[0] for holding in holdings]
    yield from (len({owner for owner in owners if owner.startswith(letter)}) for letter in ("r-", "j-"))


def _untold(said: NotTold, seen: Seen, mask: bool) -> Untold:
    text = shown(said.text.strip(), mask)
    names = tuple(dict.fromkeys(name.strip(" []`") for name in said.looks))
    looks = [seen.looks[name] for name in names if name in seen.looks]
    if len(looks) < len(names) or not looks:
        known = ", ".join(seen.looks)
        return Untold(text, (), f"name the looks in which you looked for it; there are {known}")
    return Untold(text, names, _fault_of_untold(text, looks))


def _fault_of_untold(text: str, looks: Sequence[Look]) -> str | None:
    if not says_something(text):
        return "it says nothing"
    if all(look.failed for look in looks):
        return "all of these looks failed, so nothing was looked for"
    words = [own(line) for look in looks for line in (*look.facts, *look.text.split("\n")) if look.place == "store"]
    if numbers := missing(text, words, ()):
        return f"{', '.join(numbers)}: say a figure in a statement, with its citation"
    return None


def fault_lines(checked: Checked) -> str:
    """What is wrong, in words that a model can act on."""
    return "\n".join(f"- “{bounded(each.text, 160)}”: {bounded(each.fault or '', 600)}" for each in checked.unsupported)
