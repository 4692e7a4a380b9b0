"""Figures by criterion or dimension, harness, model and judge, counted from streams: memory grows with the groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from adjudge.reviews.agreement import (
    VERDICTS,
    Agreement,
    Endorsement,
    Pair,
    agreement_of,
    as_verdict,
    endorsement_of,
    rounded,
)
from adjudge.reviews.values import Picked
from adjudge.rubric import Scale

By = Literal["item", "harness", "model", "judge"]


class Subject(msgspec.Struct, frozen=True):
    """What answers are about and who judged: all by which figures can be split. `rubric` is a hash."""

    rubric: str
    rubric_name: str | None
    item: str
    kind: str
    harness: str
    judge: str
    model: str | None
    judge_hash: str | None


class Counted(msgspec.Struct, frozen=True):
    """What figures are made from, each with its subject.

    Approvals, reviews and items of those that had seen the judge's answer; pairs of a blind reviewer's answer and the
    judge's, with how often just that; how many items those are of; pairs of a judge's answers to one item of one run, with
    whether it is the first pair of that item.
    """

    endorsements: Iterable[tuple[Subject, int, int, int]]
    blind: Iterable[tuple[Subject, Pair, int]]
    blind_items: Iterable[tuple[Subject, int]]
    repeated: Iterable[tuple[Subject, Pair, bool]]


class Figures(msgspec.Struct, frozen=True):
    """How far a judge can be trusted on some items; `key` says on which, by what they were split.

    `repeated` is how far the judge agrees with itself when it judges the same run again: each time (the column) with the
    time before (the row). Over items of several criteria or dimensions all answers count as worse than blameless or not.
    """

    key: dict[str, str]
    endorsement: Endorsement
    blind: Agreement
    repeated: Agreement


class Report(msgspec.Struct, frozen=True):
    """Figures over everything that was asked for, and over its parts.

    `picked` is the one way of coming by items that counts, if not all do.
    """

    by: tuple[By, ...]
    picked: Picked | None
    whole: Figures
    groups: tuple[Figures, ...]


class Trust(msgspec.Struct, frozen=True):
    """How far one judge, or all of them, can be trusted with one rubric: over everything it asks, and by each part of that.

    `items` are criteria or dimensions by id, `harnesses` by name, and `items_of` the former of each harness apart.
    """

    whole: Figures
    items: dict[str, Figures]
    harnesses: dict[str, Figures]
    judges: tuple[Figures, ...]
    items_of: dict[str, dict[str, Figures]]


Split = tuple[By, ...]


def report_of(
    counted: Counted, by: Sequence[By], scales: Mapping[tuple[str, str], Scale], picked: Picked | None = None
) -> Report:
    """The figures, for the whole and for each part. `scales` are those of dimensions, by rubric hash and id."""
    split = tuple(by)
    found = _figures_by(counted, ((), split), scales)
    return Report(split, picked, found[()][0], found[split] if split else ())


def trust_of(counted: Counted, scales: Mapping[tuple[str, str], Scale]) -> Trust:
    """The figures on one rubric, split in each way that pages and commands show; `scales` as for `report_of`."""
    found = _figures_by(counted, ((), ("item",), ("harness",), ("judge",), ("harness", "item")), scales)
    items_of: dict[str, dict[str, Figures]] = {}
    for each in found["harness", "item"]:
        items_of.setdefault(each.key["harness"], {})[each.key["item"]] = each
    return Trust(
        whole=found[()][0],
        items={each.key["item"]: each for each in found["item",]},
        harnesses={each.key["harness"]: each for each in found["harness",]},
        judges=found["judge",],
        items_of=items_of,
    )


def _figures_by(
    counted: Counted, splits: Iterable[Split], scales: Mapping[tuple[str, str], Scale]
) -> dict[Split, tuple[Figures, ...]]:
    """The figures of each part, in each way of splitting; what is not split is one part."""
    tallies = _Tallies(splits, scales)
    for subject, approved, reviews, items in counted.endorsements:
        for tally in tallies.of(subject):
            tally.approved += approved
            tally.reviews += reviews
            tally.endorsed_items += items
    for subject, pair, times in counted.blind:
        for tally in tallies.of(subject):
            tally.blind[tally.placed(pair)] += times
    for subject, items in counted.blind_items:
        for tally in tallies.of(subject):
            tally.blind_items += items
    for subject, pair, first in counted.repeated:
        for tally in tallies.of(subject):
            tally.repeated[tally.placed(pair)] += 1
            tally.repeated_items += first
    return tallies.figures()


class _Tallies:
    """The parts of each way of splitting, as they are met."""

    def __init__(self, splits: Iterable[Split], scales: Mapping[tuple[str, str], Scale]) -> None:
        self._scales = scales
        self._parts: dict[Split, dict[tuple[str, ...], _Tally]] = {split: {} for split in splits}
        self._parts[()] = {(): _Tally({}, None)}

    def of(self, subject: Subject) -> list[_Tally]:
        """The part that a subject belongs to, of each way of splitting."""
        return [self._of(split, subject) for split in self._parts]

    def _of(self, split: Split, subject: Subject) -> _Tally:
        key = {name: value for by in split for name, value in _key(subject, by).items()}
        place, parts = tuple(key.values()), self._parts[split]
        if place not in parts:
            scale = self._scales.get((subject.rubric, subject.item), VERDICTS) if "item" in split else None
            parts[place] = _Tally(key, scale)
        return parts[place]

    def figures(self) -> dict[Split, tuple[Figures, ...]]:
        return {split: tuple(parts[place].figures() for place in sorted(parts)) for split, parts in self._parts.items()}


def _key(subject: Subject, by: By) -> dict[str, str]:
    match by:
        case "item":
            return {"rubric": subject.rubric_name or "unnamed", "rubric_hash": subject.rubric, "item": subject.item}
        case "harness":
            return {"harness": subject.harness}
        case "model":
            return {"model": subject.model or "none"}
        case "judge":
            return {"judge": subject.judge, "model": subject.model or "none", "judge_hash": subject.judge_hash or "unknown"}


class _Tally:
    """Counts what is said of the items of one group; `scale` is theirs if they are of one criterion or dimension."""

    def __init__(self, key: dict[str, str], scale: Scale | None) -> None:
        self._key, self._scale = key, scale
        self.approved = self.reviews = self.endorsed_items = self.blind_items = self.repeated_items = 0
        self.blind: Counter[Pair] = Counter()
        self.repeated: Counter[Pair] = Counter()

    def placed(self, pair: Pair) -> Pair:
        """The pair in the categories of this group, of which there are few."""
        return as_verdict(pair) if self._scale is None else rounded(pair, self._scale)

    def figures(self) -> Figures:
        scale = self._scale or VERDICTS
        return Figures(
            self._key,
            endorsement_of(self.approved, self.reviews, self.endorsed_items),
            agreement_of(self.blind, self.blind_items, scale),
            agreement_of(self.repeated, self.repeated_items, scale),
        )
