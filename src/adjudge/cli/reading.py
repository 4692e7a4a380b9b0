"""`adjudge read`: have a reader score the dimensions of runs, or see what it would be asked."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli.judging import Exchange, ModelName
from adjudge.cli.options import Json, StorePath, settings_with
from adjudge.cli.printing import messages, print_json, results, say
from adjudge.errors import InputError
from adjudge.settings import PruneMode

if TYPE_CHECKING:
    from adjudge.judgment import Judgment
    from adjudge.rubric import Rubric
    from adjudge.run import Run
    from adjudge.settings import Settings
    from adjudge.wiring import DryRun

BLAMELESS, ACCUSED, REFUSED, NOT_READ = range(4)
"""How reading ends, as an exit status."""


def read(
    names: Annotated[
        list[str],
        typer.Argument(metavar="RUN", help="Recordings, run folders, folders of recordings, or the ids of imported runs."),
    ],
    rubric: Annotated[
        str | None, typer.Option("--rubric", "-r", help="A rubric of dimensions [default: adjudge's own nine].")
    ] = None,
    prune: Annotated[
        PruneMode | None,
        typer.Option("--prune", help="How much of a trajectory the reader gets [default: pruned, or $ADJUDGE_PRUNE]."),
    ] = None,
    model: ModelName = None,
    budget: Annotated[
        float | None, typer.Option("--budget", min=0, help="The most that one judgment may cost, in US dollars.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the exact request, its size and its price, and ask nothing.")
    ] = False,
    exchange: Exchange = None,
    store: StorePath = None,
    as_json: Json = False,
) -> int:
    """Read runs once each, score a rubric's dimensions, and keep the judgments.

    Exit status: 0 nothing is worse than blameless, 1 some dimension is, 2 bad input, 3 some run was not judged: it is
    errored, no dimension has a value, or the model's key is missing.
    """
    import asyncio

    from adjudge import wiring

    settings = settings_with(model=model, budget=budget, prune=prune, store=store)
    dimensions = wiring.find_dimensions(rubric)
    if not dry_run:
        asyncio.run(wiring.require_model(settings))
    refused: list[str] = []
    runs = _runs(names, settings, refused)
    if exchange is not None:
        runs = iter([_only(runs)])
    if dry_run:
        endings = _print_requests(runs, dimensions, settings, as_json)
    else:
        endings = _read(runs, dimensions, settings, as_json, exchange)
    return REFUSED if refused else max(endings, default=NOT_READ)


def _only(runs: Iterator[Run]) -> Run:
    found = list(runs)
    if len(found) != 1:
        raise InputError(f"--exchange: keeps what was said about one run, and {len(found)} were named")
    return found[0]


def _runs(names: Sequence[str], settings: Settings, refused: list[str]) -> Iterator[Run]:
    """The runs that were named, each once; a name that brings none is told and noted, and holds up no other."""
    from adjudge import wiring

    sources: dict[str, str] = {}
    for name in names:
        try:
            for run in wiring.find_runs(name, settings):
                if run.id in sources:
                    say(f"{run.source}: is {run.id} again, as {sources[run.id]}, and is not read twice")
                    continue
                sources[run.id] = run.source
                yield run
        except InputError as error:
            say(str(error))
            refused.append(name)


def _read(runs: Iterator[Run], dimensions: Rubric, settings: Settings, as_json: bool, exchange: Path | None) -> list[int]:
    judgments = []
    for run in runs:
        judgment = read_live(run, dimensions, settings, exchange)
        judgments.append(judgment)
        if not as_json:
            _show(judgment, run, dimensions)
    if as_json:
        print_json(judgments)
    return [ending(judgment) for judgment in judgments]


def read_live(run: Run, dimensions: Rubric, settings: Settings, exchange: Path | None = None) -> Judgment:
    """Read one run, with a sign of life on standard error if that is a terminal, and keep the judgment."""
    import asyncio

    from adjudge import wiring

    with _waiting(run):
        return asyncio.run(wiring.read(run, dimensions, settings, exchange))


def _waiting(run: Run) -> AbstractContextManager[object]:
    return messages().status(f"reading {run.id}", spinner="dots") if sys.stderr.isatty() else nullcontext()


def _show(judgment: Judgment, run: Run, dimensions: Rubric) -> None:
    from adjudge.cli.scores import print_scores

    print_scores(results(), judgment, run, dimensions)
    say(f"{run.id} is kept as {judgment.id}: {_what_to_look_at(judgment)}")


def _what_to_look_at(judgment: Judgment) -> str:
    """Commands that make sense for this judgment: a turn only if one is cited."""
    name, checks = judgment.id, f"`adjudge verify {judgment.id}` checks all of it again"
    if judgment.status == "errored":
        return f"`adjudge show {name} --transcript` prints what was said." if judgment.steps else "no call was made."
    holdings = [holding for score in judgment.scores for holding in score.holdings if holding.standing]
    if not holdings:
        return f"{checks}."
    return f"`adjudge show {name} {holdings[0].citation.exhibit}` prints a turn that it cites, {checks}."


def ending(judgment: Judgment) -> int:
    """The exit status that goes with a judgment."""
    if judgment.status == "errored" or judgment.empty:
        return NOT_READ
    return ACCUSED if judgment.worse else BLAMELESS


def _print_requests(runs: Iterator[Run], dimensions: Rubric, settings: Settings, as_json: bool) -> list[int]:
    """Print the request of one run whole, of several only the sizes and prices."""
    import asyncio

    from adjudge import wiring
    from adjudge.cli.requests import print_request, print_requests, warn_of_size

    asked = [(run, asyncio.run(wiring.dry_run(run, dimensions, settings))) for run in runs]
    if as_json:
        print_json([_as_json(run, dry) for run, dry in asked])
    elif len(asked) == 1:
        print_request(results(), asked[0][1], asked[0][0])
    elif asked:
        print_requests(asked)
    for run, dry in asked:
        warn_of_size(dry, run)
    return [BLAMELESS] * len(asked)


def _as_json(run: Run, dry: DryRun) -> dict[str, Any]:
    import msgspec

    return {"run": run.id, "source": run.source, **msgspec.structs.asdict(dry), "fits": dry.fits}
