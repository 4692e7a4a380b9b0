"""What is observed of each run that agents are compared by: small enough that all of a large store's can be kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from adjudge.judgment import Judgment
from adjudge.passes.said import is_flawless, is_partial, says_something
from adjudge.rubric import Rubric
from adjudge.store.judged import JudgeCount, JudgedRun

OVERALL = "overall"
"""In place of a criterion or dimension: what is said of a judgment as a whole."""

Values = tuple[float | None, ...]
"""What one judgment says, measure by measure; `None` where it says nothing."""


class Measure(msgspec.Struct, frozen=True):
    """What agents are compared by: a criterion or dimension, or `overall`, and what is taken of it.

    A share is of runs, each of which counts 0 or 1; anything else is a mean over runs.
    """

    item: str
    what: Literal["passed", "all passed", "score", "worse", "value", "nothing worse", "dimensions worse"]

    @property
    def is_share(self) -> bool:
        """Whether a run counts 0 or 1."""
        return self.what in ("passed", "all passed", "worse", "nothing worse")


class Observation(msgspec.Struct, frozen=True):
    """A run as a comparison sees it: whose it is, of which task, and what its judgment says by each measure.

    `task` is the same for runs of one task, and no other run's where none is known. `values` are `None` if the judgment is
    errored or empty; `partial` says that it has no value for some dimension. `earlier` judgments of the run do not count.
    """

    who: str
    run: str
    judgment: str
    task: str
    values: Values | None
    partial: bool
    earlier: int


class Observed(msgspec.Struct, frozen=True):
    """All that is observed of runs that were judged with one rubric, and by whom they were."""

    rubric: Rubric
    judges: tuple[JudgeCount, ...]
    seen: tuple[Observation, ...]


def observations(rubric: Rubric, judged: Iterable[JudgedRun]) -> Iterator[Observation]:
    """What is observed of each run, by the measures of the rubric."""
    measures = measures_of(rubric)
    for each in judged:
        task = each.task_key or f"run {each.run.id}"
        values = values_of(each.judgment, measures)
        partial = values is not None and is_partial(each.judgment)
        yield Observation(who(each), each.run.id, each.judgment.id, task, values, partial, each.earlier)


def who(judged: JudgedRun) -> str:
    """The agent and its model."""
    agent = judged.run.agent or "unknown"
    return f"{agent}={judged.run.model}" if judged.run.model else agent


def measures_of(rubric: Rubric) -> tuple[Measure, ...]:
    """By what agents are compared with this rubric."""
    if rubric.dimensions:
        of_each = [Measure(each.id, what) for each in rubric.dimensions for what in ("worse", "value")]
        return (Measure(OVERALL, "nothing worse"), Measure(OVERALL, "dimensions worse"), *of_each)
    passed = [Measure(each.id, "passed") for each in rubric.criteria]
    return (Measure(OVERALL, "all passed"), Measure(OVERALL, "score"), *passed)


def values_of(judgment: Judgment, measures: Sequence[Measure]) -> Values | None:
    """What a judgment says by each measure; `None` if it is errored or empty, so that it says nothing at all."""
    if not says_something(judgment):
        return None
    flawless = is_flawless(judgment)
    found: dict[tuple[str, str], float | None] = {(OVERALL, "score"): judgment.score}
    if flawless is not None:
        found[OVERALL, "all passed"] = found[OVERALL, "nothing worse"] = float(flawless)
        found[OVERALL, "dimensions worse"] = float(judgment.worse)
    found |= {(verdict.criterion, "passed"): float(verdict.passed) for verdict in judgment.verdicts}
    for score in judgment.scores:
        found[score.dimension, "value"] = score.value
        found[score.dimension, "worse"] = None if score.value is None and not score.worse else float(score.worse)
    return tuple(found.get((measure.item, measure.what)) for measure in measures)
