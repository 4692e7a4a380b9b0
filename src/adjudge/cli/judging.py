"""`adjudge judge` and `adjudge demo`: judge a run now, and show how it goes."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.options import Json, StorePath, settings_with
from adjudge.cli.printing import counted, messages, print_json, results, say

if TYPE_CHECKING:
    from rich.status import Status

    from adjudge.judges.evaluator.loop import Progress
    from adjudge.judgment import Judgment
    from adjudge.rubric import Rubric
    from adjudge.run import Run
    from adjudge.settings import Settings

Exchange = Annotated[
    Path | None,
    typer.Option("--exchange", help="Keep what was said with the model in this file; recorded/FILE plays it again."),
]
ModelName = Annotated[
    str | None, typer.Option("--model", "-m", help="The model that judges, as PROVIDER/MODEL [default: $ADJUDGE_MODEL].")
]


def judge(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A recording, a run folder, or the id of an imported run.")],
    rubric: Annotated[
        str, typer.Option("--rubric", "-r", help="A rubric file, or `none`: judge by the exit status alone.")
    ],
    machine: Annotated[
        str | None,
        typer.Option("--machine", help="What the agent left: the folder it worked in, docker:CONTAINER or image:NAME."),
    ] = None,
    workspace: Annotated[
        str | None,
        typer.Option("--workspace", help="Where the agent worked in a container [default: its working directory]."),
    ] = None,
    model: ModelName = None,
    looks: Annotated[
        int | None, typer.Option("--looks", min=1, help="How many looks the evaluator has [default: 40].")
    ] = None,
    budget: Annotated[float | None, typer.Option("--budget", min=0, help="The most this may cost, in US dollars.")] = None,
    exchange: Exchange = None,
    store: StorePath = None,
    as_json: Json = False,
) -> int:
    """Judge one run against a rubric and keep the judgment."""
    from adjudge import wiring

    settings = settings_with(model=model, looks=looks, budget=budget, store=store)
    run = wiring.find_run(path, settings, machine, workspace)
    criteria = None if rubric.casefold() == "none" else wiring.find_rubric(rubric)
    judgment = judge_live(run, criteria, settings, exchange)
    ended = show_judgment(judgment, run, as_json)
    if run.workspace is None and run.machine is None and criteria is not None:
        _say_what_was_not_run(criteria)
    return ended


def _say_what_was_not_run(rubric: Rubric) -> None:
    """Say how probes are given a machine: without one they fail, and no agent is to blame."""
    probes = sum(criterion.probe is not None for criterion in rubric.criteria)
    if probes:
        say(
            f"{counted(probes, 'probe was', 'probes were')} not run: name the folder that the agent worked in with "
            "--machine, or as `workspace` in run.yaml."
        )


def demo(
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Judge live, with this model [default: the recorded exchange].")
    ] = None,
    exchange: Exchange = None,
    store: StorePath = None,
    as_json: Json = False,
) -> int:
    """Judge the bundled run of a real agent, without a key.

    A recorded exchange with a strong model is played, and its looks are made live; with --model all of it is live.
    """
    from adjudge import wiring

    settings = settings_with(model=model or f"recorded/{wiring.DEMO / 'exchange.json'}", store=store)
    run = wiring.find_run(str(wiring.DEMO), settings)
    judgment = judge_live(run, wiring.find_rubric(str(wiring.DEMO / "rubric.yaml")), settings, exchange)
    show_judgment(judgment, run, as_json)
    if model is None:
        say(_about_the_demo(settings))
    return 0 if judgment.status == "judged" else 3


def _about_the_demo(settings: Settings) -> str:
    """What was live and what was not, and how to judge it with a model of one's own."""
    told = "The looks ran live on this machine; the model's words were played from a recorded exchange."
    if settings.keys:
        return f"{told} A key is set ({', '.join(settings.keys)}): `adjudge demo --model PROVIDER/MODEL` judges it live."
    return f"{told} With a key in the environment, `adjudge demo --model PROVIDER/MODEL` judges it live."


def judge_live(run: Run, rubric: Rubric | None, settings: Settings, exchange: Path | None = None) -> Judgment:
    """Judge with progress on standard error if that is a terminal, and land the judgment in the store."""
    import asyncio

    from adjudge import wiring

    with _status() as show:
        return asyncio.run(wiring.judge(run, rubric, settings, show.update if show else None, exchange))


class _Progress:
    """Turns the evaluator's progress into a line that is rewritten."""

    def __init__(self, status: Status) -> None:
        self._status = status

    def update(self, progress: Progress) -> None:
        from rich.text import Text

        from adjudge.exports.telling import told

        words, _ = told(progress)
        self._status.update(Text(words, overflow="ellipsis", no_wrap=True))


class _Shown(AbstractContextManager["_Progress"]):
    def __init__(self) -> None:
        self._status = messages().status("judging", spinner="dots")
        self._progress = _Progress(self._status)

    def __enter__(self) -> _Progress:
        self._status.start()
        return self._progress

    def __exit__(self, *_: object) -> None:
        self._status.stop()


def _status() -> AbstractContextManager[_Progress | None]:
    return _Shown() if sys.stderr.isatty() else nullcontext()


def show_judgment(judgment: Judgment, run: Run, as_json: bool) -> int:
    """Print a judgment and return the exit status that goes with it."""
    from adjudge.cli.verdicts import print_judgment

    if as_json:
        print_json(judgment)
    else:
        print_judgment(results(), judgment, run)
        name = judgment.id
        say(f"Kept as {name}: `adjudge show {name}` prints it, `adjudge verify {name}` checks it again.")
    return ending(judgment)


def ending(judgment: Judgment) -> int:
    """0 if all criteria passed, 1 if some failed, 3 if it was not judged."""
    if judgment.status == "errored":
        return 3
    return 0 if all(verdict.passed for verdict in judgment.verdicts) else 1
