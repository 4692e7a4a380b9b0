"""A judgment that goes on, in words: each look with what was asked and what came back, and what a reader is at."""

from __future__ import annotations

from collections.abc import Iterator

from adjudge.evidence import Look
from adjudge.exports.scores import done_to_input, figure, why_none
from adjudge.judges.evaluator.loop import Progress
from adjudge.judges.reader.judge import Asking
from adjudge.judgment import Judgment, Score
from adjudge.untrusted import one_line

LONGEST_ASKED, LONGEST_SHOWN = 300, 20_000
"""Characters of what a look asked for, and of what came back, that are told; the judgment keeps all of it."""

READ = "The trajectory is read once, and the answer comes in one piece. Input"
AGAIN = {
    "schema": "The same is asked about less of the trajectory",
    "again": "The same is asked once more",
    "transcribed": "What the model had thought is to be written down as an answer",
    "prose": "An answer in prose is asked for",
}


def told(progress: Progress | Asking) -> tuple[str, str]:
    """A sentence, and what belongs to it in full."""
    if isinstance(progress, Asking):
        return _asking(progress)
    if progress.look is None:
        return f"Question {progress.step} is asked; {progress.used} of at most {progress.most} looks are used.", ""
    return words_of(progress.look, progress.used, progress.most), detail_of(progress.look)


def words_of(look: Look, used: int, most: int) -> str:
    """What a look asked for, in one line."""
    asked = (f"{name} {value}" for name, value in look.arguments.items() if value not in (None, 0, False, ""))
    return one_line(f"Look {used} of at most {most}: {look.tool}  {', '.join(asked)}", LONGEST_ASKED)


def detail_of(look: Look) -> str:
    """What came back: adjudge's own lines, then what was found."""
    text, more = look.text, len(look.text) - LONGEST_SHOWN
    if more > 0:
        half = LONGEST_SHOWN // 2
        text = f"{text[:half]}\n[{more:,} characters are left out here; the judgment has them]\n{text[-half:]}"
    return "\n".join([*look.facts, *([text] if text else [])])


def _asking(asking: Asking) -> tuple[str, str]:
    if not asking.fault:
        return f"{READ} {done_to_input(asking.prepared)}.", ""
    return one_line(f"{AGAIN[asking.rung]}: {asking.fault}", LONGEST_ASKED), ""


def scores_told(judgment: Judgment) -> Iterator[tuple[str, str]]:
    """What each dimension came to once it was checked, in one line, and why."""
    for score in judgment.scores:
        yield one_line(f"{score.dimension}: {_value(score)}", LONGEST_ASKED), score.reasoning


def _value(score: Score) -> str:
    if why := why_none(score):
        return why
    cited = ", ".join(dict.fromkeys(holding.citation.exhibit for holding in score.holdings if not holding.fault))
    worse = ", worse than blameless" if score.worse else ""
    return f"{figure(score.value)}{worse}{f', cited {cited}' if cited else ''}"
