"""`adjudge pass`: judge many stored runs with one command."""

from __future__ import annotations

import signal
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from adjudge.cli.judging import ModelName
from adjudge.cli.options import Json, StorePath, settings_with
from adjudge.cli.plans import cells_of, print_estimate, print_plan, print_row, print_start, print_strata
from adjudge.cli.printing import print_json, print_table, say
from adjudge.errors import InputError
from adjudge.settings import PruneMode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from adjudge.passes.engine import Bounds, Stop
    from adjudge.passes.progress import Progress
    from adjudge.passes.ray_cluster import RayCluster
    from adjudge.passes.under_way import UnderWay
    from adjudge.passes.values import Sampling
    from adjudge.rubric import Rubric
    from adjudge.wiring.passes import Ended, Plan

FINISHED, NOT_FINISHED = 0, 3
LOCAL = "local"
"""What `--ray` without an address stands for."""
STOPPED_BY = 128
"""Added to the number of the signal that stopped a pass, as shells do."""

RubricName = Annotated[
    str | None,
    typer.Option(
        "--rubric",
        "-r",
        help="Criteria for the evaluator, or dimensions for the reader: a file, or a stored hash [default: our nine].",
    ),
]
Share = Annotated[str | None, typer.Option("--share", metavar="SHARE", help="Draw so much of each stratum, as in 10%.")]
Quota = Annotated[int | None, typer.Option("--quota", metavar="N", help="Draw so many runs of each stratum.")]
Always = Annotated[
    list[str] | None,
    typer.Option("--always", metavar="HARNESS/OUTCOME", help="Take these strata whole, as in '*/unresolved'."),
]
Seed = Annotated[int, typer.Option("--seed", help="The same seed over the same runs draws the same.")]
Prune = Annotated[
    PruneMode | None,
    typer.Option("--prune", help="How much of a trajectory a reader gets [default: pruned, or $ADJUDGE_PRUNE]."),
]
Budget = Annotated[
    float | None, typer.Option("--budget", min=0, help="The most that one judgment may cost, in US dollars.")
]
Again = Annotated[bool, typer.Option("--again", help="Take runs too that this judge has judged with this rubric.")]
MaxCost = Annotated[float | None, typer.Option("--max-cost", min=0, help="The most that the pass may cost, in US dollars.")]
AtOnce = Annotated[
    int, typer.Option("--at-once", "-j", min=1, max=1000, help="Judgments at a time, fewer while the provider is busy.")
]
Ray = Annotated[
    str | None,
    typer.Option(
        "--ray", metavar="[ADDRESS]", help="Judge on the Ray cluster at HOST:PORT, or on one of this computer's own."
    ),
]
Planned = Annotated[
    str | None, typer.Option("--plan", metavar="HASH", help="Begin only if the plan is still the one with this hash.")
]
Watched = Annotated[
    int | None,
    typer.Option("--watched-at", hidden=True, help="A socket that is open, over which it is asked what is being judged."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before money is spent.")]


def plan_pass(
    rubric: RubricName = None,
    share: Share = None,
    quota: Quota = None,
    always: Always = None,
    seed: Seed = 0,
    again: Again = False,
    model: ModelName = None,
    prune: Prune = None,
    budget: Budget = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Print which runs a pass would judge, stratum by stratum, and what that may cost. Nothing is asked of a model."""
    from adjudge import wiring
    from adjudge.passes.selection import read_sampling
    from adjudge.wiring import passes

    settings = settings_with(model=model, prune=prune, budget=budget, store=store)
    sampling = read_sampling(quota, share, always or (), seed)
    with wiring.open_kept_store(settings) as opened:
        planned = passes.plan(wiring.find_any_rubric(rubric, settings), sampling, settings, opened, again)
    fingerprint = passes.fingerprint_of(planned)
    if as_json:
        print_json(msgspec.structs.asdict(planned) | {"fingerprint": fingerprint})
    else:
        print_plan(planned)
        say(f"`adjudge pass start … --plan {fingerprint}` begins this very plan or nothing.")


def start_pass(
    rubric: RubricName = None,
    share: Share = None,
    quota: Quota = None,
    always: Always = None,
    seed: Seed = 0,
    again: Again = False,
    model: ModelName = None,
    prune: Prune = None,
    budget: Budget = None,
    max_cost: MaxCost = None,
    at_once: AtOnce = 16,
    ray: Ray = None,
    plan: Planned = None,
    yes: Yes = False,
    watched: Watched = None,
    store: StorePath = None,
    as_json: Json = False,
) -> int:
    """Judge a selection of the stored runs with one rubric.

    SIGINT or SIGTERM once: nothing new is begun, and what is under way may land for 30 s; twice: it ends at once. Either
    way `adjudge pass resume` goes on. Exit status: 0 all is judged, 2 bad input, 3 it ended before that, 130 or 143 if a
    signal ended it.
    """
    from adjudge import wiring
    from adjudge.passes.selection import read_sampling
    from adjudge.wiring import passes

    settings = settings_with(model=model, prune=prune, budget=budget, store=store)
    sampling: Sampling = read_sampling(quota, share, always or (), seed)
    chosen: Rubric = wiring.find_any_rubric(rubric, settings)
    wiring.require_model_for(chosen, settings)
    with wiring.open_kept_store(settings) as opened:
        planned = passes.plan(chosen, sampling, settings, opened, again)
        if plan is not None:
            passes.require_unchanged(planned, plan)
        if not planned.selection.runs:
            return _nothing_left(planned, as_json)
        if not as_json:
            print_plan(planned)
        _require_consent(yes, max_cost)

        under_way = _told_at(watched)

        async def begin(bounds: Bounds, stop: Stop, show: Callable[[Progress], None]) -> Ended:
            return await passes.start(planned, settings, opened, bounds, stop, show, _say_begun, cluster, under_way)

        with _cluster(ray) as cluster:
            return _conduct(begin, at_once, max_cost, as_json)


def resume_pass(
    name: Annotated[str, typer.Argument(metavar="PASS", help="The pass, or the beginning of its id.")],
    retry: Annotated[
        bool, typer.Option("--retry-no-verdict", help="Judge again what brought no verdict: time-outs, parse failures.")
    ] = False,
    max_cost: MaxCost = None,
    at_once: AtOnce = 16,
    ray: Ray = None,
    watched: Watched = None,
    store: StorePath = None,
    as_json: Json = False,
) -> int:
    """Go on with a pass where it ended, with the judge it was started with, and its --max-cost unless another is given.

    Exit status as of `adjudge pass start`.
    """
    from adjudge import wiring
    from adjudge.wiring import passes

    settings = settings_with(store=store)
    with wiring.open_kept_store(settings) as opened:
        identifier = opened.passes.find(name)
        wiring.require_model_for(*passes.judging_of(identifier, settings, opened))

        under_way = _told_at(watched)

        async def go_on(bounds: Bounds, stop: Stop, show: Callable[[Progress], None]) -> Ended:
            return await passes.resume(identifier, settings, opened, bounds, stop, show, retry, cluster, under_way)

        with _cluster(ray) as cluster:
            return _conduct(go_on, at_once, max_cost, as_json)


def list_passes(store: StorePath = None, as_json: Json = False) -> None:
    """List all passes, the latest first."""
    from adjudge import wiring

    with wiring.open_kept_store(settings_with(store=store)) as opened:
        rows, under_way = opened.passes.rows(), opened.passes.under_way()
    if as_json:
        print_json(rows)
        return
    if not rows:
        say("No pass was started in this store; `adjudge pass start` starts one.")
        return
    headings = ("PASS", "STARTED", "STATUS", "JUDGED", "NO VERDICT", "COST", "RUBRIC", "MODEL")
    print_table(headings, [cells_of(row, under_way) for row in rows], right=(3, 4, 5))


def show_pass(
    name: Annotated[str, typer.Argument(metavar="PASS", help="The pass, or the beginning of its id.")],
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Print how a pass was selected, what it was estimated to cost, and how it ended."""
    from adjudge import wiring
    from adjudge.wiring.passes import started_with

    with wiring.open_kept_store(settings_with(store=store)) as opened:
        identifier = opened.passes.find(name)
        row, plan, under_way = opened.passes.row(identifier), opened.passes.plan(identifier), opened.passes.under_way()
    if as_json:
        print_json({"pass": row, "judge": plan.judge, "plan": plan.plan})
        return
    started = started_with(plan)
    print_start(row, started.sampling, started.again, started.max_cost)
    print_strata(started.strata)
    print_estimate(started.estimate)
    print_row(row, under_way)


# --- while it goes on


def _nothing_left(planned: Plan, as_json: bool) -> int:
    """How a pass ends that has nothing to do: well, if that is because all is done.

    Raises:
        InputError: nothing was ever judged; the selection may be a mistake.
    """
    if as_json:
        print_json({"row": None, "ending": None, "plan": planned})
    else:
        print_plan(planned)
    if not any(stratum.judged for stratum in planned.selection.strata):
        raise InputError("no run is selected: see what there is with `adjudge pass plan`, and whether --always is misspelt")
    say("No run is left to be judged.")
    return FINISHED


def _require_consent(yes: bool, max_cost: float | None) -> None:
    """Ask on a terminal; a script says it beforehand.

    Raises:
        InputError: nobody can be asked.
    """
    if yes or max_cost is not None:
        return
    if not sys.stdin.isatty():
        raise InputError("a pass spends money and nobody can be asked here: give --yes, or --max-cost DOLLARS")
    if not typer.confirm("Judge them?", err=True):
        raise typer.Abort


def _cluster(ray: str | None) -> AbstractContextManager[RayCluster | None]:
    """The cluster that is named, for as long as it is used."""
    if ray is None:
        return nullcontext()
    from adjudge.passes.ray_cluster import open_ray

    say(
        "Ray is being started; that may take half a minute." if ray == LOCAL else f"Connecting to the Ray cluster at {ray}."
    )
    return open_ray(None if ray == LOCAL else ray)


def _told_at(watched: int | None) -> UnderWay:
    """What will be under way, told over the socket that is open under this number."""
    from adjudge.cli.watched import answer_at
    from adjudge.passes.under_way import UnderWay

    under_way = UnderWay()
    answer_at(watched, under_way)
    return under_way


def _say_begun(identifier: str) -> None:
    say(f"Pass {identifier} has begun; `adjudge pass resume {identifier}` goes on with it if it ends before its end.")


def _conduct(
    work: Callable[[Bounds, Stop, Callable[[Progress], None]], Awaitable[Ended]],
    at_once: int,
    max_cost: float | None,
    as_json: bool,
) -> int:
    import asyncio

    from adjudge.cli.passing import Display
    from adjudge.passes.engine import Bounds, Stop

    heard: list[int] = []

    async def conducted() -> Ended:
        stop = Stop()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, _hear, number, heard, stop)
        with Display() as display:
            return await work(Bounds(at_once=at_once, cost=max_cost), stop, display.show)

    ended = asyncio.run(conducted())
    if as_json:
        print_json(ended)
    else:
        print_row(ended.row)
    if ended.ending.status == "finished":
        return FINISHED if ended.row.errored < ended.row.landed else NOT_FINISHED
    return STOPPED_BY + heard[0] if heard else NOT_FINISHED


def _hear(number: int, heard: list[int], stop: Stop) -> None:
    heard.append(number)
    stop.ask()
    if len(heard) == 1:
        say("Stopping: nothing new is begun, what is under way may land for 30 s. Once more ends it at once.")
