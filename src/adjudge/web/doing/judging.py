"""Judging runs while somebody looks on: each look is a step, with what was asked and what came back."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import msgspec

from adjudge.errors import InputError, MachineError
from adjudge.exports.telling import scores_told, told
from adjudge.judges.evaluator.loop import Progress
from adjudge.judges.reader.judge import Asking
from adjudge.judgment import Judgment
from adjudge.rubric import Rubric
from adjudge.run import Run
from adjudge.settings import Settings
from adjudge.untrusted import one_line
from adjudge.web.addresses import of_run
from adjudge.web.jobs import Tell, Work
from adjudge.web.text import counted, money
from adjudge.wiring.judging import judge
from adjudge.wiring.readings import read

MOST_RUNS = 50
"""Runs that are judged in one job; for more there are passes."""

Came = Literal["judged", "without a verdict", "not judged"]


class Judging(msgspec.Struct, frozen=True):
    """What is to be judged how; without a rubric by the process alone."""

    runs: tuple[Run, ...]
    rubric: Rubric | None
    settings: Settings

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        what = self.runs[0].id if len(self.runs) == 1 else counted(len(self.runs), "run")
        how = f"with {one_line(self.rubric.name, 80)}" if self.rubric else "by its process alone"
        return f"Judge {what} {how}"


def judging(asked: Judging) -> Work:
    """The job that judges, and leads to the run at its new judgment, or to all runs if there are several."""

    async def work(tell: Tell) -> str:
        if len(asked.runs) == 1:
            judgment = await _judged(asked.runs[0], asked, tell)
            return str(of_run(judgment.run, judgment=judgment.id).unescape())
        came = Counter[Came]()
        for number, run in enumerate(asked.runs, 1):
            tell(
                f"Run {number} of {len(asked.runs)}: {run.id} {one_line(run.task_name or run.task or '', 100)}".strip(), ""
            )
            came[await _one_of_several(run, asked, tell)] += 1
        numbers = ", ".join(f"{number} {how}" for how, number in sorted(came.items()))
        tell(f"{counted(len(asked.runs), 'run')}: {numbers}.", "")
        return "/runs"

    return work


async def _one_of_several(run: Run, asked: Judging, tell: Tell) -> Came:
    """Judge one of several runs. What is wrong with it alone holds up no other."""
    try:
        judgment = await _judged(run, asked, tell)
    except (InputError, MachineError) as error:
        tell(f"Not judged: {one_line(str(error), 500)}", "")
        return "not judged"
    return "judged" if judgment.status == "judged" else "without a verdict"


async def _judged(run: Run, asked: Judging, tell: Tell) -> Judgment:
    rubric, settings = asked.rubric, asked.settings

    def on_progress(progress: Progress | Asking) -> None:
        tell(*told(progress))

    if rubric is not None and rubric.dimensions:
        judgment = await read(run, rubric, settings, on_progress=on_progress)
        for words, reasoning in scores_told(judgment):
            tell(words, reasoning)
    else:
        judgment = await judge(run, rubric, settings, on_progress)
    tell(came_of(judgment), judgment.summary or "")
    return judgment


def came_of(judgment: Judgment) -> str:
    """What a judgment came to, in one sentence."""
    cost = f" Judging cost {money(judgment.usage().cost)}." if judgment.calls else ""
    if judgment.status == "errored":
        return f"No verdict: {one_line(judgment.reason or judgment.failure or 'no reason is known', 500)}{cost}"
    if judgment.scores:
        found = f"{judgment.worse} of {counted(len(judgment.scores), 'dimension')} worse than blameless"
        return f"Read: {'no dimension has a value' if judgment.empty else found}.{cost}"
    if judgment.decided == "process":
        return f"Judged by the process alone: {judgment.reason}"
    passed = sum(verdict.passed for verdict in judgment.verdicts)
    return f"Judged: {passed} of {counted(len(judgment.verdicts), 'criterion', 'criteria')} pass.{cost}"
