"""The page of results: how judgments fall by criterion or dimension, how sure that is, and the worst cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from markupsafe import Markup

from adjudge.passes.detail import DetailedResults
from adjudge.passes.results import By, Group, Money
from adjudge.reviews.figures import Trust
from adjudge.rubric import Criterion, Dimension, Rubric
from adjudge.store.judged import JudgeCount
from adjudge.untrusted import one_line
from adjudge.web.addresses import address
from adjudge.web.text import counted, money, with_code
from adjudge.web.views.cases import CaseView, case_view
from adjudge.web.views.falls import Fall, fall_of
from adjudge.web.views.runs import Option
from adjudge.web.views.trust import TrustCell, TrustView, of_harness, trust_cell, trust_view

COLUMNS, GROUPS = 3, 24
"""Parts at most that have a column of their own in the first table, and that have a row each further down."""
TINY = 1e-9
"""US dollars that are rounding."""
SPLITS: Mapping[By, str] = {"harness": "Agent", "outcome": "Outcome", "model": "Model", "task": "Task"}


class Heading(msgspec.Struct, frozen=True):
    """A column of the first table: a part of the judgments, and how many they are."""

    words: str
    count: str


class Part(msgspec.Struct, frozen=True):
    """How a criterion or dimension falls in the part of a column; `trust` is the figure of an agent, if it is one's."""

    fall: Fall
    trust: str


class GroupLine(msgspec.Struct, frozen=True):
    """How one criterion or dimension falls in one part: its names by what was split, and its judgments."""

    names: tuple[str, ...]
    landed: str
    fall: Fall
    errored: str


class ItemRow(msgspec.Struct, frozen=True):
    """A criterion or dimension; `anchor` leads to the parts and worst cases further down."""

    anchor: str
    name: str
    text: Markup
    parts: tuple[Part, ...]
    apart: tuple[str, ...]
    trust: TrustCell
    groups: tuple[GroupLine, ...]
    cases: tuple[CaseView, ...]


class ResultsPage(msgspec.Struct, frozen=True):
    """Everything on the page. `kind` is `criterion` or `dimension`; `left_out` says which parts are not shown."""

    title: str
    crumb: str
    kind: str
    sentences: tuple[str, ...]
    facts: tuple[tuple[str, str, str], ...]
    judges: tuple[str, ...]
    action: Markup
    hidden: tuple[tuple[str, str], ...]
    splits: tuple[Option, ...]
    choices: tuple[Option, ...]
    legend: tuple[tuple[str, str], ...]
    headings: tuple[Heading, ...]
    group_headings: tuple[str, ...]
    rows: tuple[ItemRow, ...]
    left_out: tuple[str, ...]
    trust: TrustView
    empty: str | None


def results_page(
    found: DetailedResults, rubric: Rubric, trust: Trust, judges: Sequence[JudgeCount], judge: str | None
) -> ResultsPage:
    """The page of a pass, or of all judgments with a rubric, by one `judge` of these or by all."""
    whole, detail = found.detail.whole, found.detail
    columns, groups = _largest(detail.columns, COLUMNS), _largest(detail.groups, GROUPS)
    who = found.row.id if found.row else rubric.name
    action = address("results", found.row.id) if found.row else address("results")
    return ResultsPage(
        title=f"Results by {'dimension' if rubric.dimensions else 'criterion'}",
        crumb=one_line(who, 80),
        kind="dimension" if rubric.dimensions else "criterion",
        sentences=tuple(_sentences(found)),
        facts=tuple(_facts(found)),
        judges=tuple(_judge(each) for each in found.judges),
        action=action,
        hidden=() if found.row else (("rubric", found.rubric_hash),),
        splits=tuple(Option(name, words, name in detail.by) for name, words in SPLITS.items()),
        choices=tuple(_choices(judges, judge)) if found.row is None else (),
        legend=_LEGEND_OF_DIMENSIONS if rubric.dimensions else _LEGEND_OF_CRITERIA,
        headings=(Heading("All", _landed(whole)), *(Heading(_key(each), _landed(each)) for each in columns)),
        group_headings=tuple(SPLITS[name] for name in detail.by),
        rows=tuple(_rows(found, rubric, trust, columns, groups)),
        left_out=tuple(_left_out(found, columns, groups)),
        trust=trust_view("", trust),
        empty=None if whole.landed else "Nothing has landed yet, so there is nothing to count.",
    )


def _largest(groups: Sequence[Group], most: int) -> list[Group]:
    """The groups with the most judgments, in the order they came; none if there is only one."""
    kept = sorted(groups, key=lambda group: -group.landed)[:most]
    return [group for group in groups if group in kept] if len(groups) > 1 else []


# --- the whole in words


def _sentences(found: DetailedResults) -> Iterator[str]:
    whole, row, unrecorded = found.detail.whole, found.row, found.unrecorded
    has = "has" if whole.landed == 1 else "have"
    answered = [f"{whole.judged:,} of {counted(whole.landed, 'judgment')} {has} an answer"]
    if whole.empty:
        answered.append(f"{whole.empty:,} of them empty, which is not clean")
    if whole.partial:
        answered.append(f"{whole.partial:,} with a value for some dimensions only")
    failures = ", ".join(f"{count:,} {name}" for name, count in whole.failures.items())
    yield ", ".join(answered) + (f"; {whole.errored:,} failed: {failures}." if whole.errored else "; none failed.")
    if row is not None and row.selected > whole.landed:
        yield f"{row.selected - whole.landed:,} of {row.selected:,} selected runs are not judged yet."
    if unrecorded:
        yield f"{counted(unrecorded, 'more run has', 'more runs have')} no record and cannot be judged: that is not clean."
    if found.detail.earlier:
        yield f"{counted(found.detail.earlier, 'earlier judgment')} left out, since the latest of each run counts."
    if told := _omissions(whole):
        yield f"Input of the reader: {told}."


