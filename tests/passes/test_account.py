from __future__ import annotations

import msgspec
import pytest
from tests.passes.provider import judgment

from adjudge.errors import ModelError
from adjudge.judgment import Call, Failure
from adjudge.passes.account import Account
from adjudge.record import Usage


class Notes:
    """What was written down, position by position."""

    def __init__(self) -> None:
        self.reserved: dict[int, float] = {}

    async def write(self, position: int, dollars: float) -> None:
        self.reserved[position] = dollars


def call(cost: float | None, error: str | None = None) -> Call:
    return Call("m", Usage(cost=cost), 1.0, error=error)


async def test_what_all_calls_for_a_run_may_cost_is_written_down_before_each() -> None:
    notes = Notes()
    account = Account(0.0, None, notes.write)
    await account.reserve(3, 0.5)
    await account.reserve(4, 0.25)
    await account.reserve(3, 0.5)
    assert notes.reserved == {3: 1.0, 4: 0.25}


async def test_the_call_that_might_pass_the_limit_is_not_made() -> None:
    account = Account(6.0, 10.0, Notes().write)
    await account.reserve(0, 3.0)
    with pytest.raises(
        ModelError, match=r"the next call may cost \$2.0000, and of the \$10.0000 .* \$9.0000 are spent"
    ) as told:
        await account.reserve(1, 2.0)
    assert told.value.kind == "budget"
    assert account.exhausted == str(told.value)
    account.settle(0, 0.5, 0.0)
    await account.reserve(2, 3.5)
    assert account.spent == 6.5


async def test_a_call_without_a_price_is_made_and_not_written_down() -> None:
    notes = Notes()
    account = Account(0.0, 1.0, notes.write)
    await account.reserve(0, None)
    assert notes.reserved == {}


async def test_after_an_answer_the_true_cost_counts() -> None:
    account = Account(0.0, None, Notes().write)
    await account.reserve(0, 1.0)
    answered = judgment("a", "r-1", [call(0.25)])
    assert account.unseen(0, answered) == 0.0
    account.settle(0, answered.usage().cost, 0.0)
    assert account.spent == 0.25


@pytest.mark.parametrize(
    ("failure", "calls", "unseen"),
    [
        ("timeout", [], 2.0),
        ("timeout", [call(0.25), call(0.0, "no answer in time")], 2.0),  # the first was seen, the second may be billed
        ("timeout", [call(0.25), call(0.5, "the reply came too late")], 0.0),
        ("broken", [call(0.25)], 2.0),
        ("broken", [call(0.25), call(0.5, "the reply is not JSON")], 0.0),
        ("refused", [], 0.0),  # a provider bills nothing that it refuses
        ("busy", [call(0.25)], 0.0),
        ("context", [], 0.0),
        (None, [call(0.25), call(None)], 2.75),  # all that was reserved, less what is known
    ],
)
async def test_calls_whose_end_nobody_saw_count_with_the_most_that_they_may_cost(
    failure: Failure | None, calls: list[Call], unseen: float
) -> None:
    account = Account(0.0, None, Notes().write)
    await account.reserve(0, 1.0)
    await account.reserve(0, 2.0)
    ended = msgspec.structs.replace(judgment("a", "r-1", calls), failure=failure)
    assert account.unseen(0, ended) == unseen
    account.settle(0, ended.usage().cost, unseen)
    assert account.spent == (ended.usage().cost or 0.0) + unseen


async def test_where_nothing_was_reserved_nothing_is_unseen() -> None:
    account = Account(0.0, None, Notes().write)
    await account.reserve(0, None)
    assert account.unseen(0, judgment("a", "r-1", [], timeout=True)) == 0.0
