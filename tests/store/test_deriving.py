"""What follows from judgments: at once outside of a pass, a moment later in one, and never not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from tests.store.conftest import Place

from adjudge.errors import OutsideError
from adjudge.judgment import Judgment
from adjudge.reviews.values import Said
from adjudge.rubric import Rubric
from adjudge.run import Run
from adjudge.store import passes, rows, schema
from adjudge.store.checking import verify_stored
from adjudge.store.listing import Filter, list_runs
from adjudge.store.pass_rows import PassItem
from adjudge.store.passes import PassWriter
from adjudge.store.reviews import add_review, itemise_all
from adjudge.store.standing import add_runs
from adjudge.store.store import Store

RUNS = ("r-a", "r-b", "r-c")


@pytest.fixture
def filled(store: Store, run: Run) -> Store:
    for name in RUNS:
        store.add_run(msgspec.structs.replace(run, id=name))
    return store


class Passing:
    """A pass that is under way, in which judgments land."""

    def __init__(self, writer: PassWriter, judgment: Judgment, rubric: Rubric, runs: tuple[str, ...] = RUNS) -> None:
        self.writer, self._judgment, self._runs = writer, judgment, runs
        self.id = writer.begin(judgment.judge, {}, rubric, runs)

    async def land(self, run: str) -> str:
        judgment = self.of(run)
        await self.writer.land(self.id, PassItem(self._runs.index(run), run, "0" * 64), judgment)
        return judgment.id

    def of(self, run: str) -> Judgment:
        return msgspec.structs.replace(self._judgment, id=f"j-{run}", run=run)

    def die(self) -> None:
        """Be as a killed process: nothing more is written, and the lock's token is given back."""
        self.writer._behind = []
        self.writer._lock.let_go()


@pytest.fixture
def passing(writer: PassWriter, judgment: Judgment, rubric: Rubric) -> Passing:
    return Passing(writer, judgment, rubric)


def standing(place: Place) -> dict[str, tuple[Any, ...]]:
    columns = "run, state, score, worse, judging, flags, evaluation, reading"
    return {row[0]: tuple(row[1:]) for row in place.sql(f"SELECT {columns} FROM standings")}


def judged(place: Place) -> set[str]:
    """The runs that stand as judged."""
    return {run for run, stands in standing(place).items() if stands[0] == "judged"}


def items(place: Place) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in place.sql("SELECT * FROM judged_items"))


def put_off(place: Place) -> list[str]:
    return [row[0] for row in place.sql("SELECT judgment FROM underived ORDER BY number")]


def test_a_judgment_outside_of_a_pass_stands_at_once(
    filled: Store, place: Place, judgment: Judgment, rubric: Rubric
) -> None:
    filled.add_judgment(msgspec.structs.replace(judgment, run="r-a"), rubric)
    assert (put_off(place), judged(place), len(items(place))) == ([], {"r-a"}, 3)


async def test_what_lands_in_a_pass_is_put_off_and_caught_up_with(passing: Passing, place: Place) -> None:
    names = [await passing.land(run) for run in ("r-a", "r-b")]
    assert (put_off(place), judged(place), items(place)) == (names, set(), [])
    await passing.writer.catch_up()
    assert (put_off(place), judged(place), len(items(place))) == ([], {"r-a", "r-b"}, 6)


async def test_put_off_or_not_the_same_follows(filled: Store, place: Place, passing: Passing) -> None:
    filled.add_judgment(msgspec.structs.replace(passing.of("r-a"), id="j-first"))  # r-a is judged twice
    for run in RUNS:
        await passing.land(run)
    await passing.writer.catch_up()
    late = standing(place), items(place)
    place.sql("DELETE FROM judged_items")
    place.sql("UPDATE standings SET state = NULL, score = NULL, judging = NULL, flags = 9, evaluation = NULL")
    place.sql("INSERT INTO underived (judgment) SELECT id FROM judgments")
    passing.die()
    list_runs(filled, Filter())
    itemise_all(filled)
    assert (standing(place), items(place)) == late


@pytest.mark.parametrize("status", ["finished", "stopped", "failed"])
async def test_nothing_is_put_off_once_a_pass_has_ended(passing: Passing, place: Place, status: Any) -> None:
    await passing.land("r-a")
    passing.writer.end(passing.id, status)
    assert (put_off(place), judged(place), len(items(place))) == ([], {"r-a"}, 3)


async def test_nothing_is_put_off_once_a_lock_is_given_back(passing: Passing, place: Place) -> None:
    await passing.land("r-a")
    passing.writer.release()
    assert (put_off(place), judged(place), len(items(place))) == ([], {"r-a"}, 3)


