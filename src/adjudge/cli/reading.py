"""`adjudge read`: have a reader score the dimensions of runs, or see what it would be asked."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    """The runs that were named; a name that brings none is told and noted, and the others are read all the same."""
    from adjudge import wiring

    for name in names:
        try:
            yield from wiring.find_runs(name, settings)
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
    name = judgment.id
    say(f"Kept as {name}: `adjudge show {name} t7` prints a turn, `adjudge verify {name}` checks all of it again.")


def ending(judgment: Judgment) -> int:
    """The exit status that goes with a judgment."""
    if judgment.status == "errored" or judgment.empty:
        return NOT_READ
    return ACCUSED if judgment.worse else BLAMELESS


def _print_requests(runs: Iterator[Run], dimensions: Rubric, settings: Settings, as_json: bool) -> list[int]:
    import asyncio

    import msgspec

    from adjudge import wiring
    from adjudge.cli.requests import print_request

    asked = []
    for run in runs:
        dry = asyncio.run(wiring.dry_run(run, dimensions, settings))
        asked.append({"run": run.id, **msgspec.structs.asdict(dry)})
        if not as_json:
            print_request(results(), dry, run)
    if as_json:
        print_json(asked)
    return [BLAMELESS] * len(asked)
