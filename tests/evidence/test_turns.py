"""Turns as exhibits."""

from __future__ import annotations

import pytest

from adjudge.evidence import Citation, Exhibits
from adjudge.evidence.turns import Turns
from adjudge.record import Entry, Record, Turn


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


@pytest.mark.parametrize("quote", ["", "  ", "1", "…"])
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
