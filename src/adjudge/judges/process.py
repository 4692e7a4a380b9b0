"""Judging without a rubric: only by whether the agent's own process succeeded. It needs no key and gives no score."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from adjudge.judges.rows import VERSION, Clock, Row, utc_now
from adjudge.judgment import Cause, Judge, Judgment, Verdict
from adjudge.ports import Machine
from adjudge.rubric import Rubric
from adjudge.run import FAILURES, Run, RunFailure

PROCESS = "process"
"""What stands for a criterion in the one verdict."""

UNKNOWN = (
    "The run does not say with which exit status the agent's process ended, so nothing can be judged without a rubric."
)


CAUSES: Mapping[RunFailure | None, Cause] = {"model": "environment"}


class ProcessJudge:
    """Judges by `Outcome`: exit status 0 without a failure is success, all else is not; an unknown status is `errored`."""

    def __init__(self, clock: Clock = utc_now) -> None:
        self._clock = clock
        self.identity = Judge("process", None, hashlib.sha256(b"").hexdigest(), {}, VERSION)

    async def judge(self, run: Run, rubric: Rubric | None, machine: Machine | None) -> Judgment:  # noqa: ARG002
        """Judge a run by the end of its process; a rubric and a machine are of no use here."""
        row = Row(self.identity, run, None, self._clock)
        status = run.outcome.exit_status
        if status is None:
            return row.errored(UNKNOWN)
        failure = run.outcome.failure
        ending = f"The agent's process ended {_how(status)}{f', {FAILURES[failure]}' if failure else ''}."
        passed = status == 0 and failure is None
        verdict = Verdict(PROCESS, passed, ending, cause=None if passed else CAUSES.get(failure, "agent"), probe=True)
        return row.judged(verdicts=(verdict,), decided="process", reason=ending)


def _how(status: int) -> str:
    return f"with exit status {status}" if status >= 0 else f"by signal {-status}"
