"""`adjudge results`: what the judgments of a pass come to."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeVar, get_args

import msgspec
import typer

from adjudge.cli.options import Json, StorePath, settings_with
from adjudge.cli.printing import counted, print_json, print_table, results
from adjudge.exports.trust import NOT_YET, agreed, beside, endorsed, kappa_words, note_of
from adjudge.record import dollars
from adjudge.untrusted import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.passes.results import CriterionResult, DimensionResult, Group, Money, Omission, Results
    from adjudge.reviews.figures import Figures, Trust
    from adjudge.statistics import Interval


class Split(StrEnum):
    """By what runs can be split."""

    HARNESS = "harness"
    OUTCOME = "outcome"
    MODEL = "model"
    TASK = "task"


OMITTED = {
    "input_truncated": ("text cut", "texts cut"),
    "tool_output_pruned": ("tool output left out", "tool outputs left out"),
    "events_elided": ("entry left out whole", "entries left out whole"),
    "boilerplate": ("text of the harness put as a marker", "texts of the harness put as markers"),
}
"""What was done to a reader's input, of one piece and of several."""
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
    """Print what a pass came to, by criterion or dimension: the whole, and split by harness and outcome.

    Beside each criterion or dimension stands how far reviewers agree with the judge, over all that is reviewed of it.
    """
    from adjudge import wiring
    from adjudge.passes.results import By
    from adjudge.wiring.results import pass_results
    from adjudge.wiring.reviews import trust

    wanted = [each.value for each in by or ()] or ["harness", "outcome"]
    split = tuple(each for each in get_args(By) if each in wanted)
    with wiring.open_kept_store(settings_with(store=store)) as opened:
        found = pass_results(opened, opened.passes.find(name), split)
        known = trust(opened, found.row.rubric_hash or "", found.row.judge_hash)
    if as_json:
        print_json(msgspec.structs.asdict(found) | {"agreement": known})
    else:
        _print(found, known)


def _print(found: Results, known: Trust) -> None:
    console = results()
    for line in _head(found):
        console.print(one_line(line, 1000), soft_wrap=True)
    if not found.whole.landed:
        return
    _print_items([found.whole], ())
    _print_trust(found.whole, known)
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
    answered = f"{whole.judged} judged, {whole.empty} of them empty" + (
        f" and {whole.partial} with a value for some dimensions only" if whole.partial else ""
    )
    yield f"{answered}; {whole.errored} without an answer: {_failures(whole)}"
    if row.judge == "reader":
        yield f"input: {'; '.join(_omission(name, each) for name, each in whole.omissions.items())}"
    lost = f", and {dollars(row.lost)} lost: reserved for calls of which nobody saw the end" if row.lost else ""
    spent = f", {dollars(row.cost)} with what was judged again" if row.cost - whole.judging.known > 1e-9 else ""
    yield f"cost of judging: {_told_money(whole.judging, whole)}{spent}{lost}"
    yield f"cost of the judged runs: {_told_money(whole.runs, whole)} (apart from judging, and in no sum with it)"


def _failures(group: Group) -> str:
    names = dict.fromkeys((*APART, *group.failures))
    return ", ".join(f"{group.failures.get(name, 0)} {name}" for name in names)


def _omission(name: str, omission: Omission) -> str:
    one, many = OMITTED[name]
    much = f" in {counted(omission.judgments, 'judgment')} ({omission.characters:,} characters)"
    return f"{omission.pieces:,} {one if omission.pieces == 1 else many}{much if omission.judgments else ''}"


def _told_money(money: Money, group: Group) -> str:
    return _money(money, group, f" and {money.unknown} unknown")


def _money(money: Money, group: Group, unknown: str) -> str:
    """What is known of it, and how much is not; `unknown` if nothing is."""
    if money.unknown == group.landed and not money.known:
        return "unknown"
    return dollars(money.known) + (unknown if money.unknown else "")


# --- how far it can be trusted


def _print_trust(whole: Group, known: Trust) -> None:
    """A line for each item that is reviewed, in the order of the table above."""
    items = [each.dimension for each in whole.dimensions] + [each.criterion for each in whole.criteria]
    reviewed = [(item, known.items[item]) for item in items if item in known.items and beside(known.items[item])]
    if not reviewed:
        return
    results().print()
    kind = "dimension" if whole.dimensions else "criterion"
    headings = (kind, "items", "blind agreement", "κ, 95 % interval", "false pass", "false fail", "seen before", "")
    print_table(headings, [(item, *_of_trust(each)) for item, each in reviewed], right=(1, 2))
    results().print()
    harnesses = [(one_line(name, 60), *_of_trust(each)) for name, each in known.harnesses.items() if beside(each)]
    print_table(("harness", *headings[1:]), harnesses, right=(1, 2))
    results().print(f"{note_of(known)}.", soft_wrap=True)


def _of_trust(found: Figures) -> tuple[str, ...]:
    blind = found.blind
    wrong = [f"{each.share:.2f}" if each else "" for each in (blind.false_pass, blind.false_fail)]
    few = "" if blind.meaningful or not blind.pairs else NOT_YET
    return (str(blind.items), agreed(blind), kappa_words(blind.kappa), *wrong, endorsed(found.endorsement), few)


# --- tables


def _print_groups(found: Results) -> None:
    results().print()
    whole = "all passed" if found.whole.criteria else "none worse"
    counts = ("landed", "judged", "empty", *(() if found.whole.criteria else ("in part",)), "no answer")
    headings = (*found.by, *counts, whole, "interval", "judging cost", "runs' cost")
    right = tuple(range(len(found.by), len(headings)))
    rows = [(*group.key.values(), *_figures(group)) for group in found.groups]
    # Of a table the last column is cut where there is no room: an empty one, so that no cost is.
    print_table((*headings, ""), [(*row, "") for row in rows], right=right)
    if any(cell.endswith("?") for row in rows for cell in row[-2:]):
        results().print("“+ 3 ?”: and 3 more, whose cost is not known.", soft_wrap=True)


def _figures(group: Group) -> Iterator[str]:
    partial = () if group.criteria else (group.partial,)
    yield from map(str, (group.landed, group.judged, group.empty, *partial, group.errored))
    yield from _share(group.flawless)
    yield from (_money(money, group, f" + {money.unknown} ?") for money in (group.judging, group.runs))


def _print_items(groups: Sequence[Group], by: Sequence[str]) -> None:
    """A line for each item, or for each item and group that has an answer, the groups of one item below each other."""
    groups = [group for group in groups if group.judged]
    if not groups:
        return
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
