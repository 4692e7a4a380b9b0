"""`adjudge results`: what the judgments of a pass come to."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeVar, get_args

import typer

from adjudge.cli.options import Json, StorePath, settings_with
from adjudge.cli.printing import counted, print_json, print_table, results
from adjudge.record import dollars
from adjudge.untrusted import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.passes.results import CriterionResult, DimensionResult, Group, Money, Omission, Results
    from adjudge.statistics import Interval


class Split(StrEnum):
    """By what runs can be split."""

    HARNESS = "harness"
    OUTCOME = "outcome"
    MODEL = "model"
    TASK = "task"


OMITTED = {
    "input_truncated": "texts cut",
    "tool_output_pruned": "tool outputs left out",
    "events_elided": "entries left out whole",
    "boilerplate": "texts of the harness put as markers",
}
APART = ("judge_parse_failed", "timeout")
"""Failures that are told even if there was none."""


def print_results(
    name: Annotated[str, typer.Argument(metavar="PASS", help="The pass, or the beginning of its id.")],
    by: Annotated[
        list[Split] | None, typer.Option("--by", help="Split by this; several times [default: harness and outcome].")
    ] = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Print what a pass came to, by criterion or dimension: the whole, and split by harness and outcome."""
    from adjudge import wiring
    from adjudge.passes.results import By
    from adjudge.wiring.results import pass_results

    wanted = [each.value for each in by or ()] or ["harness", "outcome"]
    split = tuple(each for each in get_args(By) if each in wanted)
    with wiring.open_kept_store(settings_with(store=store)) as opened:
        found = pass_results(opened, opened.passes.find(name), split)
    if as_json:
        print_json(found)
    else:
        _print(found)


def _print(found: Results) -> None:
    console = results()
    for line in _head(found):
        console.print(one_line(line, 1000), soft_wrap=True)
    if not found.whole.landed:
        return
    _print_items([found.whole], ())
    if len(found.groups) > 1:
        _print_groups(found)
        _print_items(found.groups, found.by)


# --- the whole in words


def _head(found: Results) -> Iterator[str]:
    row, whole = found.row, found.whole
    yield f"Pass {row.id}: {row.status} · rubric {row.rubric} · {row.judge} {row.model or 'without a model'}"
    yield f"{counted(row.selected, 'run')} selected, {whole.landed} landed, {found.open} not judged yet" + (
        f"; {found.unrecorded} more without a record, not judged" if found.unrecorded else ""
    )
    yield f"{whole.judged} judged, {whole.empty} of them empty; {whole.errored} without an answer: {_failures(whole)}"
    if row.judge == "reader":
        yield f"input: {'; '.join(_omission(name, each) for name, each in whole.omissions.items())}"
    lost = f", and {dollars(row.lost)} lost: reserved for calls of which nobody saw the end" if row.lost else ""
    spent = f", {dollars(row.cost)} with what was judged again" if row.cost - whole.judging.known > 1e-9 else ""
    yield f"judging cost {_money(whole.judging)}{spent}{lost}"
    yield f"the judged runs had cost {_money(whole.runs)} (apart from judging, and in no sum with it)"


def _failures(group: Group) -> str:
    names = dict.fromkeys((*APART, *group.failures))
    return ", ".join(f"{group.failures.get(name, 0)} {name}" for name in names)


def _omission(name: str, omission: Omission) -> str:
    much = f" of {omission.judgments} ({omission.characters:,} characters)" if omission.judgments else ""
    return f"{omission.pieces:,} {OMITTED[name]}{much}"


def _money(money: Money) -> str:
    return dollars(money.known) + (f" and {money.unknown} unknown" if money.unknown else "")


# --- tables


def _print_groups(found: Results) -> None:
    results().print()
    whole = "all passed" if found.whole.criteria else "none worse"
    headings = (*found.by, "landed", "judged", "empty", "no answer", whole, "interval", "judging cost", "runs' cost")
    right = tuple(range(len(found.by), len(headings)))
    print_table(headings, [(*group.key.values(), *_figures(group)) for group in found.groups], right=right)


def _figures(group: Group) -> Iterator[str]:
    yield from map(str, (group.landed, group.judged, group.empty, group.errored))
    yield from _share(group.flawless)
    yield _money(group.judging)
    yield _money(group.runs)


def _print_items(groups: Sequence[Group], by: Sequence[str]) -> None:
    """A line for each item, or for each item and group, the groups of one item below each other."""
    results().print()
    if groups[0].dimensions:
        headings = ("dimension", *by, "scored", "mean", "worse", "share", "95 % interval", "no value")
        rows = [_of_dimension(item, key) for item, key in _in_turn(groups, [each.dimensions for each in groups])]
    else:
        headings = ("criterion", *by, "judged", "passed", "share", "95 % interval", "fails by cause")
        rows = [_of_criterion(item, key) for item, key in _in_turn(groups, [each.criteria for each in groups])]
    print_table(headings, rows, right=tuple(range(1 + len(by), len(headings) - 1)))


Item = TypeVar("Item")


def _in_turn(groups: Sequence[Group], items: Sequence[Sequence[Item]]) -> Iterator[tuple[Item, tuple[str, ...]]]:
    """Each group's first item, then each group's second, …, with the group's key."""
    for of_each in zip(*items, strict=True):
        for group, item in zip(groups, of_each, strict=True):
            yield item, tuple(group.key.values())


def _of_dimension(found: DimensionResult, key: tuple[str, ...]) -> tuple[str, ...]:
    mean = "" if found.mean is None else f"{found.mean:.2f}"
    names = ("evidence_missing", "missing_reasoning", "unanswered", "not_established")
    none = _told({name: getattr(found, name) for name in names})
    return (found.dimension, *key, str(found.scored), mean, str(found.worse), *_share(found.share), none)


def _of_criterion(found: CriterionResult, key: tuple[str, ...]) -> tuple[str, ...]:
    return (found.criterion, *key, str(found.judged), str(found.passed), *_share(found.share), _told(found.causes))


def _told(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


def _share(interval: Interval | None) -> tuple[str, str]:
    return ("", "") if interval is None else (f"{interval.share:.2f}", f"{interval.low:.2f} to {interval.high:.2f}")
