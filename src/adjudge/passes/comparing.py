"""Agents side by side on one rubric: what each came to, and how far each two are apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

import msgspec

from adjudge.errors import InputError
from adjudge.passes.differences import Difference, of_means, of_paired_means, of_paired_shares, of_shares
from adjudge.passes.observing import Measure, Observation, Values, measures_of, observations
from adjudge.passes.pairing import Wanted, chosen, weightiest
from adjudge.rubric import Rubric
from adjudge.statistics import MEANINGFUL
from adjudge.store.judged import JudgeCount, JudgedRun


class Agent(msgspec.Struct, frozen=True):
    """An agent and its model: `judged` of its runs count, of `tasks` tasks; the others have no answer, or an empty one.

    `partial` of those have no value for some dimension, so that nothing is said of them overall. `means` are over its
    judged runs, in the order of the measures, and `known` says over how many of them.
    """

    who: str
    runs: int
    judged: int
    partial: int
    tasks: int
    means: tuple[float | None, ...]
    known: tuple[int, ...]


class Contrast(msgspec.Struct, frozen=True):
    """Two agents by one measure: the values over what the difference rests on, and the first minus the second.

    Paired, it rests on `tasks` tasks that both attempted, each counted once; else on `runs` of either. `meaningful` is
    false under 20 of what it rests on.
    """

    first: str
    second: str
    measure: Measure
    paired: bool
    tasks: int
    runs: tuple[int, int]
    values: tuple[float, float]
    difference: Difference
    meaningful: bool


class AgentComparison(msgspec.Struct, frozen=True):
    """Agents side by side, judged with one rubric.

    `earlier` judgments are left out since a later one of the same run counts, and `left_out` pairs as they are too many.
    """

    rubric: str
    rubric_hash: str
    judges: tuple[JudgeCount, ...]
    measures: tuple[Measure, ...]
    agents: tuple[Agent, ...]
    contrasts: tuple[Contrast, ...]
    earlier: int
    left_out: int


def require_comparable(judges: Sequence[JudgeCount], across_judges: bool) -> str:
    """The hash of the rubric with which all judgments were made.

    Raises:
        InputError: there is no judgment, they were made with several rubrics, or by several judges and not
            `across_judges`; the message names them.
    """
    if not judges:
        raise InputError("there is no judgment with a rubric to compare")
    rubrics = dict.fromkeys(each.rubric_hash for each in judges)
    if len(rubrics) > 1:
        names = {each.rubric_hash: f"{each.rubric or 'unnamed'} ({each.rubric_hash[:12]})" for each in judges}
        raise InputError(
            f"the judgments were made with {len(rubrics)} rubrics, {', '.join(names[each] for each in rubrics)}: what "
            "different rubrics ask cannot be compared; name passes with the same one"
        )
    if len(judges) > 1 and not across_judges:
        raise InputError(
            f"the judgments were made by {len(judges)} judges, {'; '.join(map(told, judges))}: a difference between "
            "agents could be one between judges; name passes of one judge, or give --across-judges"
        )
    return judges[0].rubric_hash


def told(judge: JudgeCount) -> str:
    """A judge in a few words."""
    identity = f"identity {judge.judge_hash[:12]}" if judge.judge_hash else "identity not known"
    judgments = "1 judgment" if judge.judgments == 1 else f"{judge.judgments} judgments"
    return f"{judge.kind} {judge.model or 'without a model'} ({identity}, {judgments})"


def compare_agents(
    rubric: Rubric, judges: Sequence[JudgeCount], judged: Iterable[JudgedRun], wanted: Wanted
) -> AgentComparison:
    """Compare each two agents that are wanted by each measure of the rubric. The agents stand in alphabetical order.

    Raises:
        InputError: an agent is wanted that is not there, or one alone; the message names those that are.
    """
    return compare_observed(rubric, judges, observations(rubric, judged), wanted)


def compare_observed(
    rubric: Rubric, judges: Sequence[JudgeCount], seen: Iterable[Observation], wanted: Wanted
) -> AgentComparison:
    """Compare agents by what was observed of their runs; see `compare_agents`."""
    measures = measures_of(rubric)
    observed: dict[str, _Observed] = {}
    earlier = 0
    for each in seen:
        earlier += each.earlier
        observed.setdefault(each.who, _Observed()).add(each)
    names, pairs = chosen(sorted(observed), wanted)
    told = (
        pairs if wanted.agents else weightiest(pairs, {name: each.judged for name, each in observed.items()}, wanted.most)
    )
    contrasts = [
        contrast
        for first, second in told
        for at, measure in enumerate(measures)
        if (contrast := _contrast(first, second, measure, observed[first].by_task(at), observed[second].by_task(at)))
    ]
    agents = tuple(observed[name].agent(name, len(measures)) for name in names)
    return AgentComparison(
        *(rubric.name, rubric.hash, tuple(judges), measures, agents, tuple(contrasts), earlier, len(pairs) - len(told))
    )


# --- what was observed of one agent

ByTask = dict[str, list[float]]
"""Values of runs by their task; a run without one is a task of its own that no other agent has."""


class _Observed:
    """The values of one agent's runs."""

    def __init__(self) -> None:
        self._tasks: dict[str, list[Values]] = {}
        self.judged = self._runs = self._partial = 0

    def add(self, seen: Observation) -> None:
        self._runs += 1
        if seen.values is not None:
            self.judged += 1
            self._partial += seen.partial
            self._tasks.setdefault(seen.task, []).append(seen.values)

    def by_task(self, at: int) -> ByTask:
        """The values by one measure; tasks of which nothing is known are left out."""
        known = ((task, [each[at] for each in runs if each[at] is not None]) for task, runs in self._tasks.items())
        return {task: values for task, values in known if values}  # type: ignore[misc]  # the None are left out above

    def agent(self, name: str, measures: int) -> Agent:
        columns = [[value for values in self.by_task(at).values() for value in values] for at in range(measures)]
        means = tuple(fmean(column) if column else None for column in columns)
        known = tuple(map(len, columns))
        return Agent(name, self._runs, self.judged, self._partial, len(self._tasks), means, known)


