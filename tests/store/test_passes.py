from __future__ import annotations

import msgspec
import pytest
from sqlalchemy.exc import IntegrityError
from tests.store.conftest import Place

from adjudge.errors import InputError
from adjudge.judgment import Call, Failure, Judge, Judgment
from adjudge.record import Usage
from adjudge.rubric import Rubric
from adjudge.run import Run
from adjudge.store.faults import LockHeldError
from adjudge.store.pass_rows import PassItem
from adjudge.store.passes import PassWriter
from adjudge.store.store import Store
from adjudge.testing import make_record, make_run, says

RUNS = ("r-a", "r-b", "r-c", "r-d")


@pytest.fixture
def filled(store: Store) -> Store:
    for number, name in enumerate(RUNS):
        run = make_run(make_record(says(f"Answer {number}.")), agent="codex")
        store.add_run(msgspec.structs.replace(run, id=name))
    return store


def judged(run: str, judgment: Judgment, name: str, cost: float | None = 0.25, failure: Failure | None = None) -> Judgment:
    calls = (Call("some-model", Usage(prompt=100, output=10, cost=cost), 1.0),)
    status = "errored" if failure else "judged"
    changed = {"id": name, "run": run, "calls": calls, "failure": failure, "status": status}
    return msgspec.structs.replace(judgment, **changed)


def item(position: int, run: str) -> PassItem:
    return PassItem(position, run, "0" * 64)


def begin(writer: PassWriter, judgment: Judgment, rubric: Rubric, runs: tuple[str, ...] = RUNS) -> str:
    return writer.begin(judgment.judge, {"sampling": {"seed": 7}}, rubric, runs)


def test_a_new_pass_has_its_runs_in_their_order(
    filled: Store, writer: PassWriter, judgment: Judgment, rubric: Rubric
) -> None:
    identifier = begin(writer, judgment, rubric, ("r-c", "r-a", "r-d"))
    assert [item.run for item in writer.open_items(identifier, -1, 10)] == ["r-c", "r-a", "r-d"]
    assert [item.run for item in writer.open_items(identifier, 0, 1)] == ["r-a"]
    row = filled.passes.row(identifier)
    assert (row.status, row.selected, row.landed, row.cost, row.lost, row.rubric) == ("running", 3, 0, 0, 0, "files")
    assert (row.judge, row.model, row.judge_hash) == ("evaluator", "openrouter/some-model", judgment.judge.hash)
    assert filled.passes.plan(identifier).plan == {"sampling": {"seed": 7}}
    assert filled.passes.plan(identifier).judge == judgment.judge


def test_the_pass_that_is_under_way_is_known_until_its_holder_lets_go(
    filled: Store, judgment: Judgment, rubric: Rubric
) -> None:
    assert filled.passes.under_way() is None
    writer = filled.passes.hold("a new pass")
    identifier = begin(writer, judgment, rubric)
    assert filled.passes.under_way() == identifier
    with pytest.raises(LockHeldError, match=f"pass {identifier} is under way"):
        filled.passes.hold("another")
    writer.release()
    assert filled.passes.under_way() is None


async def test_what_lands_is_counted_and_no_longer_open(
    filled: Store, writer: PassWriter, judgment: Judgment, rubric: Rubric
) -> None:
    identifier = begin(writer, judgment, rubric)
    await writer.land(identifier, item(0, "r-a"), judged("r-a", judgment, "j-1"))
    await writer.land(identifier, item(2, "r-c"), judged("r-c", judgment, "j-2", None))
    await writer.land(identifier, item(1, "r-b"), judged("r-b", judgment, "j-3", 0.5, "timeout"))
    assert [item.run for item in writer.open_items(identifier, -1, 10)] == ["r-d"]
    row = filled.passes.row(identifier)
    assert (row.landed, row.errored, row.cost, row.unpriced) == (3, 1, 0.75, 1)
    assert [each.id for each in filled.passes.judgments(identifier)] == ["j-1", "j-3", "j-2"]
    assert filled.judgment("j-1").run == "r-a"


async def test_a_run_is_not_judged_twice_in_one_pass(
    filled: Store, writer: PassWriter, judgment: Judgment, rubric: Rubric
) -> None:
    identifier = begin(writer, judgment, rubric)
    await writer.land(identifier, item(0, "r-a"), judged("r-a", judgment, "j-1"))
    with pytest.raises(InputError, match="has a judgment for run r-a already"):
        await writer.land(identifier, item(0, "r-a"), judged("r-a", judgment, "j-2"))
    assert [row.id for row in filled.judgments()] == ["j-1"]


async def test_a_reservation_ends_when_its_judgment_lands_and_counts_as_lost_if_none_does(
    filled: Store, writer: PassWriter, judgment: Judgment, rubric: Rubric
) -> None:
    identifier = begin(writer, judgment, rubric)
    await writer.reserve(identifier, 0, 0.4)
    await writer.reserve(identifier, 1, 0.3)
    await writer.reserve(identifier, 1, 0.6)  # all calls for this run together
    await writer.land(identifier, item(0, "r-a"), judged("r-a", judgment, "j-1"))
    writer.end(identifier, "stopped", "it was asked to stop")
    row = filled.passes.row(identifier)
    assert (row.status, row.reason, row.cost, row.lost) == ("stopped", "it was asked to stop", 0.25, 0.6)
    assert row.ended is not None
    assert writer.reopen(identifier) == 3
    row = filled.passes.row(identifier)
    assert (row.status, row.reason, row.ended, row.lost) == ("running", None, None, 0.6)


