"""The sample's store with rubrics that were kept without a judgment: a next version, and one of odd criteria."""

from __future__ import annotations

from pathlib import Path

from tests.web import sample

from adjudge.rubric import CommandProbe, Criterion, FileProbe, Rubric, rubric_hash
from adjudge.store.rubrics import keep_rubric
from adjudge.store.store import Store


def rubric_of(name: str, *criteria: Criterion) -> Rubric:
    """A rubric as its file would give it."""
    return Rubric(name, criteria, rubric_hash(criteria), "rubric.yaml")


NEXT = rubric_of(
    sample.RUBRIC.name,
    *sample.CRITERIA[:6],
    Criterion("tests-kept", "No file under `tests/` is named in the diff against the commit that the agent started from."),
    *sample.CRITERIA[8:],
    Criterion("well", "The change is minimal and works properly."),
)
SMALL = rubric_of(
    "release-notes",
    Criterion("file", "`CHANGES.md` is there.", FileProbe("CHANGES.md", exists=True)),
    Criterion("builds", "`make docs` exits with 0.", CommandProbe("make docs", stdout_matches="built in")),
)


def fill(store: Store) -> None:
    """Keep them in a store."""
    for rubric in (NEXT, SMALL):
        keep_rubric(store, rubric)


def make(folder: Path) -> Store:
    """The sample's store, with all of this in it too."""
    store = sample.make(folder)
    fill(store)
    return store
