"""A budget is kept by not making the call that might pass it."""

import pytest

from adjudge.errors import InputError, ModelError
from adjudge.judgment import Call
from adjudge.models.budget import BudgetedModel
from adjudge.ports import Message, Reply, Request
from adjudge.record import Usage

MILLION = 1_000_000


class PricedModel:
    """Costs one dollar for a million tokens of prompt and ten for a million of answer; replies with what it is given."""

    name: str = "m"
    window: int | None = None

    def __init__(self, *usages: Usage, price: float | None = 1.0) -> None:
        self.usages, self.dollars, self.asked = list(usages), price, 0

    async def answer(self, request: Request) -> Reply:
        self.asked += 1
        usage = self.usages.pop(0)
        if usage.prompt is None:
            raise ModelError("m: broken", "broken", (Call("m", Usage(prompt=MILLION, output=0), 1.0),))
        return Reply("Yes.", (), "end", Message("assistant", "Yes."), Call("m", usage, 1.0))

    def price(self, usage: Usage) -> float | None:
        return None if self.dollars is None else ((usage.prompt or 0) + 10 * (usage.output or 0)) / MILLION * self.dollars

    async def close(self) -> None:
        pass


def request(characters: int, most: int = 1000) -> Request:
    return Request("", (Message("user", "x" * characters),), most=most)


async def test_a_call_that_fits_is_made_and_counted() -> None:
    model = BudgetedModel(PricedModel(Usage(prompt=100_000, output=1000)), 1.0)
    await model.answer(request(400_000))
    assert model.spent == pytest.approx(0.11)


async def test_a_call_whose_prompt_might_pass_the_limit_is_not_made() -> None:
    inner = PricedModel()
    with pytest.raises(ModelError, match=r"may cost \$1\.\d+.*budget of \$1\.0000 ") as caught:
        await BudgetedModel(inner, 1.0).answer(request(4 * MILLION))
    assert (caught.value.kind, inner.asked) == ("budget", 0)


async def test_a_call_whose_answer_might_pass_the_limit_is_not_made() -> None:
    inner = PricedModel()
    with pytest.raises(ModelError):
        await BudgetedModel(inner, 1.0).answer(request(4, most=100_001))
    assert inner.asked == 0


async def test_what_was_spent_counts_against_the_next_call() -> None:
    inner = PricedModel(Usage(prompt=600_000, output=10), Usage(prompt=600_000, output=10))
    model = BudgetedModel(inner, 1.0)
    await model.answer(request(400))
    with pytest.raises(ModelError):
        await model.answer(request(400))
    assert inner.asked == 1


async def test_a_reported_cost_above_the_price_list_is_believed() -> None:
    model = BudgetedModel(PricedModel(Usage(prompt=1000, output=10, cost=0.9)), 1.0)
    await model.answer(request(400))
    assert model.spent == 0.9


async def test_a_reported_cost_of_zero_is_not_believed() -> None:
    model = BudgetedModel(PricedModel(Usage(prompt=500_000, output=0, cost=0.0)), 1.0)
    await model.answer(request(400))
    assert model.spent == 0.5


async def test_a_failed_call_that_was_billed_counts() -> None:
    model = BudgetedModel(PricedModel(Usage()), 2.0)
    with pytest.raises(ModelError, match="broken"):
        await model.answer(request(400))
    assert model.spent == 1.0


async def test_a_conversation_is_taken_to_be_as_large_as_the_provider_counted_it_before() -> None:
    inner = PricedModel(Usage(prompt=400_000, output=10), Usage(prompt=400_000, output=10))
    model = BudgetedModel(inner, 0.7)
    await model.answer(request(400))  # a hundred tokens by our estimate
    with pytest.raises(ModelError):
        await model.answer(request(400))
    assert inner.asked == 1


def test_without_a_price_no_budget_can_be_kept_and_that_is_said() -> None:
    with pytest.raises(InputError, match=r"no price is known.*leave the budget out"):
        BudgetedModel(PricedModel(price=None), 1.0)


async def test_a_model_that_costs_nothing_needs_no_limit() -> None:
    model = BudgetedModel(PricedModel(Usage(prompt=MILLION, output=MILLION), price=0.0), 0.01)
    await model.answer(request(4 * MILLION))
    assert model.spent == 0.0
