"""Judging without a rubric."""

from typing import get_args

import pytest

from adjudge.judges.evaluator.judge import Evaluator
from adjudge.judges.process import ProcessJudge
from adjudge.ports import Judging
from adjudge.run import Outcome, RunFailure
from adjudge.testing import make_run


@pytest.mark.parametrize(("status", "passed"), [(0, True), (1, False), (137, False), (-9, False)])
async def test_a_run_without_a_rubric_is_judged_by_the_exit_status_of_the_agents_process(status: int, passed: bool) -> None:
    judgment = await ProcessJudge().judge(make_run(exit_status=status), None, None)
    assert (judgment.status, judgment.decided, judgment.score) == ("judged", "process", None)
    assert [verdict.passed for verdict in judgment.verdicts] == [passed]


async def test_without_a_rubric_the_evaluator_judges_no_more_than_the_process() -> None:
    judge: Judging = Evaluator(None)
    assert (await judge.judge(make_run(), None, None)).decided == "process"


async def test_a_signal_is_called_a_signal() -> None:
    judgment = await ProcessJudge().judge(make_run(exit_status=-9), None, None)
    assert judgment.reason == "The agent's process ended by signal 9."


async def test_an_unknown_exit_status_is_not_guessed() -> None:
    judgment = await ProcessJudge().judge(make_run(exit_status=None), None, None)
    assert (judgment.status, judgment.score, judgment.verdicts) == ("errored", None, ())
    assert judgment.reason is not None
    assert "exit status" in judgment.reason


@pytest.mark.parametrize("failure", get_args(RunFailure))
async def test_a_run_that_failed_fails_though_its_process_ended_with_0(failure: RunFailure) -> None:
    judgment = await ProcessJudge().judge(make_run(outcome=Outcome(0, failure=failure)), None, None)
    assert [verdict.passed for verdict in judgment.verdicts] == [False]
    assert judgment.reason is not None
    assert judgment.reason.startswith("The agent's process ended with exit status 0, ")


async def test_a_model_that_could_not_be_had_is_not_the_agents_fault() -> None:
    judgment = await ProcessJudge().judge(make_run(outcome=Outcome(0, failure="model")), None, None)
    assert judgment.verdicts[0].cause == "environment"
