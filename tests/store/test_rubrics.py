"""Rubrics that are kept without a judgment, and what is known of those that judgments used."""

from __future__ import annotations

from pathlib import Path

import msgspec
from tests.web import sample

from adjudge.rubric import Criterion, Rubric, rubric_hash
from adjudge.store.rubrics import judgments_with, keep_rubric, rubric_rows
from adjudge.store.store import open_store


def made(*texts: str, name: str = "mine") -> Rubric:
    criteria = tuple(Criterion(f"c{number}", text) for number, text in enumerate(texts))
    return Rubric(name, criteria, rubric_hash(criteria), "rubric.yaml")


def test_a_rubric_is_kept_once_and_read_again(tmp_path: Path) -> None:
    rubric = made("`a` prints `1`.")
    with open_store(tmp_path / "store") as store:
        assert keep_rubric(store, rubric)
        assert not keep_rubric(store, msgspec.structs.replace(rubric, name="other"))
    with open_store(tmp_path / "store") as store:
        assert store.rubric(rubric.hash) == rubric
        (row,) = rubric_rows(store)
        assert (row.name, row.criteria, row.dimensions, row.judgments, row.used) == ("mine", 1, 0, 0, None)


def test_a_changed_rubric_is_a_new_row_and_the_earlier_one_stays(tmp_path: Path) -> None:
    first, second = made("`a` prints `1`."), made("`a` prints `2`.")
    with open_store(tmp_path / "store") as store:
        keep_rubric(store, first)
        keep_rubric(store, second)
        assert [row.hash for row in rubric_rows(store)] == [second.hash, first.hash]
        assert store.rubric(first.hash).criteria[0].text == "`a` prints `1`."


def test_judgments_are_counted_with_the_rubric_that_they_used(tmp_path: Path) -> None:
    with sample.make(tmp_path / "store") as store:
        counted = {row.name: row for row in rubric_rows(store)}["bugfix-evidence"]
        rows = [row for row in store.judgments() if row.rubric_hash == sample.RUBRIC.hash]
        assert counted.judgments == len(rows) > 3
        assert counted.used == max(row.added for row in rows)
        assert [row.id for row in judgments_with(store, sample.RUBRIC.hash, 2)] == [row.id for row in rows[:2]]
