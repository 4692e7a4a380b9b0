"""`adjudge review` on a terminal: keys, what is hidden until one has answered, and what is kept."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from tests.passes.stored import CONDUCT, FILES, SHOWN, a_run, evaluated, read

from adjudge.judgment import Score, Verdict
from adjudge.reviews.values import Review, Said
from adjudge.rubric import RATIO, Dimension, Rubric, hash_of_dimensions
from adjudge.store.reviews import add_review, all_reviews
from adjudge.store.store import open_store

from .conftest import Command
from .terminal import Terminal

NOTE = "The model says\x1b]0;owned\x07 that e2 shows it."
RUN = a_run(1, task="Mend\x1b[2J it.")
JUDGED = evaluated(RUN, True, True, verdicts=(Verdict("tests", True, NOTE, (SHOWN,)),), score=1.0)
READ = read(RUN, Score("loop", 2, "It ran in circles.", (SHOWN,), worse=True))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with open_store(tmp_path / ".adjudge") as store:
        store.add_run(RUN)
        store.add_judgment(JUDGED, FILES)
    return tmp_path


def kept(folder: Path) -> list[Review]:
    with open_store(folder / ".adjudge") as store:
        return list(all_reviews(store))


def review(folder: Path, *words: str, lines: int = 40, columns: int = 110) -> Terminal:
    return Terminal(folder, "review", "--reviewer", "Ada", *words, lines=lines, columns=columns)


def test_blind_the_judges_side_is_hidden_until_ones_own_is_recorded(folder: Path) -> None:
    with review(folder) as terminal:
        before = terminal.see("1 pass  2 fail")
        assert "`make test` exits with 0" in before
        assert "Mend" in before
        terminal.type("2")
        terminal.see("fail. Why?")
        assert "that e2 shows it" not in terminal.raw
        assert "3 passed" not in terminal.raw
        terminal.type("e2 only says so.\n")
        after = terminal.see("This is what the judge said")
        assert "PASS" in after
        assert "you, blind: fail: e2 only says so." in after
        terminal.type("\r")
        assert terminal.end() == 0
        assert "1 review recorded." in terminal.screen
    (one,) = kept(folder)
    assert (one.mode, one.passed, one.reason, one.picked, one.judgment) == (
        "blind",
        False,
        "e2 only says so.",
        "random",
        JUDGED.id,
    )


def test_after_a_blind_answer_the_judge_can_be_approved_or_denied_too(folder: Path) -> None:
    with review(folder) as terminal:
        terminal.see("1 pass  2 fail")
        terminal.type("2")
        terminal.see("Why?")
        terminal.type("I see nothing.\n")
        terminal.see("a approve  x deny")
        terminal.type("a")
        terminal.see("approves. Why?")
        terminal.type("e2 does show it.\n")
        assert terminal.end() == 0
    blind, seen = kept(folder)
    assert (blind.passed, seen.approved, seen.supersedes) == (False, True, blind.id)


def test_seen_the_judges_side_is_there_and_its_citation_opens(folder: Path) -> None:
    with review(folder, "--seen") as terminal:
        terminal.see("a approve  x deny")
        assert "“3 passed”" in terminal.screen
        terminal.type("n")
        terminal.see("citation 1 of 1 · e2")
        terminal.see("It is mended.")
        terminal.type("x")
        terminal.see("denies. Why?")
        terminal.type("e2 does not have it.\n")
        assert terminal.end() == 0
    (one,) = kept(folder)
    assert (one.mode, one.approved) == ("seen", False)


def test_nothing_of_what_is_judged_reaches_the_terminal_as_it_is(folder: Path) -> None:
    with review(folder, "--seen") as terminal:
        terminal.see("The model says<U+001B>]0;owned<U+0007> that")
        terminal.type("t")
        terminal.see("Mend<U+001B>[2J it.")
        terminal.type("q")
        assert terminal.end() == 0
        assert "\x1b]0;" not in terminal.raw


def test_without_a_reason_nothing_is_recorded_and_a_skipped_item_stays_open(folder: Path) -> None:
    with review(folder) as terminal:
        terminal.see("1 pass  2 fail")
        terminal.type("1")
        terminal.see("pass. Why?")
        terminal.type("\n")
        terminal.see("Taken back")
        terminal.type("s")
        assert terminal.end() == 0
        assert "0 reviews recorded." in terminal.screen
    assert kept(folder) == []


def test_ctrl_c_leaves_and_what_was_recorded_stays(folder: Path) -> None:
    with review(folder) as terminal:
        terminal.see("1 pass  2 fail")
        terminal.type("1")
        terminal.see("Why?")
        terminal.type("e2 says so.\n")
        terminal.see("Recorded.")
        terminal.type("\x03")
        assert terminal.end() == 130
    assert len(kept(folder)) == 1


def test_the_record_is_leafed_through_and_searched(folder: Path) -> None:
    with review(folder) as terminal:
        terminal.see("── the task")
        terminal.type("n")
        terminal.see("── entry 1 of 2 · e1")
        terminal.type("]")
        terminal.see("── entry 2 of 2 · e2")
        terminal.type("n")
        terminal.see("The record ends here.")
        terminal.type("[")
        terminal.see("── entry 1 of 2 · e1")
        terminal.type("/")
        terminal.see("Search the record:")
        terminal.type("MENDED\n")
        terminal.see("── entry 2 of 2 · e2")
        terminal.type("o")
        terminal.see("Exhibit:")
        terminal.type("e9\n")
        terminal.see("There is no exhibit e9 to be seen.")
        terminal.type("?")
        terminal.see("── keys")
        terminal.type("q")
        assert terminal.end() == 0


def test_a_long_exhibit_is_paged_on_a_small_terminal(tmp_path: Path) -> None:
    run = a_run(2, task="\n".join(f"line {number}" for number in range(1, 100)))
    with open_store(tmp_path / ".adjudge") as store:
        store.add_run(run)
        store.add_judgment(evaluated(run, True, True), FILES)
    with review(tmp_path, lines=16, columns=60) as terminal:
        terminal.see("lines 1 to 9 of 101")
        assert "line 10\n" not in terminal.screen
        terminal.type(" ")
        terminal.see("lines 9 to 17 of 101")
        terminal.see("line 9\n")
        terminal.type("b")
        terminal.see("lines 1 to 9 of 101")
        terminal.type("q")
        assert terminal.end() == 0


def test_a_severity_is_one_key(tmp_path: Path) -> None:
    with open_store(tmp_path / ".adjudge") as store:
        store.add_run(RUN)
        store.add_judgment(READ, CONDUCT)
    with review(tmp_path) as terminal:
        terminal.see("0 to 3 value")
        terminal.type("4")
        terminal.type("3")
        terminal.see("blind: 3. Why?")
        terminal.type("Twice the same.\n")
        terminal.see("2  worse than blameless")
        terminal.type("q")
        assert terminal.end() == 0
    assert [each.value for each in kept(tmp_path)] == [3]


def test_a_ratio_is_typed(tmp_path: Path) -> None:
    dimensions = (Dimension("tool_efficiency", RATIO, 1, "lower", "The share of useful calls."),)
    rubric = Rubric("tools", (), hash_of_dimensions(dimensions, "1"), "tools.yaml", dimensions, "1")
    reading = read(RUN, Score("tool_efficiency", 0.8, "One of five told nothing new.", (SHOWN,), worse=True))
    with open_store(tmp_path / ".adjudge") as store:
        store.add_run(RUN)
        store.add_judgment(msgspec.structs.replace(reading, rubric="tools", rubric_hash=rubric.hash), rubric)
    with review(tmp_path) as terminal:
        terminal.see("v value")
        terminal.type("v")
        terminal.see("Value from 0 to 1:")
        terminal.type("much\n")
        terminal.see("That is no number.")
        terminal.type("v")
        terminal.see("Value from 0 to 1:")
        terminal.type("1.5\n")
        terminal.see("Why?")
        terminal.type("It is so.\n")
        terminal.see("must be a number from 0 to 1")
        terminal.type("v")
        terminal.see("Value from 0 to 1:")
        terminal.type("0.75\n")
        terminal.see("Why?")
        terminal.type("One of four was for nothing.\n")
        terminal.see("Recorded.")
        terminal.type("q")
        assert terminal.end() == 0
    assert [each.value for each in kept(tmp_path)] == [0.75]


def test_what_a_reviewer_has_reviewed_does_not_come_again(folder: Path) -> None:
    with open_store(folder / ".adjudge") as store:
        add_review(store, Said(JUDGED.id, "tests", "Ada", "seen", "e2 says so.", approved=True))
    with review(folder) as terminal:
        assert terminal.end() == 0
        assert "Nothing is left to review" in terminal.screen


def test_off_a_terminal_the_screen_is_refused(adjudge: Command, folder: Path) -> None:
    ended = adjudge("review", "--store", folder / ".adjudge")
    assert ended.status == 2
    assert "needs a terminal" in ended.err
    assert json.loads(adjudge("review", "queue", "--store", folder / ".adjudge", "--json").out)[0]["item"] == "tests"
