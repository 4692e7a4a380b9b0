"""What a reader would be asked, as a person reads it before paying for it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from adjudge.cli.printing import counted, hanging, print_json, print_table, say
from adjudge.cli.verdicts import short_source, title_with_source
from adjudge.exports.scores import done_to_input
from adjudge.record import dollars
from adjudge.untrusted import one_line, shown

if TYPE_CHECKING:
    from rich.console import Console

    from adjudge.judges.reader.tokens import Calibration
    from adjudge.run import Run
    from adjudge.wiring import DryRun


def print_request(console: Console, asked: DryRun, run: Run) -> None:
    """Print a request whole, then its size in characters and tokens, and its price."""
    from rich.text import Text

    console.print(Text(title_with_source(run), "bold"))
    for name, text in (("system", asked.request.system), *((each.role, each.text) for each in asked.request.messages)):
        _heading(name)
        sys.stdout.write(f"{shown(text)}\n")
    _heading("the schema of the answer")
    print_json(asked.request.schema)
    _heading("its size and price")
    facts = {
        "model": one_line(asked.model or "none is named: --model or ADJUDGE_MODEL does", 200),
        "input": done_to_input(asked.prepared),
        "estimate": how_estimated(asked.calibration),
        "window": "not known" if asked.window is None else f"{asked.window:,} tokens",
        "price": _price(asked),
    }
    for name, told in facts.items():
        console.print(hanging(f"{name:<10}", told))


def print_requests(asked: Sequence[tuple[Run, DryRun]]) -> None:
    """Print the sizes and prices of several requests, and what they come to."""
    headings = ("run", "source", "characters", "tokens", "least", "most")
    rows = [(run.id, short_source(run), *_figures([dry])) for run, dry in asked]
    total = (counted(len(asked), "run"), "", *_figures([dry for _, dry in asked]))
    print_table(headings, [*rows, total], right=(2, 3, 4, 5), ends=(1,))
    first = asked[0][1]
    say(f"model {first.model or 'none'}; {how_estimated(first.calibration)}; one judgment makes one to four calls")


def _figures(asked: Sequence[DryRun]) -> tuple[str, str, str, str]:
    least = [dry.least for dry in asked if dry.least is not None]
    most = [dry.most for dry in asked if dry.most is not None]
    known = bool(asked) and len(least) == len(most) == len(asked)
    return (
        f"{sum(dry.prepared.characters for dry in asked):,}",
        f"{sum(dry.prepared.tokens for dry in asked):,}",
        dollars(sum(least)) if known else "not known",
        dollars(sum(most)) if known else "not known",
    )


def warn_of_size(asked: DryRun, run: Run) -> None:
    """Say that a request is too large for its model, if it is."""
    if not asked.fits:
        say(
            f"Warning: {run.id} ({short_source(run)}) does not fit: about {asked.prepared.tokens:,} tokens and an answer "
            f"of up to {asked.request.most:,}, and the window of {asked.model} has {asked.window:,}; {_what_helps(asked)}"
        )


def _what_helps(asked: DryRun) -> str:
    return "--prune pruned leaves more out" if asked.prepared.mode == "full" else "choose a model with a larger one"


def _heading(name: str) -> None:
    sys.stdout.write(f"\n──── {name} ────\n")


def how_estimated(calibration: Calibration) -> str:
    """How tokens were estimated, and how far off that may be."""
    told = f"{calibration.characters_per_token:.2f} characters for a token"
    within = f"were within {calibration.error * 100:.3g} %"
    if not calibration.rows:
        return f"{told}, which is not learned from this model yet: nine of ten recordings {within}"
    return f"{told}, learned from {counted(calibration.rows, 'judgment')} by this model; nine of ten {within}"


def _price(asked: DryRun) -> str:
    if asked.least is None or asked.most is None:
        return "not known"
    longest = f"the longest answer ({asked.request.most:,} tokens)"
    least, most = dollars(asked.least), dollars(asked.most)
    return f"{least} for the input, {most} with {longest}; one judgment makes one to four calls"
