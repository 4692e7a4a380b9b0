"""What was seen in an asking and may be cited, and whether a citation of it holds."""

from __future__ import annotations

import re

from adjudge import untrusted
from adjudge.asking.lines import own
from adjudge.asking.values import Cited, Holding, Kind, Look
from adjudge.evidence import LONGEST, SHORTEST, Citation, Exhibits, contains, fold, says_something
from adjudge.judgment import Judgment
from adjudge.store.store import Store

_MARKS = str.maketrans("“”„", '"""')

FORMS = "write a look (L3), a run (r-…), an entry of a run (r-…/e12) or a verdict of a judgment (j-…/criterion)"


class Seen:
    """The looks of an asking, and all that they showed.

    The store is asked again for what is cited: an entry's text, whether a judgment has such a verdict.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.looks: dict[str, Look] = {}

    def add(self, look: Look) -> None:
        """Make a look citable, with all that it showed."""
        self.looks[look.id] = look

    def check(self, cited: Cited) -> Holding:
        """Whether a citation holds: the thing was shown in a look of this asking, and the quote stands in it.

        Raises:
            OutsideError: what is cited is damaged in the store, or cannot be read.
        """
        quote = fold(cited.quote)
        if len(quote) > LONGEST:
            return Holding(cited, fault=f"the quote has {len(quote)} characters; quote the line that shows it")
        owner, slash, rest = cited.exhibit.partition("/")
        if re.fullmatch(r"L\d{1,6}", cited.exhibit):
            return self._in_look(cited, quote)
        if re.fullmatch(r"r-[0-9a-f]+", owner):
            return self._in_entry(cited, quote, owner, rest) if slash else self._in_lines(cited, quote, "run")
        if re.fullmatch(r"j-[0-9a-f]+", owner):
            return self._in_judgment(cited, quote, owner, rest)
        return Holding(cited, fault=f"{cited.exhibit[:60]!r} is nothing that can be cited; {FORMS}")

    def shows(self, cited: Cited) -> bool:
        """Whether words stand in what is cited, whoever's they are."""
        look = self.looks.get(cited.exhibit)
        if look is None:
            return self.check(cited).fault is None
        return bool(cited.quote.strip()) and _as_it_stands(fold(look.text), fold(cited.quote)) is not None

    def _in_look(self, cited: Cited, quote: str) -> Holding:
        look = self.looks.get(cited.exhibit)
        if look is None:
            return Holding(cited, fault=f"there is no look {cited.exhibit}; there are {', '.join(self.looks)}")
        if look.failed:
            return Holding(cited, fault=f"{look.id} failed, so it shows nothing")
        if fault := _too_short(quote):
            return Holding(cited, fault=fault)
        if any(contains(fold(fact), quote) for fact in look.facts):
            return Holding(cited, "look")
        if look.place == "record":
            return Holding(cited, fault=f"{look.id} shows words of a run; cite its entry, as in {_an_entry(look)}")
        return self._in_text(cited, quote, look.text, "look")

    def _in_lines(self, cited: Cited, quote: str, kind: Kind) -> Holding:
        """A run, or a judgment or verdict, cited by what looks showed of it in their lines."""
        shown = [look.shows[cited.exhibit] for look in self.looks.values() if cited.exhibit in look.shows]
        if not shown:
            return Holding(cited, fault=f"{cited.exhibit[:60]} was shown in no look")
        lines = "\n".join(dict.fromkeys(line for each in shown for line in each.split("\n") if line))
        if not quote:
            return Holding(cited, kind, shown=lines)
        return self._in_text(cited, quote, lines, kind)

    def _in_text(self, cited: Cited, quote: str, text: str, kind: Kind) -> Holding:
        """A quote from lines of adjudge's own; of words of others alone it holds for what they are."""
        found = _as_it_stands(fold(text), quote)
        if found is None:
            return Holding(cited, fault=f"the quote is not in {cited.exhibit}; copy one line or a part of it as it is")
        if contains(own(fold(text)), own(found)) and says_something(own(found)):
            return Holding(Cited(cited.exhibit, found), kind)
        if kind == "look":
            return Holding(
                cited, fault=f"these are words of others that {cited.exhibit} repeats, and no figure; cite whose they are"
            )
        return Holding(cited, kind, what="words of others", sign=_sign(cited.quote))

    def _in_entry(self, cited: Cited, quote: str, run: str, entry: str) -> Holding:
        if not any(cited.exhibit in look.shows for look in self.looks.values()):
            return Holding(cited, fault=f"{cited.exhibit[:80]} was shown in no look; read it first, or cite what was shown")
        if fault := _too_short(quote):
            return Holding(cited, fault=fault)
        record = self._store.run(run).record
        found = Exhibits(record).check(Citation(entry, quote))
        of = record.entry(entry)
        if found.standing is None or of is None:
            return Holding(cited, fault=found.fault or "there is no such entry")
        return Holding(cited, "entry", what=f"{of.kind} of {of.writer}", sign=_sign(cited.quote))

    def _in_judgment(self, cited: Cited, quote: str, identifier: str, item: str) -> Holding:
        holding = self._in_lines(cited, quote, "judgment")
        if holding.fault or not item:
            return holding
        what = _found_of(self._store.judgment(identifier), item)
        if what is None:
            return Holding(cited, fault=f"judgment {identifier} has no verdict or score called {item[:60]!r}")
        return Holding(cited, "judgment", None, what, holding.shown, holding.sign)


def _too_short(quote: str) -> str | None:
    if sum(map(str.isalnum, quote)) >= SHORTEST:
        return None
    return f"the quote {quote!r} is too short to point at anything; quote its whole line"


def _as_it_stands(text: str, quote: str) -> str | None:
    """The quote as it stands in a text, whatever quotation marks a model made of ours; both are folded."""
    if contains(text, quote):
        return quote
    at = text.translate(_MARKS).find(quote.translate(_MARKS))
    found = text[at : at + len(quote)] if at >= 0 else ""
    return found if found and contains(text, found) else None


def _an_entry(look: Look) -> str:
    return next((name for name in look.shows if "/" in name), "r-…/e12")


def _found_of(judgment: Judgment, item: str) -> str | None:
    """What a judgment says of one item."""
    for verdict in judgment.verdicts:
        if verdict.criterion == item:
            return "pass" if verdict.passed else "fail"
    for score in judgment.scores:
        if score.dimension == item:
            return "no value" if score.value is None else f"value {score.value:g}"
    return None


def _sign(quote: str) -> str | None:
    """The first sign of an attempt to steer a judge in a quote."""
    return next((sign.name for sign in untrusted.steering(quote)), None)
