"""`adjudge ask`: a question over the store, answered in statements with their citations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.judging import ModelName
from adjudge.cli.options import Json, StorePath, settings_with
from adjudge.cli.printing import counted, messages, print_json
from adjudge.errors import InputError, OutsideError
from adjudge.record import dollars

if TYPE_CHECKING:
    from adjudge.asking.values import Asking, Progress
    from adjudge.settings import Settings

ANSWERED, NOT_ANSWERED = 0, 3
"""How asking ends, as an exit status."""


def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know, in your own words.")],
    model: ModelName = None,
    budget: Annotated[float | None, typer.Option("--budget", min=0, help="The most this may cost, in US dollars.")] = None,
    save: Annotated[
        Path | None, typer.Option("--save", help="Keep the answer with all its looks in this new file, as JSON.")
    ] = None,
    store: StorePath = None,
    as_json: Json = False,
) -> int:
    """Answer a question over stored runs and judgments, with a citation for every statement.

    Code checks each citation and each number; what does not stand is shown apart, with the reason. Exit status: 0
    answered, or the store does not tell; 2 bad input; 3 no answer, nothing of it stands, or the model's key is missing.
    """
    if save is not None:
        _require_new(save)
    asking = ask_live(question, settings_with(model=model, budget=budget, store=store))
    _show(asking, as_json)
    if save is not None:
        _keep(asking, save)
    return ANSWERED if asking.status == "answered" else NOT_ANSWERED


def ask_live(question: str, settings: Settings) -> Asking:
    """Ask with progress on standard error if that is a terminal."""
    import asyncio

    from adjudge import wiring
    from adjudge.wiring.asking import ask as answered

    latest: list[Progress] = []
    with wiring.open_kept_store(settings) as store, _progress() as update:

        def note(progress: Progress) -> None:
            latest[:] = [progress]
            update(progress)

        try:
            return asyncio.run(answered(question, store, settings, note))
        except KeyboardInterrupt as stopped:
            raise KeyboardInterrupt(account_of_stopped(latest[0] if latest else None)) from stopped


def account_of_stopped(progress: Progress | None) -> str:
    """That an asking was stopped, and what it had cost: what a call that was under way costs is not known."""
    if progress is None:
        return "Stopped before the model was asked; nothing was spent."
    cost = "its cost is not known" if progress.cost is None else f"it had cost {dollars(progress.cost)}"
    under_way = "" if progress.look else ", and the call under way may be billed too"
    return f"Stopped after {counted(progress.used, 'look')}; {cost}{under_way}."


@contextmanager
def _progress() -> Iterator[Callable[[Progress], object]]:
    """A line that is rewritten, on a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with messages().status("asking", spinner="dots") as status:

        def update(progress: Progress) -> None:
            from rich.text import Text

            status.update(Text(told(progress)))

        yield update


def told(progress: Progress) -> str:
    """What an asking is at, in one line."""
    from adjudge.untrusted import one_line

    look = progress.look
    doing = f"{look.tool}  {' '.join(map(str, look.arguments.values()))}" if look else "thinking"
    return one_line(f"look {progress.used} of {progress.most}  {doing}", 100)


def _show(asking: Asking, as_json: bool) -> None:
    from adjudge.cli.answers import print_asking

    if as_json:
        print_json(asking)
    else:
        print_asking(asking)


# --- keeping an answer


def _require_new(path: Path) -> None:
    """Refuse a place where an answer that was paid for could not be kept, before anything is asked."""
    if path.exists():
        raise InputError(f"--save {path}: is there already; name a new file")
    if not path.absolute().parent.is_dir():
        raise InputError(f"--save {path}: there is no folder {path.absolute().parent}")


def _keep(asking: Asking, path: Path) -> None:
    import msgspec

    text = msgspec.json.format(msgspec.json.encode(asking), indent=2)
    try:
        with path.open("xb") as file:
            file.write(text + b"\n")
    except OSError as error:
        raise OutsideError(f"{path}: the answer was printed, but cannot be kept: {error.strerror}") from error
