"""The evaluator's conversation: its bounds, and what becomes of a model that does not keep to them."""

import json
from typing import Any

import pytest

from adjudge.errors import ModelError
from adjudge.evidence import Citation
from adjudge.judges.evaluator.judge import Evaluator
from adjudge.judges.evaluator.loop import Progress
from adjudge.judgment import Judgment
from adjudge.ports import Request, ToolCall
from adjudge.record import Record
from adjudge.settings import Settings
from adjudge.testing import (
    FakeMachine,
    Scripted,
    ScriptedModel,
    calls,
    decides,
    decision,
    looks,
    make_record,
    make_reply,
    make_rubric,
    make_run,
    printed,
    says,
    user,
    verdict,
)

RECORD = make_record(user("Fix it."), calls("bash", "pytest", result="3 passed", exit_status=0), says("All is well."))
RUBRIC = make_rubric("`pytest` passes")
PROVEN = verdict("c1", True, ("e3", "3 passed"))
CLAIMED = verdict("c1", True, ("e4", "All is well."))
OPEN = ("open_entry", {"entry": "e3"})


async def judge(
    model: ScriptedModel, settings: Settings | None = None, machine: FakeMachine | None = None, record: Record = RECORD
) -> Judgment:
    return await Evaluator(model, settings).judge(make_run(record), RUBRIC, machine)


def told(request: Request) -> str:
    """The last message of a request."""
    return request.messages[-1].text


async def test_a_proven_pass_is_a_pass_with_its_citation() -> None:
    judgment = await judge(ScriptedModel([looks(OPEN), decides(PROVEN, summary="It ran pytest.")]))
    assert (judgment.status, judgment.decided, judgment.score) == ("judged", "freely", 1.0)
    assert judgment.verdicts[0].holdings[0].citation == Citation("e3", "3 passed")
    assert judgment.summary == "It ran pytest."


async def test_after_forty_looks_the_tools_are_withdrawn_and_a_decision_is_forced() -> None:
    def play(request: Request) -> Scripted:
        return json.dumps(decision(PROVEN)) if request.choice == "none" else looks(OPEN, OPEN, OPEN)

    model = ScriptedModel(play)
    judgment = await judge(model)
    assert (len(judgment.looks), judgment.decided, judgment.score) == (40, "forced", 1.0)
    assert [request.choice for request in model.requests] == ["auto"] * 14 + ["none"]
    assert model.requests[-1].schema is not None
    assert "c1: `pytest` passes" in told(model.requests[-1])


async def test_the_number_of_looks_is_a_setting() -> None:
    model = ScriptedModel(lambda request: json.dumps(decision()) if request.choice == "none" else looks(OPEN))
    assert len((await judge(model, Settings(looks=3))).looks) == 3


async def test_what_was_not_established_when_looks_are_used_up_fails_with_a_note() -> None:
    unproven = verdict("c1", False, note="No run of pytest was found.", cause="unproven")
    model = ScriptedModel(lambda request: json.dumps(decision(unproven)) if request.choice == "none" else looks(OPEN))
    judgment = await judge(model, Settings(looks=1))
    assert (judgment.score, judgment.verdicts[0].cause, judgment.decided) == (0.0, "unproven", "forced")


async def test_the_conversation_only_grows_and_its_tools_and_system_text_never_change() -> None:
    model = ScriptedModel(lambda request: json.dumps(decision(PROVEN)) if request.choice == "none" else looks(OPEN, OPEN))
    await judge(model)
    for earlier, later in zip(model.requests, model.requests[1:], strict=False):
        assert later.messages[: len(earlier.messages)] == earlier.messages
        assert (later.system, later.tools) == (earlier.system, earlier.tools)


async def test_what_all_judgments_with_a_rubric_share_comes_before_what_differs() -> None:
    first, second = ScriptedModel([decides(PROVEN)]), ScriptedModel([decides(PROVEN)])
    await judge(first)
    await judge(second)
    one, two = first.requests[0].messages[0].text, second.requests[0].messages[0].text
    assert one != two
    assert first.requests[0].system == second.requests[0].system
    assert one.split("# The run")[0] == two.split("# The run")[0]