_OMITTED = {
    "input_truncated": "input_truncated",
    "tool_output_pruned": "tool_output_pruned",
    "events_elided": "events_elided",
    "boilerplate": "boilerplate put as a marker",
}


def _omissions(whole: Group) -> str:
    told = [
        f"{_OMITTED[name]} in {counted(each.judgments, 'judgment')} ({counted(each.characters, 'character')})"
        for name, each in whole.omissions.items()
        if each.judgments
    ]
    return ", ".join(told)


def _facts(found: DetailedResults) -> Iterator[tuple[str, str, str]]:
    whole, row = found.detail.whole, found.row
    flawless = whole.flawless
    name = "Nothing worse" if whole.dimensions else "All pass"
    if flawless is not None:
        yield (name, f"{flawless.share:.0%}", f"{flawless.low:.0%} to {flawless.high:.0%}")
    lost = f"{money(row.lost)} lost" if row and row.lost else ""
    again = row.cost - whole.judging.known if row else 0.0
    more = f"{money(again)} more for what was judged again" if again > TINY else ""
    yield ("Cost of judging", *_money(whole.judging, whole.landed, more, lost))
    yield ("Cost of the judged runs", *_money(whole.runs, whole.landed, "never added to judging"))


def _money(spent: Money, landed: int, *more: str) -> tuple[str, str]:
    if spent.unknown and spent.unknown == landed and not spent.known:
        return ("not known", ", ".join(filter(None, more)))
    unknown = f"{spent.unknown:,} not known" if spent.unknown else ""
    return (money(spent.known), ", ".join(filter(None, (unknown, *more))))


def _judge(judge: JudgeCount) -> str:
    identity = judge.judge_hash[:12] if judge.judge_hash else "identity not known"
    judgments = counted(judge.judgments, "judgment")
    return f"{judge.kind}, {one_line(judge.model or 'no model', 80)}, {identity}: {judgments}"


def _choices(judges: Sequence[JudgeCount], judge: str | None) -> Iterator[Option]:
    if len(judges) > 1:
        yield Option("", "all judges together", judge is None)
        for each in judges:
            yield Option(each.judge_hash or "none", _judge(each), judge == (each.judge_hash or ""))


# --- tables

_LEGEND_OF_DIMENSIONS = (
    ("s0", "blameless"),
    ("s1", "a little worse"),
    ("s2", "worse"),
    ("s3", "worst"),
    ("demoted", "evidence_missing: the value was taken away"),
    ("hollow", "no value"),
    ("errored", "judging failed"),
    ("half", "middle half of a ratio, with its median"),
)
_LEGEND_OF_CRITERIA = (
    ("pass", "pass"),
    ("c-agent", "fail, the agent’s doing"),
    ("c-evidence", "fail, evidence did not hold"),
    ("c-unproven", "fail, unproven"),
    ("c-environment", "fail, the environment’s"),
    ("hollow", "skipped"),
    ("errored", "judging failed"),
)


def _landed(group: Group) -> str:
    return counted(group.landed, "judgment")


def _key(group: Group) -> str:
    return one_line(", ".join(group.key.values()), 60)


def _rows(
    found: DetailedResults, rubric: Rubric, trust: Trust, columns: Sequence[Group], groups: Sequence[Group]
) -> Iterator[ItemRow]:
    items: Sequence[Criterion | Dimension] = rubric.dimensions or rubric.criteria
    for at, item in enumerate(items):
        yield ItemRow(
            anchor=f"i{at + 1}",
            name=item.id,
            text=with_code(item.description if isinstance(item, Dimension) else item.text),
            parts=tuple(
                Part(fall_of(group, at, item), of_harness(trust, group.key.get("harness", ""), item.id))
                for group in (found.detail.whole, *columns)
            ),
            apart=fall_of(found.detail.whole, at, item).apart,
            trust=trust_cell(trust.items.get(item.id)),
            groups=tuple(_group_line(group, at, item) for group in groups),
            cases=tuple(case_view(case, item) for case in found.detail.worst.get(item.id, ())),
        )


def _group_line(group: Group, at: int, item: Criterion | Dimension) -> GroupLine:
    names = tuple(one_line(name, 60) for name in group.key.values())
    return GroupLine(names, f"{group.landed:,}", fall_of(group, at, item), f"{group.errored:,}")


def _left_out(found: DetailedResults, columns: Sequence[Group], groups: Sequence[Group]) -> Iterator[str]:
    detail = found.detail
    if len(detail.columns) > len(columns) > 0:
        which = f"{SPLITS[detail.by[0]].lower()}: the {len(columns)} of {len(detail.columns):,} with the most judgments"
        yield f"Columns by {which}; more stand under each {_item(found)}."
    if len(detail.groups) > len(groups) > 0:
        yield f"{counted(len(detail.groups) - len(groups), 'smaller part')} left out; the JSON of this page has all."


def _item(found: DetailedResults) -> str:
    return "dimension" if found.detail.whole.dimensions else "criterion"
