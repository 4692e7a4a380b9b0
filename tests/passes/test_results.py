"""Figures of a pass against counts by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adjudge.exports.table import rows_of
from adjudge.judgment import Call, Score
from adjudge.passes.results import Group, Money, Omission, Results
from adjudge.record import Usage
from adjudge.run import Outcome
from adjudge.store.judged import of_pass
from adjudge.store.store import Store, open_store
from adjudge.wiring.results import pass_results

from .stored import CONDUCT, EVALUATOR, FILES, READER, SHOWN, a_run, add_pass, cut, evaluated, read


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store") as opened:
        yield opened


@pytest.fixture
def evaluation(store: Store) -> Results:
    """Six runs of two agents, of which five are judged: four with verdicts, one timed out."""
    runs = [
        a_run(1, "codex", cost=0.5),
        a_run(2, "codex", cost=0.25),
        a_run(3, "codex", outcome=Outcome(1)),
        a_run(4, "opencode", outcome=Outcome(0, failure="model")),
        a_run(5, None, outcome=Outcome()),
        a_run(6, "opencode"),
    ]
    judgments = [
        evaluated(runs[0], True, True),
        evaluated(runs[1], False, True, cause="environment"),
        evaluated(runs[2], False, False),
        evaluated(runs[3], True, False, cause="evidence", cost=None),
        evaluated(runs[4], failure="timeout", reason="No answer.", calls=()),
    ]
    plan = {
        "strata": [{"harness": "codex", "outcome": "exit 1"} | _numbers(2), {"harness": "x", "outcome": "y"} | _numbers(1)]
    }
    identifier = add_pass(store, FILES, EVALUATOR, runs, judgments, plan)
    return pass_results(store, identifier, ("harness", "outcome"))


def _numbers(unrecorded: int) -> dict[str, int]:
    return {"candidates": 3, "unrecorded": unrecorded, "judged": 0, "selected": 3}


def test_runs_that_are_not_judged_are_counted_apart(evaluation: Results) -> None:
    assert (evaluation.row.selected, evaluation.whole.landed, evaluation.open, evaluation.unrecorded) == (6, 5, 1, 3)
    assert (evaluation.whole.judged, evaluation.whole.errored, evaluation.whole.failures) == (4, 1, {"timeout": 1})


def test_verdicts_are_counted_by_criterion_with_their_causes(evaluation: Results) -> None:
    told = {each.criterion: (each.judged, each.passed, each.causes) for each in evaluation.whole.criteria}
    assert told == {
        "tests": (4, 2, {"agent": 1, "environment": 1}),
        "notes": (4, 2, {"agent": 1, "evidence": 1}),
    }


def test_a_share_has_wilsons_interval(evaluation: Results) -> None:
    share = evaluation.whole.criteria[0].share
    assert share is not None
    # 2 of 4, by R's binom::binom.confint(2, 4, methods = "wilson").
    assert (share.share, share.low, share.high) == pytest.approx((0.5, 0.1500, 0.8500), abs=0.0001)


def test_the_groups_are_those_of_harness_and_outcome(evaluation: Results) -> None:
    told = [(group.key["harness"], group.key["outcome"], group.landed, group.judged) for group in evaluation.groups]
    assert told == [
        ("codex", "exit 1", 1, 1),
        ("codex", "resolved", 2, 2),
        ("opencode", "failed: model", 1, 1),
        ("unknown", "unknown", 1, 0),
    ]


def test_costs_of_judging_and_of_runs_are_apart_and_say_what_is_not_known(evaluation: Results) -> None:
    # One judgment's call has no price, and one had no answer in time, which may be billed all the same.
    assert evaluation.whole.judging == Money(0.01 + 0.01 + 0.01, 2)
    assert evaluation.whole.runs == Money(0.75, 3)


def test_the_groups_add_up_to_the_whole(evaluation: Results) -> None:
    def sums(group: Group) -> tuple[int, ...]:
        return (group.landed, group.judged, group.empty, *(each.passed for each in group.criteria), group.judging.unknown)

    parts = [sums(group) for group in evaluation.groups]
    assert tuple(map(sum, zip(*parts, strict=True))) == sums(evaluation.whole)


def call(cost: float | None) -> Call:
    return Call("judge-a", Usage(prompt=1000, output=50, cost=cost), 2.0)


# --- readers


def scores(loop: float | None, gave_up: Score) -> tuple[Score, Score]:
    return Score("loop", loop, "It ran it again.", (SHOWN,), worse=bool(loop)), gave_up


@pytest.fixture
def reading(store: Store) -> Group:
    fine = Score("gave_up_early", 0, "It went on.")
    demoted = Score("gave_up_early", None, "It stopped.", fault="evidence_missing")
    runs = [a_run(number) for number in range(1, 8)]
    judgments = [
        read(runs[0], *scores(2, fine)),
        read(runs[1], *scores(0, demoted), prepared=cut(3, 500)),
        read(runs[2], *scores(1, Score("gave_up_early", None, "", fault="missing_reasoning")), prepared=cut(0, 0)),
        read(runs[3], *scores(0, Score("gave_up_early", None, "", fault="unanswered"))),
        read(runs[4], Score("loop", None, "No turn tells."), demoted),
        read(runs[5], failure="judge_parse_failed", reason="No JSON."),
        read(runs[6], reason="The machine was lost."),
    ]
    return pass_results(store, add_pass(store, CONDUCT, READER, runs, judgments), ()).whole


def test_scores_are_counted_by_dimension_with_why_there_is_no_value(reading: Group) -> None:
    loop, gave_up = reading.dimensions
    assert (loop.scored, loop.mean, loop.worse, loop.not_established) == (4, 0.75, 2, 1)
    assert (gave_up.scored, gave_up.mean, gave_up.worse) == (1, 0.0, 0)
    assert (gave_up.evidence_missing, gave_up.missing_reasoning, gave_up.unanswered) == (2, 1, 1)


def test_empty_judgments_are_counted_and_say_nothing_good(reading: Group) -> None:
    assert (reading.landed, reading.judged, reading.empty) == (7, 5, 1)


def test_a_judgment_with_a_demoted_accusation_is_not_counted_as_nothing_worse(reading: Group) -> None:
    # Of the four that are not empty three have no value for `gave_up_early`; in the other a loop was found.
    assert reading.partial == 3
    assert reading.flawless is not None
    assert reading.flawless.share == 0.0
    assert reading.flawless.high == pytest.approx(0.7935, abs=0.0001)  # Wilson's for 0 of 1


# --- costs


@pytest.mark.parametrize(
    ("judgment", "money"),
    [
        ({"decided": "probes", "calls": ()}, Money(0.0, 0)),
        ({"calls": (call(0.25), call(0.5))}, Money(0.75, 0)),
        ({"calls": (call(0.25), call(None))}, Money(0.25, 1)),
        ({"failure": "broken", "calls": ()}, Money(0.0, 1)),  # a provider answered 500 to everything
        ({"failure": "timeout", "calls": (call(0.0),)}, Money(0.0, 1)),  # a reader's line of a call without an answer
        ({"failure": "refused", "calls": ()}, Money(0.0, 1)),
        ({"failure": "judge_parse_failed", "calls": (call(0.25),)}, Money(0.25, 0)),
    ],
    ids=["no model", "known", "known in part", "500", "silence", "refused", "unreadable"],
)
def test_what_judging_cost_is_nothing_known_or_counted_as_unknown(
    store: Store, judgment: dict[str, Any], money: Money
) -> None:
    run = a_run(1)
    passed = () if "failure" in judgment else (True, True)
    identifier = add_pass(store, FILES, EVALUATOR, [run], [evaluated(run, *passed, **judgment)])
    assert pass_results(store, identifier, ()).whole.judging == money
    (row, *_) = rows_of(identifier, of_pass(store, identifier))
    assert row.unpriced == bool(money.unknown)
    assert row.cost == (money.known if money.known or not money.unknown else None)


def test_judgments_without_an_answer_are_sorted(reading: Group) -> None:
    assert reading.failures == {"judge_parse_failed": 1, "machine": 1}


def test_what_was_done_to_inputs_is_added_up(reading: Group) -> None:
    assert reading.omissions["tool_output_pruned"] == Omission(1, 3, 500)
    assert reading.omissions["events_elided"] == Omission(2, 2, 20)
    assert reading.omissions["input_truncated"] == Omission(0, 0, 0)


def test_a_share_of_waste_without_a_value_accuses(store: Store) -> None:
    run = a_run(1)
    wasted = Score("loop", None, "It ran it again.", (SHOWN,), share=0.3, worse=True)
    judgment = read(run, wasted, Score("gave_up_early", 0, "It went on."))
    loop = pass_results(store, add_pass(store, CONDUCT, READER, [run], [judgment]), ()).whole.dimensions[0]
    assert (loop.scored, loop.worse, loop.mean) == (1, 1, None)
