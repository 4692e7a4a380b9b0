"""How far a judge can be trusted stands beside what it says: in `adjudge results` and in `adjudge show`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.passes.stored import CONDUCT, EVALUATOR, FILES, READER, SHOWN, a_run, add_pass, evaluated, read

from adjudge.judgment import Score
from adjudge.reviews.values import Said
from adjudge.store.reviews import add_review
from adjudge.store.store import open_store

from .conftest import Command


@pytest.fixture
def evaluation(adjudge: Command) -> str:
    """Twenty-one judged runs: `tests` is reviewed blind in all of them, `notes` in two, and once by one who had seen it."""
    runs = [a_run(number) for number in range(21)]
    judgments = [evaluated(run, number % 2 == 0, True) for number, run in enumerate(runs)]
    with open_store(Path(".adjudge")) as store:
        identifier = add_pass(store, FILES, EVALUATOR, runs, judgments)
        for number, judgment in enumerate(judgments):
            # Ada agrees with the judge in all but the first, which it passed.
            passed = number % 2 == 0 and number > 0
            add_review(store, Said(judgment.id, "tests", "Ada", "blind", "e2 says so.", passed=passed))
        for judgment in judgments[:2]:
            add_review(store, Said(judgment.id, "notes", "Ada", "blind", "e2 says so.", passed=True))
        add_review(store, Said(judgments[3].id, "notes", "Bea", "seen", "e2 says so.", approved=False))
    return identifier


# 20 of 21 agree; the judge passes 11, Ada 10: by chance (10 * 11 + 11 * 10) / 441 = 220 / 441 would agree, so that kappa is
# (20 / 21 - 220 / 441) / (1 - 220 / 441) = 200 / 221 = 0.905. Of what Ada failed, 1 of 11 was passed.
@pytest.mark.parametrize(
    ("item", "cells"),
    [
        ("tests", ["21", "agree 20/21", "0.90, ", "0.09", "0.00"]),
        ("notes", ["2", "agree 2/2", "endorsed 0/1", "not yet meaningful"]),
    ],
)
def test_results_say_beside_each_criterion_how_far_reviewers_agree(
    adjudge: Command, evaluation: str, item: str, cells: list[str]
) -> None:
    lines = [line for line in adjudge("results", evaluation).out.splitlines() if line.startswith(f"{item}  ")]
    assert [cell for cell in cells if cell not in lines[1]] == []


def test_results_say_how_far_reviewers_agree_with_each_harness(adjudge: Command, evaluation: str) -> None:
    (line,) = (line for line in adjudge("results", evaluation).out.splitlines() if "agree 22/23" in line)
    assert line.startswith("codex ")  # 20 of 21 answers on `tests` and both on `notes`


def test_what_the_figures_are_is_said_once(adjudge: Command, evaluation: str) -> None:
    out = adjudge("results", evaluation).out
    assert out.count("under 20 items in 1 of 2, so not yet meaningful") == 1
    assert out.count("reviewers had seen the verdict, so that is no agreement") == 1


def test_results_as_json_have_the_figures_by_criterion(adjudge: Command, evaluation: str) -> None:
    told = json.loads(adjudge("results", evaluation, "--json").out)
    assert told["whole"]["judged"] == 21
    assert told["agreement"]["items"]["tests"]["blind"]["kappa"]["value"] == pytest.approx(200 / 221)


def test_show_says_it_beside_each_verdict(adjudge: Command, evaluation: str) -> None:
    with open_store(Path(".adjudge")) as store:
        name = store.judgments(f"r-{0:016x}")[0].id
    out = adjudge("show", name).out
    assert "PASS  tests  agree 20/21, κ 0.90 (0.7" in out
    assert "with codex" in out
    assert "PASS  notes  agree 2/2, endorsed 0/1" in out
    assert "under 20 items in 1 of 2" in " ".join(out.split())


def test_show_says_it_beside_each_dimension(adjudge: Command) -> None:
    run = a_run(1)
    judgment = read(run, Score("loop", 2, "Again.", (SHOWN,), worse=True), Score("gave_up_early", 0, "No."))
    with open_store(Path(".adjudge")) as store:
        add_pass(store, CONDUCT, READER, [run], [judgment])
        add_review(store, Said(judgment.id, "loop", "Ada", "blind", "e2 says so.", value=3.0))
    lines = adjudge("show", judgment.id).out.splitlines()
    assert "   2  loop  worse than blameless, from 0 to 3, blameless is 0  agree 0/1" in lines
    assert "   0  gave_up_early  not worse, from 0 to 3, blameless is 0" in lines


def test_nothing_is_said_where_nobody_reviewed(adjudge: Command) -> None:
    run = a_run(1)
    with open_store(Path(".adjudge")) as store:
        identifier = add_pass(store, FILES, EVALUATOR, [run], [evaluated(run, True, True)])
    for command in (("results", identifier), ("show", evaluated(run, True, True).id)):
        assert "agree" not in adjudge(*command).out


def test_reviews_of_another_judge_say_nothing_of_this_one(adjudge: Command) -> None:
    run = a_run(1)
    with open_store(Path(".adjudge")) as store:
        store.add_run(run)
        first = evaluated(run, True, True)
        store.add_judgment(first, FILES)
        other = evaluated(run, True, True, judge=READER)
        store.add_judgment(other, FILES)
        add_review(store, Said(first.id, "tests", "Ada", "blind", "e2 says so.", passed=True))
    assert "agree 1/1" in adjudge("show", first.id).out
    assert "agree" not in adjudge("show", other.id).out
