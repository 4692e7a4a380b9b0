"""`adjudge review queue`, `add`, `agreement` and `export`, as they are typed."""

from __future__ import annotations

import getpass
import json
from pathlib import Path
from typing import Any

import pytest
from tests.passes.stored import CONDUCT, EVALUATOR, FILES, READER, SHOWN, a_run, add_pass, evaluated, read

from adjudge.judgment import Score
from adjudge.reviews.values import Said
from adjudge.store.reviews import add_review
from adjudge.store.store import open_store

from .conftest import Command, Ended


def run_of(number: int) -> Any:
    return a_run(number, ("codex", "open\x1b[2Jcode")[number % 2])


def verdicts(number: int) -> str:
    return evaluated(run_of(number)).id


@pytest.fixture
def judged(adjudge: Command) -> str:
    """A pass over twenty runs, of which the even ones pass `tests`; gives its id."""
    runs = [run_of(number) for number in range(20)]
    judgments = [evaluated(run, number % 2 == 0, True) for number, run in enumerate(runs)]
    with open_store(Path(".adjudge")) as store:
        return add_pass(store, FILES, EVALUATOR, runs, judgments)


def add(adjudge: Command, number: int, *words: str, item: str = "tests", reviewer: str = "Ada") -> Ended:
    return adjudge(
        "review", "add", verdicts(number), item, "--reviewer", reviewer, "--reason", "e2\x1b[2J says so.", *words
    )


def test_the_queue_names_what_comes_next_and_nothing_that_the_judge_said(adjudge: Command, judged: str) -> None:
    ended = adjudge("review", "queue", "--item", "tests", "--pass", judged, "-n", "3")
    heading, *rows = ended.out.splitlines()
    assert heading.split() == ["judgment", "item", "rubric", "harness", "model", "apart", "doubts", "run"]
    assert len(rows) == 3
    assert "\x1b" not in ended.out
    assert not any(word in ended.out for word in ("pass", "fail", "Seen."))


def test_what_one_reviewed_is_queued_for_others_only(adjudge: Command, judged: str) -> None:
    assert add(adjudge, 3, "--approve").status == 0
    mine, others = (
        json.loads(adjudge("review", "queue", "--json", "-n", "100", "--reviewer", name).out) for name in ("Ada", "Bea")
    )
    assert (len(mine), len(others)) == (39, 40)


def test_an_empty_queue_says_why(adjudge: Command, judged: str) -> None:
    assert "that has any disagreement" in adjudge("review", "queue", "--order", "disagreement").err
    assert "Nothing is left" in adjudge("review", "queue", "--item", "speed").err


def test_a_review_that_is_added_is_exported_as_it_may_be_shown(adjudge: Command, judged: str) -> None:
    identifier = add(adjudge, 0, "--deny").out.strip()
    (line,) = adjudge("review", "export").out.splitlines()
    told = json.loads(line)
    assert (told["id"], told["approved"], told["mode"], told["reviewer"]) == (identifier, False, "seen", "Ada")
    assert told["reason"] == "e2<U+001B>[2J says so."


def test_reviews_are_exported_into_a_file_those_of_some_judgments_too(adjudge: Command, judged: str) -> None:
    add(adjudge, 0, "--deny")
    add(adjudge, 2, "--pass", item="notes")
    assert "reviews.jsonl: 1 review" in adjudge("review", "export", verdicts(2), "-o", "reviews.jsonl").err
    assert json.loads(Path("reviews.jsonl").read_text("utf-8"))["passed"] is True


def test_a_second_review_needs_supersede(adjudge: Command, judged: str) -> None:
    add(adjudge, 0, "--fail")
    refused = add(adjudge, 0, "--approve")
    assert (refused.status, "say that this one supersedes it" in refused.err) == (2, True)
    assert add(adjudge, 0, "--approve", "--supersede").status == 0
    assert len(adjudge("review", "export").out.splitlines()) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "needs exactly one of"),
        (("--approve", "--pass"), "needs exactly one of"),
        (("--value", "2"), "pass or fail"),
        (("--approve", "--reviewer", " "), "must be a name"),
    ],
)
def test_what_cannot_be_a_review_is_refused(adjudge: Command, judged: str, words: tuple[str, ...], message: str) -> None:
    ended = add(adjudge, 0, *words)
    assert (ended.status, message in ended.err) == (2, True)


