"""The cascade's rules, one by one, and over sequences of whatever a model may do."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.errors import JudgingError, ModelError
from adjudge.judges.reader.cascade import Climbed, climb
from adjudge.judgment import Call, Step
from adjudge.models.budget import BudgetedModel
from adjudge.models.consumed import tokens_of
from adjudge.ports import Model, Reply, Request, ToolCall
from adjudge.record import Usage
from adjudge.testing import Scripted, ScriptedModel, looks, make_reply

from .strict import GOOD, questions, read


def thought(text: str = "", reasoning: str = "It is so, since line 3 says it.", stop: str = "end") -> Reply:
    return msgspec.structs.replace(make_reply(text, stop=stop), reasoning=reasoning)


async def climbed(*script: Scripted, window: int | None = None) -> tuple[Climbed[bool], ScriptedModel]:
    model = ScriptedModel(script, window=window)
    return await climb(model, questions(), read, 5.0), model


def kinds(model: ScriptedModel) -> list[str]:
    """Which of the questions each request was."""
    return [_kind(request) for request in model.requests]


def _kind(request: Request) -> str:
    text = request.messages[-1].text
    if text.startswith("Write down"):
        return "transcribe"
    return ("prose" if request.schema is None else "schema") + (" short" if text.startswith("The run.") else "")


# --- the rungs


async def test_the_first_reply_is_the_answer_if_it_can_be_read() -> None:
    result, model = await climbed(GOOD)
    assert (result.answer, result.rung, result.failure, result.reason) == (True, "schema", None, "")
    assert (kinds(model), len(result.calls), len(result.steps)) == (["schema"], 1, 1)


async def test_a_reply_that_cannot_be_read_is_asked_for_the_same_once_more() -> None:
    result, model = await climbed('{"ok": "yes"}', GOOD)
    assert (result.answer, result.rung) == (True, "again")
    assert model.requests[0] == model.requests[1]


async def test_reasoning_without_an_answer_is_transcribed_from_its_own_words() -> None:
    result, model = await climbed(thought(), "no JSON", GOOD)
    assert (result.answer, result.rung) == (True, "transcribed")
    assert kinds(model) == ["schema", "schema", "transcribe"]
    assert "It is so, since line 3 says it." in model.requests[2].messages[0].text
    assert result.steps[2].told == model.requests[2].messages[0].text


async def test_without_reasoning_nothing_is_transcribed() -> None:
    result, model = await climbed("", "", f"I think so. {GOOD}")
    assert (result.answer, result.rung) == (True, "prose")
    assert kinds(model) == ["schema", "schema", "prose"]


async def test_the_object_is_taken_out_of_prose_only_where_prose_was_asked_for() -> None:
    result, model = await climbed(f"I think so. {GOOD}", f"I think so. {GOOD}", f"I think so. {GOOD}")
    assert result.rung == "prose"
    assert model.requests[2].schema is None


async def test_after_four_calls_the_answer_could_not_be_parsed() -> None:
    result, model = await climbed(thought(), "no", "no", "{} or {}", GOOD)
    assert (result.answer, result.rung, result.failure) == (None, None, "judge_parse_failed")
    assert kinds(model) == ["schema", "schema", "transcribe", "prose"]
    assert "4 calls" in result.reason
    assert "2 objects are in it" in result.reason


async def test_without_reasoning_three_calls_are_all() -> None:
    result, model = await climbed("no", "no", "no", GOOD)
    assert (result.failure, len(model.requests)) == ("judge_parse_failed", 3)


# --- what is no answer, though its text reads as one


@pytest.mark.parametrize("stop", ["length", "model_length", "missing", "", "tool_calls", "calls", "STOP"])
async def test_a_reply_that_did_not_end_by_itself_is_no_answer(stop: str) -> None:
    result, _ = await climbed(*[make_reply(GOOD, stop=stop)] * 3)
    assert (result.answer, result.failure) == (None, "judge_parse_failed")
    assert [len(step.refused) for step in result.steps] == [1, 1, 1]


async def test_a_call_where_an_answer_was_asked_for_is_no_answer() -> None:
    reply = msgspec.structs.replace(make_reply(GOOD), calls=(ToolCall("1", "decide", "{broken"),))
    result, _ = await climbed(reply, looks(("decide", GOOD)), GOOD)
    assert (result.answer, result.rung) == (True, "prose")
    assert result.steps[0].calls == ("decide {broken",)


async def test_an_answer_too_long_to_be_kept_is_not_read_and_visibly_cut() -> None:
    result, _ = await climbed(GOOD + " " * 200_000, GOOD)
    assert result.rung == "again"
    said = result.steps[0].said
    assert said is not None
    assert said.endswith("… (cut: 200000 of 200012 characters)")
    assert len(said) < 200_100


async def test_reasoning_that_was_cut_itself_is_not_transcribed() -> None:
    result, model = await climbed(thought(stop="length"), thought(stop="missing"), "no", GOOD)
    assert (result.rung, kinds(model)) == (None, ["schema", "schema", "prose"])


async def test_reasoning_too_long_to_be_kept_is_not_transcribed() -> None:
    result, model = await climbed(thought(reasoning="x" * 200_001), "no", "no", GOOD)
    assert (result.rung, kinds(model)) == (None, ["schema", "schema", "prose"])


@pytest.mark.parametrize(
    ("reply", "fault"),
    [(" ", "it is empty"), (thought(" "), "it holds reasoning and no answer")],
    ids=["empty", "reasoning"],
)
async def test_a_reply_without_an_answer_is_told_as_such(reply: Scripted, fault: str) -> None:
    result, _ = await climbed(reply, GOOD)
    assert result.steps[0].refused == (fault,)


async def test_what_a_reply_says_is_kept_so_that_it_can_be_stored() -> None:
    odd = "a \ud800 b \x00 c"
    result, _ = await climbed(msgspec.structs.replace(make_reply(odd), reasoning=odd), GOOD)
    step = result.steps[0]
    assert (step.said, step.reasoning) == ("a ? b \ufffd c", "a ? b \ufffd c")


async def test_reasoning_behind_which_an_answer_had_begun_is_transcribed() -> None:
    result, _ = await climbed(thought('{"ok"', stop="length"), '{"ok"', GOOD)
    assert result.rung == "transcribed"


@pytest.mark.parametrize(("window", "room"), [(None, 16_384), (64_000, 16_384), (20_000, 10_000), (4_000, 8_192)])
async def test_a_cut_answer_is_asked_for_again_with_more_room(window: int | None, room: int) -> None:
    _, model = await climbed(make_reply(GOOD, stop="length"), GOOD, window=window)
    assert [request.most for request in model.requests] == [8_192, room]


async def test_the_room_is_bounded() -> None:
    model = ScriptedModel(lambda _: thought('{"ok', stop="length"))
    await climb(model, questions(), read, 5.0)
    assert [request.most for request in model.requests] == [8_192, 16_384, 32_768, 32_768]


# --- what ends it at once


@pytest.mark.parametrize(
    "refusal", [make_reply(GOOD, stop="filtered"), make_reply("", stop="filtered"), ModelError("flagged", "filtered")]
)
async def test_a_refusal_or_a_filter_abstains(refusal: Scripted) -> None:
    result, model = await climbed(refusal, GOOD)
    assert (result.answer, result.failure, len(model.requests)) == (None, "filtered", 1)
    assert result.reason


@pytest.mark.parametrize("kind", ["refused", "busy", "broken", "timeout", "budget", "differs"])
@pytest.mark.parametrize("before", [0, 1, 2])
async def test_a_model_that_cannot_be_had_ends_it_with_its_own_reason(kind: str, before: int) -> None:
    billed = make_reply("x").call
    result, model = await climbed(*["no"] * before, ModelError("m: this is why", kind, (billed,)), GOOD)
    assert (result.answer, result.failure, result.reason) == (None, kind, "m: this is why")
    assert (len(model.requests), len(result.calls)) == (before + 1, before + 1)
    assert result.steps[-1].stop == kind


async def test_a_kind_that_nobody_knows_is_broken() -> None:
    result, _ = await climbed(ModelError("odd", "something else"))
    assert result.failure == "broken"


async def test_a_bug_of_ours_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        await climbed(ZeroDivisionError())


async def test_a_bug_of_the_reader_is_not_hidden() -> None:
    def stumble(text: str, prose: bool) -> bool:
        raise ZeroDivisionError(text)

    with pytest.raises(ZeroDivisionError):
        await climb(ScriptedModel([GOOD]), questions(), stumble)


# --- a full context


FULL = ModelError("m: maximum context length", "context")


async def test_a_full_context_shrinks_the_input_once_and_asks_on() -> None:
    result, model = await climbed(FULL, GOOD)
    assert (result.answer, result.rung, result.shrunk) == (True, "schema", True)
    assert kinds(model) == ["schema", "schema short"]


async def test_the_input_stays_short_on_later_rungs() -> None:
    _, model = await climbed(FULL, "no", "no", "no", GOOD)
    assert kinds(model) == ["schema", "schema short", "schema short", "prose short"]


async def test_a_full_context_again_ends_it() -> None:
    result, model = await climbed(FULL, FULL, GOOD)
    assert (result.failure, result.shrunk, len(model.requests)) == ("context", True, 2)


async def test_input_is_shrunk_once_though_it_could_shrink_further() -> None:
    less = msgspec.structs.replace(questions(short=True), shrunk=lambda: questions(short=True))
    model = ScriptedModel([FULL, "no", FULL, GOOD])
    result = await climb(model, msgspec.structs.replace(questions(), shrunk=lambda: less), read)
    assert (result.failure, len(model.requests)) == ("context", 3)


async def test_a_call_for_shorter_input_counts_among_the_four() -> None:
    result, model = await climbed(FULL, thought(), "no", "no", GOOD)
    assert (result.failure, kinds(model)) == (
        "judge_parse_failed",
        ["schema", "schema short", "schema short", "transcribe"],
    )


async def test_input_that_cannot_shrink_ends_it() -> None:
    model = ScriptedModel([FULL, GOOD])
    result = await climb(model, questions(short=True), read)
    assert (result.failure, result.shrunk, len(model.requests)) == ("context", False, 1)


async def test_shrinking_makes_no_fifth_call() -> None:
    result, model = await climbed(thought(), "no", "no", FULL, GOOD)
    assert (result.failure, len(model.requests)) == ("context", 4)


async def test_reasoning_too_long_to_transcribe_is_left_for_prose() -> None:
    result, model = await climbed(thought(), "no", FULL, GOOD)
    assert (result.rung, result.shrunk) == ("prose", False)
    assert kinds(model) == ["schema", "schema", "transcribe", "prose"]


# --- time and money


Play = Callable[[Request], Awaitable[Reply]]


class SlowModel:
    """A model that does as it is told, and may take its time."""

    def __init__(self, *plays: Play) -> None:
        self.name = "slow/model"
        self.window: int | None = None
        self._plays, self.asked = list(plays), 0

    async def answer(self, request: Request) -> Reply:
        self.asked += 1
        return await self._plays.pop(0)(request)

    def price(self, usage: Usage) -> float | None:
        return (usage.prompt or 0) / 1000 + (usage.output or 0) / 100

    async def close(self) -> None: ...


def at_once(scripted: Scripted, cost: float | None = None) -> Play:
    async def play(request: Request) -> Reply:
        if isinstance(scripted, Exception):
            raise scripted
        reply = scripted if isinstance(scripted, Reply) else make_reply(scripted, request)
        usage = msgspec.structs.replace(reply.call.usage, cost=cost)
        return msgspec.structs.replace(reply, call=msgspec.structs.replace(reply.call, usage=usage))

    return play


async def never(_: Request) -> Reply:
    await asyncio.sleep(3600)
    raise AssertionError("nobody waits for an hour")


def stubborn(seconds: float, then: Scripted = GOOD) -> Play:
    """Goes on for so long after it was cancelled, then answers all the same."""

    async def play(request: Request) -> Reply:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            ends = time.monotonic() + seconds
            while (left := ends - time.monotonic()) > 0:
                try:
                    await asyncio.sleep(left)
                except asyncio.CancelledError:
                    continue
        return await at_once(then, cost=0.25)(request)

    return play


def spent(calls: tuple[Call, ...]) -> float | None:
    return sum((call.usage for call in calls), Usage()).cost


async def test_no_answer_in_time_is_a_failure_that_cost_nothing() -> None:
    started = time.monotonic()
    result = await climb(SlowModel(never), questions(), read, 0.1)
    assert time.monotonic() - started < 1.1
    assert (result.answer, result.failure, spent(result.calls)) == (None, "timeout", 0.0)
    assert result.reason == "slow/model: no answer within 0.1 s"
    assert [(call.usage, call.error) for call in result.calls] == [(Usage(cost=0.0), result.reason)]
    assert [step.stop for step in result.steps] == ["timeout"]


async def test_a_model_that_gives_up_by_itself_cost_nothing_either() -> None:
    result, _ = await climbed(ModelError("m: no answer within 600 s", "timeout"))
    assert (result.failure, spent(result.calls)) == ("timeout", 0.0)


async def test_what_earlier_replies_cost_is_kept() -> None:
    model = SlowModel(at_once("no", 0.5), at_once("no", 0.125), never)
    result = await climb(model, questions(), read, 0.1)
    assert (result.failure, spent(result.calls)) == ("timeout", 0.625)
    assert [call.usage.cost for call in result.calls] == [0.5, 0.125, 0.0]


async def test_the_deadline_is_for_all_rungs_together() -> None:
    async def slow(request: Request) -> Reply:
        await asyncio.sleep(0.08)
        return make_reply("no", request)

    model = SlowModel(*[slow] * 4)
    result = await climb(model, questions(), read, 0.2)
    assert (result.failure, model.asked) == ("timeout", 3)


async def test_a_reply_that_comes_too_late_is_paid_and_not_read() -> None:
    result = await climb(SlowModel(stubborn(0.1)), questions(), read, 0.05)
    assert (result.answer, result.failure, spent(result.calls)) == (None, "timeout", 0.25)
    assert [call.error for call in result.calls] == ["the reply came too late"]


async def test_what_a_call_had_cost_that_failed_too_late_is_kept() -> None:
    lost = ModelError("half a reply", "broken", (Call("m", Usage(cost=0.5), 0.1, error="half a reply"),))
    result = await climb(SlowModel(stubborn(0.1, lost)), questions(), read, 0.05)
    assert (result.failure, spent(result.calls)) == ("timeout", 0.5)


async def test_a_model_that_does_not_end_is_left_behind() -> None:
    started = time.monotonic()
    result = await climb(SlowModel(stubborn(1.5)), questions(), read, 0.05)
    assert time.monotonic() - started < 1.05
    assert (result.failure, spent(result.calls)) == ("timeout", 0.0)


async def test_what_a_model_that_was_left_behind_ends_with_disturbs_nobody() -> None:
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    await climb(SlowModel(stubborn(0.6, ModelError("too late", "broken"))), questions(), read, 0.02)
    await asyncio.sleep(0.2)
    gc.collect()
    assert told == []


async def test_a_bug_that_shows_while_a_call_is_given_up_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        await climb(SlowModel(stubborn(0.02, ZeroDivisionError())), questions(), read, 0.02)


async def test_without_time_no_call_is_made() -> None:
    model = ScriptedModel([GOOD])
    result = await climb(model, questions(), read, 0.0)
    assert (result.failure, model.requests) == ("timeout", [])


async def test_a_slow_reader_and_slow_shrinking_do_not_pass_the_deadline() -> None:
    def slow_read(text: str, prose: bool) -> bool:
        time.sleep(0.4)
        return True

    def slow_shrink() -> Any:
        time.sleep(0.4)
        return questions(short=True)

    result = await climb(SlowModel(at_once(GOOD, 0.5)), questions(), slow_read, 0.1)
    assert (result.answer, result.failure, spent(result.calls)) == (None, "timeout", 0.5)
    full = msgspec.structs.replace(questions(), shrunk=slow_shrink)
    assert (await climb(SlowModel(at_once(FULL)), full, read, 0.1)).failure == "timeout"


async def test_who_gives_up_the_climb_gives_up_the_call() -> None:
    ended = asyncio.Event()

    async def play(_: Request) -> Reply:
        try:
            return await never(_)
        finally:
            ended.set()

    task = asyncio.create_task(climb(SlowModel(play), questions(), read))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_the_budget_is_asked_before_each_rung() -> None:
    slow = SlowModel(*[at_once("no")] * 3)
    estimate = slow.price(Usage(prompt=tokens_of(questions().first), output=8192)) or 0.0
    result = await climb(BudgetedModel(slow, estimate * 1.5), questions(), read)
    assert (result.failure, slow.asked) == ("judge_parse_failed", 3)  # a short answer costs little of what it might
    slow = SlowModel(*[at_once("no " * 20_000)] * 3)
    result = await climb(BudgetedModel(slow, estimate * 1.5), questions(), read)
    assert (result.failure, slow.asked, len(result.calls)) == ("budget", 1, 1)
    assert "of the budget of" in result.reason


# --- whatever it does


faults: st.SearchStrategy[Scripted] = st.one_of(
    st.sampled_from(["", " ", "no", '{"ok": "true"}', GOOD * 2, '{"ok": true, "ok": true}', '{"ok": NaN}', "[" * 5000]),
    st.sampled_from(["length", "missing", "odd", "filtered", "calls"]).map(lambda stop: make_reply(GOOD, stop=stop)),
    st.sampled_from(["length", "missing", "end"]).map(lambda stop: thought(stop=stop)),
    st.just(thought("so it is")),
    st.just([ToolCall("1", "decide", GOOD)]),
    st.sampled_from(["context", "context", "busy", "timeout", "budget", "odd"]).map(lambda kind: ModelError("no", kind)),
)


@settings(max_examples=300, deadline=None)
@given(script=st.lists(faults, max_size=5), price=st.floats(0.0, 400.0))
async def test_no_sequence_of_faults_brings_an_answer_a_fifth_call_or_a_cent_too_much(
    script: list[Scripted], price: float
) -> None:
    slow = SlowModel(*map(at_once, script), *[at_once(GOOD)] * 5)
    model: Model = BudgetedModel(slow, price)
    result = await climb(model, questions(), read, 5.0)
    assert slow.asked <= 4
    assert (result.answer is None) == (result.rung is None) == (result.failure is not None) == bool(result.reason)
    assert result.answer is None or slow.asked == len(script) + 1  # the first good reply, and no other
    assert sum(slow.price(call.usage) or 0.0 for call in result.calls) <= price
    assert len(result.steps) - slow.asked in (0, 1)  # a call that the budget stopped has a step, too
    assert msgspec.json.decode(msgspec.json.encode(result.steps), type=tuple[Step, ...]) == result.steps


waits = st.sampled_from(
    [at_once("no", 0.5), at_once(thought(), 0.5), at_once(FULL), never, stubborn(0.05), stubborn(0.1, "no")]
)


@settings(max_examples=25, deadline=None)
@given(plays=st.lists(waits, min_size=1, max_size=4))
async def test_no_sequence_with_silences_passes_the_deadline(plays: list[Play]) -> None:
    model = SlowModel(*plays, *[never] * 4)
    started = time.monotonic()
    result = await climb(model, questions(), read, 0.05)
    assert time.monotonic() - started < 1.05
    assert result.answer is None
    assert model.asked <= 4
    assert (spent(result.calls) or 0.0) <= 0.5 * sum(play is not never for play in plays[: model.asked])


async def test_a_reader_says_what_is_wrong_in_the_transcript() -> None:
    def strange(text: str, prose: bool) -> bool:
        raise JudgingError(f"\x1b[2J{'x' * 5000}")

    result = await climb(ScriptedModel([GOOD] * 3), questions(), strange)
    (fault,) = result.steps[0].refused
    assert len(fault) <= 500
    assert "\x1b" not in fault
