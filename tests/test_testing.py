"""The shipped stand-ins keep to the ports that they stand in for."""

import pytest

from adjudge.errors import InputError, MachineError, ModelError
from adjudge.ports import Machine, Message, Model, Output, Request
from adjudge.record import Record
from adjudge.testing import (
    FakeMachine,
    ScriptedModel,
    calls,
    looks,
    make_record,
    make_reply,
    make_rubric,
    make_run,
    notes,
    printed,
    says,
    thinks,
    user,
)

ASKED = Request("system", (Message("user", "hello"),))


async def test_a_scripted_model_plays_its_list_and_keeps_the_requests() -> None:
    scripted = ScriptedModel(["hello", looks(("outline", {})), make_reply("cut", stop="length")])
    model: Model = scripted
    replies = [await model.answer(ASKED) for _ in range(3)]
    assert [(reply.text, len(reply.calls), reply.stop) for reply in replies] == [
        ("hello", 0, "end"),
        ("", 1, "calls"),
        ("cut", 0, "length"),
    ]
    assert scripted.requests == [ASKED] * 3


async def test_a_script_that_has_ended_is_a_failure_of_the_model() -> None:
    with pytest.raises(ModelError) as raised:
        await ScriptedModel([]).answer(ASKED)
    assert raised.value.kind == "broken"


async def test_a_scripted_model_can_answer_by_the_request_and_raise() -> None:
    model = ScriptedModel(lambda request: request.system if request.messages else ModelError("no", "timeout"))
    assert (await model.answer(ASKED)).text == "system"
    with pytest.raises(ModelError, match="no"):
        await model.answer(Request("system", ()))


async def test_a_fake_machine_reads_lists_and_searches_its_files() -> None:
    machine: Machine = FakeMachine({"a/b.txt": "one\ntwo\n", "a/c/d.txt": b"\xff", "e": ""})
    part = await machine.read("./a/b.txt", 4, 3)
    assert (part.data, part.offset, part.size) == (b"two", 4, 8)
    items, total = await machine.list("a")
    assert [(item.name, item.kind) for item in items] == [("b.txt", "file"), ("c", "directory")]
    assert total == 2
    found = await machine.search("t.o", "a", regex=True)
    assert [(match.path, match.line, match.text) for match in found.matches] == [("a/b.txt", 2, "two")]
    assert (await machine.search("t.o")).total == 0


@pytest.mark.parametrize("path", ["none", "a", "../a/b.txt", "/etc/passwd"])
async def test_a_fake_machine_refuses_what_it_does_not_hold(path: str) -> None:
    with pytest.raises(InputError, match=path):
        await FakeMachine({"a/b.txt": ""}).read(path)


async def test_a_fake_machine_runs_what_is_written_down_and_nothing_else() -> None:
    machine = FakeMachine(commands={"ls": "a\n", "false": printed("", 1), "pwd": printed})
    outputs = [await machine.run(command) for command in ("ls", "false", "pwd", "rm -rf /")]
    assert [(output.text, output.exit_status) for output in outputs] == [
        ("a\n", 0),
        ("", 1),
        ("pwd", 0),
        ("bash: rm: command not found\n", 127),
    ]
    assert machine.runs == ["ls", "false", "pwd", "rm -rf /"]


async def test_a_fake_machine_without_commands_can_run_none() -> None:
    with pytest.raises(MachineError):
        await FakeMachine().run("ls")


def test_a_made_record_numbers_entries_turns_and_answers_as_importers_do() -> None:
    record = make_record(
        user("Do it."), thinks("Hm."), calls("bash", "ls", result="a", exit_status=0), notes("Be brief."), says("Done.")
    )
    assert [(entry.id, entry.kind, entry.writer, entry.turn) for entry in record.entries] == [
        ("e1", "message", "user", 0),
        ("e2", "reasoning", "agent", 1),
        ("e3", "call", "agent", 2),
        ("e4", "result", "tool", 2),
        ("e5", "event", "harness", 2),
        ("e6", "message", "agent", 3),
    ]
    assert record.entries[2].text == "bash\ncommand: ls"
    assert (record.entries[3].answers, record.entries[3].exit_status, record.final) == ("e3", 0, "e6")
    assert record.tells == {"results", "exit_statuses", "reasoning"}


def test_entries_of_a_made_sub_agent_are_found_in_the_whole_record() -> None:
    child = make_record(says("hello"), prefix="s1.")
    found = make_record(user("Do it."), children=[child]).entry("s1.e1")
    assert found is not None
    assert found.text == "hello"


def test_runs_and_rubrics_with_equal_content_have_equal_ids() -> None:
    assert make_run(task="a").id == make_run(task="a").id != make_run(task="b").id
    assert make_rubric("x").hash == make_rubric("x", name="other").hash != make_rubric("y").hash


def test_an_empty_record_can_be_made() -> None:
    assert make_record() == Record("made", ())


def test_what_a_command_printed_is_counted_in_bytes() -> None:
    assert printed("é") == Output("é", 0, 2, 0.0)
