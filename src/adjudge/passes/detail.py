"""Results with everything that a person reads them by: the whole, its parts, and the worst cases with their words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from adjudge.passes.results import By, Group, Tallies
from adjudge.passes.worst import Case, Worst
from adjudge.rubric import Rubric
from adjudge.store.judged import JudgeCount, JudgedRun
from adjudge.store.pass_rows import PassRow


class Detail(msgspec.Struct, frozen=True):
    """What judgments with one rubric come to.

    `groups` are the parts by all of `by`, `columns` those by the first of them alone; `worst` has at most five cases of
    each criterion or dimension. `earlier` judgments are left out, since a later one of the same run counts.
    """

    by: tuple[By, ...]
    whole: Group
    columns: tuple[Group, ...]
    groups: tuple[Group, ...]
    worst: dict[str, tuple[Case, ...]]
    earlier: int


class DetailedResults(msgspec.Struct, frozen=True):
    """Results of a pass, or of all judgments with a rubric, where the latest of each run counts and `row` is `None`.

    `judges` say who judged. Of a pass, `unrecorded` runs had no record when it was planned, `None` if nothing tells.
    """

    row: PassRow | None
    rubric: str
    rubric_hash: str
    judges: tuple[JudgeCount, ...]
    unrecorded: int | None
    detail: Detail


def detail_of(rubric: Rubric, judged: Iterable[JudgedRun], by: Sequence[By]) -> Detail:
    """Count judgments with one rubric; each is looked at once."""
    parts, first = tuple(by), tuple(by[:1])
    tallies, worst, earlier = Tallies(rubric, dict.fromkeys(((), first, parts))), Worst(rubric), 0
    for each in judged:
        tallies.count(each)
        worst.count(each)
        earlier += each.earlier
    (whole,) = tallies.groups(())
    columns, groups = (tallies.groups(split) if split else () for split in (first, parts))
    return Detail(parts, whole, columns, groups, worst.cases(), earlier)
