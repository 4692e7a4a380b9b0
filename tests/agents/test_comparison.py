"""Agents side by side on the same tasks."""

import pytest

from adjudge.agents.comparison import Result, compare
from adjudge.record import Usage
from adjudge.run import Outcome


def result(task: str, agent: str, passed: int, criteria: int = 2, **more: object) -> Result:
    given = {"status": "judged", "score": passed / criteria, "passed": passed, "criteria": criteria, **more}
    return Result(task, agent, None, 1, **given)  # type: ignore[arg-type]


def test_agents_and_tasks_are_compared_over_all_attempts() -> None:
    compared = compare([result("a", "x", 2), result("a", "x", 1), result("b", "x", 2), result("a", "y", 0)])
    x, y = compared.agents
    assert (x.who, x.attempts, x.judged, x.succeeded) == ("x", 3, 3, 2)
    assert x.score == pytest.approx(2.5 / 3)
    assert (y.succeeded, y.score) == (0, 0.0)
    cells = {(cell.task, cell.who): (cell.attempts, cell.succeeded, cell.score) for cell in compared.cells}
    assert cells == {("a", "x"): (2, 1, 0.75), ("a", "y"): (1, 0, 0.0), ("b", "x"): (1, 1, 1.0), ("b", "y"): (0, 0, None)}


def test_what_was_not_judged_counts_as_an_attempt_and_not_as_a_failure() -> None:
    compared = compare([result("a", "x", 2), Result("a", "x", None, 2, error="the machine was lost")])
    (x,) = compared.agents
    assert (x.attempts, x.judged, x.succeeded, x.score) == (2, 1, 1, 1.0)


def test_the_same_agent_with_another_model_is_another_one() -> None:
    one, other = Result("a", "x", "openai/m", 1), Result("a", "x", "openai/n", 1)
    assert [agent.who for agent in compare([one, other]).agents] == ["x=openai/m", "x=openai/n"]


def test_costs_and_tokens_are_added_where_they_are_known_and_judging_is_kept_apart() -> None:
    known = result("a", "x", 2, cost=0.5, judging_cost=9.0, usage=Usage(prompt=100, output=10), seconds=4.0)
    (x,) = compare([known, result("a", "x", 2, cost=0.25, seconds=2.0), result("a", "x", 2)]).agents
    assert (x.cost, x.tokens, x.seconds) == (0.75, 110, 3.0)


def test_graders_results_are_counted_apart_from_those_that_could_not_work() -> None:
    grades = [result("a", "x", 2, outcome=Outcome(0, grade)) for grade in ("resolved", "unresolved", "error")]
    compared = compare(grades)
    (x,), (cell,) = compared.agents, compared.cells
    assert (x.resolved, x.graded) == (cell.resolved, cell.graded) == (1, 2)