async def test_no_more_is_put_off_than_fits_a_moment(
    filled: Store, place: Place, run: Run, writer: PassWriter, judgment: Judgment, rubric: Rubric
) -> None:
    names = tuple(f"r-{number:03}" for number in range(passes.FAR + 200))
    with filled.writing() as connection:
        values = rows.values_of_run(run, rows.blob_of(connection, schema.runs, "r-a", "run"))
        add_runs(connection, [values | {"id": name} for name in names])
    passing = Passing(writer, judgment, rubric, names)
    for part in (names[: passes.FAR], names[passes.FAR :]):
        await asyncio.gather(*map(passing.land, part))
    assert len(judged(place)) == passes.FAR
    assert len(put_off(place)) == 200


# --- others beside a pass that lives


async def test_a_list_leaves_to_a_pass_that_lives_what_it_will_do_in_a_moment(
    filled: Store, passing: Passing, place: Place
) -> None:
    await passing.land("r-a")
    assert list_runs(filled, Filter()).counts.judged == 0
    assert put_off(place) == ["j-r-a"]


async def test_reviews_are_chosen_from_all_that_has_landed(filled: Store, passing: Passing, place: Place) -> None:
    await passing.land("r-a")
    assert itemise_all(filled) == 1
    await passing.land("r-b")
    before = items(place)
    await passing.writer.catch_up()  # the first is done already
    assert (put_off(place), judged(place)) == ([], {"r-a", "r-b"})
    assert (len(before), len(items(place)), itemise_all(filled)) == (3, 6, 0)


async def test_a_verdict_can_be_reviewed_the_moment_it_has_landed(filled: Store, passing: Passing, place: Place) -> None:
    for run in ("r-a", "r-b"):
        await passing.land(run)
    add_review(filled, Said("j-r-a", "notes", "Ada", "seen", "So it is.", approved=True))
    assert (put_off(place), judged(place), len(items(place))) == (["j-r-b"], {"r-a"}, 3)
    await passing.writer.catch_up()
    assert (put_off(place), judged(place), len(items(place))) == ([], {"r-a", "r-b"}, 6)


async def test_a_judgment_that_is_put_off_is_sound(filled: Store, passing: Passing) -> None:
    await passing.land("r-a")
    assert verify_stored(filled, "j-r-a").sound


# --- after a pass was killed


def lists(store: Store, _: Passing) -> None:
    list_runs(store, Filter())


def lists_for_review(store: Store, _: Passing) -> None:
    itemise_all(store)


def begins_another(store: Store, passing: Passing) -> None:
    writer = store.passes.hold("another")
    writer.begin(passing.of("r-a").judge, {}, store.rubric(str(passing.of("r-a").rubric_hash)), ("r-c",))
    writer.release()


def resumes(store: Store, passing: Passing) -> None:
    writer = store.passes.hold("another")
    assert writer.reopen(passing.id) == 1
    writer.release()


@pytest.mark.parametrize("next_one", [lists, lists_for_review, begins_another, resumes])
async def test_whoever_comes_after_a_killed_pass_brings_up_to_date_what_it_left(
    filled: Store, passing: Passing, place: Place, next_one: Callable[[Store, Passing], None]
) -> None:
    for run in ("r-a", "r-b"):
        await passing.land(run)
    passing.die()
    assert judged(place) == set()
    next_one(filled, passing)
    assert (put_off(place), judged(place)) == ([], {"r-a", "r-b"})
    itemise_all(filled)
    assert len(items(place)) == 6
    assert all(verify_stored(filled, name).sound for name in ("j-r-a", "j-r-b"))


async def test_so_does_whoever_writes_next(passing: Passing, place: Place, run: Run) -> None:
    await passing.land("r-a")
    passing.die()
    with place.open() as another:
        another.add_run(msgspec.structs.replace(run, id="r-d"))
        assert (put_off(place), judged(place)) == ([], {"r-a"})


async def test_a_damaged_judgment_of_a_killed_pass_stops_nobody_but_who_reviews(
    filled: Store, passing: Passing, place: Place
) -> None:
    for run in ("r-a", "r-b"):
        await passing.land(run)
    passing.die()
    place.sql("DELETE FROM judgment_blobs WHERE number = 1")
    assert list_runs(filled, Filter()).counts.judged == 2
    with pytest.raises(OutsideError, match="number 1 of judgment_blobs"):
        itemise_all(filled)


async def test_who_may_only_read_sees_the_runs_as_they_stood(
    filled: Store, passing: Passing, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    await passing.land("r-a")
    passing.die()

    def refused() -> Any:
        raise OutsideError("the store is read-only")

    with monkeypatch.context() as patched:
        patched.setattr(filled, "writing", refused)
        assert list_runs(filled, Filter()).counts.judged == 0
    assert list_runs(filled, Filter()).counts.judged == 1
    assert put_off(place) == []
