"""Which statements stand: each citation is looked up, each number must stand in what is cited."""

from __future__ import annotations

from typing import Any

import pytest

from adjudge.asking.values import Asking
from adjudge.testing import looks

from .conftest import BAD, GOOD, JUDGMENTS, OTHER, Asks, answers, says_that

COUNTED = looks(("count_runs", {"by": ["agent", "outcome"]}))
RESOLVED = "“codex” · outcome resolved · 1 of 2 runs (50.0 %)"
READ = looks(
    ("read_entries", {"run": BAD.id, "first": "e1", "last": "e4"}), ("read_judgment", {"judgment": JUDGMENTS[1].id})
)


def only_fault(asking: Asking) -> str:
    """What is wrong with the one thing that was said."""
    assert (asking.status, asking.statements, asking.untold) == ("unanswered", (), ())
    (wrong,) = asking.unsupported
    assert wrong.fault is not None
    return wrong.fault


async def refused(asks: Asks, first: Any, statement: dict[str, Any]) -> str:
    """Say something thrice, since it may be mended twice, and give what is wrong with it."""
    return only_fault(await asks(first, *[answers(statement)] * 3))


async def test_a_figure_of_a_look_carries_a_statement(asks: Asks) -> None:
    asking = await asks(COUNTED, answers(says_that("codex resolved 1 of its 2 runs.", ("L1", RESOLVED))))
    assert (asking.status, asking.decided, asking.unsupported) == ("answered", "freely", ())
    (statement,) = asking.statements
    assert statement.text == "codex resolved 1 of its 2 runs."
    assert statement.holdings[0].kind == "look"


@pytest.mark.parametrize(
    ("text", "citation"),
    [
        ("In the unresolved run 3 tests failed.", (f"{BAD.id}/e3", "3 failed")),
        ("The agent says that all is well.", (f"{BAD.id}/e4", "All tests pass.")),
        ("The run was judged to fail at c1.", f"{JUDGMENTS[1].id}/c1"),
        ("The judge gave it a score of 0.", (JUDGMENTS[1].id, "score 0.00")),
        ("The judge notes that 3 tests failed.", (f"{JUDGMENTS[1].id}/c1", "ends with 3 failed")),
        ("One run was not resolved.", (BAD.id, "evaluator")),
    ],
)
async def test_entries_and_verdicts_that_were_read_carry_statements(asks: Asks, text: str, citation: Any) -> None:
    asking = await asks(READ, answers(says_that(text, citation)))
    assert [statement.text for statement in asking.statements] == [text]


async def test_a_run_is_cited_by_its_line(asks: Asks) -> None:
    asking = await asks(looks(("list_runs", {})), answers(says_that("The dearest run cost $0.75.", BAD.id)))
    assert "cost $0.7500" in asking.statements[0].holdings[0].shown


async def test_an_entry_says_who_wrote_it(asks: Asks) -> None:
    asking = await asks(READ, answers(says_that("It says so.", (f"{BAD.id}/e4", "All tests pass."))))
    assert asking.statements[0].holdings[0].what == "message of agent"


async def test_an_invented_run_carries_nothing(asks: Asks) -> None:
    fault = await refused(asks, COUNTED, says_that("The best run is short.", "r-00000000deadbeef"))
    assert fault == "r-00000000deadbeef: r-00000000deadbeef was shown in no look"


async def test_a_stored_run_that_no_look_showed_carries_nothing(asks: Asks) -> None:
    assert "was shown in no look" in await refused(asks, COUNTED, says_that("It did well.", GOOD.id))


async def test_a_stored_entry_that_no_look_showed_carries_nothing(asks: Asks) -> None:
    statement = says_that("All passed.", (f"{OTHER.id}/e3", "11 passed"))
    assert "was shown in no look" in await refused(asks, READ, statement)


async def test_an_invented_quote_carries_nothing(asks: Asks) -> None:
    fault = await refused(asks, READ, says_that("12 tests passed.", (f"{BAD.id}/e3", "12 passed in 0.1s")))
    assert "the quote is not in e3" in fault


async def test_an_invented_figure_carries_nothing(asks: Asks) -> None:
    statement = says_that("codex resolved 2 of 2 runs.", ("L1", "“codex” · outcome resolved · 2 of 2 runs"))
    assert "the quote is not in L1" in await refused(asks, COUNTED, statement)


async def test_an_invented_verdict_carries_nothing(asks: Asks) -> None:
    assert "was shown in no look" in await refused(asks, READ, says_that("c9 failed.", f"{JUDGMENTS[1].id}/c9"))


async def test_an_invented_look_carries_nothing(asks: Asks) -> None:
    assert "there is no look L7; there are L0, L1" in await refused(asks, COUNTED, says_that("So.", ("L7", "runs: 3")))


@pytest.mark.parametrize("exhibit", ["e3", "the second run", "p-1234", "", "r-xyz"])
async def test_what_is_no_exhibit_carries_nothing(asks: Asks, exhibit: str) -> None:
    assert "nothing that can be cited" in await refused(asks, READ, says_that("So it is.", (exhibit, "3 failed")))


