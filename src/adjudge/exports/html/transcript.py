"""The evaluator's transcript on the page: what it was told, what it answered, and every look with all that came back."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from adjudge.evidence import Look
from adjudge.exports.html.record import CITED, FOLDED, Exhibit, Marks
from adjudge.exports.html.text import Mark, Text, counted, text_of
from adjudge.exports.scores import request_not_kept
from adjudge.judgment import Judgment, Step
from adjudge.untrusted import one_line, shown

TOLD, SAID = 6_000, 20_000
"""Characters of what the evaluator was told (looks stand in full beside it) and of what it answered."""


class StepView(msgspec.Struct, frozen=True):
    """One exchange. `told_size` is its true number of characters; `not_kept` stands in place of what is not kept."""

    number: int
    not_kept: str | None
    told: Text
    told_size: int
    reasoning: Text | None
    said: Text | None
    refused: tuple[str, ...]
    stop: str | None
    looks: tuple[Exhibit, ...]


class Transcript(msgspec.Struct, frozen=True):
    """All exchanges with their count in words, and the looks that belong to none of them, such as those of probes."""

    before: tuple[Exhibit, ...]
    steps: tuple[StepView, ...]
    count: str


def view_of_transcript(judgment: Judgment, marks: Marks) -> Transcript:
    """The transcript of a judgment."""
    looks = {look.id: _exhibit(look, tuple(marks.get(look.id, ()))) for look in judgment.looks}
    named = {name for step in judgment.steps for name in step.looks}
    steps = tuple(
        _step(number, step, looks, request_not_kept(judgment, number)) for number, step in enumerate(judgment.steps, 1)
    )
    return Transcript(tuple(view for name, view in looks.items() if name not in named), steps, counted(len(steps), "step"))


def _step(number: int, step: Step, looks: dict[str, Exhibit], not_kept: str | None) -> StepView:
    return StepView(
        number=number,
        not_kept=not_kept,
        told=text_of(step.told, TOLD),
        told_size=len(step.told),
        reasoning=text_of(step.reasoning, SAID) if step.reasoning else None,
        said=text_of(step.said, SAID) if step.said else None,
        refused=step.refused,
        stop=step.stop,
        looks=tuple(looks[name] for name in step.looks if name in looks),
    )


def _exhibit(look: Look, marks: Sequence[Mark]) -> Exhibit:
    failed = look.failed or bool(look.exit_status)
    text = text_of(look.text, CITED if marks else FOLDED, marks)
    return Exhibit(
        id=look.id,
        shape="look",
        title=f"{look.tool} {_question(look)}".strip(),
        facts=(*(() if failed else look.facts), f"{look.seconds:.1f} s"),
        failures=look.facts if failed else (),
        marks=tuple(marks),
        preview=one_line(look.text, 120),
        text=text,
        unplaced=text.unplaced,
    )


def _question(look: Look) -> str:
    """What was asked; the argument's name is told only where there are several."""
    given = {name: value for name, value in look.arguments.items() if value is not None}
    if len(given) == 1:
        return shown(str(next(iter(given.values()))))[:2000]
    return shown(", ".join(f"{name}: {value}" for name, value in given.items()))[:2000]
