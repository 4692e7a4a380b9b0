"""`adjudge review`: what people say of verdicts and scores, and how far judges and people agree."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from adjudge.cli.keys import on_a_terminal
from adjudge.cli.options import Json, StorePath, find_judgments, settings_with
from adjudge.cli.printing import counted, print_json, print_table, say
from adjudge.errors import InputError
from adjudge.reviews.values import Mode, Order, Picked, Said

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from adjudge.store.review_queue import QueueItem, Scope
    from adjudge.store.store import Store


class Split(StrEnum):
    """By what figures can be split."""

    ITEM = "item"
    HARNESS = "harness"
    MODEL = "model"
    JUDGE = "judge"


RubricName = Annotated[
    str | None, typer.Option("--rubric", "-r", help="Only of this rubric, by its file, name or the beginning of its hash.")
]
Item = Annotated[str | None, typer.Option("--item", "-i", help="Only this criterion or dimension, by its id.")]
Harness = Annotated[str | None, typer.Option("--harness", help="Only runs of this agent; `unknown` for those of none.")]
JudgeName = Annotated[
    str | None, typer.Option("--judge", help="Only of this judge, by its model or the beginning of its identity.")
]
PassName = Annotated[str | None, typer.Option("--pass", help="Only of this pass, or the beginning of its id.")]
JudgmentName = Annotated[str | None, typer.Option("--judgment", help="Only of this judgment, or the beginning of its id.")]
Reviewer = Annotated[
    str | None, typer.Option("--reviewer", help="Who reviews [default: $ADJUDGE_REVIEWER, or the name of the login].")
]
InOrder = Annotated[
    Order,
    typer.Option(
        "--order",
        help="At random, or what answers differ most in first, or what is most doubtful first. Only figures over what was "
        "drawn at random hold for what was not reviewed.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="At random: the same seed over the same judgments draws the same.")]
Most = Annotated[int, typer.Option("--most", "-n", min=1, max=10_000, help="At most so many items.")]


def review(
    context: typer.Context,
    seen: Annotated[
        bool, typer.Option("--seen/--blind", help="See what the judge said first, and approve or deny it; or answer blind.")
    ] = False,
    order: InOrder = "random",
    seed: Seed = 0,
    most: Most = 20,
    rubric: RubricName = None,
    item: Item = None,
    harness: Harness = None,
    judge: JudgeName = None,
    of_pass: PassName = None,
    judgment: JudgmentName = None,
    reviewer: Reviewer = None,
    store: StorePath = None,
) -> int:
    """Review verdicts and scores on a screen with keys: blind, which is the default, or having seen them."""
    if context.invoked_subcommand is not None:
        return 0
    if not on_a_terminal():
        raise InputError(
            "adjudge review: draws a screen and needs a terminal for it; `adjudge review queue` and `adjudge review add` "
            "need none"
        )
    from adjudge import wiring
    from adjudge.wiring.reviews import reviewer_of, scope_of

    settings = settings_with(store=store, reviewer=reviewer)
    with wiring.open_kept_store(settings) as opened:
        scope = scope_of(opened, rubric, item, harness, judge, of_pass, judgment)
        items = _queue(opened, order, scope, reviewer_of(settings), most, seed)
        recorded = _sit(opened, items, reviewer_of(settings), "seen" if seen else "blind", order)
    say(f"{counted(recorded, 'review')} recorded." if items else nothing_left(order))
    return 0


def _queue(store: Store, order: Order, scope: Scope, reviewer: str | None, most: int, seed: int) -> list[QueueItem]:
    from adjudge.wiring.reviews import review_queue

    return review_queue(store, order, scope, reviewer, most, seed)


def _sit(store: Store, items: Sequence[QueueItem], reviewer: str, mode: Mode, order: Order) -> int:
    if not items:
        return 0
    from rich.console import Console

    from adjudge.cli.review_screen import Sitting, review_items

    console = Console(markup=False, emoji=False, highlight=False)
    with console.screen(hide_cursor=False):
        return review_items(console, store, items, Sitting(reviewer, mode, order))


def nothing_left(order: Order) -> str:
    """Why a queue is empty."""
    if order == "random":
        return "Nothing is left to review of what was asked for."
    return f"Nothing is left to review of what was asked for that has any {order}; --order random has all."


def print_queue(
    order: InOrder = "random",
    seed: Seed = 0,
    most: Most = 20,
    rubric: RubricName = None,
    item: Item = None,
    harness: Harness = None,
    judge: JudgeName = None,
    of_pass: PassName = None,
    judgment: JudgmentName = None,
    reviewer: Reviewer = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """List what to review next, without what the judge said, and without what this reviewer has reviewed."""
    from adjudge import wiring
    from adjudge.wiring.reviews import reviewer_of, scope_of

    settings = settings_with(store=store, reviewer=reviewer)
    with wiring.open_kept_store(settings) as opened:
        scope = scope_of(opened, rubric, item, harness, judge, of_pass, judgment)
        items = _queue(opened, order, scope, reviewer_of(settings), most, seed)
    if as_json:
        print_json(items)
    elif items:
        headings = ("judgment", "item", "rubric", "harness", "model", "apart", "doubts", "run")
        print_table(headings, [_cells(each) for each in items], right=(5, 6))
    else:
        say(nothing_left(order))


def _cells(item: QueueItem) -> tuple[str, ...]:
    apart = f"{item.disagreement:g}" if item.disagreement else ""
    doubts = str(item.uncertainty or "")
    return (item.judgment, item.item, item.rubric or "", item.harness, item.model or "", apart, doubts, item.run)


def add(
    judgment: Annotated[str, typer.Argument(metavar="JUDGMENT", help="The judgment, or the beginning of its id.")],
    item: Annotated[str, typer.Argument(metavar="ITEM", help="The criterion or dimension, by its id.")],
    reason: Annotated[str, typer.Option("--reason", help="Why: what was seen, and where.")],
    approve: Annotated[bool, typer.Option("--approve", help="Having seen it: the judge is right.")] = False,
    deny: Annotated[bool, typer.Option("--deny", help="Having seen it: the judge is wrong.")] = False,
    passes: Annotated[bool, typer.Option("--pass", help="Blind: the criterion is true of the run.")] = False,
    fails: Annotated[bool, typer.Option("--fail", help="Blind: it is not, or it is not proven.")] = False,
    value: Annotated[float | None, typer.Option("--value", help="Blind: the dimension's value.")] = None,
    supersede: Annotated[
        bool, typer.Option("--supersede", help="In place of this reviewer's newest review of it.")
    ] = False,
    picked: Annotated[Picked, typer.Option("--picked", help="How the item was come by.")] = "chosen",
    reviewer: Reviewer = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Keep one review, for scripts: an approval or denial, or a blind answer. Exactly one of them must be given."""
    from adjudge import wiring
    from adjudge.wiring.reviews import add_review, reviewer_of

    if sum((approve, deny, passes, fails, value is not None)) != 1:
        raise InputError("adjudge review add: needs exactly one of --approve, --deny, --pass, --fail and --value")
    seen = approve or deny
    settings = settings_with(store=store, reviewer=reviewer)
    with wiring.open_kept_store(settings) as opened:
        said = Said(
            judgment=opened.find_judgment(judgment),
            item=item,
            reviewer=reviewer_of(settings),
            mode="seen" if seen else "blind",
            reason=reason,
            approved=approve if seen else None,
            passed=passes if passes or fails else None,
            value=value,
            picked=picked,
        )
        kept = add_review(opened, said, supersede)
    if as_json:
        print_json(kept)
    else:
        sys.stdout.write(f"{kept.id}\n")