MISBEHAVIOUR: dict[str, Any] = {
    "looks for ever, though the tools are withdrawn": lambda _: looks(OPEN),
    "answers in prose": lambda _: "I would say that it passes.",
    "answers with nothing": lambda _: "",
    "names tools that do not exist": lambda _: looks(("multi_tool_use.parallel", {"tool_uses": []})),
    "sends arguments that are not JSON": lambda _: looks(("open_entry", '{"entry": "e3"')),
    "sends a list for arguments": lambda _: looks(("open_entry", "[]")),
    "sends arguments of the wrong kind": lambda _: looks(("open_entry", {"entry": 3})),
    "sends arguments nobody asked for": lambda _: looks(("open_entry", {"entry": "e3", "verdict": "pass"})),
    "sends endless nesting": lambda _: looks(("open_entry", "[" * 100_000)),
    "decides with broken arguments": lambda _: looks(("decide", '{"verdicts": [')),
    "decides beside other calls": lambda _: [*looks(OPEN), ToolCall("d", "decide", json.dumps(decision(PROVEN)))],
    "decides twice at once": lambda _: [ToolCall(name, "decide", json.dumps(decision(PROVEN))) for name in "ab"],
    "gives two objects": lambda _: json.dumps(decision(PROVEN)) * 2,
    "gives an object and then a comment": lambda _: json.dumps(decision(PROVEN)) + "\nThat is all.",
    "says things twice": lambda _: '{"verdicts": [], "verdicts": [], "summary": ""}',
    "says pass in other words": lambda _: json.dumps(decision({**PROVEN, "verdict": "PASSED"})),
    "says true for pass": lambda _: json.dumps(decision({**PROVEN, "verdict": True})),
    "leaves the summary out": lambda _: json.dumps({"verdicts": [PROVEN]}),
    "answers with NaN": lambda _: '{"verdicts": NaN, "summary": ""}',
    "is cut off": lambda _: make_reply(decides(PROVEN), stop="length"),
    "stops for a reason nobody knows": lambda _: make_reply(json.dumps(decision(PROVEN)), stop="model_length"),
    "stops without a reason": lambda _: make_reply(json.dumps(decision(PROVEN)), stop=""),
    "refuses": lambda _: make_reply("I cannot help with that.", stop="filtered"),
    "goes silent": lambda _: ModelError("no answer within 600 s", "timeout"),
    "is down": lambda _: ModelError("502", "broken"),
    "has no credit": lambda _: ModelError("402", "refused"),
    "would pass the budget": lambda _: ModelError("the call would cost 1 USD", "budget"),
    "finds the first message too long": lambda _: ModelError("too long", "context"),
}


@pytest.mark.parametrize("play", MISBEHAVIOUR.values(), ids=MISBEHAVIOUR.keys())
async def test_a_model_that_never_decides_ends_as_a_row_that_says_so(play: Any) -> None:
    model = ScriptedModel(play)
    judgment = await judge(model)
    assert (judgment.status, judgment.score, judgment.verdicts) == ("errored", None, ())
    assert judgment.reason
    assert judgment.decided is None
    assert len(model.requests) <= 45
    assert len(judgment.steps) == len(model.requests)


@pytest.mark.parametrize(
    ("kind", "words"), [("timeout", "in time"), ("budget", "budget"), ("context", "too long"), ("filtered", "refused")]
)
async def test_the_reason_names_what_went_wrong(kind: str, words: str) -> None:
    judgment = await judge(ScriptedModel([ModelError("details", kind)]))
    assert judgment.reason is not None
    assert words in judgment.reason
    assert "details" in judgment.reason
    assert judgment.failure == kind


async def test_a_failure_of_no_known_sort_is_a_broken_one() -> None:
    assert (await judge(ScriptedModel([ModelError("new", "unheard of")]))).failure == "broken"


async def test_what_was_judged_has_no_failure_and_what_was_not_decided_has_one() -> None:
    assert (await judge(ScriptedModel([decides(PROVEN)]))).failure is None
    assert (await judge(ScriptedModel(lambda _: "I cannot decide."))).failure == "judge_parse_failed"


async def test_twenty_refused_calls_force_a_decision() -> None:
    model = ScriptedModel(lambda request: json.dumps(decision(PROVEN)) if request.choice == "none" else looks(("nope", {})))
    judgment = await judge(model)
    assert (judgment.decided, len(model.requests), len(judgment.looks)) == ("forced", 21, 0)


async def test_two_answers_in_prose_force_a_decision() -> None:
    model = ScriptedModel(["It passes.", "It passes!", json.dumps(decision(PROVEN))])
    judgment = await judge(model)
    assert (judgment.decided, judgment.score) == ("forced", 1.0)
    assert "cannot be used" in told(model.requests[1])


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "```\n{}\n```", " {}\n"])
async def test_a_decision_as_json_text_is_taken_alone_or_in_one_fence(fence: str) -> None:
    answer = json.dumps(decision({**PROVEN, "note": "It printed ```3 passed```."}))
    assert (await judge(ScriptedModel([fence.replace("{}", answer)]))).score == 1.0


