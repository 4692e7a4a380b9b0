"""What the judgments of a pass come to: counted one at a time, so that memory grows with the groups, not with the runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from adjudge.judgment import Judgment, Omitted, Score, Verdict
from adjudge.passes.said import cost_of, establishes, is_flawless, is_partial, unpriced
from adjudge.rubric import Rubric, Scale
from adjudge.run import Outcome
from adjudge.statistics import Interval, wilson
from adjudge.store.judged import JudgedRun
from adjudge.store.pass_rows import PassRow

By = Literal["harness", "outcome", "model", "task"]

OMISSIONS = ("input_truncated", "tool_output_pruned", "events_elided", "boilerplate")
"""What can have been done to a reader's input, by the names of `Prepared`."""
PARTS = 100
"""Parts of a scale at which values are counted together."""


class Money(msgspec.Struct, frozen=True):
    """US dollars: the sum of what is known, and how many cost something that is not known, or not wholly."""

    known: float
    unknown: int


class Omission(msgspec.Struct, frozen=True):
    """In how many judgments' inputs something was left out, and how much together."""

    judgments: int
    pieces: int
    characters: int


class DimensionResult(msgspec.Struct, frozen=True):
    """What the scores of one dimension come to.

    `scored` of them say something: a value, or that a share was wasted. `worse` of those are worse than blameless, and
    `share` is theirs. `mean` is over the values. The others were demoted, or the reader established nothing. `values` says
    how often each value was given, in order, rounded to hundredths of the scale unless it is of few whole numbers.
    """

    dimension: str
    scored: int
    mean: float | None
    worse: int
    share: Interval | None
    evidence_missing: int
    missing_reasoning: int
    unanswered: int
    not_established: int
    values: tuple[tuple[float, int], ...] = ()


class CriterionResult(msgspec.Struct, frozen=True):
    """What the verdicts of one criterion come to: `passed` of `judged`, and the fails by cause (`none` if it has none)."""

    criterion: str
    judged: int
    passed: int
    share: Interval | None
    causes: dict[str, int]


class Group(msgspec.Struct, frozen=True):
    """What the judgments of some runs come to; `key` says which runs, by what they were split.

    `landed` judgments: `judged` with an answer, the others sorted by `failures`. `empty` of those judged have not one
    value, and `partial` have one for some of their dimensions only. `flawless` is the share of the others that passed
    everything, or where nothing is worse than blameless.
    `score` is the mean over judgments that have one. `judging` is what judging cost, `runs` what the judged runs had cost:
    two things that are never added up.
    """

    key: dict[str, str]
    landed: int
    judged: int
    empty: int
    partial: int
    failures: dict[str, int]
    flawless: Interval | None
    score: float | None
    dimensions: tuple[DimensionResult, ...]
    criteria: tuple[CriterionResult, ...]
    omissions: dict[str, Omission]
    judging: Money
    runs: Money

    @property
    def errored(self) -> int:
        """How many judgments have no answer."""
        return sum(self.failures.values())


class Results(msgspec.Struct, frozen=True):
    """What a pass came to.

    `row.selected` runs were to be judged, `open` of them are not yet, and `unrecorded` more in the store had no record when
    it was planned (`None` if the plan does not say): those are not judged, which says nothing good of them.
    `whole` is over all that landed, `groups` over its parts.
    """

    row: PassRow
    open: int
    unrecorded: int | None
    by: tuple[By, ...]
    whole: Group
    groups: tuple[Group, ...]


def results_of(
    row: PassRow, rubric: Rubric, unrecorded: int | None, judged: Iterable[JudgedRun], by: Sequence[By]
) -> Results:
    """Count the judgments of a pass, for the whole and for each part by harness, outcome, model or task."""
    tallies = Tallies(rubric, ((), tuple(by)))
    for each in judged:
        tallies.count(each)
    (whole,) = tallies.groups(())
    groups = tallies.groups(tuple(by)) if by else ()
    return Results(row, row.selected - whole.landed, unrecorded, tuple(by), whole, groups)


def label_of(judged: JudgedRun, by: By) -> str:
    """To which part a run belongs; what is not known is a part of its own."""
    run = judged.run
    match by:
        case "harness":
            return run.agent or "unknown"
        case "outcome":
            return outcome_of(run.outcome)
        case "model":
            return run.model or "unknown"
        case "task":
            return run.task_name or run.task or "unknown"


def outcome_of(outcome: Outcome) -> str:
    """An outcome as the name of a stratum: the grade, else the failure, else the exit status."""
    if outcome.grade is not None:
        return outcome.grade
    if outcome.failure is not None:
        return f"failed: {outcome.failure}"
    return "unknown" if outcome.exit_status is None else f"exit {outcome.exit_status}"


# --- counting


class Tallies:
    """Counts judgments by several splits at once; the split by nothing is the whole, which is there even if none landed."""

    def __init__(self, rubric: Rubric, splits: Iterable[tuple[By, ...]]) -> None:
        self._rubric = rubric
        self._parts: dict[tuple[By, ...], dict[tuple[str, ...], _Tally]] = {split: {} for split in splits}
        if () in self._parts:
            self._parts[()][()] = _Tally(rubric, {})

    def count(self, judged: JudgedRun) -> None:
        """Count a judgment, once in each split."""
        for split, parts in self._parts.items():
            key = tuple(label_of(judged, name) for name in split)
            if key not in parts:
                parts[key] = _Tally(self._rubric, dict(zip(split, key, strict=True)))
            parts[key].count(judged)

    def groups(self, split: tuple[By, ...]) -> tuple[Group, ...]:
        """What was counted of each part of a split, in order."""
        return tuple(tally.group() for _, tally in sorted(self._parts[split].items()))


