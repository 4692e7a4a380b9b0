"""Looks at runs by what the tables know of them, and at one run as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from adjudge.asking.lines import AT_ONCE, LONGEST_WORDS, Line, counted, gathered, joined, look, money, page, part, theirs
from adjudge.asking.source import Source, asked_for
from adjudge.asking.tools import CountRuns, ListRuns, OfRuns, ReadRun
from adjudge.asking.values import Look
from adjudge.judges.evaluator.patch_looks import patch_facts
from adjudge.judges.evaluator.record_looks import count, untold
from adjudge.passes.results import outcome_of
from adjudge.record import Usage
from adjudge.run import Run
from adjudge.store.found import FoundRun, Property, RunCount, RunFilter, count_runs, find_runs
from adjudge.store.judged import RunFacts
from adjudge.store.rows import JudgmentRow

LONGEST_TASK = 6_000
LONGEST_GRADING = 1_000
LONGEST_LINE = 120
"""Characters of a task's first line in a list."""
LONGEST_NOTE = 300
JUDGMENTS = 20
"""Judgments of a run that are shown with it."""


def meant(asked: OfRuns) -> RunFilter:
    """The runs that are asked for."""
    return RunFilter(asked.agent, asked.model, asked.task, asked.outcome)


def list_runs(source: Source, asked: ListRuns) -> Look:
    """A page of runs, the latest first."""
    found, total = find_runs(source.store, meant(asked), asked.offset, AT_ONCE)
    lines = (((each.facts.id,), run_line(each)) for each in found)
    return page(lines, total, asked.offset, "runs", asked_for(meant(asked)))


def run_line(found: FoundRun) -> str:
    """What the tables know of a run."""
    facts = found.facts
    return joined(
        facts.id,
        named(facts),
        counted(facts.turns, "turn"),
        counted(found.entries, "entry", "entries"),
        counted(found.judgments, "judgment"),
        "time not known" if facts.seconds is None else f"{facts.seconds:.1f} s",
        money(facts.cost),
        task_of(facts),
    )


def named(facts: RunFacts) -> str:
    """Who worked, and how it ended."""
    return joined(f"agent {theirs(facts.agent)}", f"model {theirs(facts.model)}", f"outcome {outcome_of(facts.outcome)}")


def task_of(facts: RunFacts) -> str:
    """A run's task, by its name if it has one and its first line."""
    name = f"task {theirs(facts.task_name)}: " if facts.task_name else "task "
    return f"{name}{theirs(facts.task, LONGEST_LINE)}"


def tally_runs(source: Source, asked: CountRuns) -> Look:
    """How many runs there are, whole or in groups; each share is of the runs that agree in all but the last property."""
    by = tuple(dict.fromkeys(asked.by))
    groups = count_runs(source.store, meant(asked), by)
    of: Counter[tuple[str | None, ...]] = Counter()
    for group in groups:
        of[group.key[:-1]] += group.runs
    lines: list[Line] = [((), _group_line(group, by, of[group.key[:-1]])) for group in groups]
    total = sum(group.runs for group in groups)
    made = part(lines, asked.offset, "groups", asked_for(meant(asked)))
    return msgspec.structs.replace(made, facts=(f"runs: {total}", *made.facts), found=total)


def _group_line(group: RunCount, by: Sequence[Property], of: int) -> str:
    key = (f"{name} {value if name == 'outcome' else theirs(value)}" for name, value in zip(by, group.key, strict=True))
    return joined(
        *key,
        f"{group.runs} of {counted(of, 'run')} ({100 * group.runs / of:.1f} %)",
        f"mean of {group.turns:.1f} turns",
        f"{money(group.cost)} in all, known of {group.priced}" if group.priced else money(None),
        f"mean of {group.seconds:.1f} s, known of {group.timed}" if group.seconds is not None else "time not known",
    )


def read_run(source: Source, asked: ReadRun) -> Look:
    """All that is known of a run but its record's entries."""
    run = source.store.run(asked.run)
    judged = source.store.judgments(run.id)
    lines = [((run.id,), line) for line in _of_run(run)]
    lines += [((each.id,), judgment_line(each)) for each in judged[:JUDGMENTS]]
    shown, text, shows = gathered(lines)
    cut = "the rest is not shown: list_judgments has all judgments" if shown < len(lines) or len(judged) > JUDGMENTS else ""
    return look((f"entries: {count(run.record)}", f"judgments: {len(judged)}", cut), text, shows, found=1)


def _of_run(run: Run) -> Iterator[str]:
    outcome = run.outcome
    yield joined(run.id, f"agent {theirs(run.agent)}", f"version {theirs(run.agent_version)}", f"model {theirs(run.model)}")
    yield joined(f"outcome {outcome_of(outcome)}", outcome.ending, f"reward {outcome.reward}" if outcome.reward else "")
    if outcome.detail:
        yield f"the harness calls the ending {theirs(outcome.detail)}"
    if outcome.grading:
        yield f"the grader printed {theirs(outcome.grading, LONGEST_GRADING)}"
    yield joined(
        f"record {run.record.format}",
        counted(len(run.record.turns), "turn"),
        counted(count(run.record), "entry", "entries"),
        f"{counted(len(run.record.children), 'sub-agent')} with records of their own" if run.record.children else "",
        *untold(run.record),
    )
    yield joined(*_of_usage(run.record.consumed()), money(run.cost))
    yield "time not known" if run.seconds is None else f"it took {run.seconds:.1f} s"
    yield from (f"note: {theirs(note, LONGEST_NOTE)}" for note in run.notes)
    if run.patch:
        yield joined("patch", *patch_facts(run.patch))
    if run.task_name:
        yield f"task called {theirs(run.task_name)}"
    yield f"task {theirs(run.task, LONGEST_TASK)}"


def _of_usage(usage: Usage) -> Iterator[str]:
    named = {"prompt": usage.prompt, "from the cache": usage.cached, "output": usage.output}
    for what, tokens in named.items():
        yield f"tokens {what}: {'not known' if tokens is None else tokens}"


def judgment_line(row: JudgmentRow) -> str:
    """What the tables know of a judgment."""
    return joined(
        row.id,
        f"of {row.run}",
        f"rubric {theirs(row.rubric)}" if row.rubric_hash else "no rubric",
        f"{row.judge} {theirs(row.model)}" if row.model else row.judge,
        row.status if row.failure is None else f"{row.status}: {row.failure}",
        *_answer_of(row),
        money(row.cost),
        f"started {row.started}",
    )


def _answer_of(row: JudgmentRow) -> Iterator[str]:
    if row.status == "errored":
        yield f"reason {theirs(row.reason, LONGEST_WORDS)}"
    elif row.dimensions:
        yield f"{row.worse} of {counted(row.dimensions, 'dimension')} worse than blameless, {row.scored} with a value"
    else:
        yield "no score" if row.score is None else f"score {row.score:.2f}"
        yield f"{row.passed} of {counted(row.criteria, 'criterion', 'criteria')} passed"