# --- two agents by one measure


def _contrast(first: str, second: str, measure: Measure, left: ByTask, right: ByTask) -> Contrast | None:
    """Over the tasks that both attempted if there are such, else over all runs; `None` if one side has no value."""
    common = sorted(left.keys() & right.keys())
    if common:
        pairs = [(fmean(left[task]), fmean(right[task])) for task in common]
        once = all(len(runs) == 1 for side in (left, right) for runs in map(side.__getitem__, common))
        difference = _of_once(pairs) if measure.is_share and once else of_paired_means(pairs)
        runs = (sum(len(left[task]) for task in common), sum(len(right[task]) for task in common))
        values = (fmean(pair[0] for pair in pairs), fmean(pair[1] for pair in pairs))
        rests_on = len(common)
    else:
        ones, others = list(_all(left)), list(_all(right))
        difference = _of_runs(ones, others) if measure.is_share else of_means(ones, others)
        runs = (len(ones), len(others))
        values = (fmean(ones), fmean(others)) if ones and others else (0.0, 0.0)
        rests_on = min(runs)
    if difference is None:
        return None
    enough = rests_on >= MEANINGFUL
    return Contrast(first, second, measure, bool(common), len(common), runs, values, difference, enough)


def _all(values: ByTask) -> Iterator[float]:
    for runs in values.values():
        yield from runs


def _of_once(pairs: Sequence[tuple[float, float]]) -> Difference | None:
    """Shares over tasks that each attempted once: four counts tell all."""
    counts = [pairs.count(pair) for pair in ((1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0))]
    return of_paired_shares(*counts)


def _of_runs(first: Sequence[float], second: Sequence[float]) -> Difference | None:
    return of_shares((round(sum(first)), len(first)), (round(sum(second)), len(second)))