def test_the_reviewer_is_the_settings_or_the_logins(adjudge: Command, judged: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("review", "add", verdicts(0), "tests", "--approve", "--reason", "e2 says so.", "--json")
    monkeypatch.setenv("LOGNAME", "cyd")
    assert json.loads(adjudge(*words).out)["reviewer"] == getpass.getuser() == "cyd"
    monkeypatch.setenv("ADJUDGE_REVIEWER", "Dan")
    assert json.loads(adjudge(*words).out)["reviewer"] == "Dan"


@pytest.fixture
def reviewed(adjudge: Command, judged: str) -> None:
    """Ada answers `tests` of all runs blind, and says pass of 0 to 14; Bea approves of the first five verdicts but one."""
    with open_store(Path(".adjudge")) as store:
        for number in range(20):
            add_review(store, Said(verdicts(number), "tests", "Ada", "blind", "e2 says so.", passed=number < 15))
        for number in range(5):
            add_review(store, Said(verdicts(number), "tests", "Bea", "seen", "e2 says so.", approved=number > 0))


# Of 20 pairs Ada and the judge say pass, pass of 8, pass, fail of 7, fail, pass of 2, fail, fail of 3: they agree in 11. By
# chance 0.75 * 0.5 + 0.25 * 0.5 = 0.5 would: kappa is 0.05 / 0.5 = 0.1. Wilson's bounds are those of R's
# prop.test(x, n, correct = FALSE).
@pytest.mark.parametrize(
    "line",
    [
        "Endorsement: the reviewer had seen what the judge said",
        "rubric  item   items  reviews  approved  rate      interval",
        "files   tests      5        5         4  0.80  0.38 to 0.96  not yet meaningful",
        "Blind agreement: the reviewer answered first",
    ],
)
def test_agreement_is_printed_in_tables(adjudge: Command, reviewed: None, line: str) -> None:
    assert line in adjudge("review", "agreement").out.splitlines()


def test_blind_agreement_is_what_was_counted_by_hand(adjudge: Command, reviewed: None) -> None:
    line, wrong = (each for each in adjudge("review", "agreement").out.splitlines() if "  20  " in each)
    assert line.split()[2:8] == ["20", "20", "0.55", "0.34", "to", "0.74"]
    assert line.split()[8] == "0.10"
    assert wrong.split()[2:] == ["20", "0.40", "0.12", "to", "0.77", "0.47", "0.25", "to", "0.70"]


def test_agreement_is_split_as_asked_and_whole_as_json(adjudge: Command, reviewed: None) -> None:
    told = json.loads(adjudge("review", "agreement", "--by", "harness", "--json").out)
    assert told["by"] == ["harness"]
    assert {group["key"]["harness"]: group["blind"]["pairs"] for group in told["groups"]} == {
        "codex": 10,
        "open\x1b[2Jcode": 10,
    }
    printed = adjudge("review", "agreement", "--by", "harness", "--by", "judge").out
    assert "\x1b" not in printed
    assert "all " in printed


def test_only_what_was_picked_in_one_way_counts_if_asked(adjudge: Command, reviewed: None) -> None:
    add(adjudge, 1, "--pass", "--picked", "random", item="notes")
    told = json.loads(adjudge("review", "agreement", "--picked", "random", "--json").out)
    assert (told["picked"], told["whole"]["blind"]["pairs"], told["whole"]["endorsement"]["reviews"]) == ("random", 1, 0)


def test_a_judge_that_judged_again_is_told_to_be_repeatable(adjudge: Command) -> None:
    runs = [a_run(number) for number in range(20)]
    with open_store(Path(".adjudge")) as store:
        for sample in range(2):
            judgments = [
                read(run, Score("loop", 1 + sample * (number < 5), "So.", (SHOWN,), worse=True), id=f"j-{sample}{number}")
                for number, run in enumerate(runs)
            ]
            for run, judgment in zip(runs, judgments, strict=True):
                store.add_run(run)
                store.add_judgment(judgment, CONDUCT)
    out = adjudge("review", "agreement", "--judge", READER.hash[:8]).out
    assert "Repeatability: the same judge judged the same run again" in out
    (line,) = (each for each in out.splitlines() if " loop " in each)
    assert line.split()[2:8] == ["20", "20", "0.75", "0.53", "to", "0.89"]  # 15 of 20: Wilson's 0.531 to 0.888


def test_without_reviews_agreement_says_so(adjudge: Command, judged: str) -> None:
    ended = adjudge("review", "agreement")
    assert (ended.status, ended.out) == (0, "")
    assert "Nothing of what was asked for is reviewed" in ended.err


def test_verify_counts_reviews_and_finds_one_that_was_changed(adjudge: Command, judged: str) -> None:
    add(adjudge, 0, "--approve")
    assert "1 review checked" in adjudge("verify", verdicts(0)).out
    with open_store(Path(".adjudge")) as store, store.writing() as connection:
        connection.exec_driver_sql("UPDATE reviews SET approved = 0")
    ended = adjudge("verify", verdicts(0))
    assert ended.status == 1
    assert "it was changed" in ended.out
