"""What a reader would be asked, as a person reads it before paying for it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from adjudge.cli.printing import counted, hanging, print_json
from adjudge.cli.verdicts import title
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

    console.print(Text(title(run), "bold"))
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
        "price": _price(asked),
    }
    for name, told in facts.items():
        console.print(hanging(f"{name:<10}", told))


def _heading(name: str) -> None:
    sys.stdout.write(f"\n──── {name} ────\n")


def how_estimated(calibration: Calibration) -> str:
    """How tokens were estimated, and how far off that may be."""
    from adjudge.judges.reader.tokens import UNLEARNED_ERROR

    told = f"{calibration.characters_per_token:.2f} characters for a token"
    if not calibration.rows:
        within = f"nine of ten recordings were within {UNLEARNED_ERROR * 100:.0f} %"
        return f"{told}, which is not learned from this model yet: {within}"
    learned = f"{told}, learned from {counted(calibration.rows, 'judgment')} by this model"
    if calibration.error is None:
        return f"{learned}; how far off that is, two would tell"
    return f"{learned}; nine of ten were within {calibration.error * 100:.1f} %"


def _price(asked: DryRun) -> str:
    if asked.least is None or asked.most is None:
        return "not known"
    longest = f"the longest answer ({asked.request.most:,} tokens)"
    least, most = dollars(asked.least), dollars(asked.most)
    return f"{least} for the input, {most} with {longest}; one judgment makes one to four calls"
