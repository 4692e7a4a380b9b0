"""A run: one attempt of one agent at one task, with all that a judge may be shown of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from adjudge.record import Record

Grade = Literal["resolved", "unresolved", "error"]
RunFailure = Literal["time", "output", "memory", "processes", "disk", "model", "cut", "nothing"]

FAILURES: Mapping[RunFailure, str] = {
    "time": "stopped when its time was over",
    "output": "stopped for printing more than it may",
    "memory": "stopped for taking more memory than it may",
    "processes": "stopped for starting more processes than it may",
    "disk": "with its disk full",
    "model": "given up by its model's endpoint",
    "cut": "with an answer that was cut at the token limit",
    "nothing": "having got no answer from a model",
}
"""What each failure means, as the end of a sentence."""


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a run ended: the exit status of the agent's process, and the result of a grader if one ran.

    `exit_status` is negative for a signal, as in `subprocess`; `None` where nothing tells. `reward` is the grader's own
    number. `detail` is its or the harness's word for the ending ("AgentTimeoutError", "LimitsExceeded", …).

    `failure` says that the run failed whatever its exit status was, as many agents exit with 0 when their model refuses
    to answer: stopped at a limit (`time`, `output`, `memory`, `processes`), out of `disk`, given up by the `model`'s
    endpoint, with an answer `cut` at the token limit, or having asked its model for `nothing` at all. `grading` is how a
    grader ended and the end of what it printed, if it did not find the run resolved; like `grade` no judge is told.
    """

    exit_status: int | None = None
    grade: Grade | None = None
    reward: float | None = None
    detail: str | None = None
    failure: RunFailure | None = None
    grading: str | None = None

    @property
    def ending(self) -> str:
        """How the process ended, in a few words; empty if nothing tells."""
        status = self.exit_status
        how = "" if status is None else f"exit status {status}" if status >= 0 else f"signal {-status}"
        return ", ".join(part for part in (how, FAILURES[self.failure] if self.failure else "") if part)


class Run(msgspec.Struct, frozen=True):
    """One attempt of one agent at one task.

    `id` is `r-` and the first 16 hex digits of a hash over the content, so that importing the same run twice gives the
    same id. `workspace` is the folder that the agent worked in, as it left it. `context` is what a user wants the judge
    to know besides the task. `hidden_tests` are the ids of tests that must go from failing to passing and that the agent
    could not see, since they were absent at the commit it started from. A reference solution has no field here, so that
    none can reach a prompt.

    `machine` names a container or an image that holds the workspace with its surroundings (`docker:NAME`, `image:NAME`),
    and `directory` the workspace's path in it, if it is another than the container's own working directory.
    `task_name`, `started` (UTC, ISO 8601) and `seconds` are known of runs that adjudge started itself. `cost` is what the
    agent's calls to models cost in US dollars: as the record states, else by the list price of its tokens. `notes` are
    adjudge's own words on what is not as usual, such as a record that had to be made from the output.
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
    machine: str | None = None
    directory: str | None = None
    task_name: str | None = None
    started: str | None = None
    seconds: float | None = None
    cost: float | None = None
    notes: tuple[str, ...] = ()