@pytest.mark.parametrize(
    ("failure", "again", "retried"),
    [("broken", True, True), ("busy", True, True), ("timeout", False, True), ("judge_parse_failed", False, True)],
)
async def test_what_is_judged_again_when_a_pass_is_resumed(
    filled: Store,
    writer: PassWriter,
    judgment: Judgment,
    rubric: Rubric,
    failure: Failure,
    again: bool,
    retried: bool,
) -> None:
    identifier = begin(writer, judgment, rubric)
    for position, run in enumerate(RUNS):
        await writer.land(
            identifier, item(position, run), judged(run, judgment, f"j-{run}", 1.0, failure if run == "r-b" else None)
        )
    assert writer.reopen(identifier) == again
    assert writer.reopen(identifier, retry=True) == retried
    await writer.land(identifier, item(1, "r-b"), judged("r-b", judgment, "j-again", 1.0))
    row = filled.passes.row(identifier)
    assert (row.landed, row.errored, row.cost) == (4, 0, 5.0)  # the first attempt was paid for as well
    assert [each.id for each in filled.passes.judgments(identifier)] == ["j-r-a", "j-again", "j-r-c", "j-r-d"]
    assert filled.judgment("j-r-b").failure == failure


@pytest.mark.parametrize("again", [False, True])
async def test_a_run_that_was_judged_elsewhere_meanwhile_is_not_judged_once_more(
    filled: Store, writer: PassWriter, judgment: Judgment, rubric: Rubric, again: bool
) -> None:
    identifier = begin(writer, judgment, rubric)
    other = begin(writer, judgment, rubric)
    await writer.land(other, item(0, "r-a"), judged("r-a", judgment, "j-1"))
    await writer.land(other, item(1, "r-b"), judged("r-b", judgment, "j-2", failure="timeout"))
    assert writer.reopen(identifier, again=again) == (4 if again else 3)
    row = filled.passes.row(identifier)
    assert (row.landed, row.cost) == ((0, 0.0) if again else (1, 0.0))  # the other pass has paid for it


async def test_candidates_know_what_this_very_judge_has_judged(
    filled: Store, writer: PassWriter, judgment: Judgment, rubric: Rubric
) -> None:
    identifier = begin(writer, judgment, rubric)
    await writer.land(identifier, item(0, "r-a"), judged("r-a", judgment, "j-1"))
    await writer.land(identifier, item(1, "r-b"), judged("r-b", judgment, "j-2", failure="refused"))
    await writer.land(identifier, item(2, "r-c"), judged("r-c", judgment, "j-3", failure="timeout"))

    def seen(judge: Judge) -> set[str]:
        return {row.run for row in filled.passes.candidates(rubric.hash, judge.hash) if row.judged}

    assert seen(judgment.judge) == {"r-a", "r-c"}
    assert seen(msgspec.structs.replace(judgment.judge, prompt="another")) == set()
    assert {row.run for row in filled.passes.candidates("another rubric", judgment.judge.hash) if row.judged} == set()


async def test_judgments_of_one_run_by_one_judge_are_numbered(
    place: Place, filled: Store, writer: PassWriter, judgment: Judgment, rubric: Rubric
) -> None:
    filled.add_judgment(judged("r-a", judgment, "j-0"), rubric)
    identifier = begin(writer, judgment, rubric)
    await writer.land(identifier, item(0, "r-a"), judged("r-a", judgment, "j-1"))
    filled.add_judgment(judged("r-a", judgment, "j-2"), rubric)
    other = msgspec.structs.replace(judgment, judge=msgspec.structs.replace(judgment.judge, prompt="another"))
    filled.add_judgment(judged("r-a", other, "j-other"), rubric)
    found = place.sql("SELECT id, sample FROM judgments ORDER BY sample, id")
    assert found == [("j-0", 0), ("j-other", 0), ("j-1", 1), ("j-2", 2)]
    with pytest.raises(Exception, match=r"(?i)unique"):
        place.sql("UPDATE judgments SET sample = 0")


def test_a_pass_is_found_by_the_beginning_of_its_id(
    filled: Store, writer: PassWriter, judgment: Judgment, rubric: Rubric
) -> None:
    identifier = begin(writer, judgment, rubric)
    assert filled.passes.find(identifier[:6]) == identifier
    with pytest.raises(InputError, match="there is no pass 'p-none' in the store"):
        filled.passes.find("p-none")
    with pytest.raises(InputError, match="there is no pass 'p-none' in the store"):
        filled.passes.row("p-none")


async def test_what_earlier_judgments_consumed_is_known_for_an_estimate(
    filled: Store, writer: PassWriter, judgment: Judgment, rubric: Rubric
) -> None:
    identifier = begin(writer, judgment, rubric)
    await writer.land(identifier, item(0, "r-a"), judged("r-a", judgment, "j-1"))
    assert filled.passes.consumed("evaluator", "openrouter/some-model", None, 5) == [
        Usage(prompt=100, output=10, cost=0.25)
    ]
    assert filled.passes.consumed("reader", "openrouter/some-model", "pruned", 5) == []


def test_a_run_that_is_not_stored_cannot_be_in_a_pass(
    place: Place, store: Store, judgment: Judgment, rubric: Rubric, run: Run
) -> None:
    store.add_run(run)
    writer = store.passes.hold("a test")
    with pytest.raises(IntegrityError, match=r"(?i)foreign key"):
        begin(writer, judgment, rubric, ("r-none",))
    writer.release()
    store.passes.hold("another").release()
    store.close()
    with place.open() as again:
        assert again.passes.rows() == []
