"""`adjudge compare`: agents side by side on one rubric."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.options import Json, StorePath, settings_with
from adjudge.cli.printing import counted, print_json, print_table, results, say
from adjudge.statistics import MEANINGFUL
from adjudge.untrusted import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.passes.comparing import Agent, AgentComparison, Contrast
    from adjudge.passes.differences import Difference


PAIRS = 10
"""Pairs of agents that are printed without having been asked for."""


def compare_agents(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="PASS", help="Passes, or the beginnings of their ids.")
    ] = None,
    rubric: Annotated[
        str | None,
        typer.Option(
            "--rubric", "-r", help="In place of passes: all judgments with this rubric, by its file, name or hash."
        ),
    ] = None,
    agents: Annotated[
        list[str] | None, typer.Option("--agent", help="Only pairs among these agents, named as printed; several times.")
    ] = None,
    against: Annotated[
        str | None, typer.Option("--against", help="Each other agent against this one, named as printed.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Print every pair, however many there are.")] = False,
    across_judges: Annotated[bool, typer.Option("--across-judges", help="Compare although several judges judged.")] = False,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Compare agents on one rubric, each two of them, with the 95 % interval of every difference.

    Over the tasks that both attempted, where there are such. Of several judgments of a run the latest counts.
    """
    from adjudge import wiring
    from adjudge.passes.pairing import Wanted
    from adjudge.wiring.results import compare

    wanted = Wanted(tuple(agents or ()), against, None if every or as_json else PAIRS)
    with wiring.open_kept_store(settings_with(store=store)) as opened:
        compared = compare(opened, names or (), rubric, across_judges, wanted)
    if as_json:
        print_json(compared)
    else:
        _print(compared)


def _print(compared: AgentComparison) -> None:
    from adjudge.passes.comparing import told

    console = results()
    console.print(one_line(f"rubric {compared.rubric} ({compared.rubric_hash[:12]})", 200), soft_wrap=True)
    for judge in compared.judges:
        console.print(one_line(told(judge), 200), soft_wrap=True)
    console.print()
    first, second = compared.measures[:2]
    partial = ("in part",) if any(agent.partial for agent in compared.agents) else ()
    headings = ("agent", "runs", "judged", *partial, "tasks", first.what, second.what)
    rows = [_cells_of(agent, bool(partial)) for agent in compared.agents]
    print_table(headings, rows, right=tuple(range(1, len(headings))))
    for _, contrasts in groupby(compared.contrasts, lambda each: (each.first, each.second)):
        _print_pair(list(contrasts))
    _say_notes(compared)


def _cells_of(agent: Agent, with_partial: bool) -> tuple[str, ...]:
    from adjudge.passes.pairing import SHOWN

    partial = (agent.partial,) if with_partial else ()
    counts = map(str, (agent.runs, agent.judged, *partial, agent.tasks))
    return (one_line(agent.who, SHOWN), *counts, *map(_figure, agent.means[:2]))


def _print_pair(contrasts: Sequence[Contrast]) -> None:
    from adjudge.passes.pairing import SHOWN

    console = results()
    console.print()
    first, second = one_line(contrasts[0].first, SHOWN), one_line(contrasts[0].second, SHOWN)
    console.print(f"A {first} minus B {second}", soft_wrap=True)
    headings = ("", "", "A", "B", "A − B", "95 % interval", "rests on")
    print_table(headings, [tuple(_cells(each)) for each in contrasts], right=(2, 3, 4, 5))


def _cells(contrast: Contrast) -> Iterator[str]:
    yield from (contrast.measure.item, contrast.measure.what, *map(_figure, contrast.values))
    yield f"{contrast.difference.value:+.2f}"
    yield _interval(contrast.difference)
    few = "" if contrast.meaningful else ", not yet meaningful"
    left, right = contrast.runs
    yield (counted(contrast.tasks, "task") if contrast.paired else f"{left} and {right} runs") + few


def _interval(difference: Difference) -> str:
    if difference.low is None or difference.high is None:
        return "no spread"
    return f"{difference.low:+.2f} to {difference.high:+.2f}"


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _say_notes(compared: AgentComparison) -> None:
    from adjudge.passes.pairing import FEW

    if len(compared.agents) < 2:
        say("There is only one agent, so there is nothing to compare it with.")
    if compared.left_out:
        say(
            f"{counted(compared.left_out, 'pair')} left out: only the {PAIRS} with the most judged runs are printed, "
            f"{FEW} or more of each agent; `--all` prints them, `--agent` and `--against` choose."
        )
    if any(agent.partial for agent in compared.agents):
        say("In part: judgments without a value for some dimension, of which nothing is said overall.")
    if compared.earlier:
        say(f"{counted(compared.earlier, 'judgment')} left out: of several of one run the latest with an answer counts.")
    if len(compared.judges) > 1:
        say("Several judges judged: a difference between agents may be one between judges.")
    if any(not each.meaningful for each in compared.contrasts):
        say(f"A difference that rests on fewer than {MEANINGFUL} tasks or runs is not yet meaningful.")
