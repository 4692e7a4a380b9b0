"""A run, an entry, a look and a transcript as a person reads them on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from adjudge.cli.printing import print_json, print_table
from adjudge.errors import InputError
from adjudge.exports.scores import request_not_kept
from adjudge.record import dollars
from adjudge.run import FAILURES
from adjudge.untrusted import one_line, shown

if TYPE_CHECKING:
    from adjudge.evidence import Look
    from adjudge.judgment import Judgment
    from adjudge.record import Entry, Record, Usage
    from adjudge.run import Run
    from adjudge.store.rows import JudgmentRow

FIRST_WORDS = 100
NO_TASK = "The recording does not say what the task was; `task` in a run folder's run.yaml can."


def print_exhibit(name: str, record: Record, looks: Sequence[Look], as_json: bool) -> None:
    """Print an entry or a look whole, or every entry of a turn.

    Raises:
        InputError: there is none with this name.
    """
    exhibit = next((look for look in looks if look.id == name), None) or record.entry(name)
    found: list[Entry | Look] = [exhibit] if exhibit else [*_entries_of_turn(name.lower(), record)]
    if not found:
        counts = {"e": len(record.entries), "t": len(record.turns), "L": len(looks)}
        known = ", ".join(f"{letter}1 to {letter}{count}" for letter, count in counts.items() if count)
        raise InputError(f"{name}: no such exhibit here; there are {known or 'none'}")
    if as_json:
        print_json(exhibit or found)
    else:
        _write("\n\n".join(f"{heading(each)}\n\n{shown(each.text)}" for each in found))


def _entries_of_turn(name: str, record: Record) -> Iterator[Entry]:
    """The entries of a turn, called `t7` or, of the first sub-agent, `s1.t7`; none if this is no turn's name."""
    prefix, _, turn = name.rpartition(".")
    owner = record.child(prefix) if prefix else record
    number = turn.removeprefix("t")
    if owner is not None and number != turn and number.isascii() and number.isdigit() and len(number) < 12:
        yield from (entry for entry in owner.entries if entry.turn == int(number))


def heading(exhibit: Entry | Look) -> str:
    """What an entry or a look is; of a look also what adjudge states of it."""
    from adjudge.evidence import Look

    if not isinstance(exhibit, Look):
        return one_line(f"{exhibit.id}  {describe(exhibit)}", 400)
    arguments = ", ".join(f"{name}: {value}" for name, value in exhibit.arguments.items() if value is not None)
    return "\n".join([one_line(f"{exhibit.id}  {exhibit.tool}  {arguments}", 400), *map(shown, exhibit.facts)])


def describe(entry: Entry) -> str:
    """What an entry is, in a few words: its turn, writer and kind, what it answers, and its exit status."""
    words = [f"turn {entry.turn}", f"{entry.kind} by the {entry.writer}"]
    words += [entry.name] if entry.name else []
    words += [f"({entry.origin})"] if entry.origin else []
    words += [f"answers {entry.answers}"] if entry.answers else []
    words += [f"exit status {entry.exit_status}"] if entry.exit_status is not None else []
    words += ["error"] if entry.is_error else []
    return " · ".join(words)