async def test_an_unknown_tool_is_answered_with_the_names_of_those_that_exist() -> None:
    model = ScriptedModel([looks(("read_mail", {})), decides(PROVEN)])
    judgment = await judge(model)
    assert "outline, search_record, open_entry, decide" in told(model.requests[1])
    assert judgment.steps[0].refused
    assert judgment.looks == ()


async def test_broken_arguments_are_answered_with_what_the_tool_takes_and_a_bounded_preview() -> None:
    model = ScriptedModel([looks(("open_entry", '{"entry": ' + "x" * 5000)), decides(PROVEN)])
    await judge(model)
    assert "It takes: entry, offset?" in told(model.requests[1])
    assert len(told(model.requests[1])) < 1000


async def test_calls_beyond_the_last_look_are_refused_one_by_one() -> None:
    model = ScriptedModel([looks(OPEN, OPEN, OPEN), json.dumps(decision(PROVEN))])
    judgment = await judge(model, Settings(looks=2))
    assert [look.id for look in judgment.looks] == ["L1", "L2"]
    assert len(judgment.steps[0].refused) == 1
    answered = [message for message in model.requests[1].messages if message.role == "tool"]
    assert [message.answers for message in answered] == ["call-0", "call-1", "call-2"]


async def test_calls_with_one_id_get_one_answer_and_only_the_first_is_carried_out() -> None:
    doubled = [ToolCall("x", "open_entry", '{"entry": "e3"}'), ToolCall("x", "open_entry", '{"entry": "e4"}')]
    model = ScriptedModel([doubled, decides(PROVEN)])
    judgment = await judge(model)
    answered = [message for message in model.requests[1].messages if message.role == "tool"]
    assert ([look.shows for look in judgment.looks], len(answered)) == ([("e3",)], 1)
    assert "same id" in answered[0].text


async def test_a_reply_that_is_cut_off_is_asked_for_again_with_more_room() -> None:
    model = ScriptedModel([make_reply("{", stop="length"), decides(PROVEN)])
    judgment = await judge(model)
    assert judgment.score == 1.0
    first, second = model.requests
    assert second.most == 2 * first.most
    assert second.messages == first.messages


async def test_commands_run_in_their_order_beside_other_looks() -> None:
    machine = FakeMachine({"a": "x"}, printed)
    asked = looks(("run_command", {"command": "1"}), OPEN, ("run_command", {"command": "2"}), ("read_file", {"path": "a"}))
    judgment = await judge(ScriptedModel([asked, decides(PROVEN)]), machine=machine)
    assert machine.runs == ["1", "2"]
    assert [look.tool for look in judgment.looks] == ["run_command", "open_entry", "run_command", "read_file"]


async def test_faults_are_told_once_and_can_be_mended_with_further_looks() -> None:
    model = ScriptedModel([decides(CLAIMED), looks(OPEN), decides(PROVEN)])
    judgment = await judge(model)
    assert (judgment.score, judgment.decided) == (1.0, "freely")
    assert "only the agent's own words" in told(model.requests[1])
    assert model.requests[1].messages[-1].answers == "call-0"


async def test_the_second_time_faults_are_final_and_the_models_own_answer_is_kept() -> None:
    model = ScriptedModel([decides(CLAIMED), decides(CLAIMED), decides(PROVEN)])
    judgment = await judge(model)
    found = judgment.verdicts[0]
    assert (found.passed, found.cause, len(model.requests)) == (False, "evidence", 2)
    assert found.answer is not None
    assert found.answer.passed


async def test_a_model_that_does_not_mend_keeps_the_verdicts_of_its_decision() -> None:
    model = ScriptedModel(lambda request: decides(CLAIMED) if len(request.messages) == 1 else "I have decided.")
    judgment = await judge(model)
    assert (judgment.status, judgment.score, judgment.verdicts[0].cause) == ("judged", 0.0, "evidence")


async def test_a_mended_decision_may_name_only_what_was_faulty() -> None:
    rubric = make_rubric("`pytest` passes", "It exits with status 0")
    model = ScriptedModel([decides(CLAIMED, verdict("c2", True, ("e3", "exit status: 0"))), decides(PROVEN)])
    judgment = await Evaluator(model).judge(make_run(RECORD), rubric, None)
    assert [found.passed for found in judgment.verdicts] == [True, True]


