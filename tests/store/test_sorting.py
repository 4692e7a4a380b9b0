"""A list of runs sorted by what is text: in the order of bytes whatever the database, page by page."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from tests.store.conftest import Place as Database

from adjudge.errors import InputError
from adjudge.run import Outcome, Run
from adjudge.store.listing import Filter, ListedRun, Place, Sort, list_runs
from adjudge.store.store import Store
from adjudge.testing import make_run

NAMES = ("zeta", "Zeta", "\u00e4ther", "aether", "a-b", "ab", "a b", "B", "_x", "10", "9", "\U0001f600", "\uff21", None)
"""Names that languages, and an order by UTF-16, would sort in another way."""
GRADES = ("resolved", "unresolved", "error", None)


def _run(number: int, name: str | None) -> Run:
    outcome = Outcome(0, GRADES[number % 4])  # type: ignore[arg-type]  # a grade
    run = make_run(agent=name, model=name, task_name=name, task=None if name is None else "Mend it.", outcome=outcome)
    return msgspec.structs.replace(run, id=f"r-{number:02}")


@pytest.fixture
def named(store: Store) -> Store:
    for number in range(2 * len(NAMES)):
        store.add_run(_run(number, NAMES[number % len(NAMES)]))
    return store


def walked(store: Store, sort: Sort) -> list[ListedRun]:
    """The whole list, three runs at a time."""
    place, found = None, list[ListedRun]()
    while True:
        page = list_runs(store, Filter(), sort, place, most=3)
        found += page.runs
        if (place := page.next) is None:
            return found


OF: dict[str, Callable[[ListedRun], str | None]] = {
    "task": lambda run: run.task_name,
    "agent": lambda run: run.agent,
    "model": lambda run: run.model,
    "outcome": lambda run: run.outcome.grade,
}


@pytest.mark.parametrize("by", OF)
def test_text_is_sorted_by_its_bytes_and_what_has_none_comes_last(named: Store, by: str) -> None:
    values = [OF[by](run) for run in list_runs(named, Filter(), most=50).runs]
    known = sorted((value for value in values if value is not None), key=str.encode)
    nothing = [None] * (len(values) - len(known))
    assert [OF[by](run) for run in walked(named, by)] == [*known, *nothing]  # type: ignore[arg-type]  # a sort
    backwards = [OF[by](run) for run in walked(named, f"-{by}")]  # type: ignore[arg-type]  # a sort
    assert backwards == [*reversed(known), *nothing]


@pytest.mark.parametrize("by", OF)
def test_pages_of_it_have_each_run_once(named: Store, by: str) -> None:
    for sort in (by, f"-{by}"):
        found = [run.id for run in walked(named, sort)]  # type: ignore[arg-type]  # a sort
        assert sorted(found) == [f"r-{number:02}" for number in range(2 * len(NAMES))]


def test_a_task_without_a_name_is_sorted_by_its_first_line(store: Store) -> None:
    for name, task, task_name in (("r-1", "Mend it.\nNow.", None), ("r-2", "Zero.", "Ask"), ("r-3", None, None)):
        store.add_run(msgspec.structs.replace(make_run(task=task, task_name=task_name), id=name))
    assert [run.id for run in walked(store, "task")] == ["r-2", "r-1", "r-3"]


def test_a_number_is_no_place_in_such_a_list(named: Store) -> None:
    with pytest.raises(InputError, match="none in a list that is sorted by task"):
        list_runs(named, Filter(), "task", Place(3, "r-1"))


def test_runs_from_before_are_sorted_by_task_too(named: Store, place: Database) -> None:
    """What the migration takes from the runs' rows is what a run that is added now gets."""
    fresh = place.sql("SELECT run, task FROM standings ORDER BY run")
    again = place.sql("SELECT id, substr(coalesce(nullif(task_name, ''), task), 1, 200) FROM runs ORDER BY id")
    assert [tuple(row) for row in fresh] == [tuple(row) for row in again]