@pytest.mark.parametrize("text", ["3 of the runs failed.", "Three runs failed.", "It failed 3 times, or 30 % of the time."])
async def test_a_number_that_no_quote_holds_is_refused(asks: Asks, text: str) -> None:
    assert "in none of its quotes" in await refused(asks, COUNTED, says_that(text, ("L1", RESOLVED)))


async def test_a_share_may_be_said_in_percent(asks: Asks) -> None:
    quote = "“codex=m-1” · 2 of 2 runs judged · 2 tasks · all passed 0.00 · score 0.25"
    compared = looks(("compare_agents", {"rubric": "tests"}))
    asking = await asks(compared, answers(says_that("codex has a mean score of 25 %.", ("L1", quote))))
    assert asking.status == "answered"


async def test_a_statement_may_say_how_many_runs_it_cites(asks: Asks) -> None:
    statement = says_that("2 runs were resolved.", (GOOD.id, "outcome resolved"), (OTHER.id, "outcome resolved"))
    assert (await asks(looks(("list_runs", {})), answers(statement))).status == "answered"


async def test_a_number_in_the_line_of_one_run_is_no_figure_of_another(asks: Asks) -> None:
    statement = says_that("The good run cost $0.75.", (GOOD.id, "cost $0.2500"))
    assert "$0.75" in f"${await refused(asks, looks(('list_runs', {})), statement)}"


async def test_an_id_that_is_not_cited_is_refused(asks: Asks) -> None:
    statement = says_that(f"{BAD.id} is like the others.", (GOOD.id, "outcome resolved"))
    fault = await refused(asks, looks(("read_run", {"run": GOOD.id})), statement)
    assert fault == f"it names {BAD.id}, which it does not cite"


async def test_a_statement_without_a_citation_is_refused(asks: Asks) -> None:
    assert await refused(asks, COUNTED, says_that("codex is the better agent.")) == "it cites nothing"


async def test_one_citation_that_does_not_hold_is_enough_to_refuse(asks: Asks) -> None:
    statement = says_that("codex resolved 1 of 2 runs.", ("L1", RESOLVED), ("L1", "as all can see"))
    assert "L1: the quote is not in L1" in await refused(asks, COUNTED, statement)


async def test_what_stands_is_the_answer_and_what_does_not_is_shown_apart(asks: Asks) -> None:
    good, bad = says_that("codex resolved 1 of 2 runs.", ("L1", RESOLVED)), says_that("gemini cheats.", ("L1", "cheats"))
    asking = await asks(COUNTED, *[answers(good, bad)] * 3)
    assert (asking.status, [s.text for s in asking.statements]) == ("answered", [good["text"]])
    assert [each.text for each in asking.unsupported] == [bad["text"]]


async def test_if_nothing_stands_there_is_no_answer_and_it_says_so(asks: Asks) -> None:
    asking = await asks(COUNTED, *[answers(says_that("codex is great."))] * 3)
    assert (asking.status, asking.statements) == ("unanswered", ())
    assert asking.reason == (
        "No answer that rests on anything: nothing of what the model said could be found again in the store."
    )


async def test_quotation_marks_of_lines_may_be_written_plainly(asks: Asks) -> None:
    asking = await asks(COUNTED, answers(says_that("1 of 2.", ("L1", RESOLVED.replace("“", '"').replace("”", '"')))))
    assert asking.status == "answered"


# --- what the store does not tell


async def test_that_the_store_does_not_tell_is_an_answer_with_its_looks(asks: Asks) -> None:
    search = looks(("search_runs", {"pattern": "vim"}))
    told = {"text": "Which editor was used was not recorded.", "looks": ["L1"]}
    asking = await asks(search, answers(untold=[told]))
    assert (asking.status, asking.untold[0].text, asking.untold[0].looks) == ("answered", told["text"], ("L1",))
    assert asking.looks[1].found == 0


@pytest.mark.parametrize("named", [[], ["L9"], ["L1", "L9"]])
async def test_what_was_not_looked_for_cannot_be_said_to_be_untold(asks: Asks, named: list[str]) -> None:
    untold = answers(untold=[{"text": "Nobody knows.", "looks": named}])
    assert "name the looks in which you looked for it" in only_fault(await asks(COUNTED, *[untold] * 3))


async def test_a_look_that_failed_looked_for_nothing(asks: Asks) -> None:
    failed = looks(("read_run", {"run": "r-0"}))
    untold = answers(untold=[{"text": "Nobody knows.", "looks": ["L1"]}])
    assert "failed" in only_fault(await asks(failed, *[untold] * 3))


async def test_no_figure_slips_in_beside_what_is_untold(asks: Asks) -> None:
    untold = answers(untold=[{"text": "The store does not say why 17 runs failed.", "looks": ["L1"]}])
    assert "17: say a figure in a statement" in only_fault(await asks(COUNTED, *[untold] * 3))


async def test_that_nothing_was_found_is_cited_from_the_search(asks: Asks) -> None:
    search = looks(("search_runs", {"pattern": "pip install"}))
    asking = await asks(
        search, answers(says_that("No run installed anything with pip.", ("L1", 'matches: 0 for "pip install"')))
    )
    assert asking.status == "answered"
