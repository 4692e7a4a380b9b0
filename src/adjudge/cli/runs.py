"""`adjudge import`, `list` and `show`: what is in the store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli.options import Json, StorePath, settings_with
from adjudge.cli.printing import counted, print_json, print_table, results, say
from adjudge.errors import InputError

if TYPE_CHECKING:
    from adjudge.judgment import Judgment
    from adjudge.run import Run
    from adjudge.store.rows import RunRow
    from adjudge.store.store import Store

NAMED = 3
"""Unread pieces of a recording that a message names."""


def import_runs(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Recordings, run folders, or folders of recordings.")],
    store: StorePath = None,
    as_json: Json = False,
) -> int:
    """Keep the runs that recordings hold. Importing a run again changes nothing."""
    from adjudge import wiring
    from adjudge.importers.skipping import Skipped

    imported, refused = [], False
    with wiring.open_store(settings_with(store=store)) as kept:
        known = {row.id for row in kept.runs()}
        for path in paths:
            skipped = Skipped()
            try:
                for run in wiring.read_runs(path, skipped):
                    if run.id in known:
                        _say_what_stays(kept.run(run.id), run)
                    kept.add_run(run)
                    imported.append(_as_imported(run))
                    _say_unread(run)
            except InputError as error:  # the other paths are imported all the same
                say(str(error))
                refused = True
            if skipped.count:
                say("\n  ".join([f"{path}: {skipped.words}", *skipped.lines]))
    if as_json:
        print_json(imported)
    elif imported:
        headings = ("run", "format", "agent", "model", "turns", "entries", "unparsed", "source")
        cells = [[str(run[heading] if run[heading] is not None else "") for heading in headings] for run in imported]
        print_table(headings, cells, right=(4, 5, 6), ends=(7,))
    return 2 if refused else 0


def _say_what_stays(kept: Run, run: Run) -> None:
    """Say where a run that is imported again differs in what its id does not cover: the stored one stays."""
    other = [name for name in ("task", "outcome", "context", "workspace") if getattr(kept, name) != getattr(run, name)]
    if other:
        say(
            f"{run.source}: {run.id} is in the store already, with another {' and '.join(other)}, and stays as it is; "
            f"judge {run.source} by its path, or import it into another store"
        )


def _as_imported(run: Run) -> dict[str, Any]:
    record = run.record
    return {
        "run": run.id,
        "format": record.format,
        "agent": run.agent,
        "model": run.model,
        "turns": len(record.turns),
        "entries": len(record.entries) + sum(len(child.entries) for child in record.children),
        "unparsed": len(record.unparsed),
        "skipped": record.skipped,
        "source": run.source,
    }


def _say_unread(run: Run) -> None:
    unread = run.record.unparsed
    source = Path(run.source)
    folder = source if source.is_dir() else source.parent
    for piece in unread[:NAMED]:
        say(f"{folder / piece.place} was not read: {piece.reason}")
    if len(unread) > NAMED:
        more = counted(len(unread) - NAMED, "more piece was", "more pieces were")
        say(f"{run.source}: {more} not read; `adjudge show {run.id} --json` lists them all")
    if not run.record.entries and not unread:
        say(f"{run.source}: this run has no record; `record` in run.yaml names one")


def list_runs(
    store: StorePath = None,
    as_json: Json = False,
) -> int:
    """List the runs in the store, the latest first."""
    from adjudge import wiring

    with wiring.open_kept_store(settings_with(store=store)) as kept:
        rows = kept.runs()
    if as_json:
        print_json(rows)
        return 0
    if not rows:
        say("No runs yet: `adjudge import PATH` keeps some, `adjudge judge PATH` keeps the run that it judges.")
        return 0
    headings = ("run", "agent", "model", "turns", "judged", "score", "task")
    cells = [
        (
            row.id,
            row.agent or "",
            row.model or "",
            str(row.turns),
            str(row.judgments),
            _found(row),
            ": ".join(part for part in (row.task_name, row.task) if part),
        )
        for row in rows
    ]
    print_table(headings, cells, right=(3, 4, 5))
    return 0


def _found(row: RunRow) -> str:
    """What the latest judgment found, as short as can be."""
    if row.status == "errored":
        return "errored"
    if row.worse is not None:
        return "empty" if row.empty else f"{row.worse} worse"
    return "" if row.score is None else f"{row.score:.2f}"


def show(
    name: Annotated[str, typer.Argument(metavar="ID", help="A run's or a judgment's id, or the beginning of one.")],
    exhibit: Annotated[
        str | None, typer.Argument(metavar="EXHIBIT", help="An entry (e12), a turn (t7) or a look (L3), to see it whole.")
    ] = None,
    transcript: Annotated[
        bool, typer.Option("--transcript", help="With a judgment: the judge's whole transcript.")
    ] = False,
    store: StorePath = None,
    as_json: Json = False,
) -> int:
    """Show a run or a judgment, or one exhibit of it."""
    from adjudge import wiring

    with wiring.open_kept_store(settings_with(store=store)) as kept:
        if name.startswith("j-"):
            return _show_judgment(kept, kept.find_judgment(name), exhibit, transcript, as_json)
        if not name.startswith("r-"):
            raise InputError(f"{name}: is no id; a run's begins with r- (`adjudge list`), a judgment's with j-")
        if transcript:
            raise InputError(f"--transcript: {name} is a run; `adjudge show {name}` lists its judgments")
        return _show_run(kept, kept.find_run(name), exhibit, as_json)


def _show_judgment(store: Store, name: str, exhibit: str | None, transcript: bool, as_json: bool) -> int:
    from adjudge.cli.exhibits import print_exhibit, print_transcript

    judgment = store.judgment(name)
    run = store.run(judgment.run)
    if exhibit:
        print_exhibit(exhibit, run.record, judgment.looks, as_json)
    elif as_json:
        print_json(judgment)
    else:
        _print_stored(store, judgment, run)
        if judgment.looks and store.workspace_changed(name):
            say("The workspace has changed since this judgment: what its looks saw is kept, but may no longer be there.")
        if transcript:
            print_transcript(judgment)
    return 0


def _print_stored(store: Store, judgment: Judgment, run: Run) -> None:
    """Print a judgment as its kind is read: verdicts, or a reader's scores."""
    from adjudge.cli.scores import print_scores
    from adjudge.cli.verdicts import print_judgment
    from adjudge.wiring.reviews import trust

    rubric = store.rubric(judgment.rubric_hash) if judgment.rubric_hash else None
    known = trust(store, rubric.hash, judgment.judge.hash) if rubric else None
    if judgment.judge.kind == "reader":
        print_scores(results(), judgment, run, rubric, known)
    else:
        print_judgment(results(), judgment, run, known)


def _show_run(store: Store, name: str, exhibit: str | None, as_json: bool) -> int:
    from adjudge.cli.exhibits import print_exhibit, print_run, run_as_json

    run = store.run(name)
    if exhibit:
        print_exhibit(exhibit, run.record, (), as_json)
    elif as_json:
        print_json(run_as_json(run))
    else:
        print_run(run, store.judgments(name))
    return 0
