"""`adjudge profile`: what a run's calls were for, what they consumed, and the hints, without a model."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.options import Json, StorePath, settings_with
from adjudge.cli.printing import print_json
from adjudge.cli.verdicts import title_with_source

if TYPE_CHECKING:
    from adjudge.profile import Ledger, Profile


def profile_run(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A recording, a run folder, or a stored run's id (or its beginning).")
    ],
    store: StorePath = None,
    as_json: Json = False,
) -> int:
    """Profile a run: what its calls were for, what they consumed, and where to look for waste. No model is needed."""
    from adjudge import wiring
    from adjudge.profile import profile

    named = wiring.find_run(run, settings_with(store=store))
    found = profile(named.record)
    if as_json:
        print_json(found)
        return 0
    sys.stdout.write("\n".join([title_with_source(named), *_lines(found)]) + "\n")
    return 0


def _lines(found: Profile) -> Iterable[str]:
    from adjudge.profile import child_lines, figures, hint_lines

    yield from figures(found)
    yield ""
    yield from _plots(found.ledger)
    yield ""
    yield "Hints, computed without a model; they are no verdicts:"
    nothing = [hint.name for hint in found.hints if hint.value == 0 and not hint.flagged]
    told = [hint for hint in found.hints if hint.name not in nothing]
    for hint in sorted(told, key=lambda hint: not hint.flagged):
        mark = "!" if hint.flagged else "?" if hint.value is None else "-"
        first, *rest = hint_lines(hint)
        yield mark + first.removeprefix("-")
        yield from rest
    if nothing:
        yield f"Nothing was found by {', '.join(nothing)}."
    yield from child_lines(found.children)


def _plots(ledger: Ledger) -> Iterable[str]:
    from adjudge.cli.plot import plot

    prompts = [spend.prompt for spend in ledger.by_turn]
    if not any(prompt is not None for prompt in prompts):
        yield "The recording does not tell the tokens of its turns, so there is nothing to plot."
        return
    yield from plot("Prompt size in tokens", prompts, max, lambda value: f"{value:,.0f}")
    yield ""
    costs = [spend.cost for spend in ledger.by_turn]
    if any(costs):
        yield from plot("Cost in US dollars", costs, sum, lambda value: f"{value:.4f}")
        return
    spent = [None if spend.prompt is None else spend.prompt + (spend.output or 0) for spend in ledger.by_turn]
    name = "Tokens sent and received (the recording tells no cost)"
    yield from plot(name, spent, sum, lambda value: f"{value:,.0f}")
