"""Looks at figures over many judgments: what a pass came to, and agents side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from adjudge.asking.judgment_looks import pass_line
from adjudge.asking.lines import Line, counted, joined, money, part, theirs
from adjudge.asking.source import Source
from adjudge.asking.tools import CompareAgents, PassResults
from adjudge.asking.values import Look
from adjudge.errors import InputError
from adjudge.passes.comparing import Agent, AgentComparison, Contrast, compare_agents, require_comparable, told
from adjudge.passes.pairing import Wanted
from adjudge.passes.results import CriterionResult, DimensionResult, Group, Results, results_of
from adjudge.statistics import MEANINGFUL, Interval
from adjudge.store.judged import JudgedRun, Scope, judges_of, latest_of_each_run, of_pass


def pass_results(source: Source, asked: PassResults) -> Look:
    """What a pass came to, item by item, for the whole and for its parts."""
    store = source.store
    row = store.passes.row(store.passes.find(asked.of_pass))
    rubric = store.rubric(row.rubric_hash or "")
    judged = _in_time(source, of_pass(store, row.id))
    results = results_of(row, rubric, None, judged, tuple(dict.fromkeys(asked.by)))
    return part([((), line) for line in _of_results(results)], asked.offset, "lines")


def _in_time(source: Source, judged: Iterable[JudgedRun]) -> Iterator[JudgedRun]:
    """The judgments, as long as there is time: figures over a part of them would be taken for those of all."""
    over = source.patience()
    for each in judged:
        if over():
            raise InputError(
                "there are too many judgments for one look; `adjudge results` and `adjudge compare` take longer"
            )
        yield each


def _of_results(results: Results) -> Iterator[str]:
    yield pass_line(results.row)
    if results.open:
        yield f"{counted(results.open, 'run')} not judged yet, which says nothing good of them"
    for group in (results.whole, *results.groups):
        key = ", ".join(f"{name} {value if name == 'outcome' else theirs(value)}" for name, value in group.key.items())
        yield from _of_group(key or "all", group)


def _of_group(key: str, group: Group) -> Iterator[str]:
    none = ", ".join(f"{number} {kind}" for kind, number in group.failures.items())
    flawless = "passed everything" if group.criteria else "have nothing worse than blameless"
    yield joined(
        key,
        f"{group.landed} landed",
        f"{group.judged} judged",
        f"{group.empty} empty",
        f"{group.errored} without an answer" + (f" ({none})" if none else ""),
        _share(group.flawless, flawless),
        "" if group.score is None else f"mean score {group.score:.2f}",
        f"judging {money(group.judging.known)} and {group.judging.unknown} not known",
    )
    for criterion in group.criteria:
        yield f"{key} · {_of_criterion(criterion)}"
    for dimension in group.dimensions:
        yield f"{key} · {_of_dimension(dimension)}"


def _of_criterion(found: CriterionResult) -> str:
    causes = ", ".join(f"{number} {cause}" for cause, number in found.causes.items())
    return joined(
        f"criterion {theirs(found.criterion)}",
        f"{found.passed} of {found.judged} passed",
        _share(found.share, "passed"),
        f"fails by cause: {causes}" if causes else "",
    )


def _of_dimension(found: DimensionResult) -> str:
    without = found.evidence_missing + found.missing_reasoning + found.unanswered + found.not_established
    return joined(
        f"dimension {theirs(found.dimension)}",
        f"{found.worse} of {found.scored} worse than blameless",
        _share(found.share, "worse"),
        "" if found.mean is None else f"mean {found.mean:.2f}",
        f"{without} without a value" if without else "",
    )


def _share(interval: Interval | None, what: str) -> str:
    if interval is None:
        return ""
    return f"share that {what} {interval.share:.2f}, 95 % interval {interval.low:.2f} to {interval.high:.2f}"


def compare(source: Source, asked: CompareAgents) -> Look:
    """Agents side by side on one rubric, each two of them by each measure."""
    scope = _scope(source, asked)
    judges = judges_of(source.store, scope)
    rubric = source.store.rubric(require_comparable(judges, asked.across_judges))
    judged = _in_time(source, latest_of_each_run(source.store, scope))
    compared = compare_agents(rubric, judges, judged, Wanted())
    lines: list[Line] = [((), line) for line in _of_comparison(compared, tuple(words.lower() for words in asked.agents))]
    return part(
        lines, asked.offset, "lines", f"agents: {len(compared.agents)}", f"earlier judgments left out: {compared.earlier}"
    )


def _scope(source: Source, asked: CompareAgents) -> Scope:
    if bool(asked.passes) == (asked.rubric is not None):
        raise InputError("give passes or rubric, one of them")
    if asked.rubric is not None:
        return Scope(rubric=source.rubric(asked.rubric))
    return Scope(passes=tuple(source.store.passes.find(name) for name in asked.passes))


def _of_comparison(compared: AgentComparison, names: Sequence[str]) -> Iterator[str]:
    def is_meant(agent: str) -> bool:
        return not names or any(name in agent.lower() for name in names)

    yield f"rubric {theirs(compared.rubric)} · hash {compared.rubric_hash[:12]}"
    yield from (f"judged by {theirs(told(judge), 200)}" for judge in compared.judges)
    yield from (_of_agent(agent, compared) for agent in compared.agents if is_meant(agent.who))
    for contrast in compared.contrasts:
        if is_meant(contrast.first) and is_meant(contrast.second):
            yield _of_contrast(contrast)


def _of_agent(agent: Agent, compared: AgentComparison) -> str:
    means = (
        f"{_measure(measure.item, measure.what)} {mean:.2f}"
        for measure, mean in zip(compared.measures, agent.means, strict=True)
        if mean is not None
    )
    judged = f"{agent.judged} of {counted(agent.runs, 'run')} judged"
    return joined(f"agent {theirs(agent.who)}", judged, counted(agent.tasks, "task"), *means)


def _measure(item: str, what: str) -> str:
    return what if item == "overall" else f"{theirs(item)} {what}"


def _of_contrast(contrast: Contrast) -> str:
    difference = contrast.difference
    bounds = (difference.low, difference.high)
    interval = "no spread" if None in bounds else f"95 % interval {bounds[0]:+.2f} to {bounds[1]:+.2f}"
    left, right = contrast.runs
    ground = counted(contrast.tasks, "common task") if contrast.paired else f"{left} and {right} runs"
    few = "" if contrast.meaningful else f", fewer than {MEANINGFUL}: not yet meaningful"
    return joined(
        f"{theirs(contrast.first)} minus {theirs(contrast.second)}",
        _measure(contrast.measure.item, contrast.measure.what),
        f"{contrast.values[0]:.2f} minus {contrast.values[1]:.2f} is {difference.value:+.2f}",
        interval,
        f"rests on {ground}{few}",
    )
