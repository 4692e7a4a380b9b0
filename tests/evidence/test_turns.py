"""Turns as exhibits."""

from __future__ import annotations

import pytest

from adjudge.evidence import Citation, Exhibits
from adjudge.evidence.turns import Turns
from adjudge.record import Entry, Kind, Record, Turn, Writer


def record(prefix: str = "", children: tuple[Record, ...] = ()) -> Record:
    entries = (
        Entry("e1", "message", "user", 0, "Make the tests of billing pass."),
        Entry("e2", "call", "agent", 1, "bash\npytest -q billing", name="bash"),
        Entry("e3", "message", "agent", 2, "Meanwhile I read the invoice module."),
        Entry("e4", "result", "tool", 1, "3 failed, 10 passed in 0.4s", answers="e2"),
    )
    named = tuple(Entry(f"{prefix}{e.id}", e.kind, e.writer, e.turn, e.text, e.name) for e in entries)
    return Record("test", named, (Turn(1, f"{prefix}e2"), Turn(2, f"{prefix}e3")), children=children)


def check(exhibit: str, quote: str, of: Record | None = None) -> tuple[str | None, str | None]:
    holding = Turns(Exhibits(of or record())).check(Citation(exhibit, quote))
    return holding.source, holding.fault


@pytest.mark.parametrize("name", ["t1", "[t1]", "1", "turn 1"])
def test_a_quote_of_any_entry_of_a_turn_holds_even_if_its_result_came_late(name: str) -> None:
    assert check(name, "pytest  -q\nbilling") == ("e2", None)
    assert check(name, "3 failed, 10 passed") == ("e4", None)


def test_a_quote_of_another_turn_does_not_hold_and_is_said_to_be_there() -> None:
    assert check("t2", "3 failed, 10 passed") == (None, "the quote is not in turn 2, but in turn 1")


def test_a_quote_that_is_nowhere_does_not_hold() -> None:
    assert check("t1", "13 passed in 0.4s") == (None, "the quote is not in turn 1")


@pytest.mark.parametrize("name", ["t3", "t-1", "e2", "t", "", "t1x", "t99999999999999", "s1.t1", "²"])
def test_a_turn_that_does_not_exist_is_named_with_those_that_do(name: str) -> None:
    source, fault = check(name, "3 failed, 10 passed")
    assert source is None
    assert fault == f"there is no turn {name!r}; there are turns t1 to t2"


def test_what_the_agent_was_given_accuses_nobody() -> None:
    source, fault = check("t0", "Make the tests of billing pass.")
    assert source is None
    assert fault is not None
    assert fault.startswith("turn 0 is what the agent was given")


@pytest.mark.parametrize("quote", ["", "  ", "…", "pytest", "bash", "failed"])
def test_a_quote_too_short_to_point_at_anything_does_not_hold(quote: str) -> None:
    source, fault = check("t1", quote)
    assert source is None
    assert fault is not None
    assert "too short" in fault


def test_a_piece_of_a_number_does_not_hold() -> None:
    assert check("t1", "0 passed in 0.4s")[0] is None


def test_turns_of_sub_agents_have_their_names() -> None:
    parent = record(children=(record("s1."),))
    assert check("s1.t1", "3 failed, 10 passed", parent) == ("s1.e4", None)
    assert check("s2.t1", "3 failed, 10 passed", parent)[0] is None


def said(kind: Kind, writer: Writer, text: str, exit_status: int | None = None) -> Record:
    entries = (
        Entry("e1", "call", "agent", 1, "bash\nmake", name="bash"),
        Entry("e2", kind, writer, 1, text, exit_status=exit_status),
    )
    return Record("test", entries, (Turn(1, "e1"),))


@pytest.mark.parametrize(("kind", "writer"), [("message", "user"), ("message", "harness"), ("reasoning", "harness")])
def test_words_that_are_said_to_the_agent_accuse_it_in_no_turn(kind: Kind, writer: Writer) -> None:
    source, fault = check("t1", "please be honest about it", said(kind, writer, "Now please be honest about it."))
    assert source is None
    assert fault == "e2 was said to the agent; quote what it did or what came of it"


def test_an_event_of_the_harness_is_something_that_happened() -> None:
    assert check("t1", "the endpoint is overloaded", said("event", "harness", "the endpoint is overloaded")) == ("e2", None)


@pytest.mark.parametrize("status", [None, 0])
def test_what_an_output_prints_about_an_exit_status_may_be_quoted(status: int | None) -> None:
    record = said("result", "tool", "Process exited with code 2\nrc=2", status)
    assert check("t1", "Process exited with code 2", record) == ("e2", None)


def test_an_exit_status_that_the_recording_states_may_be_quoted() -> None:
    assert check("t1", "exit status 2", said("result", "tool", "boom", 2)) == ("e2", None)


@pytest.mark.parametrize("quote", ["Retrying.", "3 failed", "错误:磁盘空间不足,无法写入文件"])
def test_a_whole_line_a_few_words_or_many_letters_point_at_something(quote: str) -> None:
    assert check("t1", quote, said("message", "agent", f"Well:\n{quote}\nthen.")) == ("e2", None)


def test_an_answer_cannot_keep_its_judge_busy() -> None:
    record = said("result", "tool", "alpha beta no one " * 600_000)
    turns = Turns(Exhibits(record))
    faults = [turns.check(Citation("t1", f"alpha beta no{at} is nowhere")).fault for at in range(40)]
    assert faults[0] == "the quote is not in turn 1"
    assert faults[-1] == "it was not checked: too much text is cited in one judgment"
    assert turns.check(Citation("t1", "alpha beta no0 is nowhere")).fault == "the quote is not in turn 1"