def print_run(run: Run, judgments: Sequence[JudgmentRow]) -> None:
    """Print what a run is, its record's outline, and its judgments."""
    usage = _consumed(run.record)
    cost = usage.cost if run.cost is None else run.cost
    facts = {
        "run": run.id,
        "task": run.task_name,
        "agent": " ".join(part for part in (run.agent, run.agent_version) if part),
        "model": run.model,
        "exit status": run.outcome.exit_status,
        "failed": FAILURES[run.outcome.failure] if run.outcome.failure else None,
        "ending": run.outcome.detail,
        "graded": run.outcome.grade,
        "grader": run.outcome.grading,
        "reward": run.outcome.reward,
        "workspace": run.workspace,
        "machine": run.machine,
        "source": run.source,
        "started": run.started,
        "took": None if run.seconds is None else f"{run.seconds:.1f} s",
        "tokens": _tokens(usage),
        "cost": dollars(cost) if cost else None,
    }
    for name, value in facts.items():
        if value not in (None, ""):
            _write(one_line(f"{name:12} {value}", 300))
    for note in run.notes:
        _write(one_line(f"{'note':12} {note}", 300))
    _write(f"\n{shown(run.task or NO_TASK)}\n")
    rows = [
        (
            entry.id,
            str(entry.turn),
            f"{entry.writer} {entry.kind}",
            entry.name or "",
            _status(entry),
            _beginning(entry),
        )
        for entry in run.record.walk()
    ]
    print_table(("entry", "turn", "what", "tool", "status", "begins"), rows, right=(1,))
    if judgments:
        _write("")
        cells = [(row.id, row.rubric or "no rubric", row.model or "", row.status, _found(row)) for row in judgments]
        print_table(("judgment", "rubric", "model", "status", "found"), cells)


def _beginning(entry: Entry) -> str:
    """The first words of an entry; a call's tool has a column of its own."""
    text = entry.text[: FIRST_WORDS + len(entry.name or "")]
    return text.removeprefix(f"{entry.name}\n") if entry.kind == "call" else text


def _found(row: JudgmentRow) -> str:
    """What a judgment brought, as far as its row tells."""
    if row.status == "errored":
        return row.failure or ""
    if row.judge == "reader":
        return "empty" if row.empty else f"{row.worse} worse, {row.scored} of {row.dimensions} scored"
    return f"{row.passed} of {row.criteria} passed"


def _status(entry: Entry) -> str:
    return "" if entry.exit_status is None else str(entry.exit_status)


def _tokens(usage: Usage) -> str:
    if usage.prompt is None and usage.output is None:
        return "not recorded"
    return f"{usage.prompt or 0:,} in ({usage.cached or 0:,} cached), {usage.output or 0:,} out"


def _consumed(record: Record) -> Usage:
    """What the run consumed: the harness's own totals where it states them, else what the turns add up to."""
    stated = msgspec.structs.asdict(record.reported) if record.reported else {}
    return msgspec.structs.replace(record.usage(), **{name: value for name, value in stated.items() if value is not None})


def run_as_json(run: Run) -> dict[str, Any]:
    """A run with its whole record, for `--json`."""
    record = run.record
    return {
        "id": run.id,
        "task": run.task,
        "agent": run.agent,
        "agent_version": run.agent_version,
        "model": run.model,
        "outcome": run.outcome,
        "workspace": run.workspace,
        "machine": run.machine,
        "source": run.source,
        "task_name": run.task_name,
        "started": run.started,
        "seconds": run.seconds,
        "cost": run.cost,
        "notes": run.notes,
        "format": record.format,
        "tells": sorted(record.tells),
        "turns": record.turns,
        "entries": list(record.walk()),
        "unparsed": record.unparsed,
        "skipped": record.skipped,
        "unpaired": record.unpaired,
        "final": record.final,
    }


def print_transcript(judgment: Judgment) -> None:
    """Print every question, answer and look, in order."""
    looks = {look.id: look for look in judgment.looks}
    for number, step in enumerate(judgment.steps, 1):
        told = request_not_kept(judgment, number) or step.told
        _write(f"\n──── {number} ────\n{shown(told)}\n")
        if step.reasoning:
            _write(f"[reasoning] {shown(step.reasoning)}\n")
        _write(f"[{judgment.judge.model}] {shown(step.said or '(no words)')}\n")
        for call in step.calls:
            _write(f"→ {shown(call)}")
        for name in step.looks:
            if look := looks.get(name):
                _write(f"\n{heading(look)}\n{shown(look.text)}")
        for words in step.refused:
            _write(f"refused: {shown(words)}")


def _write(text: str) -> None:
    sys.stdout.write(text + "\n")
