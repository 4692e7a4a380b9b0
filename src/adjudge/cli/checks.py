"""`adjudge verify`, `rubric check` and `doctor`: what can be checked without a model."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.options import Json, JudgmentNames, StorePath, find_judgments, settings_with
from adjudge.cli.printing import counted, hanging, print_json, results, say
from adjudge.untrusted import shown

if TYPE_CHECKING:
    from adjudge.machines.selftest import Check
    from adjudge.rubric import Rubric
    from adjudge.verifying import Verification


def verify(
    names: JudgmentNames = None,
    store: StorePath = None,
    as_json: Json = False,
) -> int:
    """Check every citation of stored judgments again, offline."""
    from adjudge import wiring

    with wiring.open_kept_store(settings_with(store=store)) as kept:
        checked = [wiring.verify(kept, name) for name in find_judgments(kept, names)]
    if as_json:
        print_json(checked)
    else:
        if not checked:
            say("There are no judgments yet: `adjudge judge PATH --rubric FILE` makes one.")
        for each in checked:
            word = "sound" if each.sound else "NOT SOUND"
            reviews = f", {counted(each.reviews, 'review')}" if each.reviews else ""
            counts = f"{_answers(each)}, {_citations(each)}{reviews} checked"
            sys.stdout.write(f"{each.judgment}  {word}  {counts}\n")
            for finding in each.findings:
                sys.stdout.write(f"    {shown(finding.place)}: {shown(finding.words)}\n")
    return 0 if all(each.sound for each in checked) else 1


def _answers(checked: Verification) -> str:
    """The verdicts or the scores that were checked, counted; a judgment has one or the other."""
    return counted(checked.scores, "score") if checked.scores else counted(checked.verdicts, "verdict")


def _citations(checked: Verification) -> str:
    """The citations, counted; of how many hold it is told where some do not."""
    told = counted(checked.citations, "citation")
    return told if checked.holding == checked.citations else f"{told} ({checked.holding} hold)"


def check_rubric(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A rubric in YAML, TOML or JSON.")],
    as_json: Json = False,
) -> int:
    """Say which criteria cannot be established, or which dimensions cannot be told apart.

    Of each it says why, and what a better one looks like. It never blocks.
    """
    from adjudge.rubric.reading import read_rubric
    from adjudge.rubric.wording import check_rubric as remarks_on

    rubric = read_rubric(path)
    remarks = remarks_on(rubric)
    if as_json:
        print_json({"name": rubric.name, "hash": rubric.hash, **_items(rubric), "remarks": remarks})
        return 0
    for remark in remarks:
        sys.stdout.write(f"{remark.criterion or remark.dimension or 'the rubric'}: {shown(remark.words)}\n")
        sys.stdout.write(f"    {remark.wrong}\n    better: {remark.better}\n")
    items = _counted_items(rubric)
    say(f"{path}: {items}, {counted(len(remarks), 'remark')}, sha256 {rubric.hash[:16]}…")
    return 0


def _items(rubric: Rubric) -> dict[str, object]:
    if rubric.dimensions:
        return {"version": rubric.version, "dimensions": rubric.dimensions}
    return {"criteria": rubric.criteria}


def _counted_items(rubric: Rubric) -> str:
    if rubric.dimensions:
        return f"version {rubric.version}, {counted(len(rubric.dimensions), 'dimension')}"
    return counted(len(rubric.criteria), "criterion", "criteria")


def doctor(as_json: Json = False) -> int:
    """Say what works here, and what would help where it does not."""
    import asyncio

    from adjudge import wiring

    checks = asyncio.run(wiring.diagnose(settings_with()))
    if as_json:
        print_json(checks)
    else:
        _print_checks(checks)
        _print_help([each for each in checks if each.help and not each.works])
    return 0 if all(each.works or each.optional for each in checks) else 1


def _print_checks(checks: Sequence[Check]) -> None:
    """Print what was seen, whole: what is not promised stands at the end of long lines."""
    width = max(len(each.name) for each in checks)
    for each in checks:
        label = f"{'yes' if each.works else 'no' if each.optional else 'NO':<5}  {each.name:<{width}}  "
        results().print(hanging(label, shown(each.why)))


def _print_help(failed: Sequence[Check]) -> None:
    """Print what would help, whole: it is what a reader acts on."""
    if failed:
        sys.stdout.write("\nWhat would help\n")
    for each in failed:
        results().print(hanging(f"  {each.name}: ", shown(each.help)))
