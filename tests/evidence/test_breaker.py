"""Ways in which a pass was once had that nothing had earned."""

from __future__ import annotations

import msgspec
import pytest

from adjudge.evidence import Citation, Exhibits, Look, contains
from adjudge.importers.documents import beginning
from adjudge.judges.evaluator.machine_looks import list_directory, search_files
from adjudge.judges.evaluator.record_search import search_record
from adjudge.judges.evaluator.tools import ListDirectory, SearchFiles, SearchRecord
from adjudge.judgment import Answer, gate
from adjudge.ports import Found, Match
from adjudge.record import Unparsed
from adjudge.testing import FakeMachine, calls, make_record, make_rubric, says, user


@pytest.mark.parametrize(
    ("text", "quote", "held"),
    [
        ("10 failed, 1 passed", "0 failed", False),
        ("10 failed, 0 failed", "0 failed", True),
        ("rows: 2400", "rows: 24", False),
        ("rows: 24,000", "rows: 24", False),
        ("rows: 24.", "rows: 24", True),
        ("took 10\n  failed runs", "0 failed runs", False),
        ("10\n  failed runs", "10 failed runs", True),
        ("commit 3fa2b", "commit 3fa2b", True),
        ("Build was unsuccessful", "successful", False),
        ("uninstalled", "installed", False),
        ("the package is un\n  installed now", "un installed", True),
        ("the tests failed", "the tests fail", False),
        ("def slugify(text):", "slugify(text)", True),
        ("all_tests_passed", "tests_passed", True),
        ("すべての検査は合格しましたので", "検査は合格しました", True),
    ],
)
def test_a_quote_cuts_no_number(text: str, quote: str, held: bool) -> None:
    assert contains(text, quote) is held


def test_a_quote_that_ends_within_a_word_is_told_so() -> None:
    holding = Exhibits(make_record(user("x"), calls("bash", "make", "Build was unsuccessful"))).check(
        Citation("e3", "successful")
    )
    assert "within a word" in (holding.fault or "")


def test_an_exit_status_is_not_the_beginning_of_another() -> None:
    look = Look("L1", "run_command", "command", {"command": "x"}, "", ("exit status: 127",), exit_status=127)
    assert Exhibits(make_record(user("x")), [look]).check(Citation("L1", "exit status: 1")).standing is None


@pytest.mark.parametrize("cited", [("e2", "pytest -q"), ("e3", "4 failed, 1 passed")])
def test_a_process_that_asks_for_an_exit_status_needs_it(cited: tuple[str, str]) -> None:
    record = make_record(user("Fix."), calls("bash", "pytest -q", "4 failed, 1 passed", 1), says("Done."))
    rubric = make_rubric("The agent ran `pytest -q` and it exited with status 0.")
    (verdict,), _ = gate(rubric, [Answer("c1", True, "It ran at e2.", (Citation(*cited),))], Exhibits(record))
    assert not verdict.passed


def test_arguments_nested_without_end_are_only_text() -> None:
    record = make_record(user("x"), calls("bash", "x", "all 11 passed"))
    entries = list(record.entries)
    entries[1] = msgspec.structs.replace(entries[1], arguments="[" * 100_000)
    record = msgspec.structs.replace(record, entries=tuple(entries))
    assert Exhibits(record).check(Citation("e3", "all 11 passed")).standing == "observed"


def test_a_beginning_nested_without_end_is_none() -> None:
    assert beginning(b"[" * 65_536) is None


class Hostile(FakeMachine):
    found = Found((Match("zz\nsrc/app.py:7: assert login()\nq", 1, "login"),), 1, 1)

    async def search(self, pattern: str, path: str = ".", regex: bool = False) -> Found:
        return self.found


async def test_a_name_makes_no_line_of_a_search() -> None:
    look = await search_files("L1", Hostile(), SearchFiles("login"))
    assert "\n" not in look.text


async def test_a_name_makes_no_item_of_a_listing() -> None:
    look = await list_directory("L1", FakeMachine({"run.sh | file, 12 bytes, executable": ""}), ListDirectory("."))
    assert look.text.startswith("'run.sh | file")


