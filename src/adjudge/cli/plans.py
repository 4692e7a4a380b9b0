"""How a pass is printed: what it would take and cost, and how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.cli.printing import counted, print_table, results, say
from adjudge.record import dollars
from adjudge.untrusted import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.passes.values import Estimate, Sampling, Stratum
    from adjudge.store.pass_rows import PassRow
    from adjudge.wiring.passes import Plan


def print_plan(planned: Plan) -> None:
    """Print the strata, what may be misspelt, and the estimate."""
    from adjudge.passes.selection import unmatched

    print_strata(planned.selection.strata)
    for pattern in unmatched(planned.selection, planned.sampling):
        say(f"--always {pattern}: there is no such stratum")
    if planned.judge.model is None and planned.estimate.likely is None:
        say(
            "No model is named, so neither what it costs nor what it has judged before can be told: give --model "
            "PROVIDER/MODEL, or set ADJUDGE_MODEL."
        )
    else:
        print_estimate(planned.estimate)


def print_strata(strata: Sequence[Stratum]) -> None:
    """Print a line for each stratum, and their sums."""
    headings = ("HARNESS", "OUTCOME", "CANDIDATES", "NO RECORD", "JUDGED BEFORE", "SELECTED")
    cells: list[tuple[str, ...]] = [
        (each.harness, each.outcome, str(each.candidates), str(each.unrecorded), str(each.judged), str(each.selected))
        for each in strata
    ]
    sums = [
        sum(values) for values in zip(*((e.candidates, e.unrecorded, e.judged, e.selected) for e in strata), strict=True)
    ]
    if len(strata) > 1:
        cells.append(("all", "", *map(str, sums)))
    print_table(headings, cells, right=(2, 3, 4, 5))


def print_start(row: PassRow, sampling: Sampling, again: bool, max_cost: float | None) -> None:
    """Print how a pass was started, in the words of its options."""
    drawn = [f"--share {sampling.share:g}"] if sampling.share is not None else []
    drawn += [f"--quota {sampling.quota}"] if sampling.quota is not None else []
    drawn += [f"--always '{one_line(each, 200)}'" for each in sampling.always]
    drawn += [f"--seed {sampling.seed}", *(["--again"] if again else [])]
    drawn += [f"--max-cost {max_cost:g}"] if max_cost is not None else []
    who = f"{row.judge} {row.model}" if row.model else row.judge
    rubric = one_line(row.rubric or "unnamed", 200)
    say_of = f"Started {row.started[:19].replace('T', ' ')} UTC with {' '.join(drawn)}; rubric {rubric}; {who}."
    results().print(say_of, soft_wrap=True)


def print_estimate(estimate: Estimate) -> None:
    """Print what a pass may cost."""
    from adjudge.passes.estimate import described

    results().print(f"Estimate: {described(estimate)}.", soft_wrap=True)


def cells_of(row: PassRow, under_way: str | None) -> tuple[str, ...]:
    """A pass as a line of the list; `under_way` is the one that is judged now."""
    from adjudge.store.pass_rows import standing_of

    standing = standing_of(row.status, row.id, under_way)
    return (
        *(row.id, row.started[:19].replace("T", " "), standing, f"{row.landed - row.errored} of {row.selected}"),
        *(str(row.errored), _cost(row), row.rubric or "", row.model or ""),
    )


def _cost(row: PassRow) -> str:
    """What judging has cost, as far as it is known."""
    if row.landed and row.unpriced == row.landed and not row.lost:
        return "unknown"
    unknown = f" and {row.unpriced} unknown" if row.unpriced else ""
    return f"{dollars(row.cost)}{unknown}" + (f" + {dollars(row.lost)} lost" if row.lost else "")


def print_row(row: PassRow, under_way: str | None = None) -> None:
    """Print how a pass ended or that it is `under_way`, what it has cost, and what to do next."""
    console = results()
    console.print(
        f"Pass {row.id}: {row.status}" + (f", as {one_line(row.reason, 1000)}" if row.reason else "") + ".", soft_wrap=True
    )
    empty = f", {row.empty} of them empty" if row.empty else ""
    console.print(
        f"{row.landed - row.errored} of {counted(row.selected, 'run')} judged{empty}; {row.errored} without a verdict. "
        f"Judging has cost {_cost(row)}.",
        soft_wrap=True,
    )
    if row.id == under_way:
        return
    if row.status != "finished":
        console.print(f"`adjudge pass resume {row.id}` goes on.", soft_wrap=True)
    elif row.errored:
        console.print(f"`adjudge pass resume {row.id} --retry-no-verdict` judges those without one again.", soft_wrap=True)