def print_agreement(
    by: Annotated[list[Split] | None, typer.Option("--by", help="Split by this; several times [default: item].")] = None,
    picked: Annotated[
        Picked | None, typer.Option("--picked", help="Count only reviews of items that were come by in this way.")
    ] = None,
    rubric: RubricName = None,
    item: Item = None,
    harness: Harness = None,
    judge: JudgeName = None,
    of_pass: PassName = None,
    judgment: JudgmentName = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Print how far judges are endorsed, how far they agree with blind reviewers, and with themselves."""
    from adjudge import wiring
    from adjudge.cli.agreement import print_report
    from adjudge.reviews.figures import By
    from adjudge.wiring.reviews import agreement, scope_of

    names = [each.value for each in by or (Split.ITEM,)]
    wanted = [each for each in get_args(By) if each in names]
    with wiring.open_kept_store(settings_with(store=store)) as opened:
        scope = scope_of(opened, rubric, item, harness, judge, of_pass, judgment)
        report = agreement(opened, wanted, scope, picked)
    if as_json:
        print_json(report)
    else:
        print_report(report)


def export_reviews(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="JUDGMENT", help="Judgments, or the beginnings of their ids [default: all]."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write [default: standard output].")
    ] = None,
    store: StorePath = None,
) -> None:
    """Export reviews as JSON Lines, superseded ones too, the oldest first."""
    from adjudge import wiring
    from adjudge.cli.tables import replacing
    from adjudge.exports.lines import review_lines
    from adjudge.store.reviews import all_reviews

    with wiring.open_kept_store(settings_with(store=store)) as opened:
        lines = review_lines(all_reviews(opened, find_judgments(opened, names) if names else None))
        if output is None:
            _write_lines(sys.stdout.write, lines)
            return
        with replacing(output) as part, part.open("w", encoding="utf-8") as file:
            written = _write_lines(file.write, lines)
    say(f"{output}: {counted(written, 'review')}")


def _write_lines(write: Callable[[str], object], lines: Iterable[str]) -> int:
    written = 0
    for line in lines:
        write(f"{line}\n")
        written += 1
    return written
