"""A reader's judgment as a person reads it on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.cli.printing import counted, hanging
from adjudge.cli.verdicts import (
    print_holding,
    print_note_of_trust,
    print_what_was_seen,
    title_with_source,
    tokens,
    trust_words,
)
from adjudge.exports.judged import Judged
from adjudge.exports.scores import RUNGS, done_to_input, figure, percent, scale_of, share_of_cause, why_none
from adjudge.untrusted import one_line, shown

if TYPE_CHECKING:
    from rich.console import Console

    from adjudge.judgment import CauseFound, Judgment, Score
    from adjudge.reviews.figures import Trust
    from adjudge.rubric import Dimension, Rubric
    from adjudge.run import Run

MARGIN = 6
"""Columns before the name of a dimension, in which its value stands."""


def print_scores(console: Console, judgment: Judgment, run: Run, rubric: Rubric | None, trust: Trust | None = None) -> None:
    """Print who was read by whom, each dimension with its turns, then what was done to the input and what it comes to.

    With `trust` each dimension says how far reviewers agree with this judge on it.
    """
    from rich.text import Text

    judged = Judged(judgment, run, rubric)
    console.print(Text(title_with_source(run), "bold"))
    console.print(Text(_reader(judgment), "dim"))
    if judgment.prepared:
        console.print(hanging("input  ", done_to_input(judgment.prepared), "dim"))
    console.print()
    width = max((MARGIN - 2, *(len(figure(score.value)) for score in judgment.scores)))
    for score in judgment.scores:
        dimension = judged.dimension(score.dimension)
        _print_score(console, score, dimension, width, trust_words(trust, score.dimension, run))
    print_note_of_trust(console, trust)
    print_what_was_seen(console, judgment)
    console.print(Text(_ending(judged), "bold red" if judgment.status == "errored" or judgment.empty else "bold"))


def _reader(judgment: Judgment) -> str:
    parts = [
        f"read by {judgment.judge.model or 'no model'}",
        RUNGS.get(judgment.decided or "", ""),
        f"{judgment.seconds:.1f} s",
        tokens(judgment),
        f"{counted(judgment.masked, 'credential')} masked" if judgment.masked else "",
    ]
    return one_line(" · ".join(part for part in parts if part), 200)


def _print_score(console: Console, score: Score, dimension: Dimension | None, width: int, trust: str) -> None:
    from rich.text import Text

    colour = "red" if score.worse else "yellow" if score.value is None else "green"
    value = (f"{figure(score.value):>{width}}  ", f"bold {colour}")
    about = f"  {_scale(score, dimension)}{trust}"
    console.print(Text.assemble(value, (one_line(score.dimension, 60), "bold"), (about, "dim")))
    if why := why_none(score):
        console.print(hanging(" " * MARGIN, why, "yellow"))
    if score.reasoning:
        console.print(hanging(" " * MARGIN, shown(score.reasoning)))
    if score.share:
        console.print(hanging(" " * MARGIN, f"avoidable: {percent(score.share)}"))
    under_causes = {holding for cause in score.causes for holding in cause.holdings}
    for holding in score.holdings:
        if holding not in under_causes:
            print_holding(console, holding)
    for cause in score.causes:
        _print_cause(console, cause)
    console.print()


def _scale(score: Score, dimension: Dimension | None) -> str:
    """The scale, and how the value stands on it."""
    stands = "worse than blameless, " if score.worse else "" if score.value is None else "not worse, "
    return f"{stands}{scale_of(dimension)}"


def _print_cause(console: Console, cause: CauseFound) -> None:
    told = f"{one_line(cause.cause, 40)} ({share_of_cause(cause)}): {shown(cause.recommendation)}"
    console.print(hanging(f"{' ' * MARGIN}- ", told))
    for holding in cause.holdings:
        print_holding(console, holding, indent="  ")


def _ending(judged: Judged) -> str:
    judgment = judged.judgment
    if judgment.status == "errored":
        sort = f" ({judgment.failure})" if judgment.failure else ""
        return one_line(f"Not judged{sort}: {judgment.reason}", 400)
    if judgment.empty:
        return "Empty: the reader answered, and no dimension has a value."
    found = [score.dimension for score in judgment.scores if score.worse]
    valued = sum(score.value is not None for score in judgment.scores)
    told = f"Worse than blameless: {', '.join(found)}" if found else "Nothing is worse than blameless"
    return one_line(
        f"{told}; {valued} of {len(judgment.scores)} dimensions {'has' if valued == 1 else 'have'} a value", 400
    )
