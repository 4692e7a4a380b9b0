"""A run: one attempt of one agent at one task, with all that a judge may be shown of it."""

from __future__ import annotations

from typing import Literal

import msgspec

from adjudge.record import Record

Grade = Literal["resolved", "unresolved", "error"]


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a run ended: the exit status of the agent's process, and the result of a grader if one ran.

    `exit_status` is negative for a signal, as in `subprocess`; `None` where nothing tells. `reward` is the grader's own
    number. `detail` is its or the harness's word for the ending ("AgentTimeoutError", "LimitsExceeded", …).
    """

    exit_status: int | None = None
    grade: Grade | None = None
    reward: float | None = None
    detail: str | None = None


class Run(msgspec.Struct, frozen=True):
    """One attempt of one agent at one task.

    `id` is `r-` and the first 16 hex digits of a hash over the content, so that importing the same run twice gives the
    same id. `workspace` is the folder that the agent worked in, as it left it. `context` is what a user wants the judge
    to know besides the task. `hidden_tests` are the ids of tests that must go from failing to passing and that the agent
    could not see, since they were absent at the commit it started from. A reference solution has no field here, so that
    none can reach a prompt.
    """

    id: str
    record: Record
    source: str
    task: str | None = None
    agent: str | None = None
    agent_version: str | None = None
    model: str | None = None
    outcome: Outcome = Outcome()
    workspace: str | None = None
    patch: str | None = None
    context: str | None = None
    hidden_tests: tuple[str, ...] = ()
