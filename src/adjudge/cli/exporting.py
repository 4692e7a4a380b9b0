"""`adjudge export`: judgments for other tools."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.options import StorePath, find_judgments, settings_with
from adjudge.cli.printing import counted, say
from adjudge.errors import InputError, OutsideError

if TYPE_CHECKING:
    from adjudge.exports.judged import Judged
    from adjudge.store.store import Store


class Form(StrEnum):
    """The forms of an export."""

    JSONL = "jsonl"
    JUNIT = "junit"
    REWARD = "reward"
    HTML = "html"
    PARQUET = "parquet"


ONE = (Form.REWARD, Form.HTML)
"""Forms that hold one judgment."""
OF_PASSES = (Form.JSONL, Form.PARQUET)
"""Forms that hold the table of a pass."""

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="JUDGMENT", help="Judgments or passes, or the beginnings of their ids [default: all judgments]."
    ),
]


def export(
    names: Names = None,
    form: Annotated[
        Form,
        typer.Option(
            "--as", "--format", help="jsonl and junit take many judgments, reward and html one, jsonl and parquet a pass."
        ),
    ] = Form.JSONL,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write [default: standard output].")
    ] = None,
    store: StorePath = None,
) -> int:
    """Export judgments for people and other tools.

    As JSON Lines, JUnit XML, Harbor's reward.json, or one self-contained HTML page; a pass as a table with a row for each
    verdict or score, as JSON Lines or Parquet.
    """
    from adjudge import wiring

    with wiring.open_kept_store(settings_with(store=store)) as kept:
        if any(name.startswith("p-") for name in names or ()):
            return _export_passes(kept, names or (), form, output)
        wanted = find_judgments(kept, names)
        if form in ONE and len(wanted) != 1:
            raise InputError(
                f"--as {form}: needs exactly one judgment, got {len(wanted)}; `adjudge show RUN` lists a run's"
            )
        if not wanted:
            raise InputError(f"{kept.folder}: holds no judgments yet; `adjudge judge PATH --rubric FILE` makes one")
        text = exported(kept, wanted, form)
    if output is None:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    else:
        _write(output, text)
        say(f"{output}: {counted(len(wanted), 'judgment')}")
    return 0


def _export_passes(store: Store, names: Sequence[str], form: Form, output: Path | None) -> int:
    from adjudge.cli.tables import print_rows, rows_of_passes, write_rows

    if form not in OF_PASSES:
        raise InputError(f"--as {form}: holds judgments, not a pass, which is exported as jsonl or parquet")
    if output is None and form is Form.PARQUET:
        raise InputError("--as parquet: is no text to print; name a file with --output")
    passes = [store.passes.find(name) if name.startswith("p-") else _refuse_beside_pass(name) for name in names]
    rows = rows_of_passes(store, passes)
    if output is None:
        print_rows(rows)
    else:
        written = write_rows(output, rows, as_parquet=form is Form.PARQUET)
        say(f"{output}: {counted(written, 'row')} of {counted(len(passes), 'pass', 'passes')}")
    return 0


def _refuse_beside_pass(name: str) -> str:
    raise InputError(f"{name}: is no pass; passes and judgments go into different tables, so export them apart")


def exported(store: Store, judgments: Sequence[str], form: Form) -> str:
    """Stored judgments in one of the forms.

    Raises:
        InputError: the form is for passes.
    """
    from adjudge.exports.html import html_page
    from adjudge.exports.junit import junit_xml
    from adjudge.exports.lines import json_lines
    from adjudge.exports.reward import reward_json

    match form:
        case Form.PARQUET:
            raise InputError("--as parquet: holds the table of a pass; name one, as `adjudge pass list` prints it")
        case Form.JSONL:
            return "".join(f"{line}\n" for line in json_lines(store.judgment(name) for name in judgments))
        case Form.JUNIT:
            return junit_xml(_judged(store, name) for name in judgments)
        case Form.REWARD:
            return reward_json(store.judgment(judgments[0]))
        case Form.HTML:
            return html_page(_judged(store, judgments[0]))


def _judged(store: Store, name: str) -> Judged:
    from adjudge.exports.judged import Judged

    judgment = store.judgment(name)
    rubric = store.rubric(judgment.rubric_hash) if judgment.rubric_hash else None
    return Judged(judgment, store.run(judgment.run), rubric)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutsideError(f"{path}: cannot be written: {error.strerror}") from error
