"""What a pass has come to, counted from rows that were landed one by one."""

from __future__ import annotations

import os

import pytest

from adjudge.errors import InputError
from adjudge.judgment import Judgment
from adjudge.rubric import Rubric
from adjudge.store.pass_counts import PassCounts, RunsAlike
from adjudge.store.pass_rows import PassStatus, standing_of
from adjudge.store.passes import PassWriter
from adjudge.store.store import Store

from .test_passes import begin, filled, item, judged

__all__ = ["filled"]

LONG_AGO, NEVER = "2000-01-01", "9999-01-01"


def numbers(counts: PassCounts) -> dict[tuple[str | None, str | None], int]:
    return {(each.status, each.failure): each.number for each in counts.runs}


async def test_runs_that_stand_alike_are_counted_together(
    filled: Store, writer: PassWriter, judgment: Judgment, rubric: Rubric
) -> None:
    identifier = begin(writer, judgment, rubric)
    await writer.land(identifier, item(0, "r-a"), judged("r-a", judgment, "j-1"))
    await writer.land(identifier, item(1, "r-b"), judged("r-b", judgment, "j-2", failure="busy"))
    counts = filled.passes.counted(identifier, LONG_AGO)
    assert numbers(counts) == {("judged", None): 1, ("errored", "busy"): 1, (None, None): 2}
    assert {each.agent for each in counts.runs} == {"codex"}
    assert counts.row == filled.passes.row(identifier)
    assert (counts.row.cost, counts.row.landed, counts.row.errored) == (0.5, 2, 1)
    assert [(each.status, each.failure) for each in counts.latest] == [("errored", "busy"), ("judged", None)]


async def test_what_landed_lately_is_counted_from_a_time_on(
    filled: Store, writer: PassWriter, judgment: Judgment, rubric: Rubric
) -> None:
    identifier = begin(writer, judgment, rubric)
    await writer.land(identifier, item(0, "r-a"), judged("r-a", judgment, "j-1"))
    await writer.land(identifier, item(1, "r-b"), judged("r-b", judgment, "j-2"))
    all_of_it, nothing = filled.passes.counted(identifier, LONG_AGO), filled.passes.counted(identifier, NEVER)
    assert (all_of_it.recent, all_of_it.first) == (2, min(each.added for each in all_of_it.latest))
    assert (nothing.recent, nothing.first, len(nothing.latest)) == (0, None, 2)


async def test_what_is_reserved_is_told_until_its_judgment_lands(
    filled: Store, writer: PassWriter, judgment: Judgment, rubric: Rubric
) -> None:
    identifier = begin(writer, judgment, rubric)
    await writer.reserve(identifier, 0, 0.5)
    await writer.reserve(identifier, 1, 0.25)
    before = filled.passes.counted(identifier, LONG_AGO)
    await writer.land(identifier, item(0, "r-a"), judged("r-a", judgment, "j-1"))
    after = filled.passes.counted(identifier, LONG_AGO)
    assert [each.reserved for each in (before, after)] == [0.75, 0.25]


def test_a_pass_that_is_not_there_is_said(filled: Store) -> None:
    with pytest.raises(InputError, match="there is no pass 'p-none'"):
        filled.passes.counted("p-none", LONG_AGO)


async def test_a_cost_that_nobody_knows_is_told_apart(
    filled: Store, writer: PassWriter, judgment: Judgment, rubric: Rubric
) -> None:
    identifier = begin(writer, judgment, rubric, ("r-a",))
    await writer.land(identifier, item(0, "r-a"), judged("r-a", judgment, "j-1", cost=None))
    (alike,) = filled.passes.counted(identifier, LONG_AGO).runs
    assert isinstance(alike, RunsAlike)
    assert (alike.unpriced, alike.number) == (True, 1)


def test_passes_come_page_by_page_the_latest_first(
    filled: Store, writer: PassWriter, judgment: Judgment, rubric: Rubric
) -> None:
    begun = [begin(writer, judgment, rubric) for _ in range(5)]
    first = filled.passes.page(None, 2)
    second = filled.passes.page(first[-1].id, 2)
    third = filled.passes.page(second[-1].id, 2)
    assert [row.id for row in (*first, *second, *third)] == begun[::-1]
    assert [row.selected for row in first] == [4, 4]


def test_who_judges_is_known_by_its_process(filled: Store, writer: PassWriter, judgment: Judgment, rubric: Rubric) -> None:
    identifier = begin(writer, judgment, rubric)
    holder = filled.passes.holder()
    assert holder is not None
    assert (holder.pid, holder.what) == (os.getpid(), identifier)


@pytest.mark.parametrize(
    ("status", "under_way", "standing"),
    [
        ("running", "p-1", "running"),
        ("running", None, "died"),
        ("running", "p-2", "died"),
        ("running", "a new pass", "running"),
        ("stopped", None, "stopped"),
        ("finished", "p-2", "finished"),
    ],
)
def test_a_pass_that_nobody_judges_and_that_did_not_end_has_died(
    status: PassStatus, under_way: str | None, standing: str
) -> None:
    assert standing_of(status, "p-1", under_way) == standing