async def test_a_forced_decision_can_be_mended_too() -> None:
    answers = iter([CLAIMED, PROVEN])
    model = ScriptedModel(lambda request: json.dumps(decision(next(answers))) if request.choice == "none" else looks(OPEN))
    judgment = await judge(model, Settings(looks=1))
    assert (judgment.score, judgment.decided) == (1.0, "forced")


async def test_a_skipped_criterion_fails_and_counts() -> None:
    rubric = make_rubric("`pytest` passes", "It exits with status 0")
    model = ScriptedModel([decides(PROVEN), decides(PROVEN)])
    judgment = await Evaluator(model).judge(make_run(RECORD), rubric, None)
    assert [(found.passed, found.cause) for found in judgment.verdicts] == [(True, None), (False, "skipped")]
    assert judgment.score == 0.5


async def test_a_failed_look_counts_as_a_look_and_proves_nothing() -> None:
    asked = looks(("open_entry", {"entry": "e99"}), ("run_command", {"command": "ls"}), ("read_file", {"path": "../x"}))
    forged = verdict("c1", True, ("L1", "failed"), ("L2", "no command can be run"))
    model = ScriptedModel([asked, decides(forged), decides(forged)])
    judgment = await judge(model, machine=FakeMachine())
    assert [look.failed for look in judgment.looks] == [True, True, True]
    assert judgment.score == 0.0


async def test_without_a_machine_its_tools_are_not_offered_and_the_model_is_told() -> None:
    model = ScriptedModel([decides(PROVEN)])
    await judge(model)
    assert [tool.name for tool in model.requests[0].tools] == ["outline", "search_record", "open_entry", "decide"]
    assert "There is no machine" in told(model.requests[0])


async def test_a_conversation_near_the_end_of_the_models_window_is_brought_to_a_decision() -> None:
    long = make_record(user("Fix it."), calls("bash", "pytest", result="3 passed " * 1500, exit_status=0))
    play = ScriptedModel(
        lambda request: (
            json.dumps(decision(PROVEN)) if request.choice == "none" else looks(("open_entry", {"entry": "e3"}))
        ),
        window=16_000,
    )
    judgment = await judge(play, record=long)
    assert judgment.decided == "forced"
    assert 0 < len(judgment.looks) < 10


async def test_looks_that_no_longer_fit_are_left_out_and_a_decision_is_forced() -> None:
    def play(request: Request) -> Scripted:
        if request.choice == "none":
            return json.dumps(decision(PROVEN))
        return looks(OPEN) if len(request.messages) == 1 else ModelError("maximum context length", "context")

    model = ScriptedModel(play)
    judgment = await judge(model)
    assert (judgment.decided, judgment.score) == ("forced", 1.0)
    assert "no room" in model.requests[-1].messages[2].text


async def test_what_calls_cost_is_kept_even_if_they_brought_nothing() -> None:
    billed = make_reply("x").call
    judgment = await judge(ScriptedModel([looks(OPEN), ModelError("half a reply", "broken", (billed,))]))
    assert (judgment.status, len(judgment.calls)) == ("errored", 2)


async def test_the_transcript_holds_what_was_told_said_looked_at_and_refused() -> None:
    model = ScriptedModel([looks(OPEN, ("nope", {})), decides(PROVEN)])
    judgment = await judge(model)
    first, second = judgment.steps
    assert "You are the evaluator" in first.told
    assert first.calls[0] == 'open_entry {"entry": "e3"}'
    assert (first.looks, len(first.refused), first.stop) == (("L1",), 1, "calls")
    assert "3 passed" in second.told


async def test_a_reply_with_nothing_in_it_is_asked_for_again_as_if_it_had_not_come() -> None:
    model = ScriptedModel(["", decides(PROVEN)])
    judgment = await judge(model)
    assert (judgment.score, judgment.decided) == (1.0, "freely")
    assert model.requests[0] == model.requests[1]
    assert [step.said for step in judgment.steps] == ["", ""]
    assert len(judgment.calls) == 2


async def test_progress_is_reported_with_every_question_and_look() -> None:
    seen: list[Progress] = []
    model = ScriptedModel([looks(OPEN), decides(PROVEN)])
    await Evaluator(model, on_progress=seen.append).judge(make_run(RECORD), RUBRIC, None)
    assert [(one.step, one.used, one.look and one.look.id) for one in seen] == [(1, 0, None), (1, 1, "L1"), (2, 1, None)]
    look = seen[1].look
    assert look is not None
    assert (look.tool, look.arguments["entry"], "3 passed" in look.text) == ("open_entry", "e3", True)