class _Tally:
    """Counts the judgments of one group."""

    def __init__(self, rubric: Rubric, key: dict[str, str]) -> None:
        self._key = key
        self._failures: Counter[str] = Counter()
        self._landed = self._judged = self._empty = self._partial = self._flawless = self._told = self._unpriced = 0
        self._score, self._judging, self._runs = _Sum(), _Sum(), _Sum()
        self._dimensions = {each.id: _Scores(each.scale) for each in rubric.dimensions}
        self._criteria = {each.id: _Verdicts() for each in rubric.criteria}
        self._omissions = {name: _Omissions() for name in OMISSIONS}

    def count(self, judged: JudgedRun) -> None:
        judgment = judged.judgment
        self._landed += 1
        self._runs.add(judged.run.cost)
        self._judging.add(cost_of(judgment) or 0.0)
        self._unpriced += unpriced(judgment)
        self._count_answer(judgment)
        for verdict in judgment.verdicts:
            if verdict.criterion in self._criteria:  # what the rubric does not have, `verify` finds
                self._criteria[verdict.criterion].count(verdict)
        for score in judgment.scores:
            if score.dimension in self._dimensions:
                self._dimensions[score.dimension].count(score)
        if judgment.prepared is not None:
            for name, omissions in self._omissions.items():
                omissions.count(getattr(judgment.prepared, name))

    def _count_answer(self, judgment: Judgment) -> None:
        if judgment.status == "errored":
            self._failures[judgment.failure or "machine"] += 1
            return
        self._judged += 1
        self._empty += judgment.empty
        self._partial += is_partial(judgment)
        if judgment.score is not None:
            self._score.add(judgment.score)
        if (flawless := is_flawless(judgment)) is not None:
            self._told += 1
            self._flawless += flawless

    def group(self) -> Group:
        return Group(
            self._key,
            self._landed,
            self._judged,
            self._empty,
            self._partial,
            dict(sorted(self._failures.items())),
            wilson(self._flawless, self._told),
            self._score.mean,
            tuple(scores.result(name) for name, scores in self._dimensions.items()),
            tuple(verdicts.result(name) for name, verdicts in self._criteria.items()),
            {name: omissions.result() for name, omissions in self._omissions.items()},
            Money(self._judging.sum, self._unpriced),
            Money(self._runs.sum, self._runs.unknown),
        )


class _Sum:
    """Adds up what is known, and counts what is not."""

    def __init__(self) -> None:
        self.sum, self.unknown, self._known = 0.0, 0, 0

    def add(self, value: float | None) -> None:
        if value is None:
            self.unknown += 1
        else:
            self.sum += value
            self._known += 1

    @property
    def mean(self) -> float | None:
        return self.sum / self._known if self._known else None


class _Scores:
    """Counts the scores of one dimension."""

    def __init__(self, scale: Scale) -> None:
        self._values, self._faults = _Sum(), Counter[str]()
        self._spread = Counter[float]()
        self._scored = self._worse = 0
        width = scale.most - scale.least
        self._step = 1.0 if scale.whole and width <= PARTS else width / PARTS or 1.0

    def count(self, score: Score) -> None:
        if score.value is not None:
            self._values.add(score.value)
            self._spread[round(round(score.value / self._step) * self._step, 9)] += 1
        if establishes(score):
            self._scored += 1
            self._worse += score.worse
        else:
            self._faults[score.fault or "not_established"] += 1

    def result(self, name: str) -> DimensionResult:
        return DimensionResult(
            name,
            self._scored,
            self._values.mean,
            self._worse,
            wilson(self._worse, self._scored),
            evidence_missing=self._faults["evidence_missing"],
            missing_reasoning=self._faults["missing_reasoning"],
            unanswered=self._faults["unanswered"],
            not_established=self._faults["not_established"],
            values=tuple(sorted(self._spread.items())),
        )


class _Verdicts:
    """Counts the verdicts of one criterion."""

    def __init__(self) -> None:
        self._judged = self._passed = 0
        self._causes: Counter[str] = Counter()

    def count(self, verdict: Verdict) -> None:
        self._judged += 1
        self._passed += verdict.passed
        if not verdict.passed:
            self._causes[verdict.cause or "none"] += 1

    def result(self, name: str) -> CriterionResult:
        share = wilson(self._passed, self._judged)
        return CriterionResult(name, self._judged, self._passed, share, dict(sorted(self._causes.items())))


class _Omissions:
    """Counts what was left out of inputs, of one kind."""

    def __init__(self) -> None:
        self._judgments = self._pieces = self._characters = 0

    def count(self, omitted: Omitted) -> None:
        self._judgments += omitted.pieces > 0
        self._pieces += omitted.pieces
        self._characters += omitted.characters

    def result(self) -> Omission:
        return Omission(self._judgments, self._pieces, self._characters)