async def test_files_that_were_not_searched_leave_absence_open() -> None:
    machine = Hostile()
    machine.found = Found((), 0, 2, skipped=1)
    look = await search_files("L1", machine, SearchFiles("eval("))
    assert look.found is None
    assert not any("matches: 0" in fact for fact in look.facts)


RECORD = make_record(user("Fix."), calls("bash", "pytest", "10 failed, 1 passed", 1), says("All 11 passed, status 0."))


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("pytest's summary reports at least 11 passed.", ("e4", "All 11 passed")),
        ("The tests that the agent wrote pass.", ("e2", "pytest")),
        ("After the agent's edits, `pytest` passes.", ("e2", "pytest")),
        ("The agent ran `pytest` and it passed.", ("e2", "pytest")),
        ("The agent ran `pytest` and it succeeded.", ("e4", "All 11 passed")),
    ],
)
def test_neither_own_words_nor_a_bare_call_prove_a_result(text: str, cited: tuple[str, str]) -> None:
    answer = Answer("c1", True, "Seen at 11.", (Citation(*cited),))
    (verdict,), _ = gate(make_rubric(text), [answer], Exhibits(RECORD))
    assert not verdict.passed


@pytest.mark.parametrize(("status", "passed"), [(0, True), (1, False)])
def test_an_account_that_asks_for_an_exit_status_needs_it(status: int, passed: bool) -> None:
    record = make_record(user("Fix."), calls("bash", "pytest", "11 ran", status), says("The tests pass."))
    rubric = make_rubric("The final message says that the tests pass, and that is true: `pytest` exits with status 0.")
    answer = Answer("c1", True, "Both at e3.", (Citation("e4", "The tests pass."), Citation("e3", "11 ran")))
    (verdict,), _ = gate(rubric, [answer], Exhibits(record))
    assert verdict.passed is passed


@pytest.mark.parametrize(("status", "passed"), [(0, True), (1, False), (2, True)])
def test_a_status_that_must_not_be_is_any_other(status: int, passed: bool) -> None:
    look = Look("L1", "run_command", "command", {"command": "x"}, "ran it", (f"exit status: {status}",), exit_status=status)
    answer = Answer("c1", True, "Seen at L1.", (Citation("L1", "ran it"),))
    (verdict,), _ = gate(make_rubric("`x` does not exit with status 1."), [answer], Exhibits(make_record(), [look]))
    assert verdict.passed is passed


@pytest.mark.parametrize(
    ("text", "cited", "passed"),
    [
        ("The final message says that all 11 passed.", ("e2", "All 11 passed"), False),
        ("The final message says that the answer is 42.", ("e6", "the answer is 42"), False),
        ("The final message says that it starts now.", ("e4", "I start now"), True),
    ],
)
def test_a_run_that_ended_with_a_call_has_one_last_message(text: str, cited: tuple[str, str], passed: bool) -> None:
    ending = (says("I start now"), calls("bash", "ls", "a"), calls("bash", "echo the answer is 42"))
    record = make_record(user("x"), says("All 11 passed"), user("Go on."), *ending)
    record = msgspec.structs.replace(record, final=None)
    cited = (next(e.id for e in record.entries if cited[1] in e.text), cited[1])
    (verdict,), _ = gate(make_rubric(text), [Answer("c1", True, "Seen at 11.", (Citation(*cited),))], Exhibits(record))
    assert verdict.passed is passed


@pytest.mark.parametrize("unparsed", [(), (Unparsed("session.jsonl:17", "nested too deeply", 4000),)])
def test_what_could_not_be_read_leaves_absence_open(unparsed: tuple[Unparsed, ...]) -> None:
    record = msgspec.structs.replace(make_record(user("x"), calls("bash", "ls", "a"), says("Done.")), unparsed=unparsed)
    look = search_record("L1", record, SearchRecord("git push"))
    answer = Answer("c1", True, "L1 finds none.", (Citation("L1", look.facts[0]),))
    (verdict,), _ = gate(make_rubric("The agent never ran `git push`."), [answer], Exhibits(record, [look]))
    assert verdict.passed is not bool(unparsed)
