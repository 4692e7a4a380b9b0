"""The evaluator's transcript on a run's page: what it was told, what it answered, every look, and what the gate replied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from markupsafe import Markup

from adjudge.evidence import Look
from adjudge.exports.scores import request_not_kept
from adjudge.judgment import Judgment, Step
from adjudge.web.addresses import address, of_run
from adjudge.web.text import Mark, block_of, clock, counted, size

TOLD = 12_000
"""Characters of what a judge was told, which repeats what looks brought: those stand in full beside it."""

PLACES = {"record": "question to the record", "files": "files as left", "command": "command"}


class LookView(msgspec.Struct, frozen=True):
    """A look: the question, what came back, and whose verdict cites it. `empty` says that nothing came back.

    `href` is a link to keep: it names the judgment.
    """

    id: str
    href: Markup
    number: str
    place: str
    took: str
    question: Markup
    facts: tuple[str, ...]
    failures: tuple[str, ...]
    chips: tuple[Mark, ...]
    anchors: tuple[str, ...]
    text: Markup
    size: str
    empty: bool


class StepView(msgspec.Struct, frozen=True):
    """One exchange, and where it stands whole.

    `not_kept` stands in place of what was told, where that is not kept; `told_more` says what is cut.
    """

    anchor: str
    href: Markup
    number: int
    not_kept: str | None
    told: Markup | None
    told_size: str
    told_more: str | None
    reasoning: Markup | None
    said: Markup | None
    refused: tuple[str, ...]
    stop: str | None
    looks: tuple[LookView, ...]


class Transcript(msgspec.Struct, frozen=True):
    """All exchanges, and before them the looks that belong to none, such as those of probes."""

    before: tuple[LookView, ...]
    steps: tuple[StepView, ...]
    count: str


def transcript_of(judgment: Judgment, marks: Mapping[str, Sequence[Mark]]) -> Transcript:
    """The transcript of a judgment."""
    most = judgment.judge.limits.get("looks")
    looks = {look.id: _look(judgment, look, marks.get(look.id, ()), most) for look in judgment.looks}
    named = {name for step in judgment.steps for name in step.looks}
    steps = tuple(_step(judgment, number, step, looks) for number, step in enumerate(judgment.steps, 1))
    before = tuple(view for name, view in looks.items() if name not in named)
    count = counted(len(judgment.looks), "look") if judgment.looks else counted(len(steps), "exchange")
    return Transcript(before, steps, count)


def name_of_step(judgment: Judgment, number: int) -> str:
    """The name of an exchange on a page that may show those of an evaluator and of a reader: `s3`, `r1`."""
    return f"{'r' if judgment.judge.kind == 'reader' else 's'}{number}"


def _step(judgment: Judgment, number: int, step: Step, looks: Mapping[str, LookView]) -> StepView:
    name = name_of_step(judgment, number)
    return StepView(
        anchor=name,
        href=address("judgments", judgment.id, "steps", name),
        number=number,
        not_kept=request_not_kept(judgment, number),
        told=block_of(step.told[:TOLD]).html if step.told else None,
        told_size=size(len(step.told.encode("utf-8", "surrogatepass"))),
        told_more=_cut(len(step.told) - TOLD),
        reasoning=block_of(step.reasoning).html if step.reasoning else None,
        said=block_of(step.said).html if step.said else None,
        refused=step.refused,
        stop=None if step.stop in (None, "calls", "end") else step.stop,
        looks=tuple(looks[name] for name in step.looks if name in looks),
    )


def _cut(characters: int) -> str | None:
    """What is said of so many characters that are not shown."""
    return f"{characters:,} characters left out" if characters > 0 else None


def _look(judgment: Judgment, look: Look, marks: Sequence[Mark], most: object) -> LookView:
    failed = look.failed or bool(look.exit_status)
    text = block_of(look.text, marks, address("judgments", judgment.id, "looks", look.id))
    number = look.id.removeprefix("L")
    return LookView(
        id=look.id,
        href=of_run(judgment.run, at=look.id, judgment=judgment.id),
        number=f"Look {number} of at most {most}" if isinstance(most, int) else f"Look {number}",
        place=f"{look.tool}, {PLACES[look.place]}",
        took=clock(look.seconds),
        question=block_of(_question(look)).html,
        facts=() if failed else look.facts,
        failures=look.facts if failed else (),
        chips=tuple({mark.back: mark for mark in marks}.values()),
        anchors=text.unplaced,
        text=text.html,
        size=size(text.size),
        empty=not look.text.strip(),
    )


def _question(look: Look) -> str:
    """What was asked: a command as one types it; the argument's name is told only where there are several."""
    given = {name: value for name, value in look.arguments.items() if value is not None}
    if look.place == "command" and "command" in given:
        return f"$ {given['command']}"
    if len(given) == 1:
        return f"{look.tool} {next(iter(given.values()))}"
    return f"{look.tool} " + ", ".join(f"{name}: {value}" for name, value in given.items())
