"""The tables of the page on evidence are what the gate does."""

from __future__ import annotations

import pytest

from adjudge.evidence import Citation, Exhibits, Holding, suffices
from adjudge.evidence.printed import stated_exit_status
from adjudge.rubric import Criterion
from adjudge.testing import calls, make_record

from .pages import DOCS, code, rows, sections

PAGE = sections(DOCS / "reference/evidence.md")

QUOTES = rows(PAGE["When a citation holds"])
STATUSES = rows(PAGE["Exit statuses"])
PROOF = rows(PAGE["What can prove what"])

CRITERIA = {
    "result": Criterion("c1", "`make` builds app.bin.", about="result"),
    "process": Criterion("c1", "The agent ran `make`.", about="process"),
    "answer": Criterion("c1", "The final message names app.bin.", about="answer"),
}


@pytest.mark.parametrize(("quote", "text", "holds"), QUOTES)
def test_each_quote_of_the_page_holds_or_not_as_told(quote: str, text: str, holds: str) -> None:
    record = make_record(calls("bash", "make", result=text.strip("`")))
    holding = Exhibits(record).check(Citation("e2", quote.strip("`")))
    assert (holding.standing is not None) == (holds == "yes")


@pytest.mark.parametrize(("quote", "status"), STATUSES)
def test_each_stated_exit_status_of_the_page_is_one(quote: str, status: str) -> None:
    assert stated_exit_status(code(quote)[0]) == (None if status == "no" else int(status))


def holding(cited: str) -> Holding:
    """The holding that a row of the page speaks of; agents' words are taken from the final message."""
    place = "command" if "machine" in cited else "record"
    standing = code(cited)[0]
    return Holding(Citation("e1", "…"), standing, None, "e1", place, None, standing in ("said", "done"))  # type: ignore[arg-type]  # the page's word


@pytest.mark.parametrize("row", PROOF, ids=lambda row: row[0])
@pytest.mark.parametrize(("column", "kind"), [(1, "result"), (2, "process"), (3, "answer")])
def test_what_can_prove_what_is_as_the_page_says(row: list[str], column: int, kind: str) -> None:
    proven = suffices(CRITERIA[kind], [holding(row[0])]) is None
    assert proven == (row[column] == "yes")


@pytest.mark.parametrize(
    ("kind", "text"),
    [("process", "The agent wrote app.bin."), ("answer", "The agent's report says 3 (out/report.md).")],
)
def test_what_the_page_limits_is_possible_within_its_limits(kind: str, text: str) -> None:
    criterion = Criterion("c1", text, about=kind)  # type: ignore[arg-type]  # one of the four
    assert suffices(criterion, [holding("`observed` on the machine")]) is None


def test_an_account_needs_both_sides() -> None:
    criterion = Criterion("c1", "The number in the final message is what `make` reports.", about="account")
    said, seen = holding("`said`"), holding("`observed` in the record")
    assert suffices(criterion, [said, seen]) is None
    assert suffices(criterion, [said]) is not None
    assert suffices(criterion, [seen]) is not None
