"""`adjudge run`: start agents on tasks, judge each where it worked, and compare them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.options import Json, StorePath, settings_with
from adjudge.cli.printing import print_json, print_table, results, say
from adjudge.errors import InputError
from adjudge.record import dollars
from adjudge.statistics import MEANINGFUL

if TYPE_CHECKING:
    from adjudge.agents.comparison import AgentResult, Cell, Comparison, Result
    from adjudge.cli.watching import Display

Agents = Annotated[
    list[str],
    typer.Option(
        "--agent",
        "-a",
        metavar="AGENT[=MODEL]",
        help="A connection's name or file, and the agent's model; several to compare. `command` runs what follows --.",
    ),
]


def run(
    context: typer.Context,
    tasks: Annotated[list[Path], typer.Argument(metavar="TASK", help="Task files, or folders that hold a task.yaml.")],
    agents: Agents,
    rubric: Annotated[
        str | None,
        typer.Option("--rubric", "-r", help="A rubric file, or `none`: judge by the process alone [default: the task's]."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="The model that judges, as PROVIDER/MODEL [default: $ADJUDGE_MODEL]."),
    ] = None,
    attempts: Annotated[int, typer.Option("--attempts", "-k", min=1, help="Attempts of each agent at each task.")] = 1,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Attempts at a time.")] = 1,
    machine: Annotated[
        str | None,
        typer.Option(
            "--machine", metavar="image:NAME", help="Work in containers of this image [default: as the task says]."
        ),
    ] = None,
    variables: Annotated[
        list[str] | None,
        typer.Option("--env", metavar="NAME", help="A secret variable for the agent's process alone, by its name here."),
    ] = None,
    records: Annotated[
        list[str] | None,
        typer.Option("--record", metavar="PATH", help="With `command`: where in its home the record appears."),
    ] = None,
    destroy: Annotated[bool, typer.Option("--destroy", help="Keep no copy of the workspaces after judging.")] = False,
    looks: Annotated[
        int | None, typer.Option("--looks", min=1, help="How many looks the evaluator has [default: 40].")
    ] = None,
    budget: Annotated[
        float | None, typer.Option("--budget", min=0, help="The most that one judgment may cost, in US dollars.")
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print what the agents print and each look of the judge, as it comes.")
    ] = False,
    store: StorePath = None,
    as_json: Json = False,
) -> int:
    """Start agents on tasks, judge each run on the machine as it was left, and compare.

    What stands after `--` is the command that `--agent command` runs.
    """
    import asyncio

    from adjudge.cli.watching import Display
    from adjudge.wiring.planning import Asked
    from adjudge.wiring.starting import start

    settings = settings_with(model=model, looks=looks, budget=budget, store=store)
    asked = Asked(
        tasks=tuple(tasks),
        agents=tuple(_agent(each) for each in agents),
        command=tuple(context.obj or ()),
        records=tuple(records or ()),
        attempts=attempts,
        jobs=jobs,
        rubric=rubric,
        image=_image(machine),
        variables=tuple(variables or ()),
        keep=not destroy,
    )
    with Display(verbose) as display:
        made = asyncio.run(start(asked, settings, display.watch()))
    if as_json:
        print_json(made)
    else:
        _print_made(made, display)
    return _ending(made)


def _agent(words: str) -> tuple[str, str | None]:
    name, _, model = words.partition("=")
    return name, model or None


def _image(machine: str | None) -> str | None:
    if machine is None:
        return None
    kind, _, name = machine.partition(":")
    if kind != "image" or not name:
        raise InputError(f"--machine {machine}: must be image:NAME, an image to make containers of")
    return name


def _ending(results: Sequence[Result]) -> int:
    """0 if everything passed, 1 if something failed, 3 if something was not judged."""
    if any(result.status != "judged" for result in results):
        return 3
    return 0 if all(result.succeeded for result in results) else 1


# --- printing


def _print_made(made: Sequence[Result], display: Display) -> None:
    """Print one judgment whole; of several, a line each and a comparison."""
    from adjudge.agents.comparison import compare
    from adjudge.cli.verdicts import print_judgment

    if len(made) == 1 and display.judged:
        ((run, judgment),) = display.judged
        print_judgment(results(), judgment, run)
        say(f"Kept as {judgment.id}: `adjudge show {judgment.id}` prints it, `adjudge show {run.id}` its run.")
        return
    headings = ("task", "agent", "try", "process", "graded", "passed", "tokens", "cost", "seconds", "judgment")
    print_table(headings, [tuple(_cells(result)) for result in made], right=(2, 5, 6, 7, 8))
    if len(made) > 1:
        _print_comparison(compare(made))


def _cells(result: Result) -> Iterator[str]:
    from adjudge.agents.comparison import tokens_of

    outcome, tokens = result.outcome, tokens_of(result.usage)
    yield from (result.task, result.who, str(result.attempt))
    yield outcome.ending if outcome else "not made"
    yield (outcome.grade or "") if outcome else ""
    yield f"{result.passed}/{result.criteria}" if result.status == "judged" else "not judged"
    yield f"{tokens:,}" if tokens is not None else ""
    yield dollars(result.cost) if result.cost is not None else ""
    yield f"{result.seconds:.1f}" if result.seconds is not None else ""
    yield result.judgment or ""


def _print_comparison(compared: Comparison) -> None:
    whos = [agent.who for agent in compared.agents]
    tasks = dict.fromkeys(cell.task for cell in compared.cells)
    if len(tasks) > 1 and len(whos) > 1:
        results().print()
        cells = {(cell.task, cell.who): _cell(cell) for cell in compared.cells}
        print_table(("all passed", *whos), [(task, *(cells[task, who] for who in whos)) for task in tasks])
    results().print()
    headings = (
        "agent",
        "attempts",
        "judged",
        "all passed",
        "95 % interval",
        "score",
        "resolved",
        "cost",
        "tokens",
        "seconds",
    )
    print_table(headings, [tuple(_summary(agent)) for agent in compared.agents], right=(1, 2, 3, 5, 6, 7, 8, 9))
    few = [agent for agent in compared.agents if agent.judged < MEANINGFUL]
    if few:
        say(f"With fewer than {MEANINGFUL} judged attempts of an agent, a difference between agents is not yet meaningful.")


def _cell(cell: Cell) -> str:
    score = f", score {cell.score:.2f}" if cell.score is not None else ""
    return f"{cell.succeeded} of {cell.judged}{score}" + (f", {cell.resolved} resolved" if cell.graded else "")


def _summary(agent: AgentResult) -> Iterator[str]:
    success = agent.success
    yield from (agent.who, str(agent.attempts), str(agent.judged), str(agent.succeeded))
    yield f"{success.low:.2f} to {success.high:.2f}" if success else ""
    yield f"{agent.score:.2f}" if agent.score is not None else ""
    yield f"{agent.resolved}/{agent.graded}" if agent.graded else ""
    yield dollars(agent.cost) if agent.cost is not None else ""
    yield f"{agent.tokens:,}" if agent.tokens is not None else ""
    yield f"{agent.seconds:.1f}" if agent.seconds is not None else ""
