"""The beginning of an evaluation: the criteria, the task, and what is known of the run before the first look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from adjudge.evidence import Look
from adjudge.judges.evaluator import prompt
from adjudge.judges.evaluator.patch_looks import patch_facts
from adjudge.judges.evaluator.record_looks import count, untold
from adjudge.judges.evaluator.views import Envelope
from adjudge.judges.steering import LONGEST_NAME, names
from adjudge.ports import LEFT_RUNNING, Machine
from adjudge.record import Record
from adjudge.rubric import Rubric
from adjudge.run import FAILURES, Run

LONGEST_TASK = 20_000
LONGEST_OVERVIEW = 6_000
LONGEST_FINAL = 4_000


def system_text(machine: Machine | None) -> str:
    """The system text: it says whether commands work on a copy, as they do unless the machine still runs."""
    return prompt.SYSTEM_LIVE if _still_runs(machine) else prompt.SYSTEM


def _still_runs(machine: Machine | None) -> bool:
    return machine is not None and bool(machine.facts.get("live"))


def opening(run: Run, rubric: Rubric, machine: Machine | None, overview: Look, looks: int, envelope: Envelope) -> str:
    """The first message. What all judgments with one rubric share stands first, so that caches serve them all.

    The grader's result is not in it: whether it was earned is what one may want to know.
    """
    asked = [criterion for criterion in rubric.criteria if criterion.probe is None]
    parts = [
        prompt.CRITERIA.format(name=rubric.name, hash=rubric.hash, criteria=prompt.criteria_lines(asked)),
        prompt.BOUNDS.format(looks=looks),
        envelope.introduction,
        *_task(run, envelope),
        f"{prompt.NAMES}\n{envelope.around(names(run), 4 * LONGEST_NAME)}" if names(run) else "",
        _outcome(run),
        "\n".join(_of_record(run.record, run.notes)),
        _final(run.record, envelope),
        "\n".join([prompt.OVERVIEW, *overview.facts, envelope.around(overview.text)]),
        prompt.PATCH.format(facts=", ".join(patch_facts(run.patch))) if run.patch else "",
        _of_machine(machine, envelope),
    ]
    return "\n\n".join(part for part in parts if part)


def _task(run: Run, envelope: Envelope) -> Iterator[str]:
    yield f"{prompt.TASK}\n{envelope.around(run.task, LONGEST_TASK)}" if run.task else prompt.NO_TASK
    if run.context:
        yield f"{prompt.CONTEXT}\n{envelope.around(run.context, LONGEST_TASK)}"


def _outcome(run: Run) -> str:
    status, failure = run.outcome.exit_status, run.outcome.failure
    told = prompt.NO_OUTCOME if status is None else prompt.OUTCOME.format(status=status)
    return f"{told} {prompt.FAILED.format(failure=FAILURES[failure])}" if failure else told


def _of_record(record: Record, notes: Sequence[str]) -> Iterator[str]:
    kinds = Counter(f"{entry.kind} of {entry.writer}" for entry in record.walk())
    listed = ", ".join(f"{number} {kind}" for kind, number in kinds.most_common()) or "none"
    yield prompt.RECORD.format(entries=count(record), turns=len(record.turns), kinds=listed)
    if record.children:
        yield prompt.CHILDREN.format(children=len(record.children))
    if "exit_statuses" not in record.tells:
        yield prompt.NO_EXIT_STATUSES
    yield from (f"Note: {fact}." for fact in (*notes, *untold(record)))
    if record.unpaired:
        yield prompt.UNPAIRED.format(unpaired=len(record.unpaired))


def _final(record: Record, envelope: Envelope) -> str:
    entry = record.entry(record.final) if record.final else None
    if entry is None:
        return prompt.NO_FINAL
    heading = prompt.FINAL.format(final=entry.id, size=len(entry.text))
    return f"{heading}\n{envelope.around(entry.text, LONGEST_FINAL)}"


LONGEST_LIST = 4_000

TOLD_OF_MACHINE = ("at", "hooks")
"""What is told of a machine: what is the same wherever a run is judged, so that a recorded exchange plays anywhere."""


def _of_machine(machine: Machine | None, envelope: Envelope) -> str:
    if machine is None:
        return prompt.NO_MACHINE
    told = [f"{name}: {machine.facts[name] or 'none'}" for name in TOLD_OF_MACHINE if name in machine.facts]
    parts = [prompt.MACHINE, *([envelope.around("\n".join(told))] if told else [])]
    if _still_runs(machine):
        parts += [prompt.LIVE, envelope.around(str(machine.facts.get(LEFT_RUNNING) or "nothing"), LONGEST_LIST)]
    return "\n".join(parts)
