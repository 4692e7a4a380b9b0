"""The conversation of an asking: its bounds, and what becomes of a model that does not keep to them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from adjudge.asking.asking import ask
from adjudge.asking.values import Progress
from adjudge.errors import InputError, ModelError
from adjudge.judgment import Call
from adjudge.ports import Request, ToolCall
from adjudge.record import Usage
from adjudge.store.store import Store
from adjudge.testing import Scripted, ScriptedModel, looks, make_reply

from .conftest import Asks, answers, says_that, texts

COUNT: tuple[str, dict[str, Any]] = ("count_runs", {})
RIGHT = says_that("There are 3 runs.", ("L1", "runs: 3"))
GIVEN = {"statements": [RIGHT]}


async def test_looks_are_bounded_and_then_an_answer_is_forced(store: Store) -> None:
    def play(request: Request) -> Scripted:
        return json.dumps(GIVEN) if request.choice == "none" else looks(COUNT, COUNT, COUNT)

    model = ScriptedModel(play)
    asking = await ask("How many runs are there?", store, model)
    assert len(asking.looks) == 21  # L0 is adjudge's own
    assert (asking.status, asking.decided) == ("answered", "forced")
    assert [request.choice for request in model.requests] == ["auto"] * 7 + ["none"]
    assert "How many runs are there?" in model.requests[-1].messages[-1].text


async def test_the_conversation_only_grows(store: Store) -> None:
    model = ScriptedModel([looks(COUNT), looks(COUNT), answers(RIGHT)])
    await ask("How many?", store, model)
    for earlier, later in zip(model.requests, model.requests[1:], strict=False):
        assert later.messages[: len(earlier.messages)] == earlier.messages
        assert (later.system, later.tools) == (earlier.system, earlier.tools)


async def test_a_faulty_answer_is_told_what_is_wrong_and_may_be_mended(store: Store) -> None:
    model = ScriptedModel([looks(COUNT), answers(says_that("There are 4 runs.", ("L1", "runs: 3"))), answers(RIGHT)])
    asking = await ask("How many?", store, model)
    assert "4: in none of its quotes" in model.requests[-1].messages[-1].text
    assert (asking.status, asking.unsupported) == ("answered", ())


async def test_an_answer_is_mended_twice_and_no_more(store: Store) -> None:
    model = ScriptedModel(lambda request: answers(says_that("There are 4 runs.", ("L0", "runs: 3"))))
    asking = await ask("How many?", store, model)
    assert (len(model.requests), asking.status) == (3, "unanswered")


async def test_an_answer_in_plain_json_is_taken(asks: Asks) -> None:
    assert (await asks(looks(COUNT), f"```json\n{json.dumps(GIVEN)}\n```")).status == "answered"


async def test_an_answer_beside_other_calls_is_not_taken(store: Store) -> None:
    both = [*looks(COUNT), ToolCall("a", "answer", json.dumps(GIVEN))]
    model = ScriptedModel([both, answers(RIGHT)])
    asking = await ask("How many?", store, model)
    assert "`answer` came together with other calls" in texts(model.requests)
    assert asking.status == "answered"


MISBEHAVIOUR: dict[str, Any] = {
    "looks for ever, though the tools are withdrawn": lambda _: looks(COUNT),
    "answers in prose": lambda _: "I would say that codex is better.",
    "answers with nothing": lambda _: "",
    "names tools that do not exist": lambda _: looks(("run_command", {"command": "ls"})),
    "sends arguments that are not JSON": lambda _: looks(("read_run", '{"run": "r-0"')),
    "sends arguments of the wrong kind": lambda _: looks(("list_runs", {"offset": "many"})),
    "sends arguments nobody asked for": lambda _: looks(("list_runs", {"sql": "DROP TABLE runs"})),
    "sends endless nesting": lambda _: looks(("read_run", "[" * 100_000)),
    "answers with broken arguments": lambda _: looks(("answer", '{"statements": [')),
    "answers with no statement": lambda _: answers(),
    "says things twice": lambda _: '{"statements": [], "statements": []}',
    "answers with a list": lambda _: "[]",
    "says too much": lambda _: answers(says_that("so " * 1000)),
    "is cut off": lambda _: make_reply(answers(RIGHT), stop="length"),
    "refuses": lambda _: make_reply("I cannot help with that.", stop="filtered"),
    "goes silent": lambda _: ModelError("no answer within 600 s", "timeout"),
    "is down": lambda _: ModelError("502", "broken"),
    "would pass the budget": lambda _: ModelError("the call would cost 1 USD", "budget"),
    "finds the first message too long": lambda _: ModelError("too long", "context"),
}


@pytest.mark.parametrize("play", MISBEHAVIOUR.values(), ids=MISBEHAVIOUR.keys())
async def test_a_model_that_never_answers_ends_as_an_asking_that_says_so(store: Store, play: Any) -> None:
    model = ScriptedModel(play)
    asking = await ask("How many?", store, model)
    assert (asking.status, asking.statements, asking.untold) == ("errored", (), ())
    assert asking.reason
    assert asking.failure
    assert len(model.requests) <= 25


async def test_unreadable_answers_are_told_why_and_end_the_looking(store: Store) -> None:
    model = ScriptedModel(["well", "hm", json.dumps({"statements": [says_that("There are 3 runs.", ("L0", "runs: 3"))]})])
    asking = await ask("How many?", store, model)
    assert "Your answer cannot be used: not one JSON value" in model.requests[1].messages[-1].text
    assert (asking.status, asking.decided) == ("answered", "forced")


async def test_what_was_paid_is_known_whatever_comes_of_it(store: Store) -> None:
    def paid(request: Request) -> Scripted:
        reply = make_reply("nothing that can be read", request)
        return reply.__class__(reply.text, (), "end", reply.message, Call("m", Usage(prompt=9, output=1, cost=0.01), 1.0))

    asking = await ask("How many?", store, ScriptedModel(paid))
    assert asking.status == "errored"
    assert asking.cost == pytest.approx(0.01 * len(asking.calls))


async def test_progress_is_told_before_each_question_and_after_each_look(store: Store) -> None:
    told: list[Progress] = []
    await ask("How many?", store, ScriptedModel([looks(COUNT, COUNT), answers(RIGHT)]), on_progress=told.append)
    assert [(each.step, each.used, each.look and each.look.id) for each in told] == [
        (1, 0, None),
        (1, 1, "L1"),
        (1, 2, "L2"),
        (2, 2, None),
    ]


@pytest.mark.parametrize("question", ["", "  \n", "x" * 4001])
async def test_what_is_no_question_is_refused_before_anything_is_asked(store: Store, question: str) -> None:
    model = ScriptedModel([])
    with pytest.raises(InputError, match="a question has 1 to 4000 characters"):
        await ask(question, store, model)
    assert model.requests == []


async def test_an_asking_that_is_cancelled_ends(store: Store) -> None:
    started = asyncio.Event()
    model = ScriptedModel(lambda request: looks(("search_runs", {"pattern": "passed"})))
    loop = asyncio.get_running_loop()

    def told(progress: Progress) -> None:
        loop.call_soon(started.set)

    task = asyncio.create_task(ask("How many?", store, model, on_progress=told))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_empty_store_tells_nothing_and_costs_nothing(empty: Store) -> None:
    model = ScriptedModel([])
    asking = await ask("Which agent is better?", empty, model)
    assert (asking.status, asking.cost, model.requests) == ("answered", 0, [])
    assert asking.untold[0].text == "anything, as it holds no run yet"
    assert asking.looks[0].facts[0] == "runs: 0"
