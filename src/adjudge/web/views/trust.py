"""How far a judge can be trusted, as pages show it: beside what it qualifies, and in a table of its own."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from markupsafe import Markup

from adjudge.exports.trust import NOT_YET, agreed, beside, beside_of, endorsed, interval_words, kappa_words, note_of
from adjudge.reviews.figures import Figures, Trust
from adjudge.statistics import MEANINGFUL, Interval
from adjudge.untrusted import one_line
from adjudge.web.text import counted


class TrustCell(msgspec.Struct, frozen=True):
    """The figure beside a criterion or dimension, and what belongs to it, each in a line."""

    figure: str
    more: tuple[str, ...]


class TrustLine(msgspec.Struct, frozen=True):
    """A figure: its value and interval, or in their place why there is none yet, over how many items."""

    name: str
    aside: str
    value: str
    interval: str
    items: str
    not_yet: str | None


class Cell(msgspec.Struct, frozen=True):
    """A figure in a table of several parts, its interval, and over how many items it is."""

    value: str
    interval: str
    items: str


class TrustPart(msgspec.Struct, frozen=True):
    """The figures of one agent or one judge: a cell for each column, `None` where there is nothing to say."""

    name: str
    aside: str
    cells: tuple[Cell | None, ...]


class TrustParts(msgspec.Struct, frozen=True):
    """The parts of one way of splitting."""

    name: str
    parts: tuple[TrustPart, ...]


class TrustSplits(msgspec.Struct, frozen=True):
    """All parts in one table, with the columns in which any of them has a figure."""

    columns: tuple[str, ...]
    splits: tuple[TrustParts, ...]


class TrustView(msgspec.Struct, frozen=True):
    """All figures on one judge and rubric; `note` explains those that stand beside verdicts or scores.

    `splits` are the figures by agent and by judge. `beside` has what stands beside each criterion or dimension, and
    `beside_of` that of the runs of each agent. `short` is the one that is shown at the head of a page, `None` if nobody
    answered blind. While they are being counted, `load` is where they will be.
    """

    who: str
    lines: tuple[TrustLine, ...]
    splits: TrustSplits | None
    beside: dict[str, str]
    beside_of: dict[str, dict[str, str]]
    note: str
    short: tuple[str, str] | None
    load: Markup | None = None


class RunTrust(msgspec.Struct, frozen=True):
    """What a run's page says of its evaluator and its reader, `None` where it has none or there was no rubric.

    `reviews` counts the reviews of the very verdicts and scores on the page, by criterion or dimension. `harness` is the
    agent of the run.
    """

    evaluation: TrustView | None = None
    reading: TrustView | None = None
    reviews: dict[str, int] = {}
    harness: str = ""

    def beside(self, item: str) -> str:
        """What stands beside a verdict or a score."""
        judges = [each for each in (self.evaluation, self.reading) if each]
        told = (each.beside_of.get(self.harness, {}).get(item) or each.beside.get(item, "") for each in judges)
        return next(filter(None, told), "")

    def reviewed(self, item: str) -> str:
        """Whether the very verdict or score was reviewed."""
        count = self.reviews.get(item, 0)
        return counted(count, "review") if count else "not reviewed"


NOTHING_KNOWN = RunTrust()
SHORT = 12
"""Characters of a hash that are shown."""


def trust_cell(found: Figures | None) -> TrustCell:
    """What a row of results says of its criterion or dimension."""
    if found is None or not beside(found):
        return TrustCell("not reviewed", ())
    return TrustCell(_figure(found), tuple(_more(found)))


def _figure(found: Figures) -> str:
    blind = found.blind
    if not blind.pairs:
        return "no blind review"
    if not blind.meaningful:
        return NOT_YET
    return f"κ {kappa_words(blind.kappa)}" if blind.kappa else interval_words(blind.raw)


def _more(found: Figures) -> Iterator[str]:
    blind = found.blind
    if blind.pairs:
        yield f"{agreed(blind)}, {counted(blind.items, 'item')}"
    if blind.meaningful:
        yield from _named("false pass", blind.false_pass)
        yield from _named("false fail", blind.false_fail)
    if found.endorsement.reviews:
        yield f"{endorsed(found.endorsement)}, verdict seen"


def _named(name: str, found: Interval | None) -> Iterator[str]:
    if found is not None:
        yield f"{name} {interval_words(found)}"


def counting(who: str, load: Markup) -> TrustView:
    """Of figures that are being counted, where they will be."""
    return TrustView(who, (), None, {}, {}, "", None, load)


def trust_view(who: str, found: Trust) -> TrustView:
    """Everything that is known of a judge with a rubric."""
    words = {item: told for item, each in found.items.items() if (told := beside(each))}
    apart = {harness: {item: beside_of(found, item, harness) for item in of} for harness, of in found.items_of.items()}
    return TrustView(who, tuple(_lines(found.whole)), _splits(found), words, apart, note_of(found), _short(found.whole))


def of_harness(found: Trust, harness: str, item: str) -> str:
    """How far reviewers agree with the judge on one item of the runs of one agent, once that is meaningful."""
    apart = found.items_of.get(harness, {}).get(item)
    return _figure(apart) if apart is not None and apart.blind.meaningful else ""


def _short(whole: Figures) -> tuple[str, str] | None:
    blind = whole.blind
    if not blind.pairs:
        return None
    items = counted(blind.items, "item")
    if not blind.meaningful or blind.kappa is None:
        return (agreed(blind).removeprefix("agree "), f"{NOT_YET}, {items}" if not blind.meaningful else items)
    figure, _, interval = kappa_words(blind.kappa).partition(", ")
    return (f"κ {figure}", ", ".join(filter(None, (interval, items))))


def _lines(whole: Figures) -> Iterator[TrustLine]:
    blind, endorsement, repeated = whole.blind, whole.endorsement, whole.repeated
    if blind.pairs:
        yield _line("Blind agreement, raw", "", interval_words(blind.raw), blind.items)
        yield _line("Cohen’s kappa", "", kappa_words(blind.kappa), blind.items)
        yield _line("False pass", "the judge passed what reviewers failed", interval_words(blind.false_pass), blind.items)
        yield _line("False fail", "the judge failed what reviewers passed", interval_words(blind.false_fail), blind.items)
    if endorsement.reviews:
        rate = interval_words(endorsement.rate)
        yield _line("Endorsement rate", "the reviewer had seen the verdict", rate, endorsement.items)
    if repeated.pairs:
        words = kappa_words(repeated.kappa) or interval_words(repeated.raw)
        name = "Repeatability, kappa" if repeated.kappa else "Repeatability, raw"
        yield _line(name, "runs that the same judge judged again", words, repeated.items)


def _splits(found: Trust) -> TrustSplits:
    """By agent and by judge, without the columns in which nobody has a figure."""
    there = _cells(found.whole)
    columns = tuple(name for name, cell in there.items() if cell)
    agents = ((one_line(name, 60), "", _cells(each)) for name, each in found.harnesses.items())
    judges = ((*_judge(each), _cells(each)) for each in found.judges)
    splits = (
        TrustParts(name, tuple(TrustPart(who, aside, tuple(map(cells.get, columns))) for who, aside, cells in parts))
        for name, parts in (("By agent", agents), ("By judge", judges))
    )
    return TrustSplits(columns, tuple(splits))


def _judge(found: Figures) -> tuple[str, str]:
    judge, model, identity = (one_line(found.key[name], 80) for name in ("judge", "model", "judge_hash"))
    return (judge if model == "none" else model, identity[:SHORT])


def _cells(found: Figures) -> dict[str, Cell | None]:
    blind, repeated = found.blind, found.repeated
    return {
        "Agreement": _cell(interval_words(blind.raw), blind.items, blind.pairs),
        "Kappa": _cell(kappa_words(blind.kappa), blind.items, blind.pairs),
        "False pass": _cell(interval_words(blind.false_pass), blind.items, blind.pairs),
        "False fail": _cell(interval_words(blind.false_fail), blind.items, blind.pairs),
        "Endorsed": _cell(interval_words(found.endorsement.rate), found.endorsement.items, found.endorsement.reviews),
        "Repeated": _cell(kappa_words(repeated.kappa) or interval_words(repeated.raw), repeated.items, repeated.pairs),
    }


def _cell(words: str, items: int, answers: int) -> Cell | None:
    if not answers:
        return None
    of, line = counted(items, "item"), _line("", "", words, items)
    return Cell("", line.not_yet, of) if line.not_yet else Cell(line.value, line.interval, of)


def _line(name: str, aside: str, words: str, items: int) -> TrustLine:
    """A figure in words, unless it rests on too few items or cannot be told."""
    value, _, interval = words.partition(", ")
    few = f"{NOT_YET}, under {MEANINGFUL}" if items < MEANINGFUL else None if value else "cannot be told from these"
    return TrustLine(name, aside, value, interval, f"{items:,}", few)
