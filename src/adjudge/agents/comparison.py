"""What came of many attempts: by agent, and by task and agent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

from adjudge.judgment import Status
from adjudge.record import Usage
from adjudge.run import Outcome
from adjudge.statistics import Interval, wilson

Number = TypeVar("Number", int, float)


class Result(msgspec.Struct, frozen=True):
    """One attempt, as it came out. What it did not come to is `None`; `error` then says why.

    `passed` of `criteria` were passed in the judgment, and `score` is their share. `cost` is that of the run in US dollars,
    `judging_cost` that of its judgment; they are never added up.
    """

    task: str
    agent: str
    model: str | None
    attempt: int
    run: str | None = None
    judgment: str | None = None
    status: Status | None = None
    outcome: Outcome | None = None
    score: float | None = None
    passed: int = 0
    criteria: int = 0
    usage: Usage | None = None
    cost: float | None = None
    judging_cost: float | None = None
    seconds: float | None = None
    workspace: str | None = None
    notes: tuple[str, ...] = ()
    error: str | None = None

    @property
    def who(self) -> str:
        """The agent and its model."""
        return f"{self.agent}={self.model}" if self.model else self.agent

    @property
    def succeeded(self) -> bool:
        """Whether every criterion was passed, or, without a rubric, the process succeeded."""
        return self.status == "judged" and self.criteria > 0 and self.passed == self.criteria


class AgentResult(msgspec.Struct, frozen=True):
    """What one agent with one model came to over all tasks and attempts.

    `score` is the mean over judged attempts that have one, `succeeded` how many passed everything, of `judged`. `resolved`
    and `graded` count graders' results. Sums and means are over the attempts where they are known.
    """

    who: str
    attempts: int
    judged: int
    succeeded: int
    success: Interval | None
    score: float | None
    resolved: int
    graded: int
    cost: float | None
    tokens: int | None
    seconds: float | None


class Cell(msgspec.Struct, frozen=True):
    """What one agent came to in one task: `succeeded` of `judged` attempts, of `attempts`; `score` is the mean.

    `resolved` of `graded` are a grader's results.
    """

    task: str
    who: str
    attempts: int
    judged: int
    succeeded: int
    score: float | None
    resolved: int
    graded: int


class Comparison(msgspec.Struct, frozen=True):
    """Agents side by side on the same tasks."""

    agents: tuple[AgentResult, ...]
    cells: tuple[Cell, ...]


def compare(results: Sequence[Result]) -> Comparison:
    """Agents and tasks stand in the order in which they first occur."""
    whos = dict.fromkeys(result.who for result in results)
    tasks = dict.fromkeys(result.task for result in results)
    return Comparison(
        tuple(_agent(who, [result for result in results if result.who == who]) for who in whos),
        tuple(
            _cell(task, who, [result for result in results if (result.task, result.who) == (task, who)])
            for task in tasks
            for who in whos
        ),
    )


def _agent(who: str, results: Sequence[Result]) -> AgentResult:
    judged = [result for result in results if result.status == "judged"]
    resolved, graded = _grades(results)
    succeeded = sum(result.succeeded for result in judged)
    return AgentResult(
        who,
        len(results),
        len(judged),
        succeeded,
        wilson(succeeded, len(judged)),
        _mean(result.score for result in judged),
        resolved,
        graded,
        _sum(result.cost for result in results),
        _sum(tokens_of(result.usage) for result in results),
        _mean(result.seconds for result in results),
    )


def _cell(task: str, who: str, results: Sequence[Result]) -> Cell:
    judged = [result for result in results if result.status == "judged"]
    succeeded = sum(result.succeeded for result in judged)
    score = _mean(result.score for result in judged)
    return Cell(task, who, len(results), len(judged), succeeded, score, *_grades(results))


def _grades(results: Sequence[Result]) -> tuple[int, int]:
    """How many attempts a grader found resolved, and how many it could tell of."""
    grades = [result.outcome.grade for result in results if result.outcome]
    return grades.count("resolved"), grades.count("resolved") + grades.count("unresolved")


def tokens_of(usage: Usage | None) -> int | None:
    """All tokens sent and received, `None` if neither is known."""
    if usage is None or (usage.prompt is None and usage.output is None):
        return None
    return (usage.prompt or 0) + (usage.output or 0)


def _mean(numbers: Iterable[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return sum(known) / len(known) if known else None


def _sum(numbers: Iterable[Number | None]) -> Number | None:
    known = [number for number in numbers if number is not None]
    return sum(known[1:], known[0]) if known else None
